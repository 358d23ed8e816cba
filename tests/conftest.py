"""What the tests of every room share."""

import pytest


@pytest.fixture(scope="session", autouse=True)
def compiled_code(pytestconfig):
    """Keep compiled circuits with pytest's cache: out of the user's, and there again in the next session."""
    folder = pytestconfig.cache.mkdir("biorrr")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BIORRR_CACHE", str(folder))
        yield folder
