"""``biorrr learn`` from end to end: what it writes, that it repeats, how it fails."""

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import redirect_stdout

import numpy as np
import pytest

from biorrr.analysis import ReducedRankRegression, choose_ridge, r2
from biorrr.circuit import Microcircuit, Run
from biorrr.models import Rate, Rates
from biorrr.sims import main
from biorrr.sims.data import load
from biorrr.sims.lab import run_folder

DATA = '{name="synthetic", samples=60, m=6, n=5, latents=2}'
SMALL = ["--data", DATA, "--engine", "numpy", "--epochs", "2"]


def learn(capsys, *args):
    code = main.run(["learn", *map(str, args)])
    out, err = capsys.readouterr()
    return code, out, err


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    """The folder of a small run, and what it printed; not to be changed."""
    folder = tmp_path_factory.mktemp("learned") / "run"
    with redirect_stdout(io.StringIO()) as out:
        assert main.run(["learn", *SMALL, "--seed", "3", "--out", str(folder)]) == 0
    return folder, out.getvalue()


def test_run_folder(learned):
    folder, out = learned
    assert sorted(path.name for path in folder.iterdir()) == [
        "config.toml",
        "eigenvalues.md",
        "eigenvalues.png",
        "filters.md",
        "filters.png",
        "inventory.json",
        "learning.nc",
        "learning_curve.md",
        "learning_curve.png",
        "plateau.md",
        "plateau.png",
        "run.nc",
        "summary.json",
    ]
    files = json.loads((folder / "inventory.json").read_text())["files"]
    assert sorted(files) == sorted(path.name for path in folder.iterdir())
    figures = {name for name, kind in files.items() if kind == "figure"}
    assert figures == {path.name for path in folder.glob("*.png")}
    assert {path.stem for path in folder.glob("*.md")} == {
        path.stem for path in folder.glob("*.png")
    }
    assert "60 samples, 6 inputs, 5 targets; data are centred" in out
    assert str(folder) in out
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["samples"] == 120
    assert summary["engine"] == "numpy"
    assert summary["ended"] == "done"
    for name in (
        "objective",
        "optimum",
        "excess",
        "angle_max_deg",
        "whitening_error",
        "r_minus_qt",
        "seconds",
    ):
        assert np.isfinite(summary[name])
    assert summary["optimum"] <= summary["objective"] < 0
    assert summary["excess"] == pytest.approx(
        (summary["objective"] - summary["optimum"]) / -summary["optimum"]
    )


def test_numbers_are_those_of_the_saved_run(learned):
    """Scored here from the covariances, without the project's own solution."""
    folder, _ = learned
    run = Run.load(folder / "run.nc")
    summary = json.loads((folder / "summary.json").read_text())
    data = load(DATA).centred()
    Cxx, Cxy = data.X.T @ data.X / 60, data.X.T @ data.Y / 60
    assert summary["ridge"] == pytest.approx(0.1 * np.trace(Cxx) / 6)
    Cxx += summary["ridge"] * np.eye(6)
    M = np.linalg.solve(Cxx, Cxy @ Cxy.T)
    assert summary["optimum"] == pytest.approx(-np.sort(np.linalg.eigvals(M).real)[-2:].sum())
    G = run.Vx.T @ Cxx @ run.Vx
    assert summary["objective"] == pytest.approx(
        -np.trace(np.linalg.solve(G, run.Vx.T @ Cxy @ Cxy.T @ run.Vx))
    )
    assert summary["whitening_error"] == pytest.approx(((G - np.eye(2)) ** 2).sum() / 2)
    np.testing.assert_allclose(run.data["mean_x"], load(DATA).X.mean(axis=0))


def test_saved_config_repeats_the_run_exactly(learned, tmp_path, capsys):
    folder, _ = learned
    assert learn(capsys, "--config", folder / "config.toml", "--out", tmp_path / "again")[0] == 0
    first, again = Run.load(folder / "run.nc"), Run.load(tmp_path / "again" / "run.nc")
    for name in first.data.data_vars:
        np.testing.assert_array_equal(first.data[name], again.data[name])
    assert (folder / "config.toml").read_text() == (tmp_path / "again" / "config.toml").read_text()
    learn(capsys, "--config", folder / "config.toml", "--seed", 4, "--out", tmp_path / "other")
    assert not np.array_equal(first.Vx, Run.load(tmp_path / "other" / "run.nc").Vx)


def test_own_file_and_figure_format(tmp_path, capsys):
    rng = np.random.default_rng(0)
    np.savez(
        tmp_path / "mine.npz", X=rng.standard_normal((40, 3)) + 7, Y=rng.standard_normal((40, 2))
    )
    code, out, err = learn(
        capsys,
        "--data",
        tmp_path / "mine.npz",
        "-k",
        1,
        "-s",
        0.5,
        "--epochs",
        2,
        "--engine",
        "numpy",
        "--format",
        "svg",
        "--out",
        tmp_path / "run",
    )
    assert (code, err) == (0, "")
    assert "40 samples, 3 inputs, 2 targets; data are centred" in " ".join(out.split())
    assert (tmp_path / "run" / "plateau.svg").read_text().lstrip().startswith("<?xml")


@pytest.mark.parametrize(
    ("args", "code", "sentence"),
    [
        (
            ["-k", "0"],
            2,
            (
                "k: must be at least 1 (got 0); number of pyramidal neurons, which is the rank of"
                " the regression"
            ),
        ),
        (["-k", "6"], 2, "k: must not exceed min(m, n) = 5 of synthetic (got 6); reduce k"),
        (["-s", "1.5"], 2, "s: must lie in [0, 1] (got 1.5); 0 is RRMSE, 1 is CCA"),
        (["-s", "nan"], 2, "s: must be a finite number (got nan); 0 is RRMSE, 1 is CCA"),
        (
            ["--epochs", "0"],
            2,
            (
                "epochs: must be at least 1 (got 0); number of passes over the data; 60 by default,"
                " 12 with cells in millivolts"
            ),
        ),
        (
            ["--ridge", "-1"],
            2,
            (
                "ridge: must be at least 0 (got -1.0); added to Cxx and Cyy on the diagonal; 0.1 *"
                " trace(Cxx)/m by default; cv takes the one that predicts held-out samples best"
            ),
        ),
        (
            ["--engine", "cp"],
            2,
            "engine: must be one of auto, numpy, cpp (got 'cp'); did you mean 'cpp'?",
        ),
        (
            ["--seed", "-1"],
            2,
            (
                "seed: must be at least 0 (got -1); seed of the initial weights and of the order of"
                " samples"
            ),
        ),
        (["--set", "epoch=3"], 2, "epoch: no such setting, of --set; did you mean 'epochs'?"),
        (["--data", "digts"], 1, "digts: no such data set or file; did you mean 'digits'?"),
    ],
)
def test_bad_settings(tmp_path, capsys, args, code, sentence):
    assert learn(capsys, *SMALL, "--out", tmp_path / "run", *args) == (
        code,
        "",
        f"biorrr: {sentence}\n",
    )
    assert not (tmp_path / "run").exists()


def test_bad_data(tmp_path, capsys):
    np.savez(tmp_path / "bad.npz", X=np.full((9, 3), np.nan), Y=np.ones((9, 2)))
    code, _, err = learn(capsys, "--data", tmp_path / "bad.npz", "--out", tmp_path / "run")
    assert code == 1
    assert "bad.npz: X must be finite (got nan at row 0, column 0" in err
    np.savez(tmp_path / "still.npz", X=np.full((9, 3), 0.1), Y=np.eye(9))
    code, _, err = learn(capsys, "--data", tmp_path / "still.npz", "--out", tmp_path / "run")
    assert code == 1
    assert "still.npz: X must change from sample to sample (got the same row throughout)" in err
    assert not (tmp_path / "run").exists()


def test_run_in_the_folder_is_kept_unless_forced(learned, tmp_path, capsys):
    folder = tmp_path / "run"
    shutil.copytree(learned[0], folder)
    before = (folder / "run.nc").read_bytes()
    code, _, err = learn(capsys, *SMALL, "--out", folder)
    assert code == 2
    assert (
        err
        == f"biorrr: out: {folder} has a run in it; choose another folder, or --force to replace"
        " the run\n"
    )
    assert (folder / "run.nc").read_bytes() == before
    assert learn(capsys, *SMALL, "--out", folder, "--force", "--seed", 4)[0] == 0
    assert (folder / "run.nc").read_bytes() != before


def test_read_only_place_is_one_sentence(tmp_path, capsys):
    if os.geteuid() == 0:
        pytest.skip("root may write anywhere")
    tmp_path.chmod(0o500)
    code, _, err = learn(capsys, *SMALL, "--out", tmp_path / "run")
    assert (code, err) == (1, f"biorrr: {tmp_path / 'run'}: Permission denied\n")


class WildCircuit(Microcircuit):
    """Rates far beyond what is stable."""

    def __init__(self, *args, **settings):
        super().__init__(*args, rates=Rates(Rate(5.0), Rate(5.0), Rate(0.5)), **settings)


def test_diverging_run_keeps_what_was_recorded(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("biorrr.circuit.Microcircuit", WildCircuit)
    code, _, err = learn(capsys, *SMALL, "--out", tmp_path / "run")
    assert code == 1
    assert "biorrr: the circuit diverged at sample " in err
    assert "lower eta_x" in err
    assert "Traceback" not in err
    run = Run.load(tmp_path / "run" / "run.nc")
    assert run.ended == "diverged"
    assert json.loads((tmp_path / "run" / "summary.json").read_text())["ended"] == "diverged"
    assert 0 < run.samples < 120


def contents(folder):
    return {
        path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def test_forced_run_has_nothing_of_the_larger_one_before_it(tmp_path, capsys):
    out = tmp_path / "run"
    assert learn(capsys, *SMALL, "--seeds", 2, "-k", 3, "--out", out)[0] == 0
    assert {"run-1.nc", "excess.png"} <= {path.name for path in out.iterdir()}
    (out / "report.html").write_text("of the old run")
    (out / "notes.png").write_text("mine")
    assert learn(capsys, *SMALL, "-k", 1, "--out", out, "--force")[0] == 0
    assert sorted(path.name for path in out.iterdir()) == [
        "config.toml",
        "eigenvalues.md",
        "eigenvalues.png",
        "filters.md",
        "filters.png",
        "inventory.json",
        "learning.nc",
        "learning_curve.md",
        "learning_curve.png",
        "notes.png",
        "plateau.md",
        "plateau.png",
        "run.nc",
        "summary.json",
    ]
    assert (
        Run.load(out / "run.nc").Vx.shape[1]
        == json.loads((out / "summary.json").read_text())["k"]
        == 1
    )


def test_forced_run_that_fails_or_diverges_leaves_the_old_one(
    tmp_path, capsys, monkeypatch, learned
):
    """As the advised repair of a damaged run.nc does where there is no compiler, or the data are
    gone.
    """
    out = tmp_path / "run"
    shutil.copytree(learned[0], out)
    (out / "run.nc").write_bytes(b"damaged")
    before = contents(out)
    again = ("--config", out / "config.toml", "--out", out, "--force")
    monkeypatch.setattr("biorrr.circuit.engines.compiler.find_compiler", lambda: None)
    code, _, err = learn(capsys, *again, "--engine", "cpp")
    assert (code, "no C++ compiler found" in err) == (1, True)
    assert contents(out) == before
    assert learn(capsys, *again, "--data", tmp_path / "gone.npz")[0] != 0
    assert contents(out) == before
    monkeypatch.setattr("biorrr.circuit.Microcircuit", WildCircuit)
    code, _, err = learn(capsys, *again)
    assert (code, len(err.splitlines())) == (1, 1)
    assert f"(nothing is kept of it, and the earlier run in {out} stays)" in err
    assert contents(out) == before


def test_forced_run_that_is_interrupted_leaves_the_old_one_and_can_go_on(
    tmp_path, capsys, monkeypatch, learned
):
    out = tmp_path / "run"
    shutil.copytree(learned[0], out)
    before = contents(out)
    with monkeypatch.context() as patch:
        patch.setattr("biorrr.circuit.Microcircuit", StoppedCircuit)
        code, _, err = learn(capsys, *SMALL, "-k", 1, "--out", out, "--force")
    said = (
        f"biorrr: interrupted; `biorrr resume {out}` continues it; until then the earlier run stays"
        " as it was\n"
    )
    assert (code, err) == (130, said)
    visible = {
        path: content for path, content in contents(out).items() if path.parts[0] != "unfinished"
    }
    assert visible == before
    assert main.run(["resume", str(out)]) == 0
    assert Run.load(out / "run.nc").Vx.shape[1] == 1
    assert not (out / "unfinished").exists()


class StoppedCircuit(Microcircuit):
    """Ctrl-C is pressed after some samples."""

    def run(self, *args, **settings):
        def press(t, weights):
            if t == 7:
                os.kill(os.getpid(), signal.SIGINT)

        return super().run(*args, callback=press, **settings)


def test_ctrl_c_saves_what_was_recorded(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("biorrr.circuit.Microcircuit", StoppedCircuit)
    out = tmp_path / "run"
    code, printed, err = learn(capsys, *SMALL, "--out", out)
    assert code == 130
    run = Run.load(out / "run.nc")
    assert run.ended == "interrupted"
    assert 7 <= run.samples < 120
    assert err.startswith(f"biorrr: interrupted; {run.samples} samples are in {out}")
    assert len(err.splitlines()) == 1
    assert "objective" in printed
    assert json.loads((out / "summary.json").read_text())["samples"] == run.samples
    assert (out / "learning_curve.png").exists()


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["numpy", "auto"])
def test_ctrl_c_of_a_real_process(tmp_path, engine):
    out = tmp_path / "run"
    script = "from biorrr.sims.start import main; main()"
    args = ["learn", "--data", DATA, "--engine", engine, "--epochs", "10000000", "--out", str(out)]
    process = subprocess.Popen(
        [sys.executable, "-c", script, *args], stderr=subprocess.PIPE, text=True
    )
    try:
        time.sleep(60)  # long enough to be built, also on a busy machine
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    run = Run.load(out / "run.nc")
    assert run.ended == "interrupted"
    assert f"biorrr: interrupted; {run.samples} samples are in {out}" in err


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_defaults_come_near_the_optimum(tmp_path, capsys, seed):
    assert learn(capsys, "--seed", seed, "--out", tmp_path / "run")[0] == 0
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["excess"] < 0.02
    assert summary["whitening_error"] < 0.05


def test_ridge_by_held_out_prediction(tmp_path, capsys):
    code, _, err = learn(capsys, *SMALL, "--ridge", "cv", "--out", tmp_path / "run")
    assert code == 0, err
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    data = load(DATA)
    assert summary["ridge"] == choose_ridge(data.X, data.Y, 2).best
    assert 'ridge = "cv"' in (tmp_path / "run" / "config.toml").read_text()  # chooses again
    code, _, err = learn(capsys, *SMALL, "--ridge", "cw", "--out", tmp_path / "other")
    assert code == 2
    assert "ridge: must be a finite number or 'cv' (got 'cw')" in err


def test_held_out_samples_do_not_choose_the_ridge_that_predicts_them(tmp_path, capsys):
    """Those that are held out are changed alone, so that another ridge suits all samples."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 20))
    Y = X[:, :3] @ rng.standard_normal((3, 4)) + 2 * rng.standard_normal((40, 4))
    held_out = np.random.default_rng(0).permutation(40) < 8
    chosen = []
    for factor in (1, 30):
        np.savez(tmp_path / "data.npz", X=X, Y=np.where(held_out[:, None], factor * Y, Y))
        folder = tmp_path / f"run-{factor}"
        options = ("--data", tmp_path / "data.npz", "--engine", "numpy", "--epochs", "1")
        code, _, err = learn(capsys, *options, "--ridge", "cv", "--out", folder)
        assert code == 0, err
        chosen.append(json.loads((folder / "summary.json").read_text()))
    assert chosen[0]["ridge"] != chosen[1]["ridge"]
    x, y = X[~held_out], Y[~held_out]
    ridge = choose_ridge(x, y, 2).best
    learned = ReducedRankRegression(2, ridge=ridge).fit(x, y).predict(X[held_out])
    for factor, summary in zip((1, 30), chosen, strict=True):
        expected = r2(factor * Y[held_out], learned, y.mean(axis=0))
        assert summary["held_out_r2_exact"] == pytest.approx(expected)
        assert summary["held_out_ridge"] == ridge


def test_held_out_prediction(tmp_path, capsys):
    """R2 of the exact solution, from the normal equations; whole trials are held out, and learned
    from no fold.
    """
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 5))
    Y = X[:, :2] @ rng.standard_normal((2, 4)) + 0.5 * rng.standard_normal((100, 4))
    np.savez(tmp_path / "data.npz", X=X, Y=Y)
    options = ("--epochs", "100", "--ridge", "0.1")
    code, out, err = learn(
        capsys, "--data", tmp_path / "data.npz", *options, "--out", tmp_path / "run"
    )
    assert code == 0, err
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    new = np.random.default_rng(0).permutation(100) < 20
    x, y = X[~new] - X[~new].mean(axis=0), Y[~new] - Y[~new].mean(axis=0)
    B = np.linalg.solve(x.T @ x / 80 + 0.1 * np.eye(5), x.T @ y / 80)
    best = np.linalg.eigh(y.T @ x @ B / 80)[1][:, -2:]
    left = Y[new] - Y[~new].mean(axis=0) - (X[new] - X[~new].mean(axis=0)) @ B @ best @ best.T
    r2 = 1 - np.square(left).sum() / np.square(Y[new] - Y[~new].mean(axis=0)).sum()
    assert summary["held_out_r2_exact"] == pytest.approx(r2)
    assert summary["held_out_r2"] == pytest.approx(r2, abs=0.02)
    row = f"held-out R2 circuit {summary['held_out_r2']:.4g}; exact solution {r2:.4g}"
    assert row in " ".join(out.split())
    assert "last tenth of the run changed the excess by" in " ".join(out.split())


def test_what_the_first_output_says(tmp_path, capsys):
    """No warning about the demo's own data, ||R - Q'|| from its start on, and baselines beside the
    excess.
    """
    code, out, err = learn(capsys, "--epochs", "1", "--engine", "numpy", "--out", tmp_path / "run")
    assert code == 0
    assert "warning" not in err
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert 0 <= summary["r_minus_qt"] < 0.1 * summary["r_minus_qt_start"]
    assert f"from {summary['r_minus_qt_start']:.4g}; to " in out
    assert "excess without learning" in out


def drawn_by(axes):
    """Heights of the steps that a figure of plateaus draws, panel by panel."""
    return [
        [line.get_ydata() for line in panel.lines if line.get_drawstyle() == "steps-mid"]
        for panel in np.ravel(axes)
    ]


def test_script_and_command_draw_the_same(tmp_path, monkeypatch, capsys):
    """The data behind the figures of one run, whichever way it is looked at."""
    import matplotlib.pyplot as plt

    drawn = {}
    save = run_folder.save_figure

    def watched(axes, path):
        stem = path.stem.partition("-")[2]
        if stem in ("plateau", "learning_curve"):  # looked at before the figure is closed
            drawn[stem] = (
                drawn_by(axes) if stem == "plateau" else [line.get_ydata() for line in axes.lines]
            )
        save(axes, path)

    monkeypatch.setattr(run_folder, "save_figure", watched)
    name, out = '{name="synthetic", samples=80, m=6, n=4}', tmp_path / "one"
    assert (
        main.run(
            ["learn", "--data", name, "--epochs", "25", "--engine", "numpy", "--out", str(out)]
        )
        == 0
    )
    run, data = Run.load(out / "run.nc"), load(name)
    script = drawn_by(axes := run.plot_plateau(data.X, data.Y))
    assert axes.shape == (2, 3)
    for mine, theirs in zip(script, drawn["plateau"], strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12)
    curve = run.plot_learning(data.X, data.Y).lines[0].get_ydata()
    np.testing.assert_allclose(curve, drawn["learning_curve"][0], rtol=1e-10)
    plt.close("all")
