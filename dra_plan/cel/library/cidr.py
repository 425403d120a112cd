"""Networks: the cidr library, with the syntax of Go's netip and Kubernetes' restrictions."""

from __future__ import annotations

import re

from dra_plan.api.go_text import go_quote
from dra_plan.cel.cost import traversal
from dra_plan.cel.ranges import ONE, STRING_FACTOR, Interval
from dra_plan.cel.types import BOOL, CIDR, INT, IP, STRING
from dra_plan.cel.values import Cidr, EvaluationError, Ip, Value, size_of

from .ip import ip_to_string, is_mapped, parse_address, to_ip
from .overload import CallEstimate, Library, Price, member, plain
from .prices import PARSED, Operands, by_name, through

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
    """The network; an IPv4 address written as IPv6 is not allowed, bits behind the prefix are."""
    return _parse_cidr(text)


def is_cidr(text: str) -> bool:
    """Whether the text is a network."""
    try:
        _parse_cidr(text)
    except EvaluationError:
        return False
    return True


def cidr_to_string(network: Cidr) -> str:
    """The text."""
    return f"{ip_to_string(network.address)}/{network.length}"


def _prefix(address: Ip, length: int) -> int:
    return address.number >> (address.bits - length)


def contains_ip(network: Cidr, address: Ip) -> bool:
    """Whether the address is in the network."""
    same_family = network.address.bits == address.bits
    return same_family and _prefix(network.address, network.length) == _prefix(address, network.length)


def contains_ip_text(network: Cidr, text: str) -> bool:
    """Whether the address written so is in the network."""
    try:
        return contains_ip(network, to_ip(text))
    except EvaluationError:
        raise EvaluationError("no such overload") from None


def contains_cidr(network: Cidr, other: Cidr) -> bool:
    """Whether all of the other network is in this one."""
    return network.length <= other.length and contains_ip(network, other.address)


def contains_cidr_text(network: Cidr, text: str) -> bool:
    """Whether all of the network written so is in this one."""
    return contains_cidr(network, to_cidr(text))


def address_of(network: Cidr) -> Ip:
    """The address before the slash."""
    return network.address


def prefix_length(network: Cidr) -> int:
    """The number behind the slash."""
    return network.length


def masked(network: Cidr) -> Cidr:
    """The network without bits behind its prefix."""
    host_bits = network.address.bits - network.length
    return Cidr(Ip(network.address.bits, network.address.number >> host_bits << host_bits), network.length)


# -- prices: an address is looked for in the network, a network both by its address and by its length ---------------

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
    """The price with that of reading the second operand."""
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
