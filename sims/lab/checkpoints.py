"""Checkpoints of the parts of an experiment, kept until all of it is finished, so that a kill loses none of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from biorrr.sims.lab.files import whole_file
from biorrr.sims.lab.folder import RunFolder
from biorrr.sims.lazy import circuits, np


@dataclass(frozen=True)
class Checkpoints:
    """Checkpoints of the parts of one experiment, one file or two for each.

    Names of parts are made by the experiment and never taken from a file.

    Parameters
    ----------
    place
        Folder of the files; None keeps nothing.
    every
        Seconds from one checkpoint of a part to the next.
    prefix
        Begins the name of every file.
    """

    place: Path | None = None
    every: float = 30.0
    prefix: str = ""

    @classmethod
    def of(cls, folder: RunFolder, every: float) -> Checkpoints:
        """Checkpoints in a run folder that is open."""
        folder.checkpoints.mkdir(exist_ok=True)
        return cls(folder.checkpoints, every)

    def within(self, part: str) -> Checkpoints:
        """Checkpoints of parts that belong together: the names of their files begin with ``part``."""
        return replace(self, prefix=f"{self.prefix}{part}-")

    def run_options(self, part: str) -> dict[str, Any]:
        """Options of :meth:`~biorrr.circuit.Microcircuit.run` by which ``part`` keeps checkpoints and goes on."""
        return {} if self.place is None else {"checkpoint": circuits.Checkpoint(self._file(part), self.every)}

    def keep(self, part: str, identity: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
        """Keep the result of a part that is finished; ``identity`` says what it is the result of."""
        if self.place is not None:
            with whole_file(self._file(part)) as path, path.open("wb") as file:
                np.savez(file, identity=np.array(json.dumps(dict(identity))), **arrays)  # type: ignore[arg-type]

    def kept(self, part: str, identity: Mapping[str, Any]) -> dict[str, np.ndarray] | None:
        """The result of a part that was finished earlier, or None."""
        if self.place is None or not (path := self._file(part)).exists():
            return None
        try:
            with np.load(path, allow_pickle=False) as held:
                arrays = {name: held[name] for name in held.files}
                found = json.loads(str(arrays.pop("identity")))
        except Exception as error:  # a damaged file makes zipfile, NumPy and json raise a dozen kinds
            raise circuits.CheckpointError(
                f"{path}: not a checkpoint, or damaged or truncated ({error}); delete it to start over"
            ) from error
        if found != dict(identity):
            raise circuits.CheckpointError(f"{path}: belongs to another run; give what it was made with, or delete it")
        return arrays

    def _file(self, part: str) -> Path:
        assert self.place is not None
        return self.place / f"{self.prefix}{part}.npz"


NOT_KEPT = Checkpoints()
