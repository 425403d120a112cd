"""The functions of the selector language, one module per library; importing this registers them all in `OVERLOADS`."""

from dra_plan.cel.library import (
    conversions,
    formats,
    lists,
    net,
    operators,
    optionals,
    quantities,
    semvers,
    strings,
    text_format,
    times,
    urls,
)
from dra_plan.cel.library.base import OVERLOADS, Overload

__all__ = [
    "OVERLOADS",
    "Overload",
    "conversions",
    "formats",
    "lists",
    "net",
    "operators",
    "optionals",
    "quantities",
    "semvers",
    "strings",
    "text_format",
    "times",
    "urls",
]
