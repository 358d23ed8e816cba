"""Numbers on the pages: each comes from the stored summary of a command.

``docs/numbers/quotes.toml`` names commands, or scripts and pages whose Python blocks print numbers,
and the passages that quote them. The quoted keys of each summary are kept in
``docs/numbers/NAME.json``. ``python docs/quoted.py`` runs all of them again, writes the summaries
and corrects the pages; names after it choose some, and ``--from FOLDER`` takes the run folders
``FOLDER/NAME`` in place of new runs. ``--pages`` only corrects the pages.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import re
import shlex
import string
import tempfile
import tomllib
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
FOLDER = Path(__file__).parent / "numbers"
NUMBER = r"(-?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?(?: %)?)"
PRINTED = r"-?\d+(?:\.\d+)?(?:e[-+]\d+)?"
TEXT = r"([^|\n]+?)"


class _Format(string.Formatter):
    """Python's format, with a space before the percent sign and the mean, smallest and largest of
    several numbers.
    """

    def get_field(self, field_name: str, args: Any, kwargs: Any) -> Any:
        name, *path = re.findall(r"[^\[\]]+", field_name)
        value = kwargs[name]
        for step in path:
            value = value[int(step)] if isinstance(value, list) else value[step]
        return value, name

    def convert_field(self, value: Any, conversion: str | None) -> Any:
        if conversion is None:
            return value
        numbers = list(_leaves(value))
        return {"m": sum(numbers) / len(numbers), "a": min(numbers), "z": max(numbers)}[conversion]

    def format_field(self, value: Any, format_spec: str) -> str:
        return "none" if value is None else format(value, format_spec).replace("%", " %")


def _leaves(value: Any):
    """Yield the numbers of nested lists and tables."""
    if isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _leaves(one)
    else:
        yield value


@dataclass(frozen=True)
class Quote:
    """A passage of a page: words, and between them numbers of summaries.

    Parameters
    ----------
    page
        Path of the page, from the root of the repository.
    words
        The passage as a format string. ``{learn[excess]:.2%}`` is the key ``excess`` of the summary
        ``learn``; ``!m``, ``!a`` and ``!z`` before the colon take the mean, the smallest and the
        largest of several numbers. Without a colon the value is text.
    """

    page: str
    words: str

    def keys(self) -> set[tuple[str, str]]:
        """Return the summaries and their keys that the passage quotes."""
        fields = [
            field for _, field, _, _ in string.Formatter().parse(self.words) if field is not None
        ]
        return {tuple(re.findall(r"[^\[\]]+", field)[:2]) for field in fields}

    def numbers(self, summaries: dict[str, Any]) -> list[str]:
        """Return the numbers of the passage as the page should print them."""
        said = []
        for _, field, spec, conversion in string.Formatter().parse(self.words):
            if field is not None:
                mark = f"!{conversion}" if conversion else ""
                said.append(_Format().vformat(f"{{{field}{mark}:{spec}}}", (), summaries))
        return said

    def find(self, text: str) -> re.Match[str]:
        """Return the place of the passage in the text of its page; it must occur exactly once."""
        pattern = ""
        for literal, field, spec, _ in string.Formatter().parse(self.words):
            pattern += r"\s+".join(map(re.escape, re.split(r"\s+", literal)))
            pattern += "" if field is None else NUMBER if spec else TEXT
        found = list(re.finditer(pattern, text))
        if len(found) != 1:
            raise LookupError(
                f"{self.page}: expected exactly one passage {self.words!r} (found {len(found)})"
            )
        return found[0]

    def corrected(self, text: str, summaries: dict[str, Any]) -> str:
        """Return the text of the page with the numbers of the summaries in this passage."""
        found = self.find(text)
        for group, number in reversed(list(enumerate(self.numbers(summaries), start=1))):
            text = text[: found.start(group)] + number + text[found.end(group) :]
        return text


def _declared() -> dict[str, Any]:
    return tomllib.loads((FOLDER / "quotes.toml").read_text())


def commands() -> dict[str, str]:
    """Return the command line behind each summary."""
    return _declared()["commands"]


def quotes() -> list[Quote]:
    """Return all passages that quote numbers."""
    return [
        Quote(page, words) for page, passages in _declared()["quotes"].items() for words in passages
    ]


def stored() -> dict[str, Any]:
    """Return the stored summaries by name."""
    return {
        name: json.loads((FOLDER / f"{name}.json").read_text())["summary"] for name in commands()
    }


def reduced(name: str, summary: dict[str, Any]) -> dict[str, Any]:
    """Return those keys of a summary that some page quotes."""
    quoted = set().union(*(quote.keys() for quote in quotes()))
    return {key: value for key, value in summary.items() if (name, key) in quoted}


def run_page(page: Path) -> dict[str, Any]:
    """Run a script, or the Python blocks of a page, and return the numbers of every printed line,
    under ``line_1`` and so on.
    """
    printed, names, text = io.StringIO(), {}, page.read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    with contextlib.redirect_stdout(printed), warnings.catch_warnings(action="ignore"):
        for block in blocks if page.suffix == ".md" else [text]:
            exec(compile(block, page.name, "exec"), names)
    lines = enumerate(printed.getvalue().splitlines(), start=1)
    return {
        f"line_{i}": [float(number) for number in re.findall(PRINTED, line)] for i, line in lines
    }


def run(name: str, folder: Path) -> dict[str, Any]:
    """Run a command in a folder, a script or the Python blocks of a page; return the summary."""
    from biorrr.sims.main import run as run_command

    if commands()[name].startswith("docs/"):
        return run_page(ROOT / commands()[name])
    _, *words = shlex.split(commands()[name])
    if run_command([*words, "--out", str(folder)]) != 0:
        raise RuntimeError(f"{commands()[name]} failed")
    return json.loads((folder / "summary.json").read_text())


def write(name: str, summary: dict[str, Any]) -> None:
    """Store the quoted part of a summary."""
    record = {"command": commands()[name], "summary": reduced(name, summary)}
    (FOLDER / f"{name}.json").write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n")


def correct_pages() -> None:
    """Put the numbers of the stored summaries into the pages."""
    summaries = stored()
    for quote in quotes():
        path = ROOT / quote.page
        path.write_text(quote.corrected(path.read_text(), summaries))


def main() -> None:
    """Run commands, store their summaries and correct the pages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=sorted(commands()))
    parser.add_argument("--from", dest="folder", type=Path)
    parser.add_argument("--pages", action="store_true")
    given = parser.parse_args()
    for name in [] if given.pages else given.names:
        if given.folder is not None:
            summary = json.loads((given.folder / name / "summary.json").read_text())
        else:
            with tempfile.TemporaryDirectory() as folder:
                summary = run(name, Path(folder) / name)
        write(name, summary)
    correct_pages()


if __name__ == "__main__":
    main()
