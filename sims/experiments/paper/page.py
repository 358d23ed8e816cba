"""The paper's claims on one page: paper.json as Markdown and as HTML."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from biorrr.sims.lab.claims import FAILS, HOLDS, NOT_JUDGED, NOT_TESTABLE, Claim

MARKS = {HOLDS: "✓", FAILS: "✗", NOT_JUDGED: "–", NOT_TESTABLE: "–"}
FEW = 2  # numbers that stand beside what was measured; more are shown on demand
_RANK = re.compile(r"(?:^|, )k = (\d+): ")
_HEADINGS = {
    FAILS: "What does not hold",
    HOLDS: "What holds",
    NOT_JUDGED: "What was not judged",
    NOT_TESTABLE: "What cannot be tested here",
}


@dataclass(frozen=True)
class Row:
    """Claims that differ in nothing but the rank."""

    text: str  # without the rank
    place: str
    run: str
    claims: tuple[Mapping[str, Any], ...]

    @property
    def verdict(self) -> str:
        """That of the whole row: it holds where all of its claims hold, and does not where one does not."""
        verdicts = [claim["verdict"] for claim in self.claims]
        return next((one for one in (FAILS, NOT_JUDGED, NOT_TESTABLE) if one in verdicts), HOLDS)

    @property
    def words(self) -> str:
        """The verdict, with the ranks where it is mixed."""
        failing = [claim["rank"] for claim in self.claims if claim["verdict"] == FAILS]
        if self.verdict == FAILS and len(failing) < len(self.claims):
            return f"{FAILS} at k = {', '.join(failing)}; {HOLDS} otherwise"
        return self.verdict

    @property
    def measured(self) -> list[str]:
        """What was measured, with a mark for its verdict, one entry per rank."""
        return [
            f"{MARKS[claim['verdict']]} {'k = ' + claim['rank'] + ': ' if claim['rank'] else ''}{claim['measured']}"
            + (f" ({behind(claim)})" if 0 < len(claim["numbers"]) <= FEW else "")
            for claim in self.claims
            if claim["measured"]
        ]

    @property
    def details(self) -> list[str]:
        """All numbers behind the row, one entry per rank, where they are many."""
        many = [claim for claim in self.claims if len(claim["numbers"]) > FEW]
        return [f"{'k = ' + claim['rank'] + ': ' if claim['rank'] else ''}{behind(claim)}" for claim in many]

    @property
    def bounds(self) -> str:
        """The bounds, which all ranks share."""
        return "; ".join(dict.fromkeys(claim["bounds"] for claim in self.claims if claim["bounds"]))

    @property
    def reasons(self) -> list[str]:
        """Reasons why there is no verdict."""
        return [*dict.fromkeys(filter(None, (claim.get("reason", "") for claim in self.claims)))]


def behind(claim: Mapping[str, Any]) -> str:
    """The numbers behind a claim, readable."""

    def readable(name: str, value: Any) -> str:
        if not isinstance(value, float):
            return str(value)
        return f"{100 * value:.2g} %" if "excess" in name else f"{value:.3g}"

    return ", ".join(f"{name} {readable(name, value)}" for name, value in claim["numbers"].items())


def as_record(claims: Sequence[Claim], facts: Mapping[str, Any]) -> dict[str, Any]:
    """What paper.json holds: facts about the run, how many claims hold, and every claim."""
    verdicts = [claim.verdict for claim in claims]
    return {
        **facts,
        "verdicts": {verdict: verdicts.count(verdict) for verdict in MARKS},
        "claims": [
            claim.record() | {"measured": claim.measured, "bounds": claim.bounds, "numbers": dict(claim.numbers)}
            for claim in claims
        ],
    }


def rows(record: Mapping[str, Any]) -> list[Row]:
    """The claims of paper.json, those that differ in nothing but the rank together."""
    grouped: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
    for claim in record["claims"]:
        rank = _RANK.search(claim["claim"])
        # "k = 4: it is so" and "MNIST, k = 1: it is so" without the rank
        text = re.sub(r"(^|, )k = \d+: ", lambda found: "" if found.start() == 0 else ": ", claim["claim"])
        key = text, claim.get("place", ""), claim.get("run", "")
        grouped.setdefault(key, []).append({**claim, "rank": rank.group(1) if rank else ""})
    return [Row(*key, tuple(claims)) for key, claims in grouped.items()]


def counts(record: Mapping[str, Any]) -> str:
    """How many claims hold, in words."""
    verdicts = record["verdicts"]
    said = [f"{verdicts[HOLDS]} hold", f"{verdicts[FAILS]} do not hold"]
    said += [f"{verdicts[NOT_JUDGED]} were not judged"] if verdicts[NOT_JUDGED] else []
    said += [f"{verdicts[NOT_TESTABLE]} cannot be tested here"]
    return f"Of {len(record['claims'])} claims {', '.join(said[:-1])} and {said[-1]}."


def markdown(record: Mapping[str, Any]) -> str:
    """The page as Markdown, failures first."""
    lines = [
        "# The paper, claim by claim",
        "",
        f"What `biorrr paper` found for every numeric claim, figure and table of Golkar et al. (NeurIPS 2020) and its "
        f"supplement. {counts(record)} This page is made from its output, `paper.json`, and not edited by hand.",
        "",
        "Every claim is a number with bounds that stand in the code and were fixed before the run. They are two-sided "
        'where the claim is ("comparable", "match", "within variance": neither needs more than twice what the other '
        "does, or ends more than 2 % of the optimum away, 5 % for pictures), and none grows with the noise. A claim "
        "about speed must hold at 5 % and at 1 % above the optimum. Numbers are means or medians over seeds, ± one "
        "standard deviation.",
        "",
    ]
    lines += [f"- {name}: {value}" for name, value in record["run"].items()] + [""]
    for verdict, heading in _HEADINGS.items():
        chosen = [row for row in rows(record) if row.verdict == verdict]
        if not chosen:
            continue
        lines += [f"## {heading}", "", "| the paper's claim | measured | bound |", "|---|---|---|"]
        for row in chosen:
            claim = f"**{row.words}:** {row.text}<br><small>{'; '.join(filter(None, (row.place, row.run)))}</small>"
            why = "".join(f"<br>*{reason}*" for reason in row.reasons)
            cells = (claim + why, "<br>".join(row.measured), row.bounds)
            lines.append(f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |")
        lines.append("")
    return "\n".join(lines)


def webpage(record: Mapping[str, Any], figures: Mapping[str, str]) -> str:
    """The page as HTML, failures first, with the figures (by file name, what each shows) that lie beside it."""

    def cell(text: str) -> str:
        return f"<td>{text}</td>"

    body = [f"<h1>The paper, claim by claim</h1><p>{html.escape(counts(record))}</p><ul>"]
    body += [f"<li>{html.escape(name)}: {html.escape(str(value))}</li>" for name, value in record["run"].items()]
    body.append("</ul>")
    for verdict, heading in _HEADINGS.items():
        chosen = [row for row in rows(record) if row.verdict == verdict]
        if not chosen:
            continue
        body.append(f"<h2>{heading}</h2><table><tr><th>the paper's claim</th><th>measured</th><th>bound</th></tr>")
        for row in chosen:
            where = html.escape("; ".join(filter(None, (row.place, row.run))))
            why = "".join(f"<p><em>{html.escape(reason)}</em></p>" for reason in row.reasons)
            claim = f"<strong>{html.escape(row.words)}:</strong> {html.escape(row.text)}<br><small>{where}</small>{why}"
            measured = "<br>".join(map(html.escape, row.measured))
            if row.details:
                measured += f"<details><summary>numbers</summary>{'<br>'.join(map(html.escape, row.details))}</details>"
            body.append(f"<tr>{cell(claim)}{cell(measured)}{cell(html.escape(row.bounds))}</tr>")
        body.append("</table>")
    body.append("<h2>Figures</h2>" if figures else "")
    for name, words in figures.items():
        caption = f"<figcaption>{html.escape(words)}</figcaption>"
        body.append(f'<figure><img src="{html.escape(name)}" alt="{html.escape(words)}">{caption}</figure>')
    style = (
        "body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:auto;padding:1rem}td,th{text-align:left;"
        "vertical-align:top;padding:.4rem .6rem;border-bottom:1px solid #ccc}table{border-collapse:collapse;width:100%}"
        "img{max-width:100%}td:nth-child(2){min-width:16rem}"
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>The paper, claim by claim</title>'
        f"<style>{style}</style></head><body>{''.join(body)}</body></html>\n"
    )
