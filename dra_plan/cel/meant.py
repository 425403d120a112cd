"""Correct expressions that do not compile because they use the operators or paths of other languages.

Examples are `model = "X"`, `attributes.model` and `device.attributes["gpu.example.com/model"]`. Mistakes are found in
the tokens, so it does not matter where parsing stopped. The caller compiles the result.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from dra_plan.near import nearest

from .lexer import END, Token, tokenize
from .parts import NamedKind
from .rewrite import constant_text, is_identifier

Home = tuple[NamedKind, str]
"""The kind of a name (attribute or capacity), and the domain that has it."""

Homes = Callable[[str], Sequence[Home]]
"""A function that returns where a name is published, the most likely domain first."""

ANY_DRIVER = "DRIVER"
"""The placeholder for a domain that is not known."""

MOST_EDITS = 50
"""The maximum number of corrections in an expression."""

_WORDS = {"and": "&&", "or": "||", "not": "!", "AND": "&&", "OR": "||", "NOT": "!"}
_TABLES: dict[str, NamedKind] = {"attributes": "attribute", "attribute": "attribute", "capacity": "capacity"}
_OWN = {"driver", "allowMultipleAllocations"}
_QUOTES = "\N{LEFT DOUBLE QUOTATION MARK}\N{RIGHT DOUBLE QUOTATION MARK}"


class Meant(NamedTuple):
    """A correction: `text` replaces the characters from `start` up to `end`.

    `said` explains the correction, and `at` is the position of the mistake.
    """

    start: int
    end: int
    text: str
    said: str
    at: int


def meant(text: str, homes: Homes) -> list[Meant]:
    """Return the corrections of all mistakes whose meaning is clear, in text order and without overlaps."""
    tokens, issues = tokenize(text)
    strays = [issue.offset for issue in issues if issue.offset is not None]
    found = [*_signs(text, strays), *_unquoted(text, tokens), *_Paths(text, tokens, homes).find()]
    made: list[Meant] = []
    for one in sorted(found):
        if not made or one.start >= made[-1].end:
            made.append(one)
    return made[:MOST_EDITS]


def rewritten(text: str, places: Sequence[Meant]) -> str:
    """Return the expression with these corrections applied."""
    for one in reversed(places):
        text = f"{text[: one.start]}{one.text}{text[one.end :]}"
    return text


def _signs(text: str, strays: Sequence[int]) -> Iterator[Meant]:
    """Yield characters that are not a token: a single `=`, `&` or `|`, and typographic quotes."""
    for at in strays:
        char = text[at]
        if char == "=" and text[at - 1 : at] not in ("=", "!", "<", ">"):
            yield Meant(at, at + 1, "==", "= is not an operator; use == to compare", at)
        elif char in "&|":
            yield Meant(at, at + 1, char * 2, f"{char} is not an operator; {char * 2} joins conditions", at)
        elif char in _QUOTES:
            yield Meant(at, at + 1, '"', 'typographic quotes are not quotes; use "', at)


_BEFORE_STRING = ("[", "==", "!=")
_AFTER_STRING = ("]", "&&", "||", ")", END)


def _unquoted(text: str, tokens: Sequence[Token]) -> Iterator[Meant]:
    """Yield the words without quotes where strings are expected, in an expression without any strings.

    They are keys in brackets, and what follows == or !=, such as `nic.example.com` or `small`.
    """
    if any(token.kind == "STRING" for token in tokens):
        return
    for at, token in enumerate(tokens[1:], 1):
        if token.kind != "IDENTIFIER" or token.text == "device" or tokens[at - 1].kind not in _BEFORE_STRING:
            continue
        end = next((position for position in range(at, len(tokens)) if tokens[position].kind in _AFTER_STRING), None)
        if end is not None:
            last = tokens[end - 1]
            word = text[token.offset : last.offset + len(last.text)]
            if not _NO_WORD.search(word):
                yield Meant(
                    token.offset,
                    token.offset + len(word),
                    constant_text(word),
                    f"{word} has no quotes, so it is not a string",
                    token.offset,
                )


_NO_WORD = re.compile(r"[^A-Za-z0-9_.\-/]")


class _Paths:
    """A finder of paths to attributes and capacities that begin or continue incorrectly."""

    def __init__(self, text: str, tokens: Sequence[Token], homes: Homes) -> None:
        self._text, self._tokens, self._homes = text, tokens, homes

    def find(self) -> Iterator[Meant]:
        """Yield a correction for each path that was probably meant to be another one."""
        for at, token in enumerate(self._tokens):
            if token.kind == "IDENTIFIER" and self._kind(at - 1) not in (".", "?"):
                found = self._root(at, token.text)
                if found is not None:
                    yield found

    def _kind(self, at: int) -> str:
        return self._tokens[at].kind if 0 <= at < len(self._tokens) else ""

    def _word(self, at: int) -> str:
        return self._tokens[at].text if 0 <= at < len(self._tokens) else ""

    def _root(self, at: int, word: str) -> Meant | None:
        """Return the intended form of the path that begins there, if it differs."""
        follows = self._kind(at + 1)
        if word in _WORDS and follows not in (".", "[", "(", "<EOF>"):
            return self._made(at, at, _WORDS[word], f"{word} is not an operator; {_WORDS[word]} is")
        if word == "device":
            return self._of_device(at)
        if word in _TABLES and follows in (".", "["):
            return self._in_table(at, at, _TABLES[word], "")
        if word in _OWN and follows not in ("(", "."):
            return self._made(at, at, f"device.{word}", f"{word} is device.{word}")
        if follows not in ("(", ".", "[", "{", ",") and not self._is_variable(word):
            return self._named(at, at, word, None)
        return None

    def _is_variable(self, word: str) -> bool:
        """Return whether the word is a macro's variable, which is followed by a comma somewhere."""
        return any(
            token.text == word and self._kind(position - 1) == "(" and self._kind(position + 1) == ","
            for position, token in enumerate(self._tokens)
        )

    def _of_device(self, at: int) -> Meant | None:
        if self._kind(at + 1) != ".":
            return None
        word = self._word(at + 2)
        if word in _TABLES:
            return self._in_table(at, at + 2, _TABLES[word], "device.")
        if word in _OWN or self._kind(at + 2) != "IDENTIFIER" or self._kind(at + 3) in ("(", ".", "["):
            return None
        near = nearest(word, ("driver", "attributes", "capacity", "allowMultipleAllocations"))
        if near is not None:
            return self._made(at, at + 2, f"device.{near}", f"device has no {word}; did you mean {near}?", at + 2)
        return self._named(at, at + 2, word, None)

    def _in_table(self, first: int, table: int, kind: NamedKind, before: str) -> Meant | None:
        """Return the rewrite of a path with a table.

        The forms are `attributes.model`, `attributes["d"].model`, `attributes["d/model"]` and `attributes["model"]`.
        """
        correct = "attributes" if kind == "attribute" else "capacity"
        if self._kind(table + 1) == "." and self._kind(table + 2) == "IDENTIFIER":
            name = self._word(table + 2)
            if self._kind(table + 3) in ("(", ".", "["):
                return None  # a function called on the map, or a domain that is written with dots
            return self._named(first, table + 2, name, kind)
        key = self._string(table + 2)
        if self._kind(table + 1) != "[" or key is None or self._kind(table + 3) != "]":
            return None
        domain, slash, name = key.rpartition("/")
        if slash and is_identifier(name):
            path = f"device.{correct}[{constant_text(domain)}].{name}"
            said = f"{constant_text(key)} is not a domain: the domain and the name are apart"
            return self._made(first, table + 3, path, said, table + 2)
        if self._kind(table + 4) == "." and (before == "" or self._word(table) != correct):
            return self._made(first, table, f"device.{correct}", f"{self._word(table)} is device.{correct}")
        if self._kind(table + 4) not in (".", "[") and is_identifier(key):
            return self._named(first, table + 3, key, kind)
        return None

    def _string(self, at: int) -> str | None:
        text = self._word(at)
        is_plain = self._kind(at) == "STRING" and len(text) >= 2 and text[0] in "\"'" and "\\" not in text
        return text[1:-1] if is_plain else None

    def _named(self, first: int, last: int, name: str, kind: NamedKind | None) -> Meant | None:
        """Return the full path of a name, if it is published somewhere."""
        for table, domain in self._homes(name):
            is_guess = domain == ANY_DRIVER and first == last  # a name alone may be anything
            if not is_guess and (kind is None or table == kind):
                correct = "attributes" if table == "attribute" else "capacity"
                path = f"device.{correct}[{constant_text(domain)}].{name}"
                start = self._tokens[first].offset
                end = self._tokens[last].offset + len(self._tokens[last].text)
                return self._made(first, last, path, f"{self._text[start:end]} is {path}")
        return None

    def _made(self, first: int, last: int, text: str, said: str, shown: int | None = None) -> Meant:
        end = self._tokens[last]
        at = self._tokens[first if shown is None else shown].offset
        return Meant(self._tokens[first].offset, end.offset + len(end.text), text, said, at)
