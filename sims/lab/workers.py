"""Workers that compute items side by side: processes on this machine, or Dask workers elsewhere.

Both are a :data:`~biorrr.sims.lab.items.Submit`.
"""

from __future__ import annotations

import contextlib
import importlib.util
import logging
import os
import random
import signal
import socket
import threading
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import Any

from biorrr.errors import BiorrrError, InputError, RunError
from biorrr.sims.lab.items import submit_here
from biorrr.sims.start import held_back

# Times that an item is tried whose worker dies: one that takes too much memory must not be tried
# for ever. As many as Dask tries unless told otherwise.
TRIES = 4
DIED = f"a process died each of {TRIES} times; perhaps it ran out of memory"
LOGS = ("asyncio", "distributed", "distributed.client", "tornado", "tornado.application")
GONE = "the scheduler is gone; what is finished is kept; the same command goes on with the rest"


class SchedulerError(InputError):
    """An address at which there is no Dask scheduler."""

    exit_code = 2


class Processes:
    """Processes on this machine; see the module for calling them.

    They are started by the default method of Python: where it forks, what is shared is not sent.
    They end with this process, however it ends, and ignore Ctrl-C, which this process handles. An
    item whose process died is given to another. Warnings and notices of the processes are repeated
    here.

    Parameters
    ----------
    most
        Number of processes.
    """

    def __init__(self, most: int) -> None:
        self.most = most

    def __call__(
        self, work: Callable[..., Any], shared: tuple[Any, ...], items: Sequence[Any]
    ) -> Generator[tuple[int, Any]]:
        """Compute items side by side; a single one in this process."""
        if min(self.most, len(items)) <= 1:
            yield from submit_here(work, shared, items)
            return
        # Neighbours often share a circuit: one would wait for the other's compiler.
        waiting = random.Random(0).sample(range(len(items)), len(items))
        deaths = Counter[int]()
        free: list[Worker] = []
        busy: dict[Connection, tuple[Worker, int]] = {}
        try:
            while waiting or busy:
                while waiting and len(busy) < self.most:
                    worker = free.pop() if free else Worker(work, shared)
                    number = waiting.pop()
                    worker.give(items[number])
                    busy[worker.ours] = worker, number
                for ready in wait([*busy]):
                    worker, number = busy.pop(ready)  # type: ignore[call-overload]
                    try:
                        answer = worker.ours.recv()
                    except (EOFError, OSError):
                        worker.end()
                        deaths[number] += 1
                        if deaths[number] < TRIES:
                            waiting.append(number)
                        else:
                            yield number, RunError(DIED)
                        continue
                    if isinstance(answer, logging.LogRecord):
                        busy[ready] = worker, number  # type: ignore[index]
                        logging.getLogger(answer.name).handle(answer)
                        continue
                    result, warned = answer
                    free.append(worker)
                    for text, category in warned:
                        warnings.warn(text, category, stacklevel=2)
                    yield number, result
        finally:
            for worker in (*free, *(worker for worker, _ in busy.values())):
                worker.end()


class Worker:
    """A process that computes the items that it is given, one by one, until it is killed."""

    def __init__(self, work: Callable[..., Any], shared: tuple[Any, ...]) -> None:
        context = get_context()
        self.ours, theirs = context.Pipe()
        arguments = work, shared, theirs, os.getpid()
        self.process = context.Process(target=_serve, args=arguments, daemon=True)
        with held_back():  # Ctrl-C reaches it too, and is for this process to heed
            self.process.start()
        theirs.close()

    def give(self, item: Any) -> None:
        """Send the item; a process that was killed since is noticed when its result is waited
        for.
        """
        with contextlib.suppress(OSError):
            self.ours.send(item)

    def end(self) -> None:
        """Kill the process."""
        self.process.kill()
        self.process.join()
        self.ours.close()


def _serve(
    work: Callable[..., Any], shared: tuple[Any, ...], orders: Connection, parent: int
) -> None:
    """Compute the items that arrive, and send what each has ended in with its warnings."""
    from threadpoolctl import threadpool_limits

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    log = logging.getLogger("biorrr")
    log.handlers, log.propagate = [_Notices(orders)], False
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    with threadpool_limits(1):  # there are as many processes as processors
        while True:
            item = orders.recv()
            with warnings.catch_warnings(record=True) as warned:
                try:
                    result = work(item, *shared)
                except KeyboardInterrupt:  # pressed before this process began: its parent says so
                    return
                except Exception as error:
                    result = error
                    error.add_note(traceback.format_exc())  # which is not sent by itself
            said = [(str(one.message), one.category) for one in warned]
            try:
                orders.send((result, said))
            except Exception as failure:  # some of Brian2's errors hold on to what cannot be sent
                error = result if isinstance(result, Exception) else failure
                kind = RunError if isinstance(error, BiorrrError) else RuntimeError
                named = "" if kind is RunError else f"{type(error).__name__}: "
                orders.send((kind(f"{named}{error}"), said))


class _Notices(logging.Handler):
    """A handler that sends notices to the process that gave the orders."""

    def __init__(self, orders: Connection) -> None:
        super().__init__()
        self.orders = orders

    def emit(self, record: logging.LogRecord) -> None:
        """Send a notice."""
        self.orders.send(record)


def _end_with(parent: int) -> None:
    """End this process when its parent has ended."""
    while os.getppid() == parent:
        time.sleep(0.1)
    os.kill(os.getpid(), signal.SIGKILL)


class Dask:
    """Workers of a Dask scheduler; see the module for calling them.

    What is shared goes to a worker once. As a task rather than scattered: when all workers that
    hold it have died, it is sent again.

    Parameters
    ----------
    address
        Address of the scheduler.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        if importlib.util.find_spec("distributed") is None:
            raise SchedulerError(
                "scheduler: needs distributed, which is not installed; pip install"
                " 'biorrr[cluster]'"
            )
        host, _, port = address.rpartition("://")[2].rpartition(":")
        if not host or not port.isdecimal():
            raise SchedulerError(
                f"scheduler: must be an address such as tcp://127.0.0.1:8786 (got {address!r})"
            )
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=5).close()
        except (OSError, OverflowError, UnicodeError) as error:
            raise self._no_answer() from error

    def _no_answer(self) -> SchedulerError:
        return SchedulerError(f"scheduler: no answer from {self.address}; is it running?")

    def __call__(
        self, work: Callable[..., Any], shared: tuple[Any, ...], items: Sequence[Any]
    ) -> Generator[tuple[int, Any]]:
        """Compute items on the workers of the scheduler."""
        from distributed import Client, KilledWorker, as_completed

        # The table and the last lines report on workers that come and go.
        for name in LOGS:
            logging.getLogger(name).setLevel(logging.CRITICAL)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Sending large graph")
            try:
                client = Client(self.address, timeout="10s", set_as_default=False)
            except (OSError, ValueError) as error:
                raise self._no_answer() from error
            try:
                with client:
                    sent = [client.submit(_same, one, pure=False) for one in shared]
                    numbers = {
                        client.submit(work, item, *sent, pure=False): number
                        for number, item in enumerate(items)
                    }
                    for future in as_completed(numbers, loop=client.loop, raise_errors=False):
                        number = numbers.pop(future)
                        if future.status not in ("finished", "error"):
                            raise RunError(GONE)
                        error = future.exception() if future.status == "error" else None
                        died = isinstance(error, KilledWorker)
                        yield number, RunError(DIED) if died else error or future.result()
            except OSError as error:  # Dask's errors of communication
                raise RunError(GONE) from error


def _same(value: Any) -> Any:
    return value
