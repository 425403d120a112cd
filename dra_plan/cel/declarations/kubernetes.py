"""Libraries of the Kubernetes API server: lists, regex, url, ip, cidr, quantity, semver, format, includes."""

from dra_plan.cel.declarations.extensions import COMPARABLE
from dra_plan.cel.declarations.overload import Library, Overload, member, plain
from dra_plan.cel.types import (
    BOOL,
    CIDR,
    DOUBLE,
    DURATION,
    DYN,
    FORMAT,
    INT,
    IP,
    QUANTITY,
    SEMVER,
    STRING,
    TIMESTAMP,
    UINT,
    URL,
    Type,
    list_of,
    map_of,
    optional_of,
    parameter,
)

_A = parameter("A")
_STRINGS = list_of(STRING)


def _short(of: Type) -> str:
    """Return the name that Kubernetes uses in overload ids (cel-go's own libraries use the runtime name)."""
    return {DURATION: "duration", TIMESTAMP: "timestamp"}.get(of, of.name)


def _elements(types: tuple[Type, ...], pattern: str, result: Type | None) -> tuple[Overload, ...]:
    """Return one overload for each element type; the result is the element where none is given."""
    return tuple(member(pattern.format(_short(of)), (list_of(of),), result or of) for of in types)


def _url(identifier: str, result: Type = STRING) -> tuple[Overload, ...]:
    return (member(f"url_get_{identifier}", (URL,), result),)


def _ip(identifier: str, result: Type = BOOL) -> tuple[Overload, ...]:
    return (member(f"ip_{identifier}", (IP,), result),)


LISTS = Library(
    name="kubernetes lists",
    since=(1, 0),
    functions={
        "isSorted": _elements(COMPARABLE, "list_{0}_is_sorted_bool", BOOL),
        "sum": _elements((INT, UINT, DOUBLE, DURATION), "list_{0}_sum_{0}", None),
        "max": _elements(COMPARABLE, "list_{0}_max_{0}", None),
        "min": _elements(COMPARABLE, "list_{0}_min_{0}", None),
        "indexOf": (member("list_a_index_of_int", (list_of(_A), _A), INT),),
        "lastIndexOf": (member("list_a_last_index_of_int", (list_of(_A), _A), INT),),
    },
)

REGEX = Library(
    name="kubernetes regex",
    since=(1, 0),
    functions={
        "find": (member("string_find_string", (STRING, STRING), STRING),),
        "findAll": (
            member("string_find_all_string", (STRING, STRING), _STRINGS),
            member("string_find_all_string_int", (STRING, STRING, INT), _STRINGS),
        ),
    },
)

URLS = Library(
    name="kubernetes urls",
    since=(1, 0),
    functions={
        "url": (plain("string_to_url", (STRING,), URL),),
        "isURL": (plain("is_url_string", (STRING,), BOOL),),
        "getScheme": _url("scheme"),
        "getHost": _url("host"),
        "getHostname": _url("hostname"),
        "getPort": _url("port"),
        "getEscapedPath": _url("escaped_path"),
        "getQuery": _url("query", map_of(STRING, _STRINGS)),
    },
)

QUANTITIES = Library(
    name="kubernetes quantity",
    since=(1, 28),
    functions={
        "quantity": (plain("string_to_quantity", (STRING,), QUANTITY),),
        "isQuantity": (plain("is_quantity_string", (STRING,), BOOL),),
        "sign": (plain("quantity_sign", (QUANTITY,), INT),),  # not a member, in contrast to what upstream documents
        "isGreaterThan": (member("quantity_is_greater_than", (QUANTITY, QUANTITY), BOOL),),
        "isLessThan": (member("quantity_is_less_than", (QUANTITY, QUANTITY), BOOL),),
        "compareTo": (member("quantity_compare_to", (QUANTITY, QUANTITY), INT),),
        "asApproximateFloat": (member("quantity_get_float", (QUANTITY,), DOUBLE),),
        "asInteger": (member("quantity_get_int", (QUANTITY,), INT),),
        "isInteger": (member("quantity_is_integer", (QUANTITY,), BOOL),),
        "add": (
            member("quantity_add", (QUANTITY, QUANTITY), QUANTITY),
            member("quantity_add_int", (QUANTITY, INT), QUANTITY),
        ),
        "sub": (
            member("quantity_sub", (QUANTITY, QUANTITY), QUANTITY),
            member("quantity_sub_int", (QUANTITY, INT), QUANTITY),
        ),
    },
)

SEMVERS = Library(
    name="kubernetes semver version 1",
    since=(1, 33),
    functions={
        "semver": (
            plain("string_to_semver", (STRING,), SEMVER),
            plain("string_bool_to_semver", (STRING, BOOL), SEMVER),
        ),
        "isSemver": (
            plain("is_semver_string", (STRING,), BOOL),
            plain("is_semver_string_bool", (STRING, BOOL), BOOL),
        ),
        "isGreaterThan": (member("semver_is_greater_than", (SEMVER, SEMVER), BOOL),),
        "isLessThan": (member("semver_is_less_than", (SEMVER, SEMVER), BOOL),),
        "compareTo": (member("semver_compare_to", (SEMVER, SEMVER), INT),),
        "major": (member("semver_major", (SEMVER,), INT),),
        "minor": (member("semver_minor", (SEMVER,), INT),),
        "patch": (member("semver_patch", (SEMVER,), INT),),
    },
)

IPS = Library(
    name="kubernetes ip",
    since=(1, 30),
    types={"net.IP": IP},
    functions={
        "ip": (plain("string_to_ip", (STRING,), IP),),
        "isIP": (plain("is_ip", (STRING,), BOOL),),
        "ip.isCanonical": (plain("ip_is_canonical", (STRING,), BOOL),),
        "family": _ip("family", INT),
        "isUnspecified": _ip("is_unspecified"),
        "isLoopback": _ip("is_loopback"),
        "isLinkLocalMulticast": _ip("is_link_local_multicast"),
        "isLinkLocalUnicast": _ip("is_link_local_unicast"),
        "isGlobalUnicast": _ip("is_global_unicast"),
        "string": (plain("ip_to_string", (IP,), STRING),),
    },
)

CIDRS = Library(
    name="kubernetes cidr",
    since=(1, 30),
    types={"net.CIDR": CIDR},
    functions={
        "cidr": (plain("string_to_cidr", (STRING,), CIDR),),
        "isCIDR": (plain("is_cidr", (STRING,), BOOL),),
        "containsIP": (
            member("cidr_contains_ip_string", (CIDR, STRING), BOOL),
            member("cidr_contains_ip_ip", (CIDR, IP), BOOL),
        ),
        "containsCIDR": (
            member("cidr_contains_cidr_string", (CIDR, STRING), BOOL),
            member("cidr_contains_cidr", (CIDR, CIDR), BOOL),
        ),
        "ip": (member("cidr_ip", (CIDR,), IP),),
        "prefixLength": (member("cidr_prefix_length", (CIDR,), INT),),
        "masked": (member("cidr_masked", (CIDR,), CIDR),),
        "string": (plain("cidr_to_string", (CIDR,), STRING),),
    },
)

FORMAT_NAMES = (
    "dns1123Label",
    "dns1123Subdomain",
    "dns1035Label",
    "qualifiedName",
    "dns1123LabelPrefix",
    "dns1123SubdomainPrefix",
    "dns1035LabelPrefix",
    "labelValue",
    "uri",
    "uuid",
    "byte",
    "date",
    "datetime",
)
"""The named formats, each also a function format.NAME()."""

FORMATS = Library(
    name="kubernetes format",
    since=(1, 31),
    functions={
        "validate": (member("format-validate", (FORMAT, STRING), optional_of(_STRINGS)),),
        "format.named": (plain("format-named", (STRING,), optional_of(FORMAT)),),
        **{f"format.{name}": (plain(f"format.{name}", (), FORMAT),) for name in FORMAT_NAMES},
    },
)

INCLUDES = Library(
    name="includes",
    since=(1, 36),
    known_since=(1, 36),
    gate="DRAListTypeAttributes",
    functions={"includes": (member("dra_includes_dyn_dyn", (DYN, DYN), BOOL),)},
)
