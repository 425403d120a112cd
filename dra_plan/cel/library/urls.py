"""The url library: URLs as Go's net/url parses them.

A URL must be absolute or an absolute path (`ParseRequestURI`); its parts are those of the more lenient `Parse`.
"""

from __future__ import annotations

import re

from dra_plan.api.go_text import go_quote
from dra_plan.cel.types import BOOL, STRING, URL, list_of, map_of
from dra_plan.cel.values import EvaluationError, Url

from .overload import Library, member, plain
from .prices import SAME_SIZE

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:", re.ASCII)
_ESCAPE = re.compile(rb"%([0-9A-Fa-f]{2})?")
_PORT = re.compile(r":[0-9]*", re.ASCII)
_USERINFO = re.compile(r"[A-Za-z0-9\-._:~!$&'()*+,;=%@]*", re.ASCII)
_UNRESERVED = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~")
_PATH_PLAIN = _UNRESERVED | frozenset(b"$&+,/:;=@")
_PATH_VALID = _PATH_PLAIN | frozenset(b"!'()*[]%")
_HOST_PLAIN = _UNRESERVED | frozenset(b"!$&'()*+,;=:[]<>\"")


class _UrlError(Exception):
    """What is wrong with a URL, in Go's words."""


def _parse(raw: str, *, via_request: bool) -> Url:
    if any(character < " " or character == "\x7f" for character in raw):
        raise _UrlError("net/url: invalid control character in URL")
    if not raw and via_request:
        raise _UrlError("empty url")
    rest, _, fragment = (raw, "", "") if via_request else raw.partition("#")
    _unescape(fragment, "fragment")
    if rest == "*":
        return Url("*", "", "", "", "", "*", ())
    scheme, rest = _scheme(rest)
    rest, question, query = rest.partition("?")
    if not rest.startswith("/"):
        return _rootless(raw, scheme, rest, query, via_request=via_request)
    host = ""
    if (scheme or (not via_request and not rest.startswith("///"))) and rest.startswith("//"):
        authority, slash, path = rest[2:].partition("/")
        host, rest = _host(authority), slash + path
    path = _path(rest)
    hostname, port = _split_port(host)
    text = f"{scheme}|{host}|{rest}|{question}{query}|{fragment}"
    return Url(text, scheme, host, hostname, port, path, _query(query))


def _scheme(rest: str) -> tuple[str, str]:
    """The scheme in lower case and what follows it; none at all before the first character that no scheme has."""
    match = _SCHEME.match(rest)
    if match is not None:
        return match[0][:-1].lower(), rest[match.end() :]
    if rest.startswith(":"):
        raise _UrlError("missing protocol scheme")
    return "", rest


def _rootless(raw: str, scheme: str, rest: str, query: str, *, via_request: bool) -> Url:
    if scheme:  # such as mailto:someone
        return Url(raw, scheme, "", "", "", "", _query(query))
    if via_request:
        raise _UrlError("invalid URI for request")
    segment = rest.partition("/")[0]
    if ":" in segment:
        raise _UrlError("first path segment in URL cannot contain colon")
    return Url(raw, "", "", "", "", _path(rest), _query(query))


def _host(authority: str) -> str:
    """The host and port of an authority."""
    userinfo, at, host = authority.rpartition("@")
    if at:
        if not _USERINFO.fullmatch(userinfo):
            raise _UrlError("net/url: invalid userinfo")
        for part in userinfo.partition(":")[::2]:
            _unescape(part, "userinfo")
    if host.startswith("["):
        return _bracketed(host)
    if ":" in host:
        colon = host.rindex(":")
        if not _PORT.fullmatch(host[colon:]):
            raise _UrlError(f"invalid port {go_quote(host[colon:])} after host")
    return _unescape(host, "host")


def _bracketed(host: str) -> str:
    end = host.rfind("]")
    if end < 0:
        raise _UrlError("missing ']' in host")
    port = host[end + 1 :]
    if port and not _PORT.fullmatch(port):
        raise _UrlError(f"invalid port {go_quote(port)} after host")
    zone = host[:end].find("%25")
    if zone >= 0:
        return _unescape(host[:zone], "host") + _unescape(host[zone:end], "zone") + _unescape(host[end:], "host")
    return _unescape(host, "host")


def _unescape(text: str, part: str) -> str:
    """The text without percent-encoding; raises _UrlError for encodings that the part may not have."""
    data = text.encode("utf-8", "surrogatepass")
    for match in _ESCAPE.finditer(data):
        escape = data[match.start() : match.start() + 3].decode("utf-8", "replace")
        if match[1] is None:
            raise _UrlError(f"invalid URL escape {go_quote(escape)}")
        value = int(match[1], 16)
        if part == "host" and value < 0x80 and escape != "%25":
            raise _UrlError(f"invalid URL escape {go_quote(escape)}")
        if part == "zone" and escape != "%25" and value != 0x20 and value not in _HOST_PLAIN:
            raise _UrlError(f"invalid URL escape {go_quote(escape)}")
    if part in ("host", "zone"):
        for byte in data:
            if byte < 0x80 and byte not in _HOST_PLAIN and byte != 0x25:
                raise _UrlError(f"invalid character {go_quote(chr(byte))} in host name")
    plain = _ESCAPE.sub(lambda match: bytes((int(match[1], 16),)), data)
    if part == "query":
        plain = _ESCAPE.sub(lambda match: bytes((int(match[1], 16),)), data.replace(b"+", b" "))
    return plain.decode("utf-8", "replace")


def _path(raw: str) -> str:
    """The path as Go escapes it: as written when that is a valid encoding, encoded anew otherwise."""
    _unescape(raw, "path")
    data = raw.encode("utf-8", "surrogatepass")
    if all(byte in _PATH_VALID for byte in data):
        return raw
    plain = _ESCAPE.sub(lambda match: bytes((int(match[1], 16),)), data)
    if plain == b"*":
        return "*"
    return "".join(chr(byte) if byte in _PATH_PLAIN else f"%{byte:02X}" for byte in plain)


def _split_port(host: str) -> tuple[str, str]:
    colon = host.rfind(":")
    hostname, port = (host, "") if colon < 0 or not _PORT.fullmatch(host[colon:]) else (host[:colon], host[colon + 1 :])
    if hostname.startswith("[") and hostname.endswith("]"):
        hostname = hostname[1:-1]
    return hostname, port


def _query(raw: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The values of each key; malformed pairs are left out."""
    values: dict[str, list[str]] = {}
    for pair in raw.split("&"):
        key, _, value = pair.partition("=")
        if not pair or ";" in pair:
            continue
        try:
            values.setdefault(_unescape(key, "query"), []).append(_unescape(value, "query"))
        except _UrlError:
            continue
    return tuple((key, tuple(found)) for key, found in values.items() if found)


def request_error(text: str) -> str | None:
    """What Go's ParseRequestURI says against the text, or None."""
    try:
        _parse(text, via_request=True)
    except _UrlError as error:
        return f"parse {go_quote(text)}: {error}"
    return None


def to_url(text: str) -> Url:
    """The URL."""
    problem = request_error(text)
    if problem is None:
        try:
            return _parse(text, via_request=False)
        except _UrlError as error:
            problem = f"parse {go_quote(text)}: {error}"
    raise EvaluationError(f"URL parse error during conversion from string: {problem}")


def is_url(text: str) -> bool:
    """Whether the text is a URL."""
    return request_error(text) is None


def get_scheme(url: Url) -> str:
    """The scheme, or empty text."""
    return url.scheme


def get_host(url: Url) -> str:
    """Host and port."""
    return url.host


def get_hostname(url: Url) -> str:
    """The host without port and brackets."""
    return url.hostname


def get_port(url: Url) -> str:
    """The port, or empty text."""
    return url.port


def get_escaped_path(url: Url) -> str:
    """The path, percent-encoded."""
    return url.escaped_path


def get_query(url: Url) -> dict[str, list[str]]:
    """The decoded values of each key."""
    return {key: list(values) for key, values in url.query}


URLS = Library(
    name="kubernetes urls",
    since=(1, 0),
    functions={
        "url": (plain("string_to_url", (STRING,), URL, to_url, SAME_SIZE, once=True),),
        "isURL": (plain("is_url_string", (STRING,), BOOL, is_url, once=True),),
        "getScheme": (member("url_get_scheme", (URL,), STRING, get_scheme),),
        "getHost": (member("url_get_host", (URL,), STRING, get_host),),
        "getHostname": (member("url_get_hostname", (URL,), STRING, get_hostname),),
        "getPort": (member("url_get_port", (URL,), STRING, get_port),),
        "getEscapedPath": (member("url_get_escaped_path", (URL,), STRING, get_escaped_path),),
        "getQuery": (member("url_get_query", (URL,), map_of(STRING, list_of(STRING)), get_query),),
    },
)
