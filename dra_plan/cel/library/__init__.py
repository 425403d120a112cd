"""All functions, macros and types of the selector language, in one table per library.

`environment` chooses those that apply.
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
"""The libraries in the order in which Kubernetes adds them, which decides the order of overloads."""

__all__ = ["LIBRARIES", "Library", "Overload"]
