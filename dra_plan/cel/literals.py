"""The values of literal tokens; which tokens are literals, and where they may stand, is for lexer and parser."""

import re

INT64_MIN, INT64_MAX, UINT64_MAX = -(2**63), 2**63 - 1, 2**64 - 1

_SIMPLE = {"a": 7, "b": 8, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11, "\\": 92, "'": 39, '"': 34, "`": 96, "?": 63}
_ESCAPE = re.compile(r"\\(?:([xX])(..)|u(....)|U(.{8})|([0-7]{3})|(.))", re.DOTALL)


def integer(text: str, *, negative: bool = False) -> int | None:
    """Return the value of an int literal, None when int64 can't hold it."""
    value = _magnitude(text)
    value = -value if negative else value
    return value if INT64_MIN <= value <= INT64_MAX else None


def unsigned(text: str) -> int | None:
    """Return the value of a uint literal (with its u), None when uint64 can't hold it."""
    value = _magnitude(text[:-1])
    return value if value <= UINT64_MAX else None


def floating(text: str, *, negative: bool = False) -> float | None:
    """Return the value of a double literal, None when it is out of range."""
    value = float(text)
    if value in (float("inf"), float("-inf")):
        return None
    return -value if negative else value


def string(token: str) -> str | None:
    """Return the text a string literal stands for, None when an escape is no character."""
    body, raw = _body(token)
    if raw or "\\" not in body:
        return body
    parts, position = [], 0
    for found in _ESCAPE.finditer(body):
        code = _code(found)
        if code is None or code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
            return None
        parts += [body[position : found.start()], chr(code)]
        position = found.end()
    return "".join(parts) + body[position:]


def octets(token: str) -> bytes | None:
    """Return the bytes a bytes literal stands for, None for escapes that only strings have (u, U)."""
    body, raw = _body(token[1:])
    if raw or "\\" not in body:
        return body.encode()
    parts, position = b"", 0
    for found in _ESCAPE.finditer(body):
        if found[3] or found[4]:
            return None
        code = _code(found)
        assert code is not None  # the lexer lets only complete escapes through
        parts += body[position : found.start()].encode() + bytes([code])
        position = found.end()
    return parts + body[position:].encode()


def _magnitude(digits: str) -> int:
    """Return the number; what is surely out of range is not converted (Python limits the digits it converts)."""
    if digits.startswith("0x"):
        return int(digits, 16)
    digits = digits.lstrip("0") or "0"
    return int(digits) if len(digits) <= 20 else UINT64_MAX + 1


def _body(token: str) -> tuple[str, bool]:
    """Return what stands between the quotes, with line ends normalized as cel-go does, and whether it is raw."""
    text = token.replace("\r\n", "\n").replace("\r", "\n")
    raw = text[0] in "rR"
    text = text[1:] if raw else text
    width = 3 if len(text) >= 6 and text[:3] in ('"""', "'''") else 1
    return text[width:-width], raw


def _code(escape: re.Match[str]) -> int | None:
    if escape[5]:
        return int(escape[5], 8)
    digits = escape[2] or escape[3] or escape[4]
    if digits:
        return int(digits, 16)
    return _SIMPLE.get(escape[6])
