from .bio_cca import BioCCA as BioCCA
from .bio_rrr import BioRRR as BioRRR
from .burst_dependent import BurstDependent as BurstDependent
from .feedback_alignment import FeedbackAlignment as FeedbackAlignment
from .sacramento import Sacramento as Sacramento
from .theory import Theory as Theory
