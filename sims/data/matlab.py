"""MATLAB files: named arrays, read without running anything in them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from biorrr.sims.data.dataset import DataError, require


def arrays(path: Path, names: tuple[str, ...]) -> dict[str, np.ndarray]:
    """Read the named variables of a MATLAB file, of version 7.3 (HDF5) or before."""
    import scipy.io

    try:
        found = [name for name, *_ in scipy.io.whosmat(path)]
        require(path, names, found)
        held = scipy.io.loadmat(path, variable_names=names)
        return {name: held[name] for name in names}
    except NotImplementedError:  # scipy's way of saying that this is version 7.3
        return _version_7_3(path, names)
    except DataError:
        raise
    except Exception as error:  # scipy has a dozen ways to fail on a damaged file
        raise DataError(f"{path}: not a readable MATLAB file, perhaps damaged or truncated ({error})") from error


def _version_7_3(path: Path, names: tuple[str, ...]) -> dict[str, np.ndarray]:
    import h5py

    from biorrr.circuit.results.netcdf import is_held

    held = {}
    try:
        with h5py.File(path, "r") as file:
            require(path, names, list(file))
            for name in names:
                variable = file[name] if is_held(file, name) else None
                if not isinstance(variable, h5py.Dataset):
                    raise DataError(f"{path}: {name} must be a full array held in the file itself; save it as such")
                held[name] = np.asarray(variable).T  # MATLAB stores columns first
    except (OSError, RuntimeError, TypeError) as error:
        raise DataError(f"{path}: not a readable MATLAB file, perhaps damaged or truncated ({error})") from error
    return held
