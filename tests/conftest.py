"""What the tests of every room share."""

import pytest


@pytest.fixture(scope="session", autouse=True)
def compiled_code(pytestconfig):
    """Keep compiled circuits with pytest's cache: out of the user's, and there again in the next session."""
    folder = pytestconfig.cache.mkdir("biorrr")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BIORRR_CACHE", str(folder))
        yield folder


@pytest.fixture(autouse=True)
def no_backend_chosen(monkeypatch):
    """A command run in this process chooses one for figures; later tests, and what they start, begin without."""
    monkeypatch.delenv("MPLBACKEND", raising=False)
