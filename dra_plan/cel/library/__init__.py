"""Every function, macro and type in the selector language, with one table per library.

The environment selects the ones that apply.
"""

from .formats import FORMATS, REGEX
from .lists import BINDINGS, INCLUDES, LISTS, SEQUENCES, SETS, TWO_VARIABLES
from .network import CIDRS, IPS, URLS
from .operators import OPERATORS
from .optionals import AUTHORIZER, OPTIONALS, SELECTORS
from .overload import Library, Overload
from .quantities import QUANTITIES
from .semvers import SEMVERS
from .standard import STANDARD
from .strings import STRINGS

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
"""The libraries in the order in which Kubernetes adds them, which is the order of overloads within a function."""

__all__ = ["LIBRARIES", "Library", "Overload"]
