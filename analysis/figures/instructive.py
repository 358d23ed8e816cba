"""Dendritic teaching signals in figures: answers of circuits, controls and neurons, power and
false-positive rates.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from biorrr.analysis.figures.style import COLOURS, THEORY, Dataset, axes_of, styled, ticks_at
from biorrr.analysis.instructive import LEVEL, Answer

_WORDS = {
    "circuit": "circuit that learns",
    "broadcast": "scalar broadcast",
    "shuffled": "shuffled across neurons",
    "soma": "soma + noise",
}


@styled
def plot_answers(results: Dataset, *, ax=None) -> np.ndarray:
    """Draw effect sizes of circuits and controls, one axes per question.

    Parameters
    ----------
    results
        ``effect`` and ``yes`` (example, carries, question), and ``must`` (carries, question): what
        the answer must be, NaN where it is not known; ``words`` of each question.
    """
    effects, yes = (
        results[name].transpose("example", "carries", "question").values
        for name in ("effect", "yes")
    )
    questions = results["words"].values
    kinds = [str(one) for one in results["carries"].values]
    axes = axes_of(
        ax, 1, len(questions), "one per question", figsize=(2.5 * len(questions), 2.6), sharey=True
    )[0]
    scatter = 0.3 * (np.arange(len(effects)) / max(1, len(effects) - 1) - 0.5)
    for q, (panel, words) in enumerate(zip(axes, questions, strict=True)):
        panel.axvline(0, color="0.85", linewidth=0.8, zorder=0)
        for row, carries in enumerate(kinds):
            colour = COLOURS["proximal"] if carries == "circuit" else "0.35"
            effect, said = effects[:, row, q], yes[:, row, q] == 1
            known = np.isfinite(results["must"].sel(carries=carries).values[q])
            panel.plot(effect[said], -row + scatter[said], "o", color=colour, markersize=2.5)
            panel.plot(
                effect[~said],
                -row + scatter[~said],
                "o",
                color=colour,
                markersize=2.5,
                fillstyle="none",
                markeredgewidth=0.6,
            )
            panel.text(
                1.02,
                -row,
                f"{np.mean(yes[:, row, q]):.0%}",
                transform=panel.get_yaxis_transform(),
                fontsize=7,
                va="center",
                fontweight="bold" if known else "normal",
            )
        panel.set(xlabel="effect", title=words)
    axes[0].set_yticks(-np.arange(len(kinds)), [_WORDS.get(carries, carries) for carries in kinds])
    return axes


@styled
def plot_power(results: Dataset, *, ax=None) -> np.ndarray:
    """Draw power and false-positive rates against imaging noise, one axes per question.

    Parameters
    ----------
    results
        ``power`` (noise, question): share of yes in circuits that learn; ``error_rate``
        (question,): share of yes under the null hypothesis in as many experiments as the attribute
        ``experiments`` says, at the ``imaging_noise``; ``words`` of each question.
    """
    from scipy.stats import binomtest

    questions, noises = results["words"].values, results["noise"].values
    noise, experiments = results.attrs["imaging_noise"], results.attrs["experiments"]
    axes = axes_of(
        ax, 1, len(questions), "one per question", figsize=(2.4 * len(questions), 2.5), sharey=True
    )[0]
    for q, (panel, words) in enumerate(zip(axes, questions, strict=True)):
        one = results.isel(question=q)
        panel.axhline(LEVEL, **(THEORY | {"linestyle": "-", "linewidth": 0.8}))
        panel.plot(
            noises, one["power"], "o-", color=COLOURS["proximal"], markersize=3, label="power"
        )
        rate = float(one["error_rate"])
        if np.isfinite(rate):
            found = binomtest(round(rate * experiments), experiments).proportion_ci()
            panel.errorbar(
                [noise],
                [rate],
                [[rate - found.low], [found.high - rate]],
                fmt="o",
                color="black",
                markersize=3,
                linewidth=1,
                zorder=5,
                label="false-positive rate",
            )
        panel.set(xscale="log", xlabel="imaging noise / signal", title=words, ylim=(-0.03, 1.03))
        ticks_at(panel, noises)
    axes[0].set_ylabel("share that says yes")
    axes[0].legend(fontsize=7, loc="center left")
    return axes


@styled
def plot_neurons(answers: Mapping[str, Answer], *, ax=None) -> np.ndarray:
    """Draw the effect in each neuron, one axes per question.

    Parameters
    ----------
    answers
        By question in words.
    """
    axes = axes_of(ax, 1, len(answers), "one per question", figsize=(2.5 * len(answers), 2.5))[0]
    for panel, (words, answer) in zip(axes, answers.items(), strict=True):
        number = np.arange(1, len(answer.neurons) + 1)
        panel.axhspan(answer.low, answer.high, color="0.9", zorder=0)
        panel.axhline(answer.effect, color=COLOURS["proximal"], linewidth=1)
        panel.axhline(0, color="0.7", linewidth=0.8, zorder=0)
        panel.plot(number, answer.neurons, "o", color="black", markersize=3.5)
        panel.set(xlabel="neuron", title=f"{words}: {'yes' if answer.yes else 'no'}")
    axes[0].set_ylabel("effect")
    return axes
