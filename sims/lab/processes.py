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
from collections.abc import Callable, Iterator, Mapping
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import Any

from biorrr.errors import BiorrrError, RunError
from biorrr.sims.lab.interrupts import held_back

_PR_SET_PDEATHSIG = 1  # of Linux's prctl


class Workers:
    """Processes that do the same work on many items; a context manager, at the end of which they are ended.

    A single item is the work of this process. Others are started when there is need of them, as Python usually does
    here: where it forks, what ``work`` holds is shared and not sent. They end with this process, however it ends, and
    nobody waits for what they are at. What they warn of is said here.

    Parameters
    ----------
    work
        Called with the name of an item and the item.
    most
        How many processes; 1 for this one alone.
    """

    def __init__(self, work: Callable[[str, Any], Any], most: int) -> None:
        self._work, self._most = work, most
        self._processes: dict[Connection, Any] = {}

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes.values():
            process.kill()
            process.join()

    def run(self, items: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        """Yield each name of ``items`` with the result of its work, in the order in which they are finished."""
        if min(self._most, len(items)) == 1:
            yield from ((name, self._work(name, item)) for name, item in items.items())
            return
        while len(self._processes) < min(self._most, len(items)):
            self._start()
        left = iter(items.items())
        busy = set()
        for connection, order in zip(self._processes, left, strict=False):
            connection.send(order)
            busy.add(connection)
        while busy:
            for ready in wait(list(busy)):
                assert isinstance(ready, Connection)
                try:
                    name, result, error, warned = ready.recv()
                except EOFError:
                    raise RunError("a process ended unexpectedly; it may have run out of memory") from None
                for text, category in warned:
                    warnings.warn(text, category, stacklevel=2)
                if error is not None:
                    raise error
                if (order := next(left, None)) is None:
                    busy.remove(ready)
                else:
                    ready.send(order)
                yield name, result

    def _start(self) -> None:
        context = get_context()
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(self._work, theirs, os.getpid()), daemon=True)  # type: ignore[attr-defined]
        with held_back():  # Ctrl-C reaches them too, and is for this process to heed
            process.start()
            theirs.close()
            self._processes[ours] = process


def _serve(work: Callable[[str, Any], Any], orders: Connection, parent: int) -> None:
    """Do what is ordered, item by item, until this process is ended."""
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
            name, item = orders.recv()
            result, error = None, None
            with warnings.catch_warnings(record=True) as warned:
                try:
                    result = work(name, item)
                except BaseException as failure:
                    error = failure
                    error.add_note(traceback.format_exc())  # of this process: an error is sent without it
            said = [(str(one.message), one.category) for one in warned]
            try:
                orders.send((name, result, error, said))
            except Exception as failure:  # some of Brian2's errors hold on to what cannot be sent
                kind = RunError if isinstance(error, BiorrrError) else RuntimeError
                named = "" if kind is RunError else f"{type(error or failure).__name__}: "
                instead = kind(f"{named}{error or failure}")
                instead.add_note("".join(getattr(error, "__notes__", ())))
                orders.send((name, None, instead, said))


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)
