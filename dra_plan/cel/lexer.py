"""Expression text to tokens, by cel-go's lexical rules; what the tokens mean together is for the parser."""

import re
from functools import cache
from typing import NamedTuple

from .source import Issue

_ESCAPE = r"\\(?:[abfnrtv\"'\\?`]|[0-3][0-7][0-7]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})"
_STRING = (
    rf'[rR]"""[\s\S]*?"""|[rR]\'\'\'[\s\S]*?\'\'\'|[rR]"[^"\n\r]*"|[rR]\'[^\'\n\r]*\''
    rf'|"""(?:{_ESCAPE}|[^\\])*?"""|\'\'\'(?:{_ESCAPE}|[^\\])*?\'\'\''
    rf'|"(?:{_ESCAPE}|[^\\"\n\r])*"|\'(?:{_ESCAPE}|[^\\\'\n\r])*\''
)
_PATTERN = rf"""
    (?P<SPACE>[\t \r\n\f]+|//[^\n]*)
  | (?P<BYTES>[bB](?:{_STRING}))
  | (?P<STRING>{_STRING})
  | (?P<NUM_FLOAT>[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?)
  | (?P<NUM_UINT>0x[0-9a-fA-F]+[uU]|[0-9]+[uU])
  | (?P<NUM_INT>0x[0-9a-fA-F]+|[0-9]+)
  | (?P<IDENTIFIER>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<ESC_IDENTIFIER>`[A-Za-z0-9_.\-/ ]+`)
  | (?P<SIGN>==|!=|<=|>=|&&|\|\||[<>\[\]{{}}().,\-!?:+*/%])
"""
_KEYWORDS = frozenset({"true", "false", "null", "in"})
END = "<EOF>"


class Token(NamedTuple):
    """One token: `kind` is the sign or keyword itself, or a class such as IDENTIFIER; the offset counts code points."""

    kind: str
    text: str
    offset: int


def tokenize(text: str) -> tuple[list[Token], list[Issue]]:
    """Return the tokens of an expression, ending with END, and the places that are no token at all."""
    tokens, issues, position = [], [], 0
    match = _pattern().match
    while position < len(text):
        found = match(text, position)
        if found is None:
            issues.append(Issue(position, f"Syntax error: token recognition error at: '{text[position]}'"))
            position += 1
            continue
        kind, word = found.lastgroup, found.group()
        assert kind is not None
        if kind == "SIGN" or word in _KEYWORDS:
            kind = word
        if kind != "SPACE":
            tokens.append(Token(kind, word, position))
        position = found.end()
    tokens.append(Token(END, END, len(text)))
    return tokens, issues


@cache
def _pattern() -> re.Pattern[str]:
    return re.compile(_PATTERN, re.VERBOSE)
