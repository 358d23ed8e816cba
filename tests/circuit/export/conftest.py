"""Pages opened by others than us: the program in Node.js, and the whole page in Chromium."""

import json
import shutil
import subprocess
from contextlib import contextmanager

import numpy as np
import pytest

RUN_IN_NODE = """
const fs = require("fs"), [path, count] = process.argv.slice(1);
const html = fs.readFileSync(path, "utf8");
const part = (id) => new RegExp(`<script[^>]* id="${id}">([^]*?)</script>`).exec(html)[1];
const data = JSON.parse(part("data"));
const made = new Function("DATA", `${part("circuit")}${part("simulation")}
  const simulation = new Simulation(DATA), x = simulation.ports[0];
  return [simulation, DATA.theory && new Theory(DATA.theory, x)];`);
const [simulation, theory] = made(data);
let predicted = null;
while (simulation.seen < Number(count) && simulation.step());
const Vx = theory && simulation.variable(data.matrices.Vx.key);
console.log(JSON.stringify({
  weights: simulation.weights(),
  seen: simulation.seen,
  mismatch: simulation.mismatch(),
  excess: theory && theory.excess(Vx),
  aligned: theory && Array.from(theory.aligned(Vx)),
  predicted: theory && Array.from(theory.predict(simulation.rows().x)),
}));
"""
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="session")
def node():
    """Return a function that presents so many samples on a page in Node.js: what came of it."""
    program = shutil.which("node")
    if program is None:
        pytest.skip("Node.js is not installed")

    def run(path, samples):
        command = [program, "-e", RUN_IN_NODE, str(path), str(samples)]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=300)
        assert ended.returncode == 0, ended.stderr
        return json.loads(ended.stdout)

    return run


@pytest.fixture
def browser(tmp_path):
    """Return a function that opens Chromium, in light or dark, and closes it in the end."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not driver:
        pytest.skip("Chromium and its driver are not installed")

    @contextmanager
    def open_browser(scheme="light", size=(1280, 800)):
        options = webdriver.ChromeOptions()
        options.binary_location = chromium
        for flag in (*FLAGS, f"--user-data-dir={tmp_path / 'profile'}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        chrome = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
        media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        screen = {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": False}
        chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
        try:
            yield chrome
        finally:
            chrome.quit()

    return open_browser


@pytest.fixture(scope="session")
def data():
    """Return two views with common signals, X (400, 12) and Y (400, 5), centred."""
    rng = np.random.default_rng(5)
    signals = rng.standard_normal((400, 3)) * [2.0, 1.5, 1.0]
    X = signals @ rng.standard_normal((3, 12)) + rng.standard_normal((400, 12))
    Y = signals @ rng.standard_normal((3, 5)) + rng.standard_normal((400, 5))
    return tuple((view - view.mean(axis=0)) / view.std() for view in (X, Y))
