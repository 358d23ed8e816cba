"""The printed output of an experiment: a short table, and the claims it has checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from biorrr.sims.lab.claims import Claim


def print_table(title: str, rows: Mapping[str, object]) -> None:
    """Print ``rows``, label beside value, below a title; numbers to four digits, what is not known as a dash."""
    width = max(map(len, rows), default=0)
    print(title)
    for label, value in rows.items():
        text = "-" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
        print(f"  {label:{width}}  {text}")


def print_claims(title: str, claims: Sequence[Claim]) -> None:
    """Print each claim with its verdict and the numbers behind it below ``title``, if there are any."""
    if claims:
        print(title)
    for claim in claims:
        verdict = claim.verdict.upper() if claim.holds is False else claim.verdict
        print(f"  {verdict}: {f'{claim.label}: ' if claim.label else ''}{claim.text}")
        behind = ", ".join(f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}" for k, v in claim.numbers.items())
        measured = claim.measured and f"{claim.measured}, bound: {claim.bounds}"
        reason = claim.untestable or claim.unjudged or claim.setting
        print(f"      {'; '.join(filter(None, (measured, behind, reason)))}")
