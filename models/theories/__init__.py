"""Rival theories of learning in dendrites, one per file, each as the parts of a circuit."""

from biorrr.models.theories.bio_cca import BioCCA
from biorrr.models.theories.bio_rrr import BioRRR
from biorrr.models.theories.burst_dependent import BurstDependent
from biorrr.models.theories.feedback_alignment import FeedbackAlignment
from biorrr.models.theories.sacramento import Sacramento
from biorrr.models.theories.theory import Theory

__all__ = [
    "BioCCA",
    "BioRRR",
    "BurstDependent",
    "FeedbackAlignment",
    "Sacramento",
    "Theory",
]
