"""Every function, macro and type that selectors know, one table a library: which apply is for the environment."""

from dra_plan.cel.library.authorizer import AUTHORIZER, SELECTORS
from dra_plan.cel.library.cidr import CIDRS
from dra_plan.cel.library.comprehensions import BINDINGS, TWO_VARIABLES
from dra_plan.cel.library.formats import FORMATS
from dra_plan.cel.library.ip import IPS
from dra_plan.cel.library.lists import INCLUDES, LISTS
from dra_plan.cel.library.operators import OPERATORS
from dra_plan.cel.library.optionals import OPTIONALS
from dra_plan.cel.library.overload import Library, Overload
from dra_plan.cel.library.patterns import REGEX
from dra_plan.cel.library.quantities import QUANTITIES
from dra_plan.cel.library.semvers import SEMVERS
from dra_plan.cel.library.sequences import SEQUENCES
from dra_plan.cel.library.sets import SETS
from dra_plan.cel.library.standard import STANDARD
from dra_plan.cel.library.strings import STRINGS
from dra_plan.cel.library.urls import URLS

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
