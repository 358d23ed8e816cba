"""Rates of the answers over all simulated experiments: power, false-positive rates, and the claims
on them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from biorrr.sims.experiments.instructive.imaged_circuits import DENDRITES
from biorrr.sims.experiments.instructive.own_recording import ASKED, ORIGIN
from biorrr.sims.experiments.instructive.simulated_experiments import NOISES
from biorrr.sims.lab import PERCENT, Claim, Quantity
from biorrr.sims.lazy import instructive, np, xr

# Bounds, fixed beforehand. Of 500 experiments 5 % err, give or take 1 %; of 40, give or take 3.4 %.
BOUNDS = {
    True: (0.9, math.inf),
    False: (-math.inf, 0.15),
}  # of the share of yes, where it must be yes or no
FALSE_POSITIVE_RATE = (
    -math.inf,
    0.08,
)  # (c) must reject two null hypotheses, so its rate is below 5 %

Results = Sequence[Mapping[str, Any]]


def join(settings: Any, null: Results, controls: Results) -> xr.Dataset:
    """Return the answers of all experiments, and the rates of yes over them."""
    answer, power = (np.stack([one[name] for one in controls]) for name in ("answer", "power"))
    under_null = np.stack([one["yes"] for one in null])
    diverged = np.isnan(power).any(axis=(1, 2))
    # A withheld answer, NaN, is no yes.
    yes = np.where(diverged[:, None, None], np.nan, answer[..., 3] <= instructive.LEVEL)
    asked = ("example", "carries", "question")
    must = [[float(one.must.get(question, math.nan)) for question in ASKED] for one in DENDRITES]
    return xr.Dataset(
        {
            **{
                name: (asked, answer[..., i])
                for i, name in enumerate(("effect", "low", "high", "p"))
            },
            "yes": (asked, yes),
            "must": (asked[1:], must),
            "power": (("noise", "question"), power.mean(axis=0)),
            "error_rate": ("question", under_null.mean(axis=0)),
        },
        {
            "carries": [one.name for one in DENDRITES],
            "question": list(ASKED),
            "noise": list(NOISES),
            "example": range(settings.seed, settings.seed + len(answer)),
            "words": ("question", list(ASKED.values())),
        },
        {"experiments": settings.experiments, "imaging_noise": settings.noise},
    )


def summary(settings: Any, results: xr.Dataset) -> list[Quantity]:
    """Return the shares of yes, mean effects and false-positive rates."""
    setup = {
        "task": settings.task.name,
        "k": settings.k,
        "trials": settings.trials,
        "noise": settings.noise,
        "experiments": settings.experiments,
        "examples": results.sizes["example"],
        "engine": settings.engine,
    }
    found = [Quantity(name, value) for name, value in setup.items()]
    for dendrite in DENDRITES:
        for question, asked in ASKED.items():
            one = results.sel(carries=dendrite.name, question=question)
            must = dendrite.must.get(question)
            words = f"{asked[:3]}{'' if must is None else ' (must be yes)' if must else ' (must be no)'}"
            found += [
                Quantity(
                    f"{dendrite.name}_{question}_yes",
                    float(one["yes"].mean(skipna=False)),
                    PERCENT,
                    words,
                    bound=None if must is None else BOUNDS[must],
                    row=f"says yes: {dendrite.name}",
                ),
                Quantity(f"{dendrite.name}_{question}_effect", float(one["effect"].mean())),
            ]
    for question, asked in ASKED.items():
        rate = float(results["error_rate"].sel(question=question))
        found.append(
            Quantity(
                f"error_rate_{question}",
                rate,
                PERCENT,
                asked[:3],
                bound=FALSE_POSITIVE_RATE,
                row="false-positive rate",
            )
        )
    return [*found, Quantity("error_rate_max", float(results["error_rate"].max()), PERCENT), ORIGIN]


def judge(found: Mapping[str, Quantity]) -> list[Claim]:
    """Check the answers that are known, by the question that is answered worst, and the
    false-positive rates.
    """
    claims = []
    for dendrite in DENDRITES:
        for wanted, words, worst in ((True, "yes", np.min), (False, "no", np.max)):
            known = {
                q: found[f"{dendrite.name}_{q}_yes"]
                for q, must in dendrite.must.items()
                if must is wanted
            }
            if known:
                value = float(
                    worst([one.value for one in known.values()])
                )  # NaN where a circuit diverged: in no bounds
                asked = (
                    "all four questions" if len(known) == 4 else ", ".join(ASKED[q] for q in known)
                )
                text = f"{dendrite.words}: the answer is {words} to {asked}"
                claims.append(Claim.about(next(iter(known.values())), text, value=value))
    return claims + [
        Claim.about(
            found[f"error_rate_{q}"],
            f"the false-positive rate of {asked} is at most 5 %, up to sampling error",
        )
        for q, asked in ASKED.items()
    ]
