"""Every function, macro and type that selectors know, one table a library: which apply is for the environment."""

from .authorizer import AUTHORIZER, SELECTORS
from .cidr import CIDRS
from .comprehensions import BINDINGS, TWO_VARIABLES
from .formats import FORMATS
from .ip import IPS
from .lists import INCLUDES, LISTS
from .operators import OPERATORS
from .optionals import OPTIONALS
from .overload import Library, Overload
from .patterns import REGEX
from .quantities import QUANTITIES
from .semvers import SEMVERS
from .sequences import SEQUENCES
from .sets import SETS
from .standard import STANDARD
from .strings import STRINGS
from .urls import URLS

LIBRARIES: tuple[Library, ...] = (
    OPERATORS,
    STANDARD,
    URLS,
    REGEX,
    LISTS,
    AUTHORIZER,
    OPTIONALS,
    QUANTITIES,
    STRINGS,
    SETS,
    IPS,
    CIDRS,
    FORMATS,
    SELECTORS,
    BINDINGS,
    TWO_VARIABLES,
    SEMVERS,
    SEQUENCES,
    INCLUDES,
)
"""In the order in which Kubernetes adds them, which is the order of overloads within a function."""

__all__ = ["LIBRARIES", "Library", "Overload"]
