"""Random expressions that mostly pass the check: made from the declarations, so that every function occurs."""

from __future__ import annotations

from hypothesis import strategies as st

from dra_plan.cel.environment import environment
from dra_plan.cel.library import Overload
from dra_plan.cel.types import Type

EVERYTHING = environment("1.36", {"DRAConsumableCapacity": True, "DRAListTypeAttributes": True}, "stored")

_SIGNS = ("&&", "||", "==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "%")
_OPERATORS = {
    "_?_:_": "({} ? {} : {})",
    "_[_]": "{}[{}]",
    "_[?_]": "{}[?{}]",
    "@in": "({} in {})",
    "!_": "!({})",
    "-_": "-({})",
    **{f"_{sign}_": f"({{}} {sign} {{}})" for sign in _SIGNS},
}
_NOT_WRITTEN = frozenset(("@not_strictly_false", "cel.@mapInsert", "@sortByAssociatedKeys", "_?._"))

A, C = 'device.attributes["gpu.example.com"]', 'device.capacity["gpu.example.com"]'
HUGE = ["9223372036854775807", "-9223372036854775808", "1000000000", "18446744073709551615u", "1e308", "4294967295"]
TEXTS = [
    '""', '"a"', '"é😀\\n"', '"1.2.3"', '"10Gi"', '"1e999999999"', '"(a*)*$"', '"[a-z]{1000}"', '"%s %.999f %d"',
    '"https://u@[::1]:80/%41?q=1#f"', '"10.0.0.0/8"', '"fe80::1%eth0"', '"1h30m"', '"2024-02-29T00:00:00Z"',
    '"{0.__class__}"', '"__import__(\'os\')"', f'"{"ab" * 500}"', f'"{"9" * 400}"', '"../../etc/passwd"',
]  # fmt: skip
LEAVES: dict[str, list[str]] = {
    "bool": ["true", "false", f"{A}.ecc == true", "device.allowMultipleAllocations", "1 / 0 == 1"],
    "int": ["0", "1", "-7", "x", *HUGE[:3], f"{A}.nope.size()"],
    "uint": ["0u", "3u", HUGE[3]],
    "double": ["0.0", "-2.5", HUGE[4], "0.0 / 0.0", '1.0 / 0.0'],
    "string": [*TEXTS, "device.driver", "s"],
    "bytes": ["b''", "b'\\xff'", "bytes(device.driver)"],
    "null": ["null"],
    "list": ["[]", "[1, 2, 3]", '["a", "b"]', "[[1], [2, 3]]", "[true]", "lists.range(2000)", f"[{A}.index]"],
    "map": ["{}", '{"a": 1}', "{1: [2]}", A, "device.attributes", C],
    "duration": ['duration("1h")', "duration(9223372036854775807)"],
    "timestamp": ["timestamp(0)", 'timestamp("9999-12-31T23:59:59.999999999Z")'],
    "type": ["int", "type(x)", "google.protobuf.Timestamp"],
    "any": [f"{A}.model", f"{A}.index", f"{A}.version", f"{A}.nope"],
    "optional": ["optional.none()", f"{A}.?model", "optional.of(1)", f"{A}[?\"index\"]"],
    "object": [f"{C}.memory", 'quantity("1.5Gi")', 'semver("1.2.3-rc.1")', 'url("https://a/b")', "format.uuid()"],
    "opaque": ['ip("::1")', 'cidr("10.0.0.0/8")'],
}  # fmt: skip
MACROS = [
    "{xs}.all(x, {b})", "{xs}.exists(x, {b})", "{xs}.exists_one(x, {b})", "{xs}.map(x, {e})", "{xs}.map(x, {b}, {e})",
    "{xs}.filter(x, {b})", "{xs}.all(i, x, {b})", "{xs}.transformList(i, x, {e})", "{xs}.transformMap(i, x, {b}, {e})",
    "{xs}.sortBy(x, {e})", "cel.bind(x, {e}, {b})", "has({xs}.a)", "{o}.optMap(x, {e})", "{o}.optFlatMap(x, {o})",
    "[{e}, {e}]", "[?{o}]", "{{{s}: {e}}}", "{{?{s}: {o}}}", "dyn({e})", "google.protobuf.Int64Value{{value: {e}}}",
    "{xs}.transformMapEntry(i, x, {{x: {e}}})", "{o}.orValue({e})", "{xs}.?a", "{xs}.a", "[{xs}].map(x, [x, x])",
]  # fmt: skip


def _kind(of: Type) -> str:
    return "any" if of.kind in ("param", "dyn", "wrapper") else of.kind


def _call(name: str, overload: Overload) -> tuple[str, tuple[str, ...]]:
    """How the call is written, and the kinds of its operands."""
    kinds = tuple(map(_kind, overload.args))
    if name in _OPERATORS:
        return _OPERATORS[name], kinds
    places = ["{}"] * len(kinds)
    if overload.member:
        return f"{places[0]}.{name}({', '.join(places[1:])})", kinds
    return f"{name}({', '.join(places)})", kinds


def _calls() -> dict[str, list[tuple[str, tuple[str, ...]]]]:
    """The calls that give each kind of value."""
    calls: dict[str, list[tuple[str, tuple[str, ...]]]] = {kind: [] for kind in LEAVES}
    for name, overloads in EVERYTHING.functions.items():
        for overload in overloads:
            if name not in _NOT_WRITTEN and all(kind in LEAVES for kind in map(_kind, overload.args)):
                calls.setdefault(_kind(overload.result), []).append(_call(name, overload))
    return calls


CALLS = _calls()


@st.composite
def expressions(draw: st.DrawFn, kind: str = "bool", depth: int = 4) -> str:
    """An expression that is likely to have a kind; some have another one, as the check is to be tried too."""
    if depth == 0 or draw(st.integers(0, 9)) < 2:
        return draw(st.sampled_from(LEAVES[kind]))
    if draw(st.integers(0, 9)) < 3:
        template = draw(st.sampled_from(MACROS))
        return template.format(
            xs=draw(expressions(draw(st.sampled_from(["list", "list", "map"])), depth - 1)),
            b=draw(expressions("bool", depth - 1)),
            e=draw(expressions(draw(st.sampled_from(sorted(LEAVES))), depth - 1)),
            s=draw(expressions("string", depth - 1)),
            o=draw(expressions("optional", depth - 1)),
        )
    if not CALLS[kind]:
        return draw(st.sampled_from(LEAVES[kind]))
    written, kinds = draw(st.sampled_from(CALLS[kind]))
    return written.format(*[draw(expressions(operand, depth - 1)) for operand in kinds])
