"""Fixtures and settings that the tests of every room share."""

import gc
import signal
import sys

import pytest
from hypothesis import settings

# Nothing here asserts speed. `make test` draws the same examples each time, so that only the code
# decides whether it passes; `make test-all` draws new ones.
settings.register_profile("same examples", deadline=None, derandomize=True)
settings.register_profile("new examples", deadline=None, print_blob=True)
settings.load_profile("same examples")


@pytest.fixture(scope="module", autouse=True)
def short_garbage_collections():
    """Brian2 collects garbage before every run, which takes longer than most: leave out what stays
    for good.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def ctrl_c():
    """Let Ctrl-C reach commands under test also where the tests run in the background of a shell,
    which ignores it.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def compiled_code(pytestconfig):
    """Keep compiled circuits with pytest's cache: out of the user's, and there again in the next
    session.
    """
    folder = pytestconfig.cache.mkdir("biorrr")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BIORRR_CACHE", str(folder))
        yield folder


@pytest.fixture(autouse=True)
def no_backend_chosen(monkeypatch):
    """A command run in this process chooses one for figures; later tests, and what they start,
    begin without.
    """
    monkeypatch.delenv("MPLBACKEND", raising=False)


@pytest.fixture(autouse=True)
def figures_are_closed():
    """Close figures that a test has left open, before matplotlib warns of too many."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
