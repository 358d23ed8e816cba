import numpy as np
import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    """On matrices this small the threads of a linear-algebra library only wait for one another."""
    with threadpool_limits(1):
        yield
