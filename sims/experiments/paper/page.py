"""The paper, sentence by sentence: claims grouped by sentence, and the page that is made of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from biorrr.sims.lab import Claim
from biorrr.sims.lab.claims import BETTER, FAILS, HOLDS, NOT_JUDGED, OTHER_SETTING, UNDECIDED
from biorrr.sims.lazy import np, xr

# Words of the page, the verdict that decides a sentence first.
WORDS = {
    FAILS: "contradicted",
    UNDECIDED: "undecided",
    OTHER_SETTING: "other setting",
    NOT_JUDGED: "not judged",
    BETTER: "better than claimed",
    HOLDS: "reproduced",
}
SHOWN_STEPS = (100, 1_000, 10_000, 100_000)  # of learning curves
INTRODUCTION = """# The paper, sentence by sentence

`biorrr paper` checks what Golkar et al. (NeurIPS 2020) and its supplement say. The table quotes each sentence in a few
words and gives one number: that of the case (data set, s, rank) which decides. The appendix has all cases.

- **reproduced**: the number lies within its bound. **Better than claimed**: it lies beyond the bound on the good side.
- **contradicted**: it lies beyond the bound on the bad side.
- **undecided**: the bound lies within the scatter of the number.
- **other setting**: data, rows or rates differ from the paper's in a way that decides the sentence.

Numbers are medians over seeds. Behind them, in brackets, stands the 95 % confidence interval of the median (the range,
for up to five seeds). Bounds are ours where the paper prints none. They stand in the code; those of *competitive* and
of apical drive were set after earlier runs had been seen. They are two-sided where the sentence is: *comparable*,
*match* and *within variance* mean at most a factor of 2, or 2 % of the optimum (5 % for pictures). *Competitive* means
an excess over the optimum of at most 5 % more than the best rival's. A learner has arrived when its excess stays within
5 %. All learners are compiled alike, and times are processor times on one thread.
"""
DATA = """## The data

The paper uses 20,000 samples of MediaMill: 100 textual features predict 120 visual ones. The public file has 120
features and 101 annotations for each of 43,907 frames. A
[repository of the same group](https://github.com/flatironinstitute/bio-cca) takes its two views of MediaMill from
columns 0 to 120 and 120 to 221 of that file, so the annotations very likely are the textual
features. Below, "rows" says how many samples this run had.

To run the check on as many rows as the paper has, put the whole file in place and run the command again. It takes the
first 20,000 rows:

```
export BIORRR_DATA=~/data          # the file is ~/data/mediamill/mediamill.arff; `biorrr data` says where it comes from
biorrr paper
```
"""


@dataclass(frozen=True)
class Sentence:
    """A sentence of the paper with the cases in which it was checked."""

    cases: tuple[Claim, ...]

    @property
    def deciding(self) -> Claim:
        """The case with the worst verdict; of several such, the one that is farthest out."""
        order = [*WORDS]
        return min(self.cases, key=lambda case: (order.index(case.verdict), -_strain(case)))

    def record(self) -> dict[str, Any]:
        """Return the entry of paper.json."""
        decides = _case(self.deciding)
        quote = {"quote": self.deciding.text, "place": self.deciding.place}
        return quote | decides | {"cases": [_case(case) for case in self.cases]}


def sentences(claims: Iterable[Claim]) -> list[Sentence]:
    """Return the sentences that the claims are about; claims with the same text are cases of one sentence."""
    grouped: dict[str, list[Claim]] = {}
    for claim in claims:
        grouped.setdefault(claim.text, []).append(claim)
    return [Sentence(tuple(cases)) for cases in grouped.values()]


def _strain(case: Claim) -> float:
    """Return how far the value lies beyond its nearest bound; negative within the bounds."""
    assert case.value is not None
    return max(case.value - case.high, case.low - case.value)


def _case(claim: Claim) -> dict[str, Any]:
    """Return what paper.json says of one case."""
    value = claim.value if claim.value is not None and math.isfinite(claim.value) else None
    return {
        "case": claim.label,
        "value": value,
        "number": claim.measured,
        "bounds": claim.bounds,
        "verdict": WORDS[claim.verdict],
        "run": claim.run,
        "reason": claim.unjudged or claim.setting,
        "numbers": ", ".join(f"{name} {one:.3g}" if isinstance(one, float) else f"{name} {one}"
                             for name, one in claim.numbers.items()),
    }  # fmt: skip


def curve_table(results: xr.Dataset) -> list[list[str]]:
    """Return the median excess of every learner of every race after some steps, as rows of text."""
    rows = []
    for heat in np.atleast_1d(results["heat"].values):
        raced = results.sel(heat=heat) if "heat" in results.dims else results
        for learner in raced["learner"].values:
            for k in raced["k"].values:
                one = raced.sel(learner=learner, k=k)
                t = one["t"].values[np.isfinite(one["t"].values)]
                if not len(t):
                    continue
                median = 100 * one["excess"].median("seed").values[: len(t)]
                at = [f"{median[np.searchsorted(t, step)]:.2g} %" if step <= t[-1] else "" for step in SHOWN_STEPS]
                rows.append([str(heat), str(learner), str(k), f"{float(one['fraction']):g}", *at])
    return rows


def markdown(record: Mapping[str, Any]) -> str:
    """Return the page, made of paper.json."""
    lines = [INTRODUCTION, _table(["the paper says", "number", "bound", "verdict"], map(_row, record["sentences"]))]
    lines += [f"{name}: {why}" for name, why in record["not run"].items()]
    lines += [record["rest"]] if record["rest"] else []
    lines += [DATA, "\n".join(f"- {name}: {said}" for name, said in record["run"].items())]
    lines += ["\n## Appendix: every case"]
    lines += [part for one in record["sentences"] for part in _details(one)]
    if record["other direction"]:
        lines += ["## Appendix: visual features predict annotations", "The paper did not run this direction."]
        lines += [part for one in record["other direction"] for part in _details(one)]
    if record["curves"]:
        heads = ["race", "learner", "k", "of the printed rates", *(f"{step:,} steps" for step in SHOWN_STEPS)]
        lines += ["## Appendix: learning curves", "Median excess over the optimum; the run folder has the figures."]
        lines += [_table(heads, record["curves"])]
    return "\n\n".join(line.strip("\n") for line in lines) + "\n"


def _row(sentence: Mapping[str, Any]) -> list[str]:
    """Return the row of a sentence in the first table."""
    why = f"<br><small>{sentence['reason']}</small>" if sentence["reason"] else ""
    case = f"<br><small>{sentence['case']}</small>" if sentence["case"] else ""
    said = f"“{sentence['quote']}”<br><small>{sentence['place']}</small>"
    return [said, f"{sentence['number']}{case}", sentence["bounds"], f"**{sentence['verdict']}**{why}"]


def _details(sentence: Mapping[str, Any]) -> list[str]:
    """Return heading and table of all cases of a sentence."""
    runs = "; ".join(dict.fromkeys(case["run"] for case in sentence["cases"] if case["run"]))
    rows = [
        [case["case"], case["number"], case["verdict"], case["numbers"]] for case in sentence["cases"]
    ]  # fmt: skip
    bounds = f" Bound: {sentence['bounds']}." if sentence["bounds"] else ""
    return [f"**“{sentence['quote']}”** {runs}.{bounds}", _table(["case", "number", "verdict", "numbers behind"], rows)]


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table in Markdown."""
    lines = [[*heads]]
    lines += [["---"] * len(lines[0]), *([cell.replace("|", "&#124;") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
