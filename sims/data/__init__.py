"""Data sets to learn from: named ones, fetched from their homes, and the user's own files."""

from biorrr.sims.data.catalogue import CATALOGUE, load
from biorrr.sims.data.dataset import DataError, Dataset

__all__ = ["CATALOGUE", "DataError", "Dataset", "load"]
