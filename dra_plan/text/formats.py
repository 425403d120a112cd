"""The output formats by name. A format is validated before planning starts, and applied to the document afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Generic, NamedTuple, TypeVar

from dra_plan.documents.base import PrintedDocument
from dra_plan.errors import UsageError
from dra_plan.text.columns import Part, Screen, plain

D = TypeVar("D", bound=PrintedDocument)


D_contra = TypeVar("D_contra", bound=PrintedDocument, contravariant=True)


class Format(NamedTuple, Generic[D_contra]):
    """A function that returns the text of a document. Long texts come in parts.

    If a terminal is given, the text is laid out for it.
    """

    parts: Callable[[D_contra, Screen | None], Iterable[str]]

    def __call__(self, document: D_contra, screen: Screen | None) -> str:
        """Return the whole text."""
        return "".join(self.parts(document, screen))


Parts = Callable[[D, Screen | None], list[Part]]


class Formats(NamedTuple, Generic[D]):
    """The output formats of one kind of document."""

    table: Parts[D]
    wide: Parts[D]
    name: Callable[[D], str]
    others: Mapping[str, Callable[[D], str]] = {}
    """The formats that only this kind of document has, by name."""


def parse(option: str, formats: Formats[D]) -> Format[D]:
    """Return the format for `-o OPTION`. Raises UsageError for an unknown format or a malformed template."""
    return choose(option, of_tables(formats))


def parse_lazily(option: str, parse: Callable[[str], Format[D]]) -> Format[D]:
    """Return the format for `-o OPTION`.

    `parse` is called only for tables, whose code is expensive to import.
    """
    return choose(option, DATA) if option in DATA else parse(option)


def of_tables(formats: Formats[D]) -> dict[str, Format[D]]:
    """Return the formats of documents that are shown as tables, by name."""
    return {
        "table": whole(lambda document, screen: columns(formats.table(document, screen), screen)),
        "wide": whole(lambda document, screen: columns(formats.wide(document, screen), screen)),
        **DATA,
        **{name: _for_any_screen(made) for name, made in {"name": formats.name, **formats.others}.items()},
    }


def whole(made: Callable[[D, Screen | None], str]) -> Format[D]:
    """Return a format whose whole text is created at once."""
    return Format(lambda document, screen: [made(document, screen)])


def _for_any_screen(made: Callable[[D], str]) -> Format[D]:
    return whole(lambda document, _screen: made(document))


def choose(option: str, known: Mapping[str, Format[D]]) -> Format[D]:
    """Return the format in `known`, or the template, for `-o OPTION`.

    Raises UsageError in the same cases as `parse`.
    """
    if option.startswith("jsonpath="):
        from dra_plan.text.jsonpath import Template

        template = Template(option.removeprefix("jsonpath="))
        return whole(lambda document, _screen: template.render(document.to_dict()))
    if option not in known:
        raise UsageError(f"--output: no format {option!r}; there are {', '.join(known)}, jsonpath=TEMPLATE")
    return known[option]


def _json(document: PrintedDocument, _screen: Screen | None) -> Iterator[str]:
    from dra_plan.text import structured

    return structured.json_parts(document)


def _yaml(document: PrintedDocument, _screen: Screen | None) -> str:
    from dra_plan.text import structured

    return structured.yaml(document.to_dict())


DATA: Mapping[str, Format[PrintedDocument]] = {"json": Format(_json), "yaml": whole(_yaml)}
"""The formats that every document has. They contain the whole document."""


def columns(parts: list[Part], screen: Screen | None) -> str:
    """Return tables and sentences as text, laid out for the terminal if there is one."""
    if screen is None:
        return plain(parts)
    from dra_plan.text.screen import render

    return render(parts, screen)
