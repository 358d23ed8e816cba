"""Four questions on dendritic teaching signals, asked of recordings of somas and dendrites of the
same neurons.

Arrays in, answers out: :func:`ask` takes a :class:`DendriticRecording` and returns an
:class:`Answer` to each question.
"""

from biorrr.analysis.instructive.answer import LEVEL, Answer
from biorrr.analysis.instructive.questions import QUESTIONS, ask
from biorrr.analysis.instructive.recording import DendriticRecording
from biorrr.analysis.instructive.residual import dendritic_residual
from biorrr.analysis.instructive.signals import signals_of

__all__ = [
    "LEVEL",
    "QUESTIONS",
    "Answer",
    "DendriticRecording",
    "ask",
    "dendritic_residual",
    "signals_of",
]
