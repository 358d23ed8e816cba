from .error_feedback import BurstDependent as BurstDependent
from .error_feedback import FeedbackAlignment as FeedbackAlignment
from .error_feedback import Sacramento as Sacramento
from .theory import BioCCA as BioCCA
from .theory import BioRRR as BioRRR
from .theory import Theory as Theory
