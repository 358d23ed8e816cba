"""``biorrr timing``: what each rule makes of time, and circuits that are caught with other
rules."""

import json

import numpy as np
import pytest
import xarray as xr

from biorrr.analysis import ExactSolution, fit_time_constants, learned_weights, pairing_curve
from biorrr.circuit import Microcircuit
from biorrr.models import Eligibility
from biorrr.sims import main
from biorrr.sims.data import load
from biorrr.sims.experiments.timing import (
    CLAIMS,
    FOUND,
    PLACE,
    PLATEAU,
    PULSE_INTERVAL,
    PULSES,
    RULES,
    SPEED,
    TICK,
    TimingSettings,
    about_delays,
    about_fields,
    about_lags,
    lags,
    lap,
    learn_late,
    pair,
    plateau,
    pulse_times,
    theory,
)
from biorrr.sims.lab import Claim, Task

DATA = '{name="synthetic", samples=200, m=5, n=4, latents=3}'


@pytest.fixture
def few_lags(monkeypatch):
    """A single pairing and few lags."""
    for name, value in (("REPEATS", 1), ("LAG_STEP", 0.5), ("PAUSE", 12.0)):
        monkeypatch.setattr(f"biorrr.sims.experiments.timing.{name}", value)


def job(**settings):
    return Task(TimingSettings(data=DATA, **settings))


def test_pairings_follow_the_traces(few_lags):
    dim, change = pair(job(engine="numpy"), "traces")["change"]
    assert dim == "lag"
    expected = pairing_curve(lags(), pulse_times(), PLATEAU, 1.31, 0.69)
    np.testing.assert_allclose(change, expected, rtol=0.02)
    span = PULSE_INTERVAL * (PULSES - 1)
    assert fit_time_constants(lags(), change, span + TICK, PLATEAU) == pytest.approx(
        (1.31, 0.69), rel=0.01
    )


def slow_traces(**arguments):
    """A circuit of the user's whose traces are slower than the settings say."""
    departures = [
        Eligibility(2000, 690) if isinstance(d, Eligibility) else d
        for d in arguments.pop("departures")
    ]
    return Microcircuit(departures=departures, **arguments)


def test_a_circuit_with_other_traces_is_caught(few_lags, monkeypatch):
    monkeypatch.setattr("biorrr.sims.lab.own_circuits.circuit_function", lambda named: slow_traces)
    asked = job(engine="numpy", circuit="own.py:slow_traces")
    _, change = pair(asked, "traces")["change"]
    results = xr.Dataset({"change": (("rule", "lag"), [change])}, {"rule": ["traces"]})
    found = {one.name: one for one in about_lags(results, asked.settings)}
    assert found["tau_x_fitted"].value == pytest.approx(2.0, rel=0.02)
    assert Claim.about(found["time_constant_error"], "").holds is False


def judged(tau_x=1.31, with_traces=6.0, without=70.0, moved=0, narrowed=1.0):
    """Verdicts on what circuits might have found, by the quantity that decides: by default what
    theory predicts.
    """
    settings = TimingSettings(data=DATA, delays=(0, 2), seeds=1)
    curve = (
        pairing_curve(lags(), pulse_times(), PLATEAU, tau_x, 0.69)
        if tau_x
        else np.zeros(len(lags()))
    )
    positions, X = lap()
    field = X @ learned_weights(X, plateau()[:, 0], TICK, settings.tau_x, settings.tau_plateau)
    field = np.roll(
        field.max() * (field / field.max()) ** narrowed,
        round(moved / (positions[1] - positions[0])),
    )
    angles = [[[without]] * 2, [[with_traces]] * 2]
    results = theory(settings.tau_x, settings.tau_plateau).assign(
        change=(("rule", "lag"), [curve] * 2),
        angle=(("rule", "delay", "seed"), angles),
        excess=(("rule", "delay", "seed"), np.full((2, 2, 1), 0.1)),
        field=(("rule", "position"), [field] * 2),
    )
    results = results.assign_coords(delay=[0, 2])
    quantities = [*about_lags(results, settings), *about_delays(results), *about_fields(results)]
    return {one.name: Claim.about(one, "").holds for one in quantities if one.name in CLAIMS}


@pytest.mark.parametrize(
    ("wrong", "caught"),
    [
        ({"tau_x": 1.06 * 1.31}, "time_constant_error"),
        ({"tau_x": 0}, "time_constant_error"),  # nothing to fit
        ({"with_traces": 30.0}, "angle_traces_max"),
        ({"without": 20.0}, "angle_plain_late"),
        ({"moved": 8.0}, "field_place_error"),
        ({"narrowed": 1.4}, "field_width_error"),
    ],
)
def test_every_claim_can_fail(wrong, caught):
    assert judged() == dict.fromkeys(CLAIMS, True)
    assert [claim for claim, holds in judged(**wrong).items() if not holds] == [caught]


def test_angles_are_means_over_seeds_and_the_worst_of_all_delays():
    rule, delay, seed = np.array([50.0, 5.0])[:, None, None], np.array([0, 1, 3])[:, None], [0, 1]
    dims = "rule", "delay", "seed"
    angle = rule + delay + 2 * np.array(seed)
    excess = np.broadcast_to(0.1 * (1 + np.array(seed)), angle.shape)
    results = xr.Dataset(
        {"angle": (dims, angle), "excess": (dims, excess)},
        {"rule": [*RULES], "delay": [0, 1, 3], "seed": seed},
    )
    known = {one.name: one.value for one in about_delays(results)}
    assert [known[f"angle_plain_{delay}"] for delay in (0, 1, 3)] == pytest.approx([51, 52, 54])
    assert [known[f"angle_traces_{delay}"] for delay in (0, 1, 3)] == pytest.approx([6, 7, 9])
    assert [known[f"angle_traces_{delay}_max"] for delay in (0, 1, 3)] == pytest.approx([7, 8, 10])
    assert known["angle_traces"] == pytest.approx(9)
    assert known["angle_plain_late"] == pytest.approx(
        52
    )  # without delay there is nothing to bridge
    assert known["excess_traces_3"] == pytest.approx(0.15)


def test_each_rule_has_its_departure_and_y_comes_late(monkeypatch):
    data, given = load(DATA), {}
    exact = ExactSolution(*data.stand_in, 0.0, 0.0)

    class CapturedError(Exception):
        pass

    def capture(self, circuit, X, Y, **how):
        given.update(departures=tuple(circuit.departures), X=X, Y=Y)
        raise CapturedError

    monkeypatch.setattr("biorrr.sims.lab.Task.run", capture)
    centred = data.X - data.X.mean(axis=0)
    asked = job(engine="numpy", samples=1000, k=1, trace=2.0)
    for rule, departures in {"plain": (), "traces": (Eligibility(2.0, 0.0, 2.0),)}.items():
        with pytest.raises(CapturedError):
            learn_late(asked, data, exact, rule=rule, delay=3, seed=0)
        assert given["departures"] == departures
        assert (given["Y"][:3] == 0).all()
        shown = [np.flatnonzero((centred == row).all(axis=1))[0] for row in given["X"][:20]]
        np.testing.assert_allclose(given["Y"][3:23], data.Y[shown] - data.Y.mean(axis=0))


@pytest.mark.slow
def test_late_instruction_is_learned_with_traces_alone():
    asked, data = job(engine="cpp", samples=400_000, k=1, trace=2.0), load(DATA)
    exact = ExactSolution(*data.stand_in, 0.0, 0.0)
    angles = {
        rule: learn_late(asked, data, exact, rule=rule, delay=1, seed=0)["angle"]
        for rule in ("plain", "traces")
    }
    assert angles["traces"] < FOUND
    assert angles["plain"] > 2 * FOUND


def test_the_plateau_of_a_lap_is_where_it_should_be():
    positions, _ = lap()
    there = plateau()[:, 0] > 0
    assert positions[there][[0, -1]] == pytest.approx([PLACE, PLACE + 0.29 * SPEED], abs=0.3)
    assert there.sum() == round(PLATEAU / TICK)


@pytest.mark.slow
def test_command_fills_a_folder(tmp_path, capsys):
    out = tmp_path / "out"
    args = [
        "--data",
        DATA,
        "--engine",
        "cpp",
        "--quick",
        "--delays",
        "0",
        "--delays",
        "2",
        "--seeds",
        "1",
    ]
    assert main.run(["timing", *args, "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "instruction 2 samples late" in printed
    assert "not judged" in printed
    files = {
        "config.toml",
        "run.nc",
        "summary.json",
        "inventory.json",
        "lags.md",
        "lags.png",
        "delays.md",
        "delays.png",
        "field.md",
        "field.png",
    }
    assert {path.name for path in out.iterdir()} == files
    summary = json.loads((out / "summary.json").read_text())
    assert summary["tau_x_fitted"] == pytest.approx(1.31, rel=0.01)
    assert summary["field_place"] == pytest.approx(summary["predicted_place"], abs=0.1)
    assert (
        summary["field_shift"] > 5
    )  # the input's trace is the longer one: the field moves backwards


def test_mistyped(capsys):
    assert main.run(["timing", "--tau-x", "9"]) == 2
    assert "tau-x: must lie in [0.05, 3]" in capsys.readouterr().err
