from . import analysis as analysis
from . import circuit as circuit
from . import models as models
from . import sims as sims
from .analysis import ReducedRankRegression as ReducedRankRegression
from .analysis import excess as excess
from .analysis import principal_angles as principal_angles
from .circuit import Circuit as Circuit
from .circuit import Hierarchy as Hierarchy
from .circuit import Microcircuit as Microcircuit
from .circuit import MicrocircuitRegressor as MicrocircuitRegressor
from .circuit import Run as Run
from .models import Rate as Rate
from .models import Rates as Rates

__version__: str
