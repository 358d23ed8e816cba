"""Wherever code or docs refer to the paper, what they name exists there: sections by number and
title, as printed.
"""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SECTIONS = {
    "1": "Introduction",
    "2": "Related works",
    "3": "An objective function for reduced-rank regression problems",
    "3.1": "Problem formulation",
    "3.2": "Parametrizing the projection matrix",
    "4": "Algorithm derivation",
    "4.1": "Offline algorithms",
    "4.2": "Online algorithms",
    "5": "Biological implementation and comparison with experiment",
    "5.1": "Neural circuit",
    "5.2": "Comparison with neuroscience experiments",
    "6": "Interpretation of calcium plateau potential in Bio-RRR",
    "7": "Numerical experiments",
    "8": "Conclusion",
    "A": "Equivalence of CCA and RRR with Sigma = Cyy^-1",
    "B": "Naive implementation of the RRR constraint is not biologically plausible",
    "C": "Saturation of the Bio-RRR inequality constraint",
    "D": "Decoupling the interneuron synapses",
    "E": "Numerical experiment details",
    "F": "More numerical experiments",
}
EQUATIONS = range(1, 16)  # of the main text
FIGURES = range(1, 8)  # 1 to 3 in the main text, 4 to 7 in the supplement
TITLED = re.compile(r'(?:Sec\. |[Ss]upplement )(\d(?:\.\d)?|[A-F]),\s+"([^"]+)"')
NUMBERED = {
    "section": (re.compile(r"\bSecs?\.\s+(?:(\d(?:\.\d)?)\b|(\S+))"), SECTIONS),
    "supplement": (re.compile(r"\b[Ss]upplement ([A-Z])\b(\S*?)"), SECTIONS),
    "equation": (re.compile(r"\bEqs?\.\s+(?:(\d+)\b|(\S+))"), {str(one) for one in EQUATIONS}),
    "figure": (re.compile(r"\bFigs?\.\s+(?:(\d+)[ab]?\b|(\S+))"), {str(one) for one in FIGURES}),
}


def unwrapped(text):
    """``text`` with strings and comments that run over several lines made one line."""
    return re.sub(r"""\s*["']?\n\s*(?:#|f?["'])?\s*""", " ", text)


def wrong_references(text):
    """What ``text`` refers to that the paper does not have."""
    text = unwrapped(text)
    found = [
        f"{kind} {match[0]!r}"
        for kind, (pattern, known) in NUMBERED.items()
        for match in pattern.finditer(text)
        if match[1] not in known
    ]
    return found + [
        f"title {match[0]!r}"
        for match in TITLED.finditer(text)
        if not SECTIONS[match[1]].startswith(match[2])
    ]


@pytest.mark.parametrize(
    "text",
    [
        "see Sec. 9",
        "Sec. 3.4",
        "Eq. Vx_circuit",
        "Eqs. 16 to 18",
        "Fig. 8",
        'Sec. "Numerical experiments"',
        "supplement G",
        'Sec. 6, "Numerical experiments"',
        "Figs. RRR_comparison",
    ],
)
def test_references_that_lead_nowhere_are_found(text):
    assert wrong_references(text)


def test_references_that_lead_somewhere_pass():
    text = (
        'Sec. 6, "Interpretation of\n    calcium plateau potential", Eqs. 9 to 11, supplement C,'
        " Fig. 3a, (Sec. 5.2)."
    )
    assert wrong_references(text) == []


def test_every_reference_is_to_something_that_the_paper_has():
    listed = subprocess.run(
        ["git", "ls-files", "*.py", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    # What is invented here and there, and the page that a run of `biorrr paper` writes from what
    # the code says.
    left_out = ("tests/test_references.py", "tests/sims/test_paper.py", "docs/paper.md")
    names = [name for name in listed.stdout.split() if name not in left_out]
    assert len(names) > 100
    wrong = {
        name: found
        for name in names
        if (found := wrong_references((ROOT / name).read_text(encoding="utf-8")))
    }
    assert wrong == {}
