"""The paper, sentence by sentence: claims grouped by sentence, and the page that is made of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from biorrr.sims.lab import Claim
from biorrr.sims.lab.claims import BETTER, FAILS, HOLDS, NOT_JUDGED, OTHER_SETTING, UNDECIDED
from biorrr.sims.lab.findings import plain

# The one that decides a sentence first.
VERDICTS = (FAILS, UNDECIDED, OTHER_SETTING, NOT_JUDGED, BETTER, HOLDS)
INTRODUCTION = """# The paper, sentence by sentence

`biorrr paper` checks what Golkar et al. (NeurIPS 2020) and its supplement say. The table quotes each sentence in a few
words and gives one number: that of its worst case (data set, s, rank). The verdict says in how many cases it holds, where
they differ. The appendix has all cases.

- **holds**: the number lies within its bound. **Better than claimed**: it lies beyond the bound on the good side.
- **does not hold**: it lies beyond the bound on the bad side.
- **undecided**: the bound lies within the scatter of the number.
- **other setting**: data, rows or rates differ from the paper's in a way that decides the sentence.

Numbers are medians over seeds. Behind them, in brackets, stands the 95 % confidence interval of the median (the range,
for up to five seeds). Bounds are ours where the paper prints none. They stand in the code; those of *competitive* and
of apical drive were set after earlier runs had been seen. They are two-sided where the sentence is: *comparable* and
*match* mean at most a factor of 2, or 2 % of the optimum (5 % for pictures). *Within variance* means that the interval
of the difference includes 0; the number is the distance of the interval from 0. Apical drive is
judged by what it adds to the excess of the same plateaus without it, seed by seed. *Competitive* means
an excess over the optimum of at most 5 % more than the best rival's. A learner has arrived when its excess stays within
5 %. CCALin runs twice, with the length of its iterations that needs the fewest of them and with the one that needs the
fewest passes through the data; the better counts. All learners are compiled alike, and times are processor times on one thread. Where seeds
diverge at the printed rates, the appendix says how many, and the largest fraction of the rates at which none diverges
is a case of its own.
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


def sentences(claims: Iterable[Claim]) -> list[list[Claim]]:
    """Return the cases of each sentence, those with the same text, the one that decides first.

    That is the case with the worst verdict; of several such, the one that is farthest out.
    """
    grouped: dict[str, list[Claim]] = {}
    for claim in claims:
        grouped.setdefault(claim.text, []).append(claim)

    def urgency(case: Claim) -> tuple[int, float]:
        """Return the rank of the verdict, and how far the value lies within its nearest bound."""
        assert case.value is not None
        return VERDICTS.index(case.verdict), min(case.high - case.value, case.value - case.low)

    return [sorted(cases, key=urgency) for cases in grouped.values()]


def record(cases: list[Claim]) -> dict[str, Any]:
    """Return the entry of paper.json for a sentence."""
    told = [
        {
            "case": case.label,
            "value": plain("value", case.value),
            "number": case.measured,
            "bounds": case.bounds,
            "verdict": case.verdict,
            "run": case.run,
            "reason": case.unjudged or case.setting,
            "numbers": ", ".join(
                f"{name} {one:.3g}" if isinstance(one, float) else f"{name} {one}"
                for name, one in case.numbers.items()
            ),
        }
        for case in cases
    ]
    return {"quote": cases[0].text, "place": cases[0].place, "cases": told}


def markdown(found: Mapping[str, Any]) -> str:
    """Return the page, made of paper.json."""
    lines = [
        INTRODUCTION,
        _table(["the paper says", "number", "bound", "verdict"], map(_row, found["sentences"])),
    ]
    lines += [f"{name}: {why}" for name, why in found["not run"].items()]
    lines += [found["rest"]] if found["rest"] else []
    lines += [DATA, "\n".join(f"- {name}: {said}" for name, said in found["run"].items())]
    lines += [
        "\n## Appendix: every case",
        *(part for one in found["sentences"] for part in _details(one)),
    ]
    return "\n\n".join(line.strip("\n") for line in lines) + "\n"


def _row(sentence: Mapping[str, Any]) -> list[str]:
    """Return the row of a sentence in the first table: the worst case, and the verdicts of all."""
    said, case = f"“{sentence['quote']}”{_small(sentence['place'])}", sentence["cases"][0]
    number = f"{case['number']}{_small(case['case'])}"
    verdicts = Counter(case["verdict"] for case in sentence["cases"]).most_common()
    verdict = (
        f"**{case['verdict']}**"
        if len(verdicts) == 1
        else "; ".join(f"**{one}** in {n} of {len(sentence['cases'])} cases" for one, n in verdicts)
    )
    return [said, number, case["bounds"], f"{verdict}{_small(case['reason'])}"]


def _small(text: str) -> str:
    """Return a second line in small print, if there is any text."""
    return f"<br><small>{text}</small>" if text else ""


def _details(sentence: Mapping[str, Any]) -> list[str]:
    """Return heading and table of all cases of a sentence."""
    cases = sentence["cases"]
    runs = "; ".join(dict.fromkeys(case["run"] for case in cases if case["run"]))
    bounds = f" Bound: {cases[0]['bounds']}." if cases[0]["bounds"] else ""
    rows = [[case["case"], case["number"], case["verdict"], case["numbers"]] for case in cases]
    return [
        f"**“{sentence['quote']}”** {runs}.{bounds}",
        _table(["case", "number", "verdict", "numbers behind"], rows),
    ]


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    below = [[cell.replace("|", "&#124;") for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in [heads, ["---"] * len(heads), *below])
