"""Constants of selectors that are compared: what an attribute is equal to, or one of. Others may be patterns."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dra_plan.cel.format_strings import string
from dra_plan.cel.lexer import Token, tokenize
from dra_plan.cel.rewrite import constant_text

_EQUAL = ("==", "!=")


def renamed(expression: str, rename: Callable[[str], str]) -> str:
    """The expression with other texts where texts are compared."""
    changed = expression
    for token in reversed(list(_compared(tokenize(expression)[0]))):
        value = string(token.text)
        if value is not None and (new := rename(value)) != value:
            changed = changed[: token.offset] + constant_text(new) + changed[token.offset + len(token.text) :]
    return changed


def _compared(tokens: list[Token]) -> Iterator[Token]:
    in_list = False
    for before, token, after in zip([tokens[0], *tokens], tokens, tokens[1:], strict=False):
        if token.kind == "[" and before.kind == "in":
            in_list = True
        elif token.kind == "]":
            in_list = False
        elif token.kind == "STRING" and (in_list or before.kind in _EQUAL or after.kind in _EQUAL):
            yield token
