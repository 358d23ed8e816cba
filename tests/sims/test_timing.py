"""``biorrr timing``: what each rule makes of time, and circuits that are caught with other rules."""

import json

import numpy as np
import pytest
import xarray as xr

from biorrr.analysis import eligibility_trace, fit_time_constants, pairing_curve
from biorrr.circuit import Microcircuit
from biorrr.models import Eligibility
from biorrr.sims import main
from biorrr.sims.data import load
from biorrr.sims.experiments import timing

DATA = "synthetic:samples=200,m=5,n=4,latents=3"


def problem(monkeypatch, **settings):
    """A problem on the numpy engine, with a single pairing and few lags."""
    monkeypatch.setattr(timing, "PAIRINGS", 1)
    monkeypatch.setattr(timing, "LAG_STEP", 0.5)
    monkeypatch.setattr(timing, "PAUSE", 12.0)
    made = timing.TimingSettings(data=DATA, engine="numpy", **settings)
    return timing.EXPERIMENT.prepare(made, load(DATA))


def recovered(change):
    span = timing.PULSE_INTERVAL * (timing.PULSES - 1)
    return fit_time_constants(timing.lags(), change, span + timing.TICK, timing.PLATEAU)


def test_pairings_follow_the_traces(monkeypatch):
    change = timing.EXPERIMENT.run_part(problem(monkeypatch), ("lag", "traces"), {"progress": False})["change"]
    theory = pairing_curve(timing.lags(), timing.pulse_times(), timing.PLATEAU, 1.31, 0.69)
    np.testing.assert_allclose(change, theory, rtol=0.02)
    assert recovered(change) == pytest.approx((1.31, 0.69), rel=0.01)


def slow_traces(**arguments):
    """A circuit of the user's whose traces are slower than the settings say."""
    departures = [Eligibility(2.0, 0.69) if isinstance(d, Eligibility) else d for d in arguments.pop("departures")]
    return Microcircuit(departures=departures, **arguments)


def test_a_circuit_with_other_traces_is_caught(monkeypatch):
    monkeypatch.setattr("biorrr.sims.lab.circuits.circuit_function", lambda named: slow_traces)
    asked = problem(monkeypatch, circuit="own.py:slow_traces")
    change = timing.EXPERIMENT.run_part(asked, ("lag", "traces"), {"progress": False})["change"]
    results = xr.Dataset(
        {"change": (("rule", "lag"), [change, change, -change])},
        {"rule": ["traces", "weak", "strong"], "lag": timing.lags()},
    )
    numbers = timing.lag_numbers(asked.settings, results)
    assert numbers["tau_x_fitted"] == pytest.approx(2.0, rel=0.02)
    assert verdicts(numbers)["recovers both"] is False


GOOD = {
    "time_constant_error": 0.001, "tau_x_fitted": 1.31, "tau_plateau_fitted": 0.69,
    "weak_change": 0.4, "strong_change": -0.3, "angle_traces": 6.0, "angle_plain_late": 70.0,
    "field_place_error": 0.1, "field_place": 56.0, "predicted_place": 56.1, "field_shift": 7.0,
    "field_width_error": 0.01, "field_width": 82.0, "predicted_width": 82.5, "plain_field_width": 69.0,
}  # fmt: skip


def verdicts(numbers):
    claims = timing.check_claims(timing.TimingSettings(), GOOD | numbers)
    ends = ("recovers both", "weak ones grow", "delay of instruction", "ends learning", "predict it", "traces predict")
    return {end: claim.holds for claim in claims for end in ends if claim.text.endswith(end)}


@pytest.mark.parametrize(
    ("wrong", "caught"),
    [
        ({"time_constant_error": 0.06}, "recovers both"),
        ({"time_constant_error": np.inf}, "recovers both"),
        ({"strong_change": 0.1}, "weak ones grow"),
        ({"angle_traces": 30.0}, "delay of instruction"),
        ({"angle_plain_late": 20.0}, "ends learning"),
        ({"field_place_error": 8.0}, "predict it"),
        ({"field_width_error": 0.16}, "traces predict"),
    ],
)
def test_every_claim_can_fail(wrong, caught):
    assert set(verdicts({}).values()) == {True}
    found = verdicts(wrong)
    assert [claim for claim, holds in found.items() if not holds] == [caught]


@pytest.mark.slow
def test_late_instruction_is_learned_with_traces_alone():
    asked = timing.EXPERIMENT.prepare(
        timing.TimingSettings(data=DATA, engine="cpp", samples=400_000, k=1, trace=2.0), load(DATA)
    )
    angles = {
        rule: timing.EXPERIMENT.run_part(asked, ("delay", (1, rule, 0)), {"progress": False})["angle"]
        for rule in ("plain", "traces")
    }
    assert angles["traces"] < timing.FOUND
    assert angles["plain"] > 2 * timing.FOUND


def test_the_plateau_of_a_lap_is_where_it_should_be():
    positions, X = timing.lap()
    plateau = timing.plateau_at(60.0)[:, 0]
    assert positions[plateau > 0][[0, -1]] == pytest.approx([60.0, 60.0 + 0.29 * timing.SPEED], abs=0.3)
    assert plateau.sum() == round(timing.PLATEAU / timing.TICK)
    assert eligibility_trace(X, 1.0, timing.TICK).shape == X.shape


@pytest.mark.slow
def test_command_fills_a_folder(tmp_path, capsys):
    out = tmp_path / "out"
    args = ["--data", DATA, "--engine", "cpp", "--quick", "--delays", "0", "--delays", "2", "--seeds", "1"]
    assert main.run(["timing", *args, "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "instruction 2 samples late" in printed
    assert "not judged" in printed
    files = {"config.toml", "run.nc", "summary.json", "inventory.json", "lags.png", "delays.png", "field.png"}
    assert {path.name for path in out.iterdir()} == files
    summary = json.loads((out / "summary.json").read_text())
    assert summary["tau_x_fitted"] == pytest.approx(1.31, rel=0.01)
    assert summary["field_place"] == pytest.approx(summary["predicted_place"], abs=0.1)
    assert summary["field_shift"] > 5  # the input's trace is the longer one: the field moves backwards
    assert abs(summary["plain_field_place"] - timing.PLACES[0] - 0.5 * timing.PLATEAU * timing.SPEED) < 1


def test_mistyped(capsys):
    assert main.run(["timing", "--tau-x", "9"]) == 2
    assert "tau-x: must lie in [0.05, 3]" in capsys.readouterr().err
