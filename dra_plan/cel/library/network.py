"""IP addresses, networks and URLs: the ip, cidr and url libraries.

Addresses and networks follow Go's netip, with Kubernetes' restrictions, and URLs follow Go's net/url.
"""

from __future__ import annotations

import re

from dra_plan.api.go_text import go_quote
from dra_plan.cel.cost import ONE, STRING_FACTOR, Interval, traversal
from dra_plan.cel.types import BOOL, CIDR, INT, IP, STRING, URL, list_of, map_of
from dra_plan.cel.values import Cidr, EvaluationError, Ip, Url, Value, size_of

from .overload import CallEstimate, Library, Price, member, plain
from .prices import PARSED, SAME_SIZE, Operands, by_name, first_twice, through

_OCTET = re.compile(r"0|[1-9][0-9]{0,2}", re.ASCII)
_GROUP = re.compile(r"[0-9A-Fa-f]{1,4}", re.ASCII)
_MAPPED = 0xFFFF << 32


def _parse_v4(text: str) -> int | None:
    octets = text.split(".")
    if len(octets) != 4 or not all(_OCTET.fullmatch(octet) and int(octet) <= 255 for octet in octets):
        return None
    return int.from_bytes(bytes(map(int, octets)), "big")


def _parse_v6(text: str) -> int | None:
    """Return an IPv6 address without a zone: at most one `::`, an IPv4 address as its last four bytes."""
    head, ellipsis, tail = text.partition("::")
    if "::" in tail or (ellipsis and tail.startswith(":")):
        return None
    left, right = _groups(head, last=not ellipsis), _groups(tail, last=True)
    if left is None or right is None:
        return None
    missing = 8 - len(left) - len(right)
    if missing < (1 if ellipsis else 0) or (missing and not ellipsis):
        return None
    number = 0
    for group in (*left, *[0] * missing, *right):
        number = number << 16 | group
    return number


def _groups(text: str, last: bool) -> list[int] | None:
    if not text:
        return []
    parts = text.split(":")
    numbers: list[int] = []
    for position, part in enumerate(parts):
        if last and position == len(parts) - 1 and "." in part:
            embedded = _parse_v4(part)
            if embedded is None:
                return None
            numbers += [embedded >> 16, embedded & 0xFFFF]
        elif _GROUP.fullmatch(part):
            numbers.append(int(part, 16))
        else:
            return None
    return numbers


def parse_address(text: str) -> tuple[Ip | None, bool]:
    """Return the IP address in the text, or None, and whether it has a zone."""
    for character in text:
        if character == ".":
            number = _parse_v4(text)
            return (None if number is None else Ip(32, number)), False
        if character == ":":
            plain, percent, zone = text.partition("%")
            number = _parse_v6(plain)
            if number is None or (percent and not zone):
                return None, False
            return Ip(128, number), bool(percent)
        if character == "%":
            break
    return None, False


def is_mapped(address: Ip) -> bool:
    """Return whether the address is an IPv4-mapped IPv6 address."""
    return address.bits == 128 and address.number >> 32 == _MAPPED >> 32


def to_ip(text: str) -> Ip:
    """Return the IP address in the text.

    Raises EvaluationError if the text is not an IP address, has a zone, or is an IPv4-mapped IPv6 address.
    """
    address, zoned = parse_address(text)
    if address is None:
        raise EvaluationError(
            f"IP Address {go_quote(text)} parse error during conversion from string: "
            f"ParseAddr({go_quote(text)}): unable to parse IP"
        )
    if zoned:
        raise EvaluationError(f"IP address {go_quote(text)} with zone value is not allowed")
    if is_mapped(address):
        raise EvaluationError(f"IPv4-mapped IPv6 address {go_quote(text)} is not allowed")
    return address


def is_ip(text: str) -> bool:
    """Return whether the text is an IP address."""
    try:
        to_ip(text)
    except EvaluationError:
        return False
    return True


def is_canonical(text: str) -> bool:
    """Return whether the address in the text has the canonical form. Raises EvaluationError if it is not an address."""
    return ip_to_string(to_ip(text)) == text


def ip_to_string(address: Ip) -> str:
    """Return the canonical form of the address."""
    if address.bits == 32:
        return ".".join(map(str, address.number.to_bytes(4, "big")))
    groups = [address.number >> shift & 0xFFFF for shift in range(112, -1, -16)]
    start, end = _longest_zeros(groups)
    if end - start < 2:
        return ":".join(f"{group:x}" for group in groups)
    head = ":".join(f"{group:x}" for group in groups[:start])
    tail = ":".join(f"{group:x}" for group in groups[end:])
    return f"{head}::{tail}"


def _longest_zeros(groups: list[int]) -> tuple[int, int]:
    best = (0, 0)
    for start in range(8):
        end = start
        while end < 8 and groups[end] == 0:
            end += 1
        if end - start > best[1] - best[0]:
            best = (start, end)
    return best


def family(address: Ip) -> int:
    """Return 4 for an IPv4 address, or 6 for an IPv6 address."""
    return 4 if address.bits == 32 else 6


def is_unspecified(address: Ip) -> bool:
    """Return whether the address is 0.0.0.0 or ::."""
    return address.number == 0


def is_loopback(address: Ip) -> bool:
    """Return whether the address is in 127.0.0.0/8 or is ::1."""
    return address.number >> 24 == 127 if address.bits == 32 else address.number == 1


def is_link_local_multicast(address: Ip) -> bool:
    """Return whether the address is in 224.0.0.0/24 or ff?2::/16."""
    if address.bits == 32:
        return address.number >> 8 == 0xE00000
    return address.number >> 112 & 0xFF0F == 0xFF02


def is_link_local_unicast(address: Ip) -> bool:
    """Return whether the address is in 169.254.0.0/16 or fe80::/10."""
    if address.bits == 32:
        return address.number >> 16 == 0xA9FE
    return address.number >> 118 == 0xFE80 >> 6


def is_global_unicast(address: Ip) -> bool:
    """Return whether the address is not an unspecified, broadcast, loopback, multicast or link-local address."""
    broadcast = address.bits == 32 and address.number == 0xFFFFFFFF
    multicast = address.number >> 28 == 14 if address.bits == 32 else address.number >> 120 == 0xFF
    return not (
        broadcast or multicast or is_unspecified(address) or is_loopback(address) or is_link_local_unicast(address)
    )


_CANONICAL = by_name(first_twice, lambda operands: CallEstimate(through(operands[0], 2)))

IPS = Library(
    name="kubernetes ip",
    since=(1, 30),
    types={"net.IP": IP},
    functions={
        "ip": (plain("string_to_ip", (STRING,), IP, to_ip, PARSED, once=True),),
        "isIP": (plain("is_ip", (STRING,), BOOL, is_ip, PARSED, once=True),),
        "ip.isCanonical": (plain("ip_is_canonical", (STRING,), BOOL, is_canonical, _CANONICAL),),
        "family": (member("ip_family", (IP,), INT, family),),
        "isUnspecified": (member("ip_is_unspecified", (IP,), BOOL, is_unspecified),),
        "isLoopback": (member("ip_is_loopback", (IP,), BOOL, is_loopback),),
        "isLinkLocalMulticast": (member("ip_is_link_local_multicast", (IP,), BOOL, is_link_local_multicast),),
        "isLinkLocalUnicast": (member("ip_is_link_local_unicast", (IP,), BOOL, is_link_local_unicast),),
        "isGlobalUnicast": (member("ip_is_global_unicast", (IP,), BOOL, is_global_unicast),),
        "string": (plain("ip_to_string", (IP,), STRING, ip_to_string),),
    },
)


# -- networks ----------------------------------------------------------------------------------------------------------

_LENGTH = re.compile(r"0|[1-9][0-9]{0,2}", re.ASCII)


def _parse_cidr(text: str) -> Cidr:
    prefix, slash, length = text.rpartition("/")
    address, zoned = parse_address(prefix)
    if not slash or address is None or zoned or not _LENGTH.fullmatch(length) or int(length) > address.bits:
        raise EvaluationError(
            "network address parse error during conversion from string: network address parse error during conversion "
            f"from string: netip.ParsePrefix({go_quote(text)}): invalid prefix"
        )
    if is_mapped(address):
        raise EvaluationError(
            "network address parse error during conversion from string: "
            f"IPv4-mapped IPv6 address {go_quote(text)} is not allowed"
        )
    return Cidr(address, int(length))


def to_cidr(text: str) -> Cidr:
    """Return the network in the text. Bits after the prefix may be set.

    Raises EvaluationError if the text is not a network, or has an IPv4-mapped IPv6 address.
    """
    return _parse_cidr(text)


def is_cidr(text: str) -> bool:
    """Return whether the text is an IP network."""
    try:
        _parse_cidr(text)
    except EvaluationError:
        return False
    return True


def cidr_to_string(network: Cidr) -> str:
    """Return the network in CIDR notation."""
    return f"{ip_to_string(network.address)}/{network.length}"


def _prefix(address: Ip, length: int) -> int:
    return address.number >> (address.bits - length)


def contains_ip(network: Cidr, address: Ip) -> bool:
    """Return whether the address is in the network."""
    same_family = network.address.bits == address.bits
    return same_family and _prefix(network.address, network.length) == _prefix(address, network.length)


def contains_ip_text(network: Cidr, text: str) -> bool:
    """Return whether the address in the text is in the network."""
    try:
        return contains_ip(network, to_ip(text))
    except EvaluationError:
        raise EvaluationError("no such overload") from None


def contains_cidr(network: Cidr, other: Cidr) -> bool:
    """Return whether the other network is inside the network."""
    return network.length <= other.length and contains_ip(network, other.address)


def contains_cidr_text(network: Cidr, text: str) -> bool:
    """Return whether the network in the text is inside the network."""
    return contains_cidr(network, to_cidr(text))


def address_of(network: Cidr) -> Ip:
    """Return the address of the network, without the prefix length."""
    return network.address


def prefix_length(network: Cidr) -> int:
    """Return the prefix length of the network."""
    return network.length


def masked(network: Cidr) -> Cidr:
    """Return the network with all bits after the prefix set to 0."""
    host_bits = network.address.bits - network.length
    return Cidr(Ip(network.address.bits, network.address.number >> host_bits << host_bits), network.length)


# -- prices of networks, and their table -------------------------------------------------------------------------------
# An address is searched for in the network, a network both by its address and by its length.

_ADDRESS = Interval(4, 16)


def _ip_cost(arguments: list[Value], _result: Value) -> int:
    return traversal(2 * size_of(arguments[0]))


def _cidr_cost(arguments: list[Value], _result: Value) -> int:
    return traversal(2 * size_of(arguments[0])) + traversal(size_of(arguments[0])) + 1


def _ip_estimate(_operands: Operands) -> CallEstimate:
    return CallEstimate(_ADDRESS.plus(_ADDRESS).scaled(STRING_FACTOR))


def _cidr_estimate(operands: Operands) -> CallEstimate:
    return CallEstimate(_ip_estimate(operands).cost.plus(_ADDRESS.scaled(STRING_FACTOR)).plus(ONE))


def _read(price: Price) -> Price:
    """Return the price plus that of reading the second operand."""
    return Price(
        lambda arguments, result: price.cost(arguments, result) + traversal(size_of(arguments[1])),
        lambda operands: CallEstimate(price.estimate(operands).cost.plus(through(operands[1]))),
    )


_CONTAINS_IP, _CONTAINS_CIDR = by_name(_ip_cost, _ip_estimate), by_name(_cidr_cost, _cidr_estimate)

CIDRS = Library(
    name="kubernetes cidr",
    since=(1, 30),
    types={"net.CIDR": CIDR},
    functions={
        "cidr": (plain("string_to_cidr", (STRING,), CIDR, to_cidr, PARSED, once=True),),
        "isCIDR": (plain("is_cidr", (STRING,), BOOL, is_cidr, PARSED, once=True),),
        "containsIP": (
            member("cidr_contains_ip_string", (CIDR, STRING), BOOL, contains_ip_text, _read(_CONTAINS_IP)),
            member("cidr_contains_ip_ip", (CIDR, IP), BOOL, contains_ip, _CONTAINS_IP),
        ),
        "containsCIDR": (
            member("cidr_contains_cidr_string", (CIDR, STRING), BOOL, contains_cidr_text, _read(_CONTAINS_CIDR)),
            member("cidr_contains_cidr", (CIDR, CIDR), BOOL, contains_cidr, _CONTAINS_CIDR),
        ),
        "ip": (member("cidr_ip", (CIDR,), IP, address_of),),
        "prefixLength": (member("cidr_prefix_length", (CIDR,), INT, prefix_length),),
        "masked": (member("cidr_masked", (CIDR,), CIDR, masked),),
        "string": (plain("cidr_to_string", (CIDR,), STRING, cidr_to_string),),
    },
)


# -- URLs --------------------------------------------------------------------------------------------------------------
# A URL must be absolute or an absolute path (`ParseRequestURI`); its parts are those of the more lenient `Parse`.

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:", re.ASCII)
_ESCAPE = re.compile(rb"%([0-9A-Fa-f]{2})?")
_PORT = re.compile(r":[0-9]*", re.ASCII)
_USERINFO = re.compile(r"[A-Za-z0-9\-._:~!$&'()*+,;=%@]*", re.ASCII)
_UNRESERVED = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~")
_PATH_PLAIN = _UNRESERVED | frozenset(b"$&+,/:;=@")
_PATH_VALID = _PATH_PLAIN | frozenset(b"!'()*[]%")
_HOST_PLAIN = _UNRESERVED | frozenset(b"!$&'()*+,;=:[]<>\"")


class _UrlError(Exception):
    """A fault of a URL, in Go's words."""


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
    """Return the scheme in lower case and the rest.

    There is no scheme if a character that no scheme may contain comes first.
    """
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
    """Return the host and port of an authority."""
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
    """Return the text without percent-encoding; raises _UrlError for encodings that the part may not have."""
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
    """Return the path as Go escapes it, unchanged if it is already a valid encoding, otherwise encoded again."""
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
    """Return the values of each key; malformed pairs are omitted."""
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
    """Return the error of Go's ParseRequestURI for the text, or None."""
    try:
        _parse(text, via_request=True)
    except _UrlError as error:
        return f"parse {go_quote(text)}: {error}"
    return None


def to_url(text: str) -> Url:
    """Return the URL in the text. Raises EvaluationError if it is not a URL."""
    problem = request_error(text)
    if problem is None:
        try:
            return _parse(text, via_request=False)
        except _UrlError as error:
            problem = f"parse {go_quote(text)}: {error}"
    raise EvaluationError(f"URL parse error during conversion from string: {problem}")


def is_url(text: str) -> bool:
    """Return whether the text is a URL."""
    return request_error(text) is None


def get_scheme(url: Url) -> str:
    """Return the scheme of the URL, or "" if it has none."""
    return url.scheme


def get_host(url: Url) -> str:
    """Return the host of the URL, including the port."""
    return url.host


def get_hostname(url: Url) -> str:
    """Return the host of the URL, without port and brackets."""
    return url.hostname


def get_port(url: Url) -> str:
    """Return the port of the URL, or "" if it has none."""
    return url.port


def get_escaped_path(url: Url) -> str:
    """Return the percent-encoded path of the URL."""
    return url.escaped_path


def get_query(url: Url) -> dict[str, list[str]]:
    """Return the decoded query of the URL, with a list of values for each key."""
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
