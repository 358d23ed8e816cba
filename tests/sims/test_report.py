"""The report page: what is gathered, what is said of folders there is nothing to say of, and the
page as a file.
"""

import json
import shutil
import time
from pathlib import Path

import pytest

from biorrr.sims import main
from biorrr.sims.cli.report import gather_figures, gather_run, gather_sweep, shown
from biorrr.sims.lab.claims import Claim
from biorrr.sims.lab.run_folder import FIGURE, FolderError, lock
from biorrr.sims.sweeps.plan import read_plan

PNG = b"\x89PNG\r\n\x1a\n"
HOSTILE = (
    "</script><script>document.title='broken'</script><img src=x"
    " onerror=\"document.title='broken'\">&amp;"
)
SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="60"><rect width="90"'
    ' height="60"/></svg>'
)


def write_folder(path, experiment, summary=None, settings="", units=None):
    """A run folder as an experiment leaves it."""
    path.mkdir()
    inventory = {"files": {"x.svg": FIGURE}, "units": units or {}}
    (path / "inventory.json").write_text(json.dumps(inventory))
    (path / "x.svg").write_text(SVG)
    (path / "x.md").write_text("A rectangle.\n")
    (path / "config.toml").write_text(
        f'{settings}\n[provenance]\nexperiment = "{experiment}"\nbiorrr = "0.1.0"\n'
    )
    (path / "summary.json").write_text(json.dumps(summary or {}))
    return path


@pytest.fixture
def folder(tmp_path):
    summary = {"excess": 0.25, "samples": 200, "ended": "done", "engine": "numpy"}
    return write_folder(tmp_path / "learn-one", "learn", summary, 'data = "digits"\nk = 2')


@pytest.fixture
def sweep(tmp_path, write_point):
    return write_sweep(tmp_path / "sweep-one", write_point)


def write_sweep(path, write_point, reason="it diverged"):
    """A sweep's folder with a failed point, and a point to come."""
    path.mkdir()
    (path / "sweep.toml").write_text(
        'experiment = "learn"\nseeds = 2\n[fixed]\ndata = "digits"\n[grid]\nepochs = [1, 2,'
        ' 4]\ncell = ["algebraic"]\n[provenance]\nexperiment = "sweep"\nbiorrr = "0.1.0"\n'
    )
    plan = read_plan(path / "sweep.toml")
    write_point(plan, path, plan.points[0], status="failed", reason=reason)
    for settings in plan.points[1:-1]:
        excess = 0.04 / settings.epochs + 0.001 * settings.seed
        write_point(plan, path, settings, engine="cpp", excess=excess)
    return path


def test_a_sentence_says_what_was_run_and_how_it_ended(folder):
    assert (
        gather_run(folder)["sentence"]
        == "The experiment “learn” on digits: it ran to its end after 200 samples on engine numpy,"
        " 25.00 % above the optimum."
    )


def test_an_interrupted_run_is_reported_with_the_way_on(folder):
    (folder / "summary.json").write_text(
        '{"ended": "interrupted", "engine": "numpy", "samples": 200}'
    )
    sentence = gather_run(folder)["sentence"]
    assert sentence.endswith(
        "it was interrupted after 200 samples on engine numpy; `biorrr resume` continues it."
    )


def test_claims_are_told_as_the_command_prints_them(tmp_path):
    meets = Claim(
        text="R meets Q'",
        data="digits",
        value=0.012,
        high=0.05,
        unit="%",
        numbers={"runs": 8},
        place="D",
    )
    claims = [meets.record(), {"claim": "always", "holds": False}, "not a claim"]
    folder = write_folder(tmp_path / "one", "symmetry", {"claims": claims}, 'data = "digits"')
    gathered = gather_run(folder)
    assert (
        gathered["sentence"]
        == "The experiment “symmetry” on digits: it ran to its end; 1 of 2 claims hold."
    )
    behind = ["1.2 %, bound: at most 5 %; runs 8", "D"]
    assert gathered["claims"] == [
        {"text": "digits: R meets Q'", "verdict": "✓ holds", "behind": behind},
        {"text": "always", "verdict": "✗ does not hold", "behind": []},
    ]


def test_fractions_are_read_in_percent(tmp_path):
    summary = {
        "excess": 0.0123,
        "plateau_relative_error_end": 0.5,
        "samples": 600,
        "whitening_error": 0.01,
    }
    units = {"excess": "%", "plateau_relative_error_end": "%"}
    folder = write_folder(tmp_path / "one", "symmetry", summary, 'data = "digits"', units)
    assert gather_run(folder)["numbers"] == {
        "excess": "1.23 %",
        "plateau_relative_error_end": "50 %",
        "samples": 600,
        "whitening_error": 0.01,
    }


def test_figures_are_put_into_the_page_or_named(tmp_path):
    (tmp_path / "audit.png").write_bytes(PNG + b"small")
    (tmp_path / "wiring-3.svg").write_text("<svg/>")
    (tmp_path / "large.png").write_bytes(PNG + bytes(2000))
    (tmp_path / "paper.pdf").write_bytes(b"%PDF")
    (tmp_path / "passwords.png").symlink_to("/etc/passwd")
    (tmp_path / "mine.png").write_bytes(PNG + b"not the run's")
    names = ("audit.png", "wiring-3.svg", "large.png", "paper.pdf", "passwords.png", "gone.png")
    (tmp_path / "wiring-3.md").write_text("The circuit.\n")
    (tmp_path / "audit.md").symlink_to("/etc/passwd")
    found, left_out = gather_figures(tmp_path, 1000, names)
    assert [one["name"] for one in found] == ["audit.png", "wiring-3.svg"]
    assert found[0]["uri"].startswith("data:image/png;base64,")
    assert [one["caption"] for one in found] == ["Figure audit.", "The circuit."]
    assert left_out == ["large.png", "paper.pdf", "passwords.png", "gone.png"]


def test_values_are_shown_with_few_digits_and_without_the_home_folder(monkeypatch):
    monkeypatch.setenv("HOME", "/home/ada")
    told = {"data": "/home/ada/x.npz", "s": [0.123456789, 1.0], "k": 2, "ridge": None}
    assert shown(told) == "data = ~/x.npz, s = 0.12346, 1, k = 2, ridge = "


def test_a_sweep_is_gathered_point_by_point(sweep):
    gathered = gather_sweep(sweep)
    assert (
        gathered["sentence"]
        == "A sweep of “learn” over epochs and cell: 6 points: 4 done, 1 failed, 1 left."
    )
    assert gathered["lines"] == [
        "failed 1 times: it diverged",
        "lowest excess of a single point 1 % at epochs 4, cell algebraic, seed 0",
    ]
    assert [row["excess"] for row in gathered["points"]] == [0.01, 0.02, 0.021, 0.041, None]
    assert [*gathered["points"][0]] == [
        "data",
        "epochs",
        "cell",
        "seed",
        "status",
        "excess",
        "engine",
        "reason",
    ]


def test_a_table_that_is_too_long_for_a_page_is_cut(sweep, monkeypatch):
    monkeypatch.setattr("biorrr.sims.cli.report.MOST_CELLS", 3 * 8)
    gathered = gather_sweep(sweep)
    assert len(gathered["points"]) == 3
    assert gathered["order"] == "The lowest excess comes first. 2 more points are in sweep.csv."


def test_says_which_folder_has_no_run(tmp_path, capsys):
    def said(*arguments):
        assert main.run(["report", *map(str, arguments)]) == 2
        return capsys.readouterr().err

    assert "must be a folder that an experiment or a sweep has filled (there is no such" in said(
        tmp_path / "nowhere"
    )
    assert "has no run in it (config.toml is missing); give a run's folder, or a sweep's" in said(
        tmp_path
    )
    (tmp_path / "summary.json").write_text("{}")
    (tmp_path / "config.toml").write_text("[provenance]\nexperiment = 'learn; rm -r /'\n")
    assert "config.toml must name the experiment it is of (got 'learn; rm -r /')" in said(tmp_path)
    (tmp_path / "config.toml").write_text("k = \n")
    assert "config.toml: damaged (Invalid value" in said(tmp_path)


def test_says_where_no_page_can_be_written(folder, capsys):
    for out in (folder, folder / "nowhere" / "page.html"):
        assert main.run(["report", str(folder), "--out", str(out)]) == 2
        assert (
            f"out: must be a file, in a folder that exists (got {out})" in capsys.readouterr().err
        )


@pytest.mark.slow
def test_a_run_that_goes_on_and_one_that_was_killed(tmp_path, start_biorrr, capsys):
    process = start_biorrr(
        "learn", "--epochs", 100_000, "--engine", "numpy", "--out", tmp_path / "long"
    )
    deadline = time.monotonic() + 60
    while not (tmp_path / "long" / "unfinished" / "config.toml").exists():
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
    with pytest.raises(
        FolderError, match=r"the run in it was cut short; `biorrr resume .*learn-one` continues it"
    ):
        gather_run(folder)
    going = pytest.raises(FolderError, match="the run in it is still going; wait for its end")
    with lock(folder), going:
        gather_run(folder)


def test_says_which_numbers_are_damaged_or_missing(folder):
    for text in ("[1, 2]", '{"excess": '):
        (folder / "summary.json").write_text(text)
        with pytest.raises(FolderError, match=r"summary.json: damaged .*; run it again"):
            gather_run(folder)
    (folder / "summary.json").write_text("{}")
    (folder / "inventory.json").unlink()
    with pytest.raises(FolderError, match=r"inventory.json is missing; run it again"):
        gather_run(folder)


def test_says_which_sweep_cannot_be_shown(sweep):
    plan = (sweep / "sweep.toml").read_text()
    shutil.rmtree(sweep / "points")
    with pytest.raises(
        FolderError, match=r"no point of it is finished; `biorrr resume .*` continues it"
    ):
        gather_sweep(sweep)
    (sweep / "sweep.toml").write_text(plan.replace("epochs =", "kk ="))
    with pytest.raises(
        FolderError, match=r"sweep.toml must be the plan of a sweep \(kk: no such setting"
    ):
        gather_sweep(sweep)
    (sweep / "points").mkdir()
    (sweep / "sweep.toml").unlink()
    with pytest.raises(
        FolderError, match=r"sweep.toml is missing; the same `biorrr sweep` again writes it"
    ):
        gather_sweep(sweep)


def test_the_page_is_one_file_that_asks_nothing_of_the_network(folder, sweep, capsys, monkeypatch):
    monkeypatch.setenv("BIORRR_SECRET_TOKEN", "sesame-8431")
    assert main.run(["report", str(folder), str(sweep)]) == 0
    text = (folder / "report.html").read_text(encoding="utf-8")
    assert "<script" not in text
    assert "http://" not in text
    assert "https://" not in text
    assert "default-src 'none'" in text
    assert "biorrr learn --config config.toml" in text
    assert "biorrr sweep sweep.toml --out ." in text
    assert str(folder.parent) not in text
    assert "sesame-8431" not in text


def test_figures_of_several_folders_share_the_room(folder, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("biorrr.sims.cli.report.MOST_BYTES", 300)
    for folders, figures in (([folder], 1), ([folder, folder], 0)):
        assert main.run(["report", *map(str, folders), "--out", str(tmp_path / "page.html")]) == 0
        assert (tmp_path / "page.html").read_text().count("<figure>") == figures


def test_text_of_files_stays_text(tmp_path, capsys, write_point):
    folder = write_folder(
        tmp_path / "sent",
        "symmetry",
        {HOSTILE: HOSTILE, "claims": [{"claim": HOSTILE, "holds": False, HOSTILE: HOSTILE}]},
        f"data = '''{HOSTILE}'''",
    )
    swept = write_sweep(tmp_path / "swept", write_point, HOSTILE)
    assert main.run(["report", str(folder), str(swept)]) == 0
    text = (folder / "report.html").read_text(encoding="utf-8")
    assert "<script" not in text
    assert text.count("<img") == 1  # the figure
    assert 'onerror="' not in text


@pytest.fixture(scope="module")
def browser():
    webdriver = pytest.importorskip(
        "selenium.webdriver", reason="selenium is not installed: pip install selenium"
    )
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not (chromium and driver):
        pytest.skip(
            "no chromium and chromedriver here; Debian: apt install chromium chromium-driver"
        )
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--hide-scrollbars",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--window-size=1400,2400",
    ):
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

    def ask(self, script):
        return self.driver.execute_script(script)

    def is_well(self):
        """No error, no request but for the page itself, nothing wider than the screen."""
        assert [
            entry
            for entry in self.driver.get_log("browser")
            if entry["level"] in ("SEVERE", "WARNING")
        ] == []
        messages = [
            json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")
        ]
        asked = [
            m["params"]["request"]["url"]
            for m in messages
            if m["method"] == "Network.requestWillBeSent"
        ]
        assert {url.partition(":")[0] for url in asked} <= {"file", "data", "blob"}
        assert sum(url.startswith("file:") for url in asked) == 1
        assert self.ask("return document.documentElement.scrollWidth <= window.innerWidth")


@pytest.fixture
def page(folder, sweep, tmp_path, capsys):
    """The page of a run and of a sweep."""
    assert main.run(["report", str(folder), str(sweep), "--out", str(tmp_path / "page.html")]) == 0
    return tmp_path / "page.html"


@pytest.mark.slow
@pytest.mark.parametrize("width", [1400, 390])
@pytest.mark.parametrize("dark", [False, True])
def test_the_browser_shows_it_wide_and_narrow_light_and_dark(page, browser, width, dark):
    browser.open(page, width, dark)
    assert browser.ask("return getComputedStyle(document.body).color") == (
        "rgb(236, 236, 236)" if dark else "rgb(26, 26, 26)"
    )
    assert browser.ask(
        "return [...document.images].every(image => image.naturalWidth > 0 && image.alt)"
    )
    assert browser.ask("return document.querySelectorAll('.swept tbody tr').length") == 5
    browser.is_well()


@pytest.mark.slow
@pytest.mark.parametrize(("width", "dark"), [(1400, False), (390, True)])
def test_axe_finds_nothing_to_object_to(page, browser, width, dark):
    """Deque's checker of accessibility: names of controls, contrast, landmarks, order of headings,
    and more.
    """
    axe = pytest.importorskip(
        "axe_core_python", reason="axe is not installed: pip install axe-core-python"
    )
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
    browser.ask("document.querySelector('img').removeAttribute('alt')")
    worse = browser.driver.execute_async_script("const done = arguments[0]; axe.run().then(done);")
    assert "image-alt" in [one["id"] for one in worse["violations"]]


@pytest.mark.slow
def test_scripts_in_files_do_not_run(tmp_path, browser, capsys):
    sent = write_folder(tmp_path / "sent", "learn", {"data": HOSTILE})
    (sent / "x.svg").write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">'
        '<script>parent.document.title="broken"</script></svg>'
    )
    assert main.run(["report", str(sent)]) == 0
    browser.open(sent / "report.html")
    assert browser.ask("return document.title") == "biorrr: sent"
    assert HOSTILE in browser.ask("return document.body.textContent")
    browser.is_well()
