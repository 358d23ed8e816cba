"""Description of the package for an index, where images and links need whole addresses."""

from pathlib import Path

from setuptools import setup

SOURCE = "https://example.org/biorrr/source"  # a placeholder, as in setup.cfg

setup(
    long_description=Path("README.md")
    .read_text(encoding="utf-8")
    .replace("](docs/", f"]({SOURCE}/docs/"),
    long_description_content_type="text/markdown",
)
