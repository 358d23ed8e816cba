"""The report page: what is gathered, what is said of folders there is nothing to say of, and the page as a file."""

import json
import os
import shutil
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from biorrr.analysis import Yardstick
from biorrr.circuit import Microcircuit, Run
from biorrr.models import Pathway, Population, Variable
from biorrr.sims import main
from biorrr.sims.data import load
from biorrr.sims.experiments.learn import SIGNALS, join, signals
from biorrr.sims.lab.files import FolderError
from biorrr.sims.lab.folder import RunFolder
from biorrr.sims.lab.folder.inventory import Entry, Inventory
from biorrr.sims.page.curves import charts_of
from biorrr.sims.page.figures import gather_figures
from biorrr.sims.page.plain import plain, without_home
from biorrr.sims.page.record import read_record
from biorrr.sims.page.run import gather_run
from biorrr.sims.page.sweep import gather_sweep
from biorrr.sims.sweeps.ledger import Ledger
from biorrr.sims.sweeps.plan import read_plan

PNG = b"\x89PNG\r\n\x1a\n"
HOSTILE = "</script><script>document.title='broken'</script><img src=x onerror=\"document.title='broken'\">&amp;"


def write_folder(path, experiment, results, summary=None, settings="", units=None):
    """A run folder as an experiment leaves it."""
    path.mkdir()
    entries = [Entry(f"{name}.nc", "dataset", name, experiment=experiment) for name in results]
    inventory = Inventory(entries, {name: {"unit": unit} for name, unit in (units or {}).items()})
    (path / "inventory.json").write_text(inventory.text())
    for name, dataset in results.items():
        dataset.to_netcdf(path / f"{name}.nc", engine="h5netcdf")
    (path / "config.toml").write_text(f'{settings}\n[provenance]\nexperiment = "{experiment}"\nbiorrr = "0.1.0"\n')
    (path / "summary.json").write_text(json.dumps(summary or {}))
    return path


@pytest.fixture(scope="module")
def results():
    """What ``learn`` keeps of one circuit."""
    digits = load("digits")
    data = replace(digits, X=digits.X[:100], Y=digits.Y[:100])
    run = Microcircuit(k=2, ridge=0.01, engine="numpy").run(
        data.X, data.Y, epochs=2, every=5, record=("plateau", "a", "inhibition", "z"), centre=True
    )
    exact = Yardstick(*data.stand_in, 0.0, 0.01)
    return {"run": run.data, "learning": join({0: run}, exact), "signals": signals(run, data, exact)}


@pytest.fixture
def run(results):
    return Run(results["run"])


@pytest.fixture
def folder(results, tmp_path):
    summary = {"excess": 0.25, "samples": 200, "ended": "done", "engine": "numpy"}
    return write_folder(tmp_path / "learn-one", "learn", results, summary, 'data = "digits"\nk = 2')


@pytest.fixture
def sweep(tmp_path):
    return write_sweep(tmp_path / "sweep-one")


def write_sweep(path, reason="it diverged"):
    """A sweep's folder with a failed point, a point to come, and curves that theory could have drawn."""
    path.mkdir()
    (path / "sweep.toml").write_text(
        'experiment = "learn"\nseeds = 2\n[fixed]\ndata = "digits"\n[grid]\nk = [1, 2, 4]\ns = [0.0, 1.0]\n'
        '[provenance]\nexperiment = "sweep"\nbiorrr = "0.1.0"\n'
    )
    plan, ledger = read_plan(path / "sweep.toml"), Ledger(path)
    for i, settings in enumerate(plan.points[:-1]):
        excess = 0.01 * (1 + abs(settings.k - 2) + settings.s + 0.1 * settings.seed)
        curve = {"seen": [1, 10, 100], "values": [1.0, None, excess]}
        done = {
            "status": "done",
            "reason": None,
            "numbers": {"excess": excess, "engine": "cpp"},
            "units": {"excess": "%"},
            "curves": {"excess": curve},
        }
        failed = {"status": "failed", "reason": reason, "numbers": {}, "curves": {}}
        ledger.write(plan, settings, {"data_sha256": None} | (failed if i == 0 else done))
    return path


def test_a_sentence_says_what_was_run_and_how_it_ended(folder):
    assert gather_run(folder)["sentence"] == (
        "A circuit of 2 pyramidal neurons and 2 interneurons learned on digits (64 sensory and 10 instructive inputs) "
        "at s = 0: it ran to its end after 200 samples on engine numpy, 25.00% above the optimum."
    )


def test_an_interrupted_run_is_reported_with_the_way_on(folder):
    (folder / "summary.json").write_text('{"ended": "interrupted", "engine": "numpy"}')
    sentence = gather_run(folder)["sentence"]
    assert sentence.endswith("it was interrupted after 200 samples on engine numpy; `biorrr resume` continues it.")


def test_the_diagram_of_a_circuit_holds_its_weights(folder, run):
    diagram = gather_run(folder)["charts"]["diagram"]
    assert diagram["seen"][-1] == run.data["seen"].values[-1]
    assert diagram["Q"][-1] == plain(run.Q)
    assert diagram["Vx"][0] == plain(np.linalg.norm(run.data["Vx"].values[0], axis=0))


def test_parts_of_one_s_own_are_in_the_diagram(run, folder):
    """A second population of interneurons and its two pathways, weights and all."""
    vip = Population(3, "vip", [Variable("v", "activity")], meaning="cells of my own")
    to_vip = Pathway("to_vip", "pyramidal", "vip", drives="v", current="w * z_pre", phase="recruitment", weight="W")
    X, Y = np.random.default_rng(0).standard_normal((2, 30, 4))
    other = Microcircuit(k=2, populations=[vip], pathways=[to_vip], engine="numpy").run(X, Y, centre=True)
    other.save(folder / "run.nc", overwrite=True)
    own = gather_run(folder)["charts"]["diagram"]["own"]
    assert [(p["name"], p["size"], p["meaning"]) for p in own["populations"]] == [("vip", 3, "cells of my own")]
    (pathway,) = own["pathways"]
    assert (pathway["source"], pathway["target"], pathway["sign"]) == ("pyramidal", "vip", 1)
    assert pathway["values"][-1] == plain(other.weights["W"])


def drawn_by(axes):
    """Heights of the steps that a figure of plateaus draws, panel by panel."""
    return [
        [line.get_ydata() for line in panel.lines if line.get_drawstyle() == "steps-mid"]
        for panel in np.ravel(axes)
    ]  # fmt: skip


def test_script_command_and_page_draw_the_same(tmp_path, monkeypatch, capsys):
    """The data behind the figures of one run, whichever way it is looked at."""
    import matplotlib.pyplot as plt

    drawn = {}
    write = RunFolder.write_figure

    def watched(self, stem, format, axes, **about):
        if stem in ("plateau", "learning_curve"):  # looked at before the figure is closed
            drawn[stem] = drawn_by(axes) if stem == "plateau" else [line.get_ydata() for line in axes.lines]
        write(self, stem, format, axes, **about)

    monkeypatch.setattr(RunFolder, "write_figure", watched)
    name, out = "synthetic:samples=80,m=6,n=4", tmp_path / "one"
    assert main.run(["learn", "--data", name, "--epochs", "25", "--engine", "numpy", "--out", str(out)]) == 0
    run, data = Run.load(out / "run.nc"), load(name)
    script = drawn_by(axes := run.plot_plateau(data.X, data.Y))
    assert axes.shape == (2, 3)
    for mine, theirs in zip(script, drawn["plateau"], strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12)
    curve = run.plot_learning(data.X, data.Y).lines[0].get_ydata()
    np.testing.assert_allclose(curve, drawn["learning_curve"][0], rtol=1e-10)
    learning, plateaus = gather_run(out)["charts"]["curves"]
    excess = learning["views"][0]["series"][0]
    optimum = Yardstick(*data.stand_in, 0.0, run.data.attrs["ridge_x"]).optimum(2)
    assert excess["y"] == plain((curve - optimum) / -optimum)
    shown = {(*line["choose"].values(), line["line"]): line["y"] for line in plateaus["views"][0]["series"]}
    order = ("plateau", "a", "inhibition", "z")
    for column, when in enumerate(plateaus["views"][0]["choose"]["when"][::-1]):
        for neuron in ("1", "2"):
            # On the page as they are; in the figure each in its lane, below the one before, theory behind its trace.
            page = [
                (level, shown[when, neuron, SIGNALS[name]])
                for level, signal in enumerate(order)
                for name in (f"theory_{signal}", signal)
                if name in SIGNALS
            ]
            for (level, values), heights in zip(page, script[3 * (int(neuron) - 1) + column], strict=True):
                scaled = np.asarray(heights) + level
                values = np.asarray(values)
                inside = np.abs(scaled) < 0.499
                factor = np.sum(values[inside] * scaled[inside]) / np.sum(values[inside] ** 2)
                np.testing.assert_allclose(scaled[inside], factor * values[inside], atol=1e-4)
    plt.close("all")


def test_seeds_are_drawn_together(folder, run):
    joined = join({0: run, 1: run}, Yardstick(*load("digits").stand_in, 0.0, 0.01))
    write_folder(folder / "several", "learn", {"run": run.data, "learning": joined}, settings='data = "digits"')
    excess, symmetry = gather_run(folder / "several")["charts"]["curves"][0]["views"]
    assert [line["repeat"] for line in excess["series"]] == [None, "seed 0", "seed 1"]
    assert symmetry["series"][0]["y"] == plain(run.r_minus_qt)


def test_a_race_has_a_line_for_each_learner_and_a_choice_of_rank():
    from biorrr.sims.races.curves import Curve, as_dataset, join

    def curve(level, length):
        scores = level * np.array([[1.0, 0.5, 0.25], [3.0, 1.5, 0.75]])[:, :length]
        t = np.array([1, 10, 100])[:length]
        return Curve(t, np.tile(t / 50, (2, 1)), scores / 10, -scores, scores, scores)

    dataset = as_dataset({(learner, k): curve(k, 2 + k) for learner in ("ANN", "IQMD") for k in (1, 2)}, first_seed=4)
    (chart,) = charts_of("compare", {"run": dataset})
    excess = chart["views"][0]
    assert excess["choose"] == {"k": ["1", "2"]}
    assert excess["x"] == ["samples or iterations", "passes through the data", "CPU time (s)"]
    mean, *single = (line for line in excess["series"] if line["line"] == "ANN" and line["choose"] == {"k": "1"})
    assert mean["y"] == [2.0, 1.0, 0.5]  # and nothing where a learner has no snapshot any more
    assert mean["x"] == [[1.0, 10.0, 100.0], [0.02, 0.2, 2.0], [0.2, 0.1, 0.05]]
    assert [(line["repeat"], line["y"][0]) for line in single] == [("seed 4", 1.0), ("seed 5", 3.0)]

    pictures = {"mnist, k = 1": dataset.isel(k=0, drop=True), "cifar10, k = 2": dataset.isel(k=1, drop=True)}
    (chart,) = charts_of("images", {"run": join(pictures, "data")})
    assert chart["views"][0]["choose"] == {"data": ["mnist, k = 1", "cifar10, k = 2"]}


def test_theory_stands_beside_the_symmetry_that_was_measured():
    shape = ("eta", "start", "snapshot")
    ratio = np.array([[[1.0, 0.1, np.nan]] * 2, [[1.0, 0.2, 0.04]] * 2])
    dataset = xr.Dataset(
        {"seen": (shape, np.tile([0.0, 10, 20], (2, 2, 1))), "ratio": (shape, ratio),
         "predicted": (shape, 1.01 * ratio)},
        coords={"eta": [0.1, 0.4], "start": [0, 1]},
    )  # fmt: skip
    (chart,) = charts_of("symmetry", {"run": dataset})
    (course,) = chart["views"]
    lines = {line["line"]: line for line in course["series"] if line["repeat"] is None}
    assert list(lines) == ["eta 0.1, measured", "eta 0.4, measured", "eta 0.1, theory", "eta 0.4, theory"]
    assert lines["eta 0.1, measured"]["y"] == [1.0, 0.1]
    assert lines["eta 0.1, theory"]["theory"]


def test_claims_are_told_with_their_numbers(tmp_path):
    claims = [{"claim": "R meets Q'", "holds": True, "runs": 8}, {"claim": "always", "holds": False}, "not a claim"]
    folder = write_folder(tmp_path / "one", "symmetry", {"run": xr.Dataset()}, {"claims": claims}, 'data = "digits"')
    gathered = gather_run(folder)
    assert gathered["sentence"] == "The experiment “symmetry” on digits: it ran to its end; 1 of 2 claims hold."
    assert gathered["claims"][0] == {"text": "R meets Q'", "verdict": "✓ holds", "numbers": {"runs": 8}}


def test_fractions_are_read_in_percent(tmp_path):
    summary = {"excess": 0.0123, "plateau_relative_error_end": 0.5, "samples": 600, "whitening_error": 0.01}
    units = {"excess": "%", "plateau_relative_error_end": "%"}
    folder = write_folder(tmp_path / "one", "symmetry", {"run": xr.Dataset()}, summary, 'data = "digits"', units)
    assert gather_run(folder)["numbers"] == {
        "excess": "1.23 %", "plateau_relative_error_end": "50 %", "samples": 600, "whitening_error": 0.01,
    }  # fmt: skip


def test_figures_are_put_into_the_page_or_named(tmp_path):
    (tmp_path / "audit.png").write_bytes(PNG + b"small")
    (tmp_path / "wiring-3.svg").write_text("<svg/>")
    (tmp_path / "large.png").write_bytes(PNG + bytes(2000))
    (tmp_path / "paper.pdf").write_bytes(b"%PDF")
    (tmp_path / "passwords.png").symlink_to("/etc/passwd")
    (tmp_path / "mine.png").write_bytes(PNG + b"not the run's")
    names = ("audit.png", "wiring-3.svg", "large.png", "paper.pdf", "passwords.png", "gone.png")
    entries = [Entry(name, "figure", caption="The circuit." * name.startswith("wiring")) for name in names]
    shown, left_out = gather_figures(tmp_path, 1000, entries)
    assert [one["name"] for one in shown] == ["audit.png", "wiring-3.svg"]
    assert shown[0]["uri"].startswith("data:image/png;base64,")
    assert [one["caption"] for one in shown] == ["Figure audit.", "The circuit."]
    assert not shown[1]["charted"]
    assert left_out == ["large.png", "paper.pdf", "passwords.png", "gone.png"]


def test_traces_have_the_colours_of_their_quantities():
    from biorrr.sims.page.views import quantity_of

    named = (
        "recorded_plateau",
        "recording_a",
        "recorded_inhibition",
        "recording_z",
        "inhibition_correlation",
        "excess",
    )
    assert [*map(quantity_of, named)] == ["plateau", "distal", "Q", "proximal", "Q", None]


def test_numbers_survive_json():
    values = np.array([[0.0, np.nan], [-1234.5678, 1e-9]])
    assert json.loads(json.dumps(plain(values))) == [[0.0, None], [-1234.6, 1e-9]]


def test_a_sweep_is_gathered_point_by_point(sweep):
    gathered = gather_sweep(sweep)
    assert gathered["sentence"] == (
        "A sweep of “learn” over k and s: 12 points, 10 done, 1 failed, 1 left; excess is compared "
        "only where k and s are the same."
    )
    assert gathered["failures"] == [("it diverged", 1)]
    table = gathered["charts"]["sweep"]
    assert table["varied"] == ["k", "s"]
    assert table["settings"]["k"] == [1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4]
    assert table["numbers"]["excess"][:2] == [None, 0.021]
    assert table["samples"] == [[1, 10, 100]]  # kept once
    assert table["curves"][1] == {"excess": [0, [1.0, None, 0.021]]}


def test_curves_of_the_best_points_come_first(sweep, monkeypatch):
    cells = 11 * 7  # data, k, s, seed, status, excess, engine
    monkeypatch.setattr("biorrr.sims.page.sweep.MOST_NUMBERS", cells + 6)
    gathered = gather_sweep(sweep)
    excess, curves = (gathered["charts"]["sweep"][name] for name in ("numbers", "curves"))
    kept = [excess["excess"][i] for i, curve in enumerate(curves) if curve]
    assert sorted(kept) == [0.01, 0.011]
    assert gathered["without_curves"] == 9
    assert gathered["rows_left_out"] == 0
    monkeypatch.setattr("biorrr.sims.page.sweep.MOST_NUMBERS", 5 * 7)
    assert gather_sweep(sweep)["rows_left_out"] == 6


def test_what_is_no_curve_is_left_out(sweep):
    plan = read_plan(sweep / "sweep.toml")
    path = Ledger(sweep).path(plan, plan.points[1])
    point = json.loads(path.read_text())
    point["curves"] = {"short": {"seen": [1], "values": [1, 2]}, "words": {"seen": ["<b>"], "values": [1]}, "none": 3}
    path.write_text(json.dumps(point))
    assert gather_sweep(sweep)["charts"]["sweep"]["curves"][1] == {}


def test_says_which_folder_has_no_run(tmp_path, capsys):
    def said(*arguments):
        assert main.run(["report", *map(str, arguments)]) == 2
        return capsys.readouterr().err

    assert "must be a folder that an experiment or a sweep has filled (there is no such" in said(tmp_path / "nowhere")
    assert "has no run in it (config.toml is missing); give a run's folder, or a sweep's" in said(tmp_path)
    (tmp_path / "config.toml").write_text("[provenance]\nexperiment = 'learn; rm -r /'\n")
    assert "config.toml must name the experiment it is of (got 'learn; rm -r /')" in said(tmp_path)
    (tmp_path / "config.toml").write_text("k = \n")
    assert "config.toml: damaged (Invalid value" in said(tmp_path)


def test_says_where_no_page_can_be_written(folder, capsys):
    for out in (folder, folder / "nowhere" / "page.html"):
        assert main.run(["report", str(folder), "--out", str(out)]) == 2
        assert f"out: must be a file, in a folder that exists (got {out})" in capsys.readouterr().err


def test_files_of_the_user_s_own_are_left_alone(folder):
    (folder / "mine.nc").write_bytes(b"not for biorrr")
    assert [entry.file for entry in read_record(folder).results] == ["run.nc", "learning.nc", "signals.nc"]


@pytest.mark.slow
def test_a_run_that_goes_on_and_one_that_was_killed(tmp_path, start_biorrr, capsys):
    process = start_biorrr("learn", "--epochs", 100_000, "--engine", "numpy", "--out", tmp_path / "long")
    deadline = time.monotonic() + 60
    while not (tmp_path / "long" / "config.toml").exists():
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert main.run(["report", str(tmp_path / "long")]) == 2
    assert "the run in it is still going; wait for its end" in capsys.readouterr().err
    process.kill()
    process.wait()
    assert main.run(["report", str(tmp_path / "long")]) == 2
    assert "the run in it was cut short; `biorrr resume" in capsys.readouterr().err


def test_says_which_run_is_not_finished(folder, capsys):
    (folder / "summary.json").unlink()
    with pytest.raises(FolderError, match=r"the run in it was cut short; `biorrr resume .*learn-one` continues it"):
        read_record(folder)
    running = RunFolder("learn", folder, force=True)
    running.claim()
    with pytest.raises(FolderError, match="the run in it is still going; wait for its end"):
        read_record(folder)
    running.release()


@pytest.mark.parametrize("kept", [0, 100, 5000])
def test_says_which_results_are_damaged(folder, kept):
    os.truncate(folder / "run.nc", kept)
    with pytest.raises(
        FolderError, match=r"run.nc: damaged, or no NetCDF file; `biorrr learn --config .* makes it again"
    ):
        read_record(folder)


def test_says_which_numbers_and_results_are_missing(folder):
    for text in ("[1, 2]", '{"excess": '):
        (folder / "summary.json").write_text(text)
        with pytest.raises(FolderError, match=r"summary.json: damaged .*; run it again"):
            read_record(folder)
    (folder / "summary.json").write_text("{}")
    (folder / "run.nc").unlink()
    with pytest.raises(FolderError, match=r"run.nc is missing; `biorrr learn --config .* --force --out"):
        read_record(folder)


def test_says_which_sweep_cannot_be_shown(sweep):
    plan = (sweep / "sweep.toml").read_text()
    shutil.rmtree(sweep / "points")
    with pytest.raises(FolderError, match=r"no point of it is finished; `biorrr resume .*` continues it"):
        gather_sweep(sweep)
    (sweep / "sweep.toml").write_text(plan.replace("k =", "kk ="))
    with pytest.raises(FolderError, match=r"sweep.toml must be the plan of a sweep \(kk: no such setting"):
        gather_sweep(sweep)
    (sweep / "points").mkdir()
    (sweep / "sweep.toml").unlink()
    with pytest.raises(FolderError, match=r"sweep.toml is missing; the same `biorrr sweep` again writes it"):
        gather_sweep(sweep)


def test_says_that_plotly_is_missing(folder, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "plotly.offline", None)
    assert main.run(["report", str(folder)]) == 2
    assert capsys.readouterr().err == "biorrr: report: needs plotly; pip install 'biorrr[report]'\n"
    assert not (folder / "report.html").exists()


def test_the_page_is_one_file_that_asks_nothing_of_the_network(folder, sweep, capsys, monkeypatch):
    pytest.importorskip("plotly", reason="plotly is not installed: pip install 'biorrr[report]'")
    monkeypatch.setenv("BIORRR_SECRET_TOKEN", "sesame-8431")
    assert main.run(["report", str(folder), str(sweep)]) == 0
    written = folder / "report.html"
    text = written.read_text(encoding="utf-8")
    assert written.stat().st_size < 8e6
    markup = text.replace(text[text.index("<script>") : text.index("</script>")], "", 1)  # but for the charting library
    assert "http://" not in markup
    assert "https://" not in markup
    assert "default-src 'none'" in markup
    assert "biorrr learn --config config.toml" in markup
    assert "biorrr sweep sweep.toml --out ." in markup
    assert str(folder.parent) not in markup
    assert "sesame-8431" not in text


def test_a_page_that_would_be_too_large_is_refused(folder, capsys, monkeypatch):
    pytest.importorskip("plotly", reason="plotly is not installed: pip install 'biorrr[report]'")
    monkeypatch.setattr("biorrr.sims.page.document.MOST_BYTES", 1_000_000)
    assert main.run(["report", str(folder)]) == 2
    assert "report: must stay below 1 MB (got " in capsys.readouterr().err
    assert not (folder / "report.html").exists()


def test_text_of_files_stays_text(tmp_path, capsys):
    pytest.importorskip("plotly", reason="plotly is not installed: pip install 'biorrr[report]'")
    folder = write_folder(
        tmp_path / "sent", "symmetry", {"run": xr.Dataset()},
        {HOSTILE: HOSTILE, "claims": [{"claim": HOSTILE, "holds": False, HOSTILE: HOSTILE}]}, f"data = '''{HOSTILE}'''",
    )  # fmt: skip
    assert main.run(["report", str(folder), str(write_sweep(tmp_path / "swept", reason=HOSTILE))]) == 0
    text = (folder / "report.html").read_text(encoding="utf-8")
    markup = text.replace(text[text.index("<script>") : text.index("</script>")], "", 1)  # but for the charting library
    assert markup.count("</script>") == 3  # the library's, the data's and ours
    assert markup.count("<script") == 2
    assert "<img" not in markup
    assert 'onerror="' not in markup


def test_the_page_does_not_name_the_home_folder(monkeypatch):
    monkeypatch.setenv("HOME", "/home/ada")
    told = {"data": "/home/ada/x.npz", "reason": ["no /home/ada/x.npz here"], "k": 2}
    assert without_home(told) == {"data": "~/x.npz", "reason": ["no ~/x.npz here"], "k": 2}


@pytest.fixture(scope="module")
def browser():
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed: pip install selenium")
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not (chromium and driver):
        pytest.skip("no chromium and chromedriver here; Debian: apt install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (
        "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
        "--disable-background-networking", "--disable-component-update", "--disable-sync", "--window-size=1400,2400",
    ):  # fmt: skip
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    started = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield Browser(started)
    started.quit()


class Browser:
    """A real browser, with what the tests ask of a page."""

    def __init__(self, driver):
        self.driver = driver

    def open(self, path, width=1400, dark=False):
        metrics = {"width": width, "height": 2400, "deviceScaleFactor": 1, "mobile": width < 500}
        theme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [theme]})
        for log in ("browser", "performance"):
            self.driver.get_log(log)
        self.driver.get(path.as_uri())
        self.until("return document.querySelectorAll('.main-svg').length > 0")

    def ask(self, script):
        return self.driver.execute_script(script)

    def until(self, script, seconds=20):
        deadline = time.monotonic() + seconds
        while not self.ask(script):
            assert time.monotonic() < deadline, script
            time.sleep(0.1)

    def find(self, selector):
        return self.driver.find_element("css selector", selector)

    def point_at(self, selector, x, y):
        """Move the mouse to a point of a chart, in the units of its axes."""
        from selenium.webdriver.common.action_chains import ActionChains

        across, down = self.ask(
            f"""
            const chart = document.querySelector("{selector}"), box = chart.getBoundingClientRect();
            const {{ xaxis, yaxis, _size }} = chart._fullLayout;
            return [xaxis.d2p({x}) + _size.l - box.width / 2, yaxis.d2p({y}) + _size.t - box.height / 2];
            """
        )
        actions = ActionChains(self.driver)
        actions.move_to_element_with_offset(self.find(selector), int(across), int(down)).perform()
        return actions

    def is_well(self):
        """No error, no request but for the page itself, nothing wider than the screen."""
        assert [entry for entry in self.driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")] == []
        messages = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        asked = [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]
        assert {url.partition(":")[0] for url in asked} <= {"file", "data", "blob"}
        assert sum(url.startswith("file:") for url in asked) == 1
        assert self.ask("return document.documentElement.scrollWidth <= window.innerWidth")


@pytest.fixture
def page(folder, sweep, tmp_path, capsys):
    """The page of a run and of a sweep."""
    pytest.importorskip("plotly", reason="plotly is not installed: pip install 'biorrr[report]'")
    assert main.run(["report", str(folder), str(sweep), "--out", str(tmp_path / "page.html")]) == 0
    return tmp_path / "page.html"


@pytest.mark.slow
@pytest.mark.parametrize("width", [1400, 390])
@pytest.mark.parametrize("dark", [False, True])
def test_the_browser_shows_it_wide_and_narrow_light_and_dark(page, browser, width, dark):
    browser.open(page, width, dark)
    browser.until("return document.querySelectorAll('.js-plotly-plot').length === 5")
    ink = browser.ask("return document.querySelector('[data-sweep=map]')._fullLayout.font.color")
    assert ink == ("#ececec" if dark else "#1a1a1a")
    titles = browser.ask(
        "return [...document.querySelectorAll('.js-plotly-plot')].flatMap(chart => [chart._fullLayout.xaxis, "
        "chart._fullLayout.yaxis]).filter(axis => axis && axis.visible).map(axis => axis.title.text)"
    )
    assert len(titles) == 8  # of four charts; the diagram has no axes
    assert all(titles)
    browser.is_well()


@pytest.mark.slow
@pytest.mark.parametrize(("width", "dark"), [(1400, False), (390, True)])
def test_axe_finds_nothing_to_object_to(page, browser, width, dark):
    """Deque's checker of accessibility: names of controls, contrast, landmarks, order of headings, and more."""
    axe = pytest.importorskip("axe_core_python", reason="axe is not installed: pip install axe-core-python")
    browser.open(page, width, dark)
    browser.ask("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    browser.ask((Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8"))
    found = browser.driver.execute_async_script("const done = arguments[0]; axe.run().then(done);")
    assert len(found["passes"]) > 20  # it did look
    objections = [
        f"{one['id']} ({one['impact']}): {one['help']}: {node['html'][:200]}"
        for one in found["violations"]
        for node in one["nodes"]
    ]
    assert objections == []
    # And it does object where there is something to object to.
    browser.ask("document.querySelector('select').closest('label').replaceWith(document.querySelector('select'))")
    worse = browser.driver.execute_async_script("const done = arguments[0]; axe.run().then(done);")
    assert "select-name" in [one["id"] for one in worse["violations"]]


@pytest.mark.slow
def test_several_runs_are_drawn_in_shared_axes(folder, tmp_path, browser, capsys):
    pytest.importorskip("plotly", reason="plotly is not installed: pip install 'biorrr[report]'")
    other = tmp_path / "another"
    shutil.copytree(folder, other)
    assert main.run(["report", str(folder), str(other), "--out", str(tmp_path / "both.html")]) == 0
    browser.open(tmp_path / "both.html", 390)
    names = browser.ask("return document.querySelector('[data-together] .js-plotly-plot').data.map(line => line.name)")
    assert names == ["learn-one: circuit", "another: circuit"]
    browser.is_well()


@pytest.mark.slow
def test_slider_and_mouse_change_what_is_shown(page, browser):
    from selenium.webdriver.common.keys import Keys

    browser.open(page)
    assert browser.find("[data-seen]").text == "200"
    sizes = "return document.querySelector('[data-chart=diagram]').data.find(trace => trace.name === 'Q').marker.size"
    before = browser.ask(sizes)
    browser.find("[data-slider]").send_keys(Keys.HOME)
    assert browser.find("[data-seen]").text == "0"
    assert browser.ask(sizes) != before
    place = browser.ask(
        "const { x, y } = document.querySelector('[data-chart=diagram]').data.find(trace => trace.name === 'Vx'); "
        "return [x[0], y[0]]"
    )
    browser.point_at("[data-chart=diagram]", *place)
    browser.until("return document.querySelector('[data-chart=diagram]').textContent.includes('plateau_post')")
    browser.is_well()


@pytest.mark.slow
def test_points_of_a_sweep_are_chosen_by_mouse_and_keyboard(page, browser):
    from selenium.webdriver.common.keys import Keys

    def chosen():
        return browser.ask("return document.querySelector('[data-sweep=curves]').data.map(trace => trace.name)")

    def press(key):
        browser.driver.switch_to.active_element.send_keys(key)

    browser.open(page)
    assert chosen() == ["k 2, s 0, seed 0"]  # the best
    cell = browser.point_at("[data-sweep=map]", 2, 0)  # k 4, s 0
    browser.until("return document.querySelector('[data-sweep=map] .hoverlayer').textContent.includes('mean of 2')")
    cell.click().perform()
    browser.until("return document.querySelector('[data-sweep=curves]').data.length === 3")
    assert chosen()[1:] == ["k 4, s 0, seed 0", "k 4, s 0, seed 1"]
    browser.find("[data-sweep=clear]").click()
    assert chosen() == []

    heading = next(one for one in browser.driver.find_elements("css selector", ".swept button") if one.text == "excess")
    column = "return [...document.querySelectorAll('.swept tbody tr')].map(row => row.cells[4].textContent)"
    heading.send_keys(Keys.ENTER)
    numbers = browser.ask(column)
    assert numbers[:3] == ["1 %", "1.1 %", "2 %"]
    heading.send_keys(Keys.ENTER)
    assert browser.ask(column)[0] == "4 %"
    assert browser.ask(column)[-1] == ""  # the failed point stays last
    assert heading.find_element("xpath", "..").get_attribute("aria-sort") == "descending"
    browser.find(".swept tr[tabindex='0']").send_keys(Keys.HOME)
    press(Keys.ARROW_DOWN)
    press(Keys.ENTER)
    assert len(chosen()) == 1
    outline = browser.ask("return getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"

    browser.find("[data-sweep=map]").send_keys(Keys.ARROW_RIGHT + Keys.ENTER)
    assert len(chosen()) > 1
    browser.is_well()


@pytest.mark.slow
def test_scripts_in_files_do_not_run(tmp_path, browser, capsys):
    pytest.importorskip("plotly", reason="plotly is not installed: pip install 'biorrr[report]'")
    sent = write_sweep(tmp_path / "swept", reason=HOSTILE)
    (sent / "evil.svg").write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">'
        '<script>parent.document.title="broken"</script></svg>'
    )
    assert main.run(["report", str(sent)]) == 0
    browser.open(sent / "report.html")
    assert browser.ask("return document.title") == "biorrr: swept"
    assert HOSTILE in browser.ask("return document.querySelector('.swept').textContent")
    browser.is_well()


@pytest.mark.slow
def test_it_prints_on_white(page, browser):
    import base64

    browser.open(page, dark=True)
    printed = browser.driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})
    assert len(base64.b64decode(printed["data"])) > 50_000
    ink = "return document.querySelector('[data-sweep=map]')._fullLayout.font.color"
    browser.until(f"{ink} === '#ececec'")  # dark again afterwards


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*")
@pytest.mark.parametrize(
    ("experiment", "options", "charts"),
    [
        ("learn", "--epochs 1 --seeds 2", 3),
        ("plateau", "--epochs 1 --seeds 2", 3),
        ("family", "--epochs 1 --seeds 2 -s 0 -s 1", 1),
        ("wiring", "--epochs 1 --format svg", 1),
        ("symmetry", "--etas 0.3 --seeds 2", 1),
        ("compare", "--steps 30 --seeds 2 -k 1 -k 2", 1),
    ],
)
def test_every_experiment_has_a_page(experiment, options, charts, tmp_path, browser, run_biorrr):
    pytest.importorskip("plotly", reason="plotly is not installed: pip install 'biorrr[report]'")
    small = ["--data", "synthetic:samples=60,m=6,n=4", "--engine", "numpy", "--out", tmp_path / "out"]
    code, _, err = run_biorrr(experiment, *options.split(), *small)
    assert code == 0, err
    assert run_biorrr("report", tmp_path / "out")[0] == 0
    browser.open(tmp_path / "out" / "report.html", width=390)
    browser.until(f"return document.querySelectorAll('.js-plotly-plot').length >= {charts}")
    assert browser.ask("return [...document.images].every(image => image.naturalWidth > 0 && image.alt)")
    assert browser.ask("return document.images.length") > 0
    browser.is_well()
