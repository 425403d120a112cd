"""Split YAML text into documents. Each is read separately, so a fault in one does not hide the others.

Contents: a shortcut for documents that differ only in words, the ordinary reader, and the positions of fields.
`yaml_builder` turns a document into a plain value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from msgspec import Struct
from yaml.cyaml import CParser  # type: ignore[attr-defined] # the stubs forget it
from yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from .places import _NO_KEY, Extent, Extents, Form
from .yaml_builder import SPECIAL_WORDS, Builder, YamlError, key_text, resolve

# -- documents of one layout -------------------------------------------------------------------------------------------
# Dumps and generated manifests contain many documents with few layouts. A layout is the text with each word or whole
# number replaced with a mark. The ordinary reader reads it once, and a document with that layout is the layout's value
# with the words put back. This is exact, because nothing in YAML depends on the particular word: a word here has only
# letters, digits and `_ . / -`, has no special meaning (`true`, `1e3`, ...), and stands between spaces or characters
# that end it. Keys of maps must differ from each other, so a layout with a word in a key is not used.

MAX_LENGTH = 1 << 16
"""The maximum length of a document that the shortcut can read, in characters."""
MAX_LAYOUTS = 256
"""The maximum number of layouts stored for one source."""

_SPECIAL = "|".join(sorted((re.escape(word) for word in SPECIAL_WORDS if word[:1].isalpha()), key=len, reverse=True))
_FIRST = "".join(sorted({word[0] for word in SPECIAL_WORDS if word[:1].isalpha()}))
"""The first characters of special words; few words begin with them, and only those words are compared with special
words."""
_END = r"(?=[\s,\]}]|\Z)"
_NO_NUMBER = (
    r"[0-9]{1,15}(?:[KMGTPE]i|[numkMGTP])"  # a quantity
    r"|[0-9]{1,9}\.[0-9]{1,9}\.[0-9][0-9.]{0,30}"  # a version
    r"|[0-9][0-9A-Za-z]{0,30}-[0-9A-Za-z]{1,30}-[0-9A-Za-z-]{1,60}"  # a UUID or a date
)
_WORD = rf'(?<!")(?:(?!(?=[{_FIRST}])(?:{_SPECIAL}){_END})[A-Za-z][A-Za-z0-9_./-]{{0,199}}|{_NO_NUMBER}){_END}'
_QUOTED = r'(?<=[\s{\[,]")[A-Za-z0-9_./-]{1,200}(?="[\s,\]}])'
_NUMBER = rf"(?<=: )(?:0|[1-9][0-9]{{0,17}}){_END}"
_WORDS = re.compile(rf'(?<![^\s{{\[,"])(?=[A-Za-z0-9])({_WORD}|{_QUOTED}|{_NUMBER})')
_OPEN, _CLOSE = "\ue000", "\ue001"
_MARK = re.compile(f"{_OPEN}([0-9]+){_CLOSE}")

Words = list[str]
_Made = Callable[[Words, dict[int, int], int], Any]
"""A function that builds a value from the words of a document.

It records the lines of outer maps, counted from the document's first line.
"""


class LaidOut(Struct, frozen=True):
    """A document built from a layout: its value, its line, and the lines of its outer maps, by the `id` of the map."""

    value: Any
    line: int
    starts: dict[int, int]


class _Layout(NamedTuple):
    make: _Made
    line: int


class Layouts:
    """The layouts of the documents in one source.

    The first document with a layout is read in the usual way; later ones are read faster.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[str, ...], _Layout | None] = {}
        self._met: set[tuple[str, ...]] = set()

    def read(self, text: str, first_line: int) -> LaidOut | None:
        """Return the only document in the text, or None if the text must be read in the usual way.

        `first_line` is the line on which the text begins.
        """
        if len(text) > MAX_LENGTH or _OPEN in text or "%" in text:
            return None  # a directive could change the meaning of words
        parts = _WORDS.split(text)
        key, words = tuple(parts[::2]), parts[1::2]
        if key not in self._known and not self._meet(key):
            return None
        layout = self._known[key]
        if layout is None:
            return None
        starts: dict[int, int] = {}
        return LaidOut(layout.make(words, starts, first_line), first_line + layout.line, starts)

    def _meet(self, key: tuple[str, ...]) -> bool:
        """Return whether to read the layout now, which is when it is seen a second time."""
        if key not in self._met:
            if len(self._met) < MAX_LAYOUTS:
                self._met.add(key)
            return False
        self._known[key] = _layout(key)
        return True


def _layout(literals: tuple[str, ...]) -> _Layout | None:
    """Return the layout of documents with these texts between their words; None if it needs the ordinary reader."""
    marks = (f"{_OPEN}{number}{_CLOSE}" for number in range(len(literals) - 1))
    text = literals[0] + "".join(mark + literal for mark, literal in zip(marks, literals[1:], strict=True))
    builder = Builder(text, 0)
    try:
        if not builder.next_document() or builder.value is None:
            return None
        value, line, starts = builder.value, builder.start, builder.starts
        if builder.next_document():
            return None
    except YamlError:
        return None
    quoted = frozenset(number for number, literal in enumerate(literals) if literal.endswith('"'))
    made = _maker(value, starts, quoted)
    return None if made is None else _Layout(made, line)


def _maker(value: Any, starts: dict[int, int], quoted: frozenset[int]) -> _Made | None:
    """Return a function that builds such a value; None if a key has a word in it."""
    if isinstance(value, str):
        return _text_maker(value, quoted)
    if not isinstance(value, dict | list):
        return lambda _words, _starts, _first: value
    inner = [_maker(item, starts, quoted) for item in (value.values() if isinstance(value, dict) else value)]
    makers = [maker for maker in inner if maker is not None]
    if len(makers) < len(inner):
        return None
    if isinstance(value, list):
        return lambda words, noted, first: [maker(words, noted, first) for maker in makers]
    if any(_OPEN in key for key in value):
        return None
    return _map_maker(dict(zip(value, makers, strict=True)), starts.get(id(value)))


def _map_maker(makers: dict[str, _Made], line: int | None) -> _Made:
    entries = list(makers.items())

    def make(words: Words, noted: dict[int, int], first: int) -> Any:
        made = {key: maker(words, noted, first) for key, maker in entries}
        if line is not None:
            noted[id(made)] = first + line
        return made

    return make


def _text_maker(text: str, quoted: frozenset[int]) -> _Made:
    whole = _MARK.fullmatch(text)
    if whole is None and _OPEN not in text:
        return lambda _words, _noted, _first: text
    if whole is None:
        return lambda words, _noted, _first: _MARK.sub(lambda mark: words[int(mark[1])], text)
    number = int(whole[1])
    if number in quoted:
        return lambda words, _noted, _first: words[number]

    def make(words: Words, _noted: dict[int, int], _first: int) -> Any:
        word = words[number]
        return int(word) if word.isdigit() else word

    return make


# -- reading documents -------------------------------------------------------------------------------------------------

MAX_LINE = 16 * 1024 * 1024
"""The maximum number of characters on one line."""

_SEPARATOR = re.compile(r"^---(?=[ \t\r\n]|\Z)", re.MULTILINE)
_CONTENT = re.compile(r"^(?!---(?:\s|\Z))[ \t]*[^\s#%]|^[ \t]+%|^---[ \t]+[^#\s]", re.MULTILINE)
_DIRECTIVE = re.compile(r"^%", re.MULTILINE)


class YamlDocument(Struct, frozen=True):
    """A document: its value or its fault, and the text that contains it.

    `starts` has the lines of the outer maps, by the `id` of the map.
    """

    number: int
    line: int
    text: str
    first_line: int
    value: Any
    fault: YamlError | None
    starts: dict[int, int]


def read_documents(text: str) -> Iterator[YamlDocument]:
    """Yield the documents in the text that are not empty, in order, including faulty ones."""
    number = 0
    layouts = Layouts()
    for line, chunk in split(text):
        known = layouts.read(chunk, line)
        if known is not None:
            number += 1
            yield YamlDocument(number, known.line, chunk, line, known.value, None, known.starts)
            continue
        try:
            _check_lines(chunk, line)
            builder = Builder(chunk, line)
            while builder.next_document():
                number += 1
                if builder.value is not None:
                    yield YamlDocument(number, builder.start, chunk, line, builder.value, None, builder.starts)
        except YamlError as fault:
            number += 1
            yield YamlDocument(number, line, chunk, line, None, fault, {})


def split(text: str) -> Iterator[tuple[int, str]]:
    """Yield the parts of the text between lines that start with `---`, each with the number of its first line.

    Lines are counted from 1. Parts without content are omitted. Directives stay with the document that follows them, as
    in kubectl.
    """
    begin, line = 0, 1
    cuts = [match.start() for match in _SEPARATOR.finditer(text)] + [len(text)]
    for cut in cuts:
        part = text[begin:cut]
        has_content = _CONTENT.search(part) is not None
        if not has_content and "%" in part and _DIRECTIVE.search(part) and cut != len(text):
            continue
        if has_content:
            yield line, part
        line += part.count("\n")
        begin = cut


def _check_lines(text: str, first: int) -> None:
    if len(text) <= MAX_LINE:
        return
    begin, line = 0, first
    while begin < len(text):
        end = text.find("\n", begin)
        end = len(text) if end < 0 else end
        if end - begin > MAX_LINE:
            message = f"a line of {end - begin} characters; YAML lines are read up to {MAX_LINE}"
            raise YamlError(message, line, "write it as JSON")
        begin, line = end + 1, line + 1


# -- places of fields --------------------------------------------------------------------------------------------------
# These functions take one YAML document that is known to be readable.

_FORMS = {"'": Form.SINGLE, '"': Form.DOUBLE, "|": Form.BLOCK, ">": Form.BLOCK}


def of_yaml(text: str, start_line: int) -> Extents:
    """Return the extents of the fields in the document that starts on `start_line`, which is counted from 0."""
    finder = _ExtentFinder()
    parser: Any = CParser(text)
    inside = False
    while parser.check_event():
        event: Any = parser.get_event()
        if isinstance(event, DocumentStartEvent):
            start: Any = event.start_mark
            inside = start.line == start_line
        elif isinstance(event, DocumentEndEvent) and inside:
            break
        elif inside:
            finder.see(event)
    return finder.found


class _Opened(NamedTuple):
    """A map or list that is not complete."""

    begin: int
    key: tuple[int, int]
    form: Form
    is_map: bool


class _ExtentFinder:
    """A finder of extents, which follows the events with their current path."""

    def __init__(self) -> None:
        self.found: Extents = {}
        self._path: list[str | int] = []
        self._opened: list[_Opened] = []
        self._key = _NO_KEY
        self._expects_key = False
        self._end = 0
        """The end of the last value."""

    def see(self, event: Any) -> None:
        begin, end = event.start_mark.index, event.end_mark.index
        if isinstance(event, MappingStartEvent | SequenceStartEvent):
            self._open(begin, Form.FLOW if event.flow_style else Form.NESTED, isinstance(event, MappingStartEvent))
        elif isinstance(event, MappingEndEvent | SequenceEndEvent):
            self._close(end)
        elif isinstance(event, ScalarEvent | AliasEvent):
            if self._expects_key:
                self._path[-1] = _key(event)
                self._key, self._expects_key = (begin, end), False
            else:
                form = Form.ALIAS if isinstance(event, AliasEvent) else _FORMS.get(event.style or "", Form.PLAIN)
                self._end = end
                self.found.setdefault(tuple(self._path), Extent(begin, end, *self._key, form))
                self._next()

    def _open(self, begin: int, form: Form, is_map: bool) -> None:
        self._opened.append(_Opened(begin, self._key, form, is_map))
        # The paths are in text order; the end is filled in when it is known.
        self.found.setdefault(tuple(self._path), Extent(begin, begin, *self._key, form))
        self._path.append("" if is_map else 0)
        self._key, self._expects_key = _NO_KEY, is_map

    def _close(self, end: int) -> None:
        opened = self._opened.pop()
        self._path.pop()
        self._end = end if opened.form is Form.FLOW else self._end
        if self.found[tuple(self._path)].begin == opened.begin:
            self.found[tuple(self._path)] = Extent(opened.begin, self._end, *opened.key, opened.form)
        self._next()

    def _next(self) -> None:
        self._key = _NO_KEY
        self._expects_key = bool(self._opened) and self._opened[-1].is_map
        if self._opened and not self._expects_key:
            self._path[-1] = int(self._path[-1]) + 1


def _key(event: Any) -> str:
    if isinstance(event, AliasEvent):
        return f"*{event.anchor}"
    if event.implicit[0]:
        return key_text(resolve(event.value)) or ""
    return str(event.value)
