"""``biorrr live``: a page of the data that are asked for, opened in the browser unless told
otherwise.
"""

import json
import re
import webbrowser

import numpy as np

from biorrr.sims.main import run


def test_live_writes_a_page_and_opens_it(tmp_path, monkeypatch, capsys):
    opened = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 5))
    np.savez(tmp_path / "mine.npz", X=X, Y=X[:, :3] + rng.standard_normal((40, 3)))
    page, data = tmp_path / "page.html", str(tmp_path / "mine.npz")
    assert run(["live", "--data", data, "-k", "3", "--seed", "2", "--out", str(page)]) == 0
    assert opened == [page.as_uri()]
    assert "open it in a browser" in capsys.readouterr().out
    kept = json.loads(re.search(r'id="data">(.*?)</script>', page.read_text())[1])
    assert kept["cells"] == ["cell 0", "cell 1", "cell 2"]
    assert kept["ports"]["x"]["values"]["shape"] == [40, 5]
    assert kept["theory"]["ridge"] > 0
    assert kept["pixels"] is None


def test_live_says_what_it_cannot_do(tmp_path, capsys):
    assert run(["live", "-k", "11", "--no-open", "--out", str(tmp_path / "page.html")]) == 2
    assert "k: must not exceed min(m, n) = 10 of digits" in capsys.readouterr().err
    assert run(["live", "--no-open", "--out", str(tmp_path)]) == 2
    assert "out: must be a file, in a folder that exists" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
