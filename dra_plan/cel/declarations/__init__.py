"""Every function, macro and type that selectors know, as tables: which of them apply is for the environment."""

from dra_plan.cel.declarations import authorizer, extensions, kubernetes, operators, standard
from dra_plan.cel.declarations.overload import Library, Overload

LIBRARIES: tuple[Library, ...] = (
    operators.OPERATORS,
    standard.STANDARD,
    kubernetes.URLS,
    kubernetes.REGEX,
    kubernetes.LISTS,
    authorizer.AUTHORIZER,
    extensions.OPTIONAL,
    kubernetes.QUANTITIES,
    extensions.STRINGS,
    extensions.SETS,
    kubernetes.IPS,
    kubernetes.CIDRS,
    kubernetes.FORMATS,
    authorizer.SELECTORS,
    extensions.BINDINGS,
    extensions.TWO_VARIABLES,
    kubernetes.SEMVERS,
    extensions.LISTS,
    kubernetes.INCLUDES,
)
"""In the order in which Kubernetes adds them, which is the order of overloads within a function."""

__all__ = ["LIBRARIES", "Library", "Overload"]
