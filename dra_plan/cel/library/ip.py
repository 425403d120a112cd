"""Addresses: the ip library, with the syntax of Go's netip and Kubernetes' restrictions."""

from __future__ import annotations

import re

from dra_plan.api.go_text import go_quote
from dra_plan.cel.types import BOOL, INT, IP, STRING
from dra_plan.cel.values import EvaluationError, Ip

from .overload import CallEstimate, Library, member, plain
from .prices import PARSED, by_name, first_twice, through

_OCTET = re.compile(r"0|[1-9][0-9]{0,2}", re.ASCII)
_GROUP = re.compile(r"[0-9A-Fa-f]{1,4}", re.ASCII)
_MAPPED = 0xFFFF << 32


def _parse_v4(text: str) -> int | None:
    octets = text.split(".")
    if len(octets) != 4 or not all(_OCTET.fullmatch(octet) and int(octet) <= 255 for octet in octets):
        return None
    return int.from_bytes(bytes(map(int, octets)), "big")


def _parse_v6(text: str) -> int | None:
    """An IPv6 address without zone: `::` once at most, an IPv4 address as its last four bytes."""
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
    """The address, and whether it has a zone; an address of either family."""
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
    """Whether it is an IPv4 address written as IPv6."""
    return address.bits == 128 and address.number >> 32 == _MAPPED >> 32


def to_ip(text: str) -> Ip:
    """The address; neither a zone nor an IPv4 address written as IPv6 is allowed."""
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
    """Whether the text is an address."""
    try:
        to_ip(text)
    except EvaluationError:
        return False
    return True


def is_canonical(text: str) -> bool:
    """Whether the address is written in the one canonical way."""
    return ip_to_string(to_ip(text)) == text


def ip_to_string(address: Ip) -> str:
    """The canonical text."""
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
    """4 or 6."""
    return 4 if address.bits == 32 else 6


def is_unspecified(address: Ip) -> bool:
    """0.0.0.0 or ::."""
    return address.number == 0


def is_loopback(address: Ip) -> bool:
    """127.0.0.0/8 or ::1."""
    return address.number >> 24 == 127 if address.bits == 32 else address.number == 1


def is_link_local_multicast(address: Ip) -> bool:
    """224.0.0.0/24 or ff?2::/16."""
    if address.bits == 32:
        return address.number >> 8 == 0xE00000
    return address.number >> 112 & 0xFF0F == 0xFF02


def is_link_local_unicast(address: Ip) -> bool:
    """169.254.0.0/16 or fe80::/10."""
    if address.bits == 32:
        return address.number >> 16 == 0xA9FE
    return address.number >> 118 == 0xFE80 >> 6


def is_global_unicast(address: Ip) -> bool:
    """Any address but unspecified, broadcast, loopback, multicast and link-local."""
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
