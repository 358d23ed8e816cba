"""The report page, as a file and in a real browser."""

import json
import shutil
import time

import numpy as np
import pytest

pytest.importorskip("plotly", reason="plotly is not installed: pip install 'biorrr[report]'")

from biorrr.circuit import Microcircuit
from biorrr.sims import report


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run folder as `learn` leaves it, made small."""
    from biorrr.sims.data import load

    data = load("digits")
    run = Microcircuit(k=2, ridge=0.01, engine="numpy").run(
        data.X[:300], data.Y[:300], epochs=2, every=5, record=("plateau", "a", "inhibition", "z"), centre=True
    )
    path = tmp_path_factory.mktemp("runs") / "learn-one"
    path.mkdir()
    run.save(path / "run.nc")
    (path / "config.toml").write_text('data = "digits"\nk = 2\n\n[provenance]\nexperiment = "learn"\n')
    (path / "summary.json").write_text(json.dumps({"excess": 0.25, "samples": 600, "ended": "done"}))
    return path


@pytest.fixture(scope="module")
def written(folder):
    path = folder / "report.html"
    report.command([folder], out=path)
    return path


def test_is_one_file_without_network(written):
    text = written.read_text(encoding="utf-8")
    assert written.stat().st_size < 8e6
    markup = text.replace(text[text.index("<script>") : text.index("</script>")], "", 1)  # but for the charting library
    assert "http://" not in markup
    assert "https://" not in markup
    assert "biorrr learn --config config.toml" in text
    assert "25.00% above the optimum" in text


def test_says_what_is_missing(tmp_path):
    with pytest.raises(report.ReportError, match=r"no finished run in it \(config.toml is missing\)"):
        report.gather(tmp_path)


def test_without_the_data_leaves_out_what_needs_them(folder, tmp_path):
    other = tmp_path / "run"
    shutil.copytree(folder, other)
    (other / "config.toml").write_text('data = "nowhere.npz"\n')
    charts = report.gather(other)["charts"]
    assert "learning" not in charts
    assert "symmetry" in charts


def test_plain_numbers_survive_json():
    values = np.array([[0.0, np.nan], [-1234.5678, 1e-9]])
    assert json.loads(json.dumps(report._plain(values))) == [[0.0, None], [-1234.6, 1e-9]]


@pytest.fixture(scope="module")
def browser():
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed: pip install selenium")
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not (chromium and driver):
        pytest.skip("no chromium and chromedriver here; Debian: apt install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (
        "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync", "--window-size=1200,2400",
    ):  # fmt: skip
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    started = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield started
    started.quit()


@pytest.mark.slow
def test_in_a_browser(written, browser):
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    browser.get(f"file://{written}")
    _until(lambda: len(browser.find_elements(By.CSS_SELECTOR, ".main-svg")) >= 6)
    slider, seen = browser.find_element(By.CSS_SELECTOR, "[data-slider]"), "[data-seen]"
    assert browser.find_element(By.CSS_SELECTOR, seen).text == "600"

    widths = "return document.querySelector('[data-chart=diagram]').data.map(trace => trace.line && trace.line.width)"
    before = browser.execute_script(widths)
    slider.send_keys(Keys.HOME)  # the keyboard reaches it
    assert browser.find_element(By.CSS_SELECTOR, seen).text == "0"
    assert browser.execute_script(widths) != before

    chart = browser.find_element(By.CSS_SELECTOR, "[data-chart=diagram]")
    x, y = browser.execute_script(
        """
        const chart = document.querySelector("[data-chart=diagram]"), box = chart.getBoundingClientRect();
        const { xaxis, yaxis, _size } = chart._fullLayout, line = chart.data[0];
        return [xaxis.d2p(line.x[6]) + _size.l - box.width / 2, yaxis.d2p(line.y[6]) + _size.t - box.height / 2];
        """
    )
    ActionChains(browser).move_to_element_with_offset(chart, int(x), int(y)).perform()
    _until(lambda: "plateau_post" in (chart.text or ""))  # the rule of Vx

    neuron = browser.find_element(By.CSS_SELECTOR, "[data-neuron]")
    shown = "return document.querySelector('[data-chart=traces]').data[0].y"
    first = browser.execute_script(shown)
    neuron.send_keys("2")
    _until(lambda: browser.execute_script(shown) != first)

    browser.set_window_size(500, 900)
    _until(lambda: browser.execute_script("return document.documentElement.scrollWidth <= window.innerWidth"))
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []


def _until(condition, seconds=20):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)
