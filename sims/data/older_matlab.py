"""Reader of MATLAB files of versions 4, 6 and 7, run as a program of its own.

SciPy reads them in C, and a damaged file can crash it, which no exception handler helps against.
The output is a line of JSON, then the chosen matrices as float64, row by row.
"""

from __future__ import annotations

import json
import math
import os
import sys
import warnings

MOST_PACKED = 2000  # numbers in a byte of file: zlib packs at most 1032 bytes into one


def main(path: str, *names: str) -> None:
    """Write the list of variables in the file at ``path``, and those of ``names`` that are
    matrices of real numbers.
    """
    import numpy as np
    import scipy.io

    warnings.simplefilter("ignore")  # SciPy's, of variables that are not read
    try:
        variables = scipy.io.whosmat(path, appendmat=False)
        most = MOST_PACKED * os.path.getsize(path)
        wanted = [name for name, shape, _ in variables if name in names and math.prod(shape) < most]
        held = scipy.io.loadmat(path, appendmat=False, variable_names=wanted)
    except Exception as error:
        print(json.dumps({"error": " ".join(str(error).split()) or type(error).__name__}))
        return
    matrices = {
        name: np.ascontiguousarray(held[name], float)
        for name in wanted
        if isinstance(held.get(name), np.ndarray) and held[name].dtype.kind in "fiub"
    }
    shapes = {name: matrix.shape for name, matrix in matrices.items()}
    kinds = [
        (name, shape, f"complex {kind}" if np.iscomplexobj(held.get(name)) else kind)
        for name, shape, kind in variables
    ]
    print(json.dumps({"variables": kinds, "matrices": shapes}), flush=True)
    for matrix in matrices.values():
        sys.stdout.buffer.write(matrix.data)


if __name__ == "__main__":
    main(*sys.argv[1:])
