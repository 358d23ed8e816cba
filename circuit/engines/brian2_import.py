"""Brian2, imported and used so that it takes over nothing of the caller's process."""

from __future__ import annotations

import logging
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from biorrr.circuit.engines.brian2_private import (
    end_log,
    replace_attribute,
    without_preference_files,
)
from biorrr.circuit.simulation.progress import notice

# Brian2's own values of preferences that a caller may have set for simulations of their own, and
# that a circuit cannot be built or run with, or that would change its numbers. Redirecting what is
# printed would swallow what other threads say meanwhile.
_NEEDED = {
    "logging.std_redirection": False,
    "core.default_float_dtype": np.float64,
    "core.default_integer_dtype": np.int32,
    # Brian2 would write 1 - s + s * ridge as 1 + s * ridge - s, which loses a small ridge at s = 1.
    "codegen.loop_invariant_optimisations": False,
    "codegen.generators.cpp.flush_denormals": False,
    "legacy.refractory_timing": False,
    "core.network.default_schedule": ["start", "groups", "thresholds", "synapses", "resets", "end"],
    "devices.cpp_standalone.openmp_threads": 0,
}
# Device and preferences belong to the process: threads take turns.
_LOCK = threading.RLock()


def import_brian2() -> None:
    """Import Brian2 from whatever thread, such as a Dask worker's.

    Importing it installs a handler for Ctrl-C, which Python allows in the main thread alone and
    which would fail where Ctrl-C is ignored, as in the background of a shell script: it is not
    installed. It also takes all warnings and uncaught errors for its log, and begins that log and a
    copy of the script in the temporary folder: that is undone. And it evaluates the files of
    preferences in the current folder and the user's home: neither is read.
    """
    with _LOCK:
        if "brian2" in sys.modules:
            return
        notice("Importing Brian2")
        with (
            replace_attribute(signal, "signal", lambda *_: None),
            replace_attribute(sys, "excepthook", sys.excepthook),
            without_preference_files(),
        ):
            import brian2  # noqa: F401
        logging.captureWarnings(False)
        end_log()


@contextmanager
def borrow_brian2(target: str, device: Any = "runtime", **options) -> Iterator[None]:
    """Make ``device`` Brian2's, set up by ``options``; the caller's device and preferences come
    back after.

    Code is generated in the language ``target``.
    """
    import_brian2()
    import brian2

    needed = {**_NEEDED, "codegen.target": target}
    with _LOCK:
        before = {name: brian2.prefs[name] for name in needed}
        brian2.set_device(device, **options)
        try:
            for name, value in needed.items():
                brian2.prefs[name] = value
            yield
        finally:
            for name, value in before.items():
                brian2.prefs[name] = value
            brian2.devices.reset_device()
