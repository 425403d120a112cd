"""The formats by name: a format is checked before anything is planned and applied to the document afterwards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from dra_plan.errors import UsageError

from .columns import Screen, Table, plain

Format = Callable[[dict[str, Any], Screen | None], str]
"""From a document, and the screen it goes to if any, to the text to print."""

Parts = Callable[[dict[str, Any], Screen | None], list[Table | str]]


class Formats(NamedTuple):
    """What is particular to one kind of document."""

    table: Parts
    wide: Parts
    name: Callable[[dict[str, Any]], str]


def parse(option: str, formats: Formats) -> Format:
    """The format that `-o OPTION` asks for. UsageError for an unknown one or a malformed template."""
    if option.startswith("jsonpath="):
        return _jsonpath(option.removeprefix("jsonpath="))
    known = _known(formats)
    if option not in known:
        raise UsageError(f"--output: no format {option!r}; there are {', '.join(known)}, jsonpath=TEMPLATE")
    return known[option]


def _known(formats: Formats) -> dict[str, Format]:
    from . import structured

    return {
        "table": lambda document, screen: _columns(formats.table(document, screen), screen),
        "wide": lambda document, screen: _columns(formats.wide(document, screen), screen),
        "json": lambda document, _screen: structured.json(document),
        "yaml": lambda document, _screen: structured.yaml(document),
        "name": lambda document, _screen: formats.name(document),
    }


def _columns(parts: list[Table | str], screen: Screen | None) -> str:
    if screen is None:
        return plain(parts)
    from .screen import render

    return render(parts, screen)


def _jsonpath(template: str) -> Format:
    from .jsonpath import Template

    parsed = Template(template)
    return lambda document, _screen: parsed.render(document)
