"""The gallery: each script of ``docs/examples`` as a page with its picture and its code."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "examples"
GROUPS = {
    "Start here": (
        "run_a_circuit",
        "plateau_potentials",
        "r_finds_q",
        "learned_and_exact_subspace",
    ),
    "Your own data": ("own_data_frame", "spike_trains", "recording_in_nwb", "expansion"),
    "Change the biology": (
        "own_plasticity_rule",
        "noise",
        "unrelated_starts",
        "lesion",
        "slice_protocols",
        "two_instructive_areas",
        "hierarchy_of_areas",
        "current_clamp_of_a_cell",
        "crosstalk_of_currents",
        "millivolt_circuit",
    ),
    "Work with runs": (
        "ten_seeds",
        "slow_seed",
        "sweep_of_settings",
        "continue_and_resume",
        "export_to_nwb",
        "wiring_layout",
    ),
}
# Runs a script and saves its figure instead of showing it.
_RUNNER = """
import runpy, sys
import matplotlib.pyplot as plt
plt.show = lambda: None
runpy.run_path(sys.argv[1], run_name="__main__")
plt.gcf().savefig(sys.argv[2], dpi=200)
"""


@dataclass(frozen=True)
class Example:
    """A script of the gallery."""

    name: str

    @property
    def path(self) -> Path:
        """Path of the script."""
        return FOLDER / f"{self.name}.py"

    @property
    def title(self) -> str:
        """First line of the script's docstring, without its full stop."""
        return self._words[0].rstrip(".")

    @property
    def explanation(self) -> str:
        """Rest of the script's docstring."""
        return self._words[2]

    @property
    def code(self) -> str:
        """The script without its docstring."""
        text = self.path.read_text(encoding="utf-8")
        first = ast.parse(text).body[0]
        return "\n".join(text.splitlines()[first.end_lineno :]).strip()

    @property
    def _words(self) -> tuple[str, str, str]:
        words = ast.get_docstring(ast.parse(self.path.read_text(encoding="utf-8"))) or ""
        return words.partition("\n\n")

    def page(self, pictured: bool) -> str:
        """Return the page of the example in Markdown."""
        picture = f"![{self.title}]({self.name}.png)\n\n" if pictured else ""
        return f"# {self.title}\n\n{self.explanation}\n\n{picture}```python\n{self.code}\n```\n"

    def draw(self) -> bytes:
        """Run the script in an empty folder and return its figure as PNG."""
        with tempfile.TemporaryDirectory() as folder:
            picture = Path(folder, "figure.png")
            command = [sys.executable, "-c", _RUNNER, str(self.path), str(picture)]
            environment = os.environ | {"MPLBACKEND": "agg", "OMP_NUM_THREADS": "1"}
            done = subprocess.run(
                command, cwd=folder, env=environment, capture_output=True, text=True
            )
            if done.returncode:
                raise RuntimeError(
                    f"{self.path.name}: must run to its end (got {done.stderr.strip()[-1500:]})"
                )
            return picture.read_bytes()


EXAMPLES = tuple(Example(name) for names in GROUPS.values() for name in names)


def index(pictured: bool) -> str:
    """Return the page that lists all examples in Markdown."""
    lines = ["# Gallery", "", "Short scripts, each with one figure. Copy one and change it.", ""]
    for group, names in GROUPS.items():
        lines += [f"## {group}", ""]
        for example in map(Example, names):
            picture = f'<img src="{example.name}.png" alt="" width="260">' if pictured else ""
            lines += [
                '<figure class="example"'
                f' markdown="1">{picture}<figcaption>[{example.title}]({example.name}.md)'
            ]
            lines += ["</figcaption></figure>", ""]
    return "\n".join(lines)
