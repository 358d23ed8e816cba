"""A run folder as it is found on disk: settings, numbers and results, or one sentence that says what is wrong."""

from __future__ import annotations

import json
import os
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biorrr.sims.lab.files import FolderError, open_inside
from biorrr.sims.lab.folder import CONFIG, SUMMARY, is_in_use
from biorrr.sims.lab.folder.inventory import DATASET, INVENTORY, RUN, Entry, Inventory
from biorrr.sims.lab.settings import PROVENANCE
from biorrr.sims.main import commands

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True)
class Record:
    """The files of a finished or interrupted run."""

    folder: Path
    experiment: str  # which of our commands wrote it
    settings: dict[str, Any]  # from config.toml
    provenance: dict[str, Any]
    summary: dict[str, Any]  # from summary.json
    inventory: Inventory
    results: dict[Entry, xr.Dataset]  # what each file with data holds

    def of_chapters(self) -> dict[tuple[str, str], dict[str, xr.Dataset]]:
        """Return the data by chapter (empty where there are none) and experiment, each by its name."""
        found: dict[tuple[str, str], dict[str, xr.Dataset]] = {}
        for entry, dataset in self.results.items():
            found.setdefault((entry.chapter, entry.experiment), {})[entry.name] = dataset
        return found

    @property
    def claims(self) -> list[dict[str, Any]]:
        """The paper's claims that the run has checked, each with ``claim``, ``holds`` and the numbers behind it."""
        return self._listed("claims")

    @property
    def own_tests(self) -> list[dict[str, Any]]:
        """Tests of which the paper says nothing, in the same form."""
        return self._listed("own_tests")

    def _listed(self, key: str) -> list[dict[str, Any]]:
        listed = self.summary.get(key)
        return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []


def read_record(folder: Path) -> Record:
    """Read a run folder."""
    if not folder.is_dir():
        raise FolderError(
            f"{folder}: must be a folder that an experiment or a sweep has filled (there is no such folder)"
        )
    if not os.path.lexists(folder / CONFIG):
        raise FolderError(f"{folder}: has no run in it ({CONFIG} is missing); give a run's folder, or a sweep's")
    settings = _table(folder, CONFIG, tomllib.loads)
    provenance = settings.pop(PROVENANCE, None)
    experiment = provenance.get("experiment") if isinstance(provenance, dict) else None
    # A name in a file is looked up among ours: it becomes part of a command that users will copy.
    if not isinstance(experiment, str) or experiment not in commands():
        raise FolderError(
            f"{folder}: {CONFIG} must name the experiment it is of (got {experiment!r}); is it a run folder?"
        )
    if not os.path.lexists(folder / SUMMARY):
        if is_in_use(folder):
            raise FolderError(f"{folder}: the run in it is still going; wait for its end")
        raise FolderError(f"{folder}: the run in it was cut short; `biorrr resume {folder}` continues it")
    summary = _table(folder, SUMMARY, json.loads)
    again = f"`biorrr {experiment} --config {folder / CONFIG} --force --out {folder}` makes it again"
    if settings.get("circuit"):  # of whoever sent the folder: what runs it is not advised
        again = "run it again"
    if not os.path.lexists(folder / INVENTORY):
        raise FolderError(f"{folder}: {INVENTORY} is missing; {again}")
    inventory = Inventory.read(_table(folder, INVENTORY, json.loads))
    results = {entry: _dataset(folder / entry.file, again) for entry in inventory.of_kind(RUN, DATASET)}
    return Record(folder, experiment, settings, provenance, summary, inventory, results)


def _table(folder: Path, name: str, parse: Any) -> dict[str, Any]:
    path = folder / name
    with open_inside(folder, name) as file:
        content = file.read()
    try:
        found = parse(content.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise FolderError(f"{path}: damaged ({error}); run it again") from error
    if not isinstance(found, dict):
        raise FolderError(f"{path}: damaged (must be a table of names and values); run it again")
    return found


def _dataset(path: Path, again: str) -> xr.Dataset:
    from biorrr.circuit.results.netcdf import UnsafeFileError, read_netcdf

    if not os.path.lexists(path):
        raise FolderError(f"{path.parent}: {path.name} is missing; {again}")
    with open_inside(path.parent, path.name) as file:
        try:
            return read_netcdf(file)
        except UnsafeFileError as error:
            raise FolderError(f"{path}: {error}") from error
        except Exception as error:  # a truncated file fails in as many ways as HDF5 has parts
            raise FolderError(f"{path}: damaged, or no NetCDF file; {again}") from error
