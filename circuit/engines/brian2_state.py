"""Brian2's device and preferences: the circuit's while it builds and runs, the caller's again after."""

from __future__ import annotations

import threading
from contextlib import contextmanager

import brian2
import numpy as np
from brian2.devices import reset_device

# Brian2's own values of preferences that a caller may have set for simulations of their own, and that a circuit cannot
# be built or run with, or that would change its numbers. Redirecting what is printed would swallow what other threads
# say meanwhile.
_NEEDED = {
    "logging.std_redirection": False,
    "core.default_float_dtype": np.float64,
    "core.default_integer_dtype": np.int32,
    "codegen.loop_invariant_optimisations": True,
    "codegen.generators.cpp.flush_denormals": False,
    "legacy.refractory_timing": False,
    "core.network.default_schedule": ["start", "groups", "thresholds", "synapses", "resets", "end"],
    "devices.cpp_standalone.openmp_threads": 0,
}
# They belong to the process: threads take turns.
_TURN = threading.RLock()


@contextmanager
def borrowed_brian2(device, **options):
    """Make ``device``, or the one of that name, Brian2's; the caller's device and preferences come back after.

    The options set it up; a ``target`` among them is the language code is generated in. Only one thread at a time.
    """
    needed = {**_NEEDED, "codegen.target": options.pop("target", "auto")}
    with _TURN:
        before = {name: brian2.prefs[name] for name in needed}
        brian2.set_device(device, **options)
        try:
            for name, value in needed.items():
                brian2.prefs[name] = value
            yield
        finally:
            for name, value in before.items():
                brian2.prefs[name] = value
            reset_device()
