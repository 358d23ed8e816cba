"""Processes that compute side by side and never outlive the one that started them."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any

_PR_SET_PDEATHSIG = 1  # of Linux's prctl


@contextmanager
def process_pool(
    workers: int, prepare: Callable[..., None] | None = None, *given: Any, method: str | None = None
) -> Iterator[ProcessPoolExecutor]:
    """A pool of ``workers`` processes, each of which first calls ``prepare(*given)``.

    ``method`` is how they are started, Python's usual one unless given. Killed outright, the parent cannot tell its
    workers to end, and they would wait for its orders for ever: they end by themselves. A block that fails or is
    interrupted does not wait for what they are at.
    """
    pool = ProcessPoolExecutor(workers, get_context(method), _begin, (os.getpid(), prepare, given))
    try:
        yield pool
    except BaseException:
        for process in list((pool._processes or {}).values()):
            process.kill()
        pool.shutdown(cancel_futures=True)
        raise
    pool.shutdown()


def _begin(parent: int, prepare: Callable[..., None] | None, given: tuple) -> None:
    if sys.platform == "linux":
        # Counts from the death of the thread that started us, which waits for the pool as long as that is open.
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it died before we had asked
            os._exit(1)
    else:
        threading.Thread(target=_watch, args=(parent,), daemon=True).start()
    if prepare is not None:
        prepare(*given)


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)
