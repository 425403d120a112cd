"""Addresses and networks: the ip and cidr libraries, with the syntax of Go's netip and Kubernetes' restrictions."""

from __future__ import annotations

import re

from dra_plan.api.go_text import go_quote
from dra_plan.cel.library.base import overload
from dra_plan.cel.values import Cidr, EvaluationError, Ip

_OCTET = re.compile(r"0|[1-9][0-9]{0,2}", re.ASCII)
_GROUP = re.compile(r"[0-9A-Fa-f]{1,4}", re.ASCII)
_LENGTH = re.compile(r"0|[1-9][0-9]{0,2}", re.ASCII)
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


def _parse_address(text: str) -> tuple[Ip | None, bool]:
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


def _is_mapped(address: Ip) -> bool:
    return address.bits == 128 and address.number >> 32 == _MAPPED >> 32


@overload("string_to_ip", "string")
def to_ip(text: str) -> Ip:
    """The address; neither a zone nor an IPv4 address written as IPv6 is allowed."""
    address, zoned = _parse_address(text)
    if address is None:
        raise EvaluationError(
            f"IP Address {go_quote(text)} parse error during conversion from string: "
            f"ParseAddr({go_quote(text)}): unable to parse IP"
        )
    if zoned:
        raise EvaluationError(f"IP address {go_quote(text)} with zone value is not allowed")
    if _is_mapped(address):
        raise EvaluationError(f"IPv4-mapped IPv6 address {go_quote(text)} is not allowed")
    return address


@overload("is_ip", "string")
def is_ip(text: str) -> bool:
    """Whether the text is an address."""
    try:
        to_ip(text)
    except EvaluationError:
        return False
    return True


@overload("ip_is_canonical", "string")
def is_canonical(text: str) -> bool:
    """Whether the address is written in the one canonical way."""
    return ip_to_string(to_ip(text)) == text


@overload("ip_to_string", "ip")
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


@overload("ip_family", "ip")
def family(address: Ip) -> int:
    """4 or 6."""
    return 4 if address.bits == 32 else 6


@overload("ip_is_unspecified", "ip")
def is_unspecified(address: Ip) -> bool:
    """0.0.0.0 or ::."""
    return address.number == 0


@overload("ip_is_loopback", "ip")
def is_loopback(address: Ip) -> bool:
    """127.0.0.0/8 or ::1."""
    return address.number >> 24 == 127 if address.bits == 32 else address.number == 1


@overload("ip_is_link_local_multicast", "ip")
def is_link_local_multicast(address: Ip) -> bool:
    """224.0.0.0/24 or ff?2::/16."""
    if address.bits == 32:
        return address.number >> 8 == 0xE00000
    return address.number >> 112 & 0xFF0F == 0xFF02


@overload("ip_is_link_local_unicast", "ip")
def is_link_local_unicast(address: Ip) -> bool:
    """169.254.0.0/16 or fe80::/10."""
    if address.bits == 32:
        return address.number >> 16 == 0xA9FE
    return address.number >> 118 == 0xFE80 >> 6


@overload("ip_is_global_unicast", "ip")
def is_global_unicast(address: Ip) -> bool:
    """Any address but unspecified, broadcast, loopback, multicast and link-local."""
    broadcast = address.bits == 32 and address.number == 0xFFFFFFFF
    multicast = address.number >> 28 == 14 if address.bits == 32 else address.number >> 120 == 0xFF
    return not (
        broadcast or multicast or is_unspecified(address) or is_loopback(address) or is_link_local_unicast(address)
    )


def _parse_cidr(text: str) -> Cidr:
    prefix, slash, length = text.rpartition("/")
    address, zoned = _parse_address(prefix)
    if not slash or address is None or zoned or not _LENGTH.fullmatch(length) or int(length) > address.bits:
        raise EvaluationError(
            "network address parse error during conversion from string: network address parse error during conversion "
            f"from string: netip.ParsePrefix({go_quote(text)}): invalid prefix"
        )
    if _is_mapped(address):
        raise EvaluationError(
            "network address parse error during conversion from string: "
            f"IPv4-mapped IPv6 address {go_quote(text)} is not allowed"
        )
    return Cidr(address, int(length))


@overload("string_to_cidr", "string")
def to_cidr(text: str) -> Cidr:
    """The network; an IPv4 address written as IPv6 is not allowed, bits behind the prefix are."""
    return _parse_cidr(text)


@overload("is_cidr", "string")
def is_cidr(text: str) -> bool:
    """Whether the text is a network."""
    try:
        _parse_cidr(text)
    except EvaluationError:
        return False
    return True


@overload("cidr_to_string", "cidr")
def cidr_to_string(network: Cidr) -> str:
    """The text."""
    return f"{ip_to_string(network.address)}/{network.length}"


def _prefix(address: Ip, length: int) -> int:
    return address.number >> (address.bits - length)


@overload("cidr_contains_ip_ip", "cidr", "ip")
def contains_ip(network: Cidr, address: Ip) -> bool:
    """Whether the address is in the network."""
    same_family = network.address.bits == address.bits
    return same_family and _prefix(network.address, network.length) == _prefix(address, network.length)


@overload("cidr_contains_ip_string", "cidr", "string")
def contains_ip_text(network: Cidr, text: str) -> bool:
    """Whether the address written so is in the network."""
    try:
        return contains_ip(network, to_ip(text))
    except EvaluationError:
        raise EvaluationError("no such overload") from None


@overload("cidr_contains_cidr", "cidr", "cidr")
def contains_cidr(network: Cidr, other: Cidr) -> bool:
    """Whether all of the other network is in this one."""
    return network.length <= other.length and contains_ip(network, other.address)


@overload("cidr_contains_cidr_string", "cidr", "string")
def contains_cidr_text(network: Cidr, text: str) -> bool:
    """Whether all of the network written so is in this one."""
    return contains_cidr(network, to_cidr(text))


@overload("cidr_ip", "cidr")
def address_of(network: Cidr) -> Ip:
    """The address before the slash."""
    return network.address


@overload("cidr_prefix_length", "cidr")
def prefix_length(network: Cidr) -> int:
    """The number behind the slash."""
    return network.length


@overload("cidr_masked", "cidr")
def masked(network: Cidr) -> Cidr:
    """The network without bits behind its prefix."""
    host_bits = network.address.bits - network.length
    return Cidr(Ip(network.address.bits, network.address.number >> host_bits << host_bits), network.length)
