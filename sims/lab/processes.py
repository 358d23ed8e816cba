"""Processes that compute side by side and never outlive the one that started them."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time
import traceback
import warnings
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar

from biorrr.errors import BiorrrError, RunError
from biorrr.sims.lab.interrupts import held_back

TRIES = (
    4  # of an item whose processes die: one that needs too much memory must not be tried for ever
)
DIED = f"a process died each of {TRIES} times; perhaps it ran out of memory"
K = TypeVar("K")

_PR_SET_PDEATHSIG = 1  # of Linux's prctl


class Workers:
    """Processes that do the same work on many items; a context manager, at the end of which they
    are killed.

    Experiments and sweeps on this machine share them. A single item is the work of this process.
    Other processes are started when they are needed, by the default method of Python: where it
    forks, what ``work`` holds is shared and not sent. They end with this process, however it ends,
    and ignore Ctrl-C, which this process handles. An item whose process died is given to another.
    Warnings of the processes are repeated here.

    Parameters
    ----------
    work
        Function that is called with the key of an item and the item.
    most
        Number of processes; 1 for this one alone.
    lost
        Result of an item whose processes died each time it was tried; None raises a RunError.
    """

    def __init__(self, work: Callable[[Any, Any], Any], most: int, lost: Any = None) -> None:
        self._work, self._most, self._lost = work, most, lost
        self._processes: dict[Connection, Any] = {}

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        for connection in [*self._processes]:
            self._end(connection)

    def run(self, items: Mapping[K, Any]) -> Iterator[tuple[K, Any]]:
        """Yield each key of ``items`` with the result of its work, in the order in which they are
        finished.
        """
        if min(self._most, len(items)) <= 1:
            yield from ((key, self._work(key, item)) for key, item in items.items())
            return
        waiting = deque(items.items())
        deaths: Counter[K] = Counter()
        busy: dict[Connection, tuple[K, Any]] = {}
        self._occupy(busy, waiting)
        while busy:
            for ready in wait([*busy]):
                assert isinstance(ready, Connection)
                key, item = busy.pop(ready)
                try:
                    result, error, warned = ready.recv()
                except (EOFError, OSError):
                    self._end(ready)
                    deaths[key] += 1
                    if deaths[key] < TRIES:
                        waiting.appendleft((key, item))
                        self._occupy(busy, waiting)
                        continue
                    result, error, warned = self._lost, None if self._lost else RunError(DIED), ()
                for text, category in warned:
                    warnings.warn(text, category, stacklevel=2)
                if error is not None:
                    raise error
                self._occupy(busy, waiting)
                yield key, result

    def _occupy(self, busy: dict[Connection, tuple[K, Any]], waiting: deque[tuple[K, Any]]) -> None:
        """Give items that are waiting to processes that are not ``busy``."""
        while waiting and len(busy) < self._most:
            free = (
                next((connection for connection in self._processes if connection not in busy), None)
                or self._start()
            )
            try:
                free.send(waiting[0])
            except OSError:  # it was killed while it had nothing to do
                self._end(free)
            else:
                busy[free] = waiting.popleft()

    def _start(self) -> Connection:
        context = get_context()
        ours, theirs = context.Pipe()
        process = context.Process(
            target=_serve, args=(self._work, theirs, os.getpid()), daemon=True
        )  # type: ignore[attr-defined]
        with held_back():  # Ctrl-C reaches them too, and is for this process to heed
            process.start()
            theirs.close()
            self._processes[ours] = process
        return ours

    def _end(self, connection: Connection) -> None:
        process = self._processes.pop(connection)
        process.kill()
        process.join()
        connection.close()


def _serve(work: Callable[[Any, Any], Any], orders: Connection, parent: int) -> None:
    """Compute the items that arrive, one by one, until this process is killed."""
    if sys.platform == "linux":
        # Counts from the death of the thread that started us, which waits for our results.
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it died before we had asked
            os._exit(1)
    else:
        threading.Thread(target=_watch, args=(parent,), daemon=True).start()
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):  # there are as many processes as processors
        while True:
            key, item = orders.recv()
            result, error = None, None
            with warnings.catch_warnings(record=True) as warned:
                try:
                    result = work(key, item)
                except BaseException as failure:
                    error = failure
                    error.add_note(
                        traceback.format_exc()
                    )  # of this process: an error is sent without it
            said = [(str(one.message), one.category) for one in warned]
            try:
                orders.send((result, error, said))
            except Exception as failure:  # some of Brian2's errors hold on to what cannot be sent
                kind = RunError if isinstance(error, BiorrrError) else RuntimeError
                named = "" if kind is RunError else f"{type(error or failure).__name__}: "
                instead = kind(f"{named}{error or failure}")
                instead.add_note("".join(getattr(error, "__notes__", ())))
                orders.send((None, instead, said))


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)
