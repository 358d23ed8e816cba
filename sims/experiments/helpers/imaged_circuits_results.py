"""What is known of imaged circuits and controls once all experiments are done: shares, error rates, verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from biorrr.sims.experiment import Found
from biorrr.sims.experiments.helpers.imaged_circuits import MUST, NULL
from biorrr.sims.lab.claims import Claim
from biorrr.sims.lazy import np, xr

ASKED = {
    "specific": "(a) specific to the neuron",
    "informative": "(b) informative of the error",
    "signed": "(c) signed by causal role",
    "predictive": "(d) predictive of change",
}
NOISES, SIZES = (0.5, 1.0, 2.0, 4.0), (4, 6, 8)  # noise over signal, and neurons imaged, of which power is measured
ORIGIN = "written from the published abstract of Francioni et al. (Nature 2026); it has not seen those data"
# Bounds, fixed beforehand. Of 500 experiments 5 % err, give or take 1 %; of 40, give or take 3.4 %.
FOUND, MISTAKEN = 0.9, 0.15  # share of the examples in which the answer must be yes at least, and may be yes at most
ERROR_RATE = (0.02, 0.08)


def plain(carries: str) -> str:
    """Name of what dendrites carry, as part of a key."""
    return carries.lower().replace(" ", "_")


def joined(settings: Any, found: Found) -> xr.Dataset:
    """All answers of all experiments."""
    from biorrr.analysis.instructive import LEVEL

    def together(kind: str, name: str) -> np.ndarray:
        return np.concatenate([part[name] for key, part in found.items() if key.startswith(f"{kind}-")])

    answer, yes, chance = together("controls", "answer"), together("power", "yes"), together("chance", "yes")
    said = np.where(np.isnan(answer[..., 3]), np.nan, answer[..., 3] <= LEVEL)
    asked = ("example", "carries", "question")
    share = ("noise", "neurons", "question")
    return xr.Dataset(
        {
            **{name: (asked, answer[..., i]) for i, name in enumerate(("effect", "low", "high", "p"))},
            "yes": (asked, said),
            "power": (share, yes[:, 0].mean(axis=0)),
            "mistaken": (share, yes[:, 1].mean(axis=0)),
            "error_rate": ("question", np.nanmean(chance[..., 0], axis=0)),
            "error_rate_any_neuron": ("question", np.nanmean(chance[..., 1], axis=0)),
        },
        {
            "carries": list(MUST), "question": list(ASKED), "noise": list(NOISES), "neurons": list(SIZES),
            "example": range(settings.seed, settings.seed + len(answer)),
        },
    )  # fmt: skip


def summary(settings: Any, results: xr.Dataset) -> dict[str, Any]:
    """Final numbers: shares that say yes, mean effects and intervals, error rates."""
    numbers: dict[str, Any] = {
        "task": settings.task.name, "k": settings.k, "trials": settings.trials, "noise": settings.noise,
        "experiments": settings.experiments, "examples": results.sizes["example"], "engine": settings.engine,
    }  # fmt: skip
    for carries in MUST:
        for question in ASKED:
            one = results.sel(carries=carries, question=question)
            numbers[f"{plain(carries)}_{question}_yes"] = float(one["yes"].mean())
            numbers[f"{plain(carries)}_{question}_effect"] = float(one["effect"].mean())
    for question in ASKED:
        numbers[f"error_rate_{question}"] = float(results["error_rate"].sel(question=question))
        numbers[f"error_rate_any_neuron_{question}"] = float(results["error_rate_any_neuron"].sel(question=question))
    numbers["error_rate_max"] = float(results["error_rate"].max())
    return numbers | {"origin": ORIGIN}


def check_claims(settings: Any, numbers: Mapping[str, Any]) -> list[Claim]:
    """What must be found where the answers are known, and whether it is."""
    claims = []
    run = f"{numbers['examples']} experiments on {numbers['task']}, {settings.trials} trials each"
    words = {
        "circuit": "a circuit that learns", "broadcast": "a scalar broadcast signal",
        "shuffled": "plateaus shuffled across neurons", "soma": "dendrites that repeat the soma, with noise",
        "frozen Q": "a circuit whose interneuron synapses are frozen",
    }  # fmt: skip
    for carries, must in MUST.items():
        for wanted, bounds in ((True, {"low": FOUND}), (False, {"high": MISTAKEN})):
            shares = {q: numbers[f"{plain(carries)}_{q}_yes"] for q, answer in must.items() if answer is wanted}
            if not shares:
                continue
            worst = float(
                (np.min if wanted else np.max)([*shares.values()])
            )  # NaN where a circuit diverged: in no bounds
            asked = "all four questions" if len(shares) == 4 else ", ".join(ASKED[q] for q in shares)
            claims.append(
                Claim(
                    text=f"{words[carries]}: the answer is {'yes' if wanted else 'no'} to {asked}",
                    run=run, value=worst, unit="%", **bounds,  # type: ignore[arg-type]
                    numbers={f"share of yes to {ASKED[q][:3]}": f"{share:.1%}" for q, share in shares.items()},
                )
            )  # fmt: skip
    for question, asked in ASKED.items():
        claims.append(
            Claim(
                text=f"where chance decides whether it is {asked[4:]}, 5 % of experiments say yes",
                run=f"{settings.experiments} experiments; dendrites carry: {NULL[question]}",
                value=numbers[f"error_rate_{question}"],
                low=ERROR_RATE[0],
                high=ERROR_RATE[1],
                unit="%",
                numbers={"any neuron on its own": f"{numbers[f'error_rate_any_neuron_{question}']:.1%}"},
            )
        )
    return claims
