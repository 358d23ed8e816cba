"""Fixtures shared by the tests of sims/."""

import os
from pathlib import Path

import pytest


@pytest.fixture
def real_data():
    """Folder of the real data files; a test that needs them is skipped where there are none."""
    folder = os.environ.get("BIORRR_DATA")
    if not folder:
        pytest.skip("needs the real data files; set BIORRR_DATA to their folder")
    return Path(folder)


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    """An empty data folder in place of the user's cache, and no $BIORRR_DATA."""
    cache = tmp_path / "cache"
    monkeypatch.delenv("BIORRR_DATA", raising=False)
    monkeypatch.setattr("platformdirs.user_cache_path", lambda name: cache)
    return cache / "data"
