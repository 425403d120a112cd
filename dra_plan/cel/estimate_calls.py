"""What one call is estimated to cost, and how large its result is: the rules of cel-go, Kubernetes and DRA.

Sources: cel-go checker/cost.go (functionCost), ext/lists.go, ext/sets.go; Kubernetes apiserver/pkg/cel/library/cost.go
and dynamic-resource-allocation/cel/compile.go. The walk over the expression is `estimate`'s.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Protocol, TypeAlias

from msgspec import Struct

from dra_plan.cel.ast import Const, Expr
from dra_plan.cel.declarations.authorizer import AUTHORIZER_TYPES
from dra_plan.cel.declarations.device import MOST_LIST_VALUES
from dra_plan.cel.declarations.extensions import COMPARABLE
from dra_plan.cel.ranges import FREE, MOST, ONE, REGEX_FACTOR, STRING_FACTOR, UNKNOWN, Interval, fixed
from dra_plan.cel.types import BYTES, CIDR, FORMAT, IP, QUANTITY, SEMVER, STRING, URL, Type


class Operand(Protocol):
    """An operand as the rules see it."""

    @property
    def type(self) -> Type:
        """Its type."""

    @property
    def expr(self) -> Expr:
        """The expression."""

    @property
    def size(self) -> Interval | None:
        """Its size, None if it is unknown."""

    @property
    def items(self) -> Interval | None:
        """The size of the elements of the device's lists that it leads to, None if it is unknown."""


class CallEstimate(Struct, frozen=True):
    """The cost of a call without its operands, and the size of its result where that is known."""

    cost: Interval
    size: Interval | None = None


Arguments: TypeAlias = Sequence[Operand]
Rule: TypeAlias = Callable[[Operand | None, Arguments, str], CallEstimate | None]
"""From target, arguments and overload id; None: the rule does not apply, the next one decides."""


def _size(operand: Operand) -> Interval:
    return operand.size or UNKNOWN


def _traversal(operand: Operand, factor: float = 1.0) -> Interval:
    return _size(operand).scaled(factor * STRING_FACTOR)


def _fixed_cost(cost: Interval) -> Rule:
    return lambda _target, _args, _overload: CallEstimate(cost)


def _selector(_target: Operand | None, args: Arguments, _overload: str) -> CallEstimate | None:
    """Parse a label or field selector: a requirement has two characters or more, and costs a list and a struct."""
    if len(args) != 1:
        return None
    size = _size(args[0])
    return CallEstimate(fixed(10).plus(size.scaled(STRING_FACTOR)).plus(size.scaled(0.5).scaled(50)))


def _search(target: Operand | None, _args: Arguments, _overload: str) -> CallEstimate | None:
    """Go once through a list, and through its elements where they are text; or once through a text."""
    if target is None:
        return None
    if not target.type.params:
        return CallEstimate(_traversal(target))
    element = ONE
    if target.type.params[0] in (STRING, BYTES):
        element = element.plus((target.items or UNKNOWN).scaled(STRING_FACTOR))
    return CallEstimate(_size(target).times(element))


def _parse_url(_target: Operand | None, args: Arguments, _overload: str) -> CallEstimate | None:
    return CallEstimate(_traversal(args[0]), _size(args[0])) if len(args) == 1 else None


def _same_size(target: Operand | None, _args: Arguments, _overload: str) -> CallEstimate | None:
    return None if target is None else CallEstimate(_traversal(target), _size(target))


def _replace(target: Operand | None, args: Arguments, _overload: str) -> CallEstimate | None:
    if target is None or len(args) < 2:
        return None
    size, old, new = _size(target), _size(args[0]), _size(args[1])
    count_most, kept_most = _replacements(size.most, old.least, grows=new.most > old.least)
    count_least, kept_least = _replacements(size.least, old.most, grows=old.most > new.least)
    result = Interval(count_least, count_most).times(new).plus(Interval(kept_least, kept_most))
    return CallEstimate(size.scaled(2 * STRING_FACTOR), result)


def _replacements(size: int, old: int, *, grows: bool) -> tuple[int, int]:
    """Return how many replacements of a text of length `old` to count, and how much of the original text remains."""
    if old == 0:  # an empty text is found around every character
        return (size + 1 if size < MOST else size), size
    if not grows:
        return 0, size
    return min(math.ceil(float(size) / float(old)), MOST), 0


def _split(target: Operand | None, args: Arguments, _overload: str) -> CallEstimate | None:
    if target is None:
        return None
    size = _size(target)
    most = size.most
    if len(args) > 1 and isinstance(limit := args[1].expr, Const) and limit.kind == "int":
        assert isinstance(limit.value, int)
        most = limit.value % (MOST + 1)  # a negative limit becomes a huge one, as upstream
    return CallEstimate(size.scaled(2 * STRING_FACTOR), Interval(0, most))


def _join(target: Operand | None, args: Arguments, _overload: str) -> CallEstimate | None:
    if target is None:
        return None
    count, size = _size(target), FREE
    if target.type.params:
        size = count.times(target.items or UNKNOWN)
    if args:
        separators = Interval(max(count.least - 1, 0), max(count.most - 1, 0))
        size = size.plus(_size(args[0]).times(separators))
    return CallEstimate(size.scaled(STRING_FACTOR), size)


def _pattern_cost(text: Operand, pattern: Operand) -> Interval:
    """Return length of the text plus one (an empty text still costs the pattern) times length of the pattern."""
    return _size(text).plus(ONE).scaled(STRING_FACTOR).times(_size(pattern).scaled(REGEX_FACTOR))


def _find(target: Operand | None, args: Arguments, _overload: str) -> CallEstimate | None:
    if target is None or not args:
        return None
    return CallEstimate(_pattern_cost(target, args[0]), Interval(0, _size(target).most))


def _parse(_target: Operand | None, args: Arguments, _overload: str) -> CallEstimate | None:
    return CallEstimate(_traversal(args[0]))


def _ip(_target: Operand | None, args: Arguments, _overload: str) -> CallEstimate | None:
    return CallEstimate(_traversal(args[0]) if args else ONE)


def _canonical(_target: Operand | None, args: Arguments, _overload: str) -> CallEstimate | None:
    return CallEstimate(_traversal(args[0], 2))


_ADDRESS = Interval(4, 16)


def _contains_ip(target: Operand | None, args: Arguments, overload: str) -> CallEstimate | None:
    if target is None or not args:
        return None
    cost = _ADDRESS.plus(_ADDRESS).scaled(STRING_FACTOR)
    return CallEstimate(cost.plus(_traversal(args[0])) if overload == "cidr_contains_ip_string" else cost)


def _contains_cidr(target: Operand | None, args: Arguments, overload: str) -> CallEstimate | None:
    if target is None or not args:
        return None
    cost = _ADDRESS.plus(_ADDRESS).scaled(STRING_FACTOR).plus(_ADDRESS.scaled(STRING_FACTOR)).plus(ONE)
    return CallEstimate(cost.plus(_traversal(args[0])) if overload == "cidr_contains_cidr_string" else cost)


_LONGEST_FORMAT, _LONGEST_FORMAT_PATTERN = 64, 128


def _validate(target: Operand | None, args: Arguments, _overload: str) -> CallEstimate | None:
    if target is None:
        return None
    return CallEstimate(_traversal(args[0]).scaled(_LONGEST_FORMAT_PATTERN * REGEX_FACTOR))


def _equals(_target: Operand | None, args: Arguments, _overload: str) -> CallEstimate | None:
    """Price the equality of Kubernetes' own types; all others are compared by size."""
    left, right = args[0].type, args[1].type
    if left.name != right.name:
        return None
    if left in (IP, CIDR, QUANTITY, SEMVER) or left in AUTHORIZER_TYPES:
        return CallEstimate(ONE)
    if left == FORMAT:
        return CallEstimate(Interval(1, _LONGEST_FORMAT).scaled(STRING_FACTOR))
    if left == URL:
        size = args[1].size
        return CallEstimate(Interval(1, 1 if size is None else size.most).scaled(STRING_FACTOR))
    return None


def _includes(target: Operand | None, _args: Arguments, _overload: str) -> CallEstimate | None:
    return None if target is None else CallEstimate(Interval(0, MOST_LIST_VALUES))


def _for(rule: Rule, *names: str) -> dict[str, Rule]:
    return dict.fromkeys(names, rule)


_FUNCTIONS: Mapping[str, Rule] = MappingProxyType(
    {
        **_for(_fixed_cost(fixed(350_000)), "check"),
        **_for(_fixed_cost(ONE), "serviceAccount", "path", "group", "resource", "subresource", "namespace", "name"),
        **_for(_fixed_cost(ONE), "allowed", "reason", "error", "errored"),
        **_for(_selector, "fieldSelector", "labelSelector"),
        **_for(_search, "isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"),
        **_for(_parse_url, "url"),
        **_for(_same_size, "lowerAscii", "upperAscii", "substring", "trim"),
        **_for(_replace, "replace"),
        **_for(_split, "split"),
        **_for(_join, "join"),
        **_for(_find, "find", "findAll"),
        **_for(_parse, "cidr", "isIP", "isCIDR", "quantity", "isQuantity", "semver", "isSemver"),
        **_for(_ip, "ip"),
        **_for(_canonical, "ip.isCanonical"),
        **_for(_fixed_cost(ONE), "masked", "prefixLength", "family", "isUnspecified", "isLoopback"),
        **_for(_fixed_cost(ONE), "isLinkLocalMulticast", "isLinkLocalUnicast", "isGlobalUnicast"),
        **_for(_contains_ip, "containsIP"),
        **_for(_contains_cidr, "containsCIDR"),
        **_for(_validate, "validate"),
        **_for(_fixed_cost(ONE), "format.named", "sign", "asInteger", "isInteger", "asApproximateFloat"),
        **_for(_fixed_cost(ONE), "isGreaterThan", "isLessThan", "compareTo", "add", "sub", "major", "minor", "patch"),
        **_for(_fixed_cost(ONE), "getScheme", "getHostname", "getHost", "getPort", "getEscapedPath", "getQuery"),
        **_for(_equals, "_==_"),
        **_for(_includes, "includes"),
    }
)


def _allocating(factor: float, size: Interval) -> CallEstimate:
    return CallEstimate(size.scaled(factor).plus(ONE).plus(fixed(10)), size)


def _int_or(operand: Operand, default: int) -> int:
    expr = operand.expr
    if not isinstance(expr, Const) or expr.kind != "int":
        return default
    assert isinstance(expr.value, int)
    return max(expr.value, 0)


def _slice(target: Operand | None, args: Arguments, _overload: str) -> CallEstimate | None:
    assert target is not None
    length = _int_or(args[1], _size(target).most) - _int_or(args[0], 0)
    return _allocating(1, fixed(length % (MOST + 1)))  # wraps around when the end is before the start, as upstream


def _list_range(_target: Operand | None, args: Arguments, _overload: str) -> CallEstimate | None:
    return _allocating(1, fixed(_int_or(args[0], MOST)))


def _reverse(target: Operand | None, _args: Arguments, _overload: str) -> CallEstimate | None:
    assert target is not None
    return _allocating(1, _size(target))


def _flatten(target: Operand | None, args: Arguments, _overload: str) -> CallEstimate | None:
    assert target is not None
    return _allocating(float(_int_or(args[0], MOST)) if args else 1.0, _size(target))


def _compared_with_itself(operand: Operand, factor: float) -> CallEstimate:
    return _allocating(factor, _size(operand).times(_size(operand)))


def _distinct(target: Operand | None, _args: Arguments, _overload: str) -> CallEstimate | None:
    assert target is not None
    return _compared_with_itself(target, 2.0)


def _sort(factor: float) -> Rule:
    def rule(target: Operand | None, args: Arguments, _overload: str) -> CallEstimate:
        assert target is not None
        return _compared_with_itself(args[0] if args else target, factor)

    return rule


def _sets(factor: float) -> Rule:
    def rule(_target: Operand | None, args: Arguments, _overload: str) -> CallEstimate:
        return CallEstimate(_size(args[0]).times(_size(args[1])).scaled(factor).plus(ONE))

    return rule


_SORTS = {of: _sort(2.0 + STRING_FACTOR if of in (STRING, BYTES) else 2.0) for of in COMPARABLE}

_EXTENSIONS: Mapping[str, Rule] = MappingProxyType(
    {
        "list_slice": _slice,
        "list_flatten": _flatten,
        "list_flatten_int": _flatten,
        "lists_range": _list_range,
        "list_reverse": _reverse,
        "list_distinct": _distinct,
        **{f"list_{of}_sort": rule for of, rule in _SORTS.items()},
        **{f"list_{of}_sortByAssociatedKeys": rule for of, rule in _SORTS.items()},
        "list_sets_contains_list": _sets(1),
        "list_sets_intersects_list": _sets(1),
        "list_sets_equivalent_list": _sets(2),
    }
)


def _format(target: Operand | None, _args: Arguments, _overload: str) -> CallEstimate | None:
    return None if target is None else CallEstimate(_traversal(target))


def _to_bytes(_target: Operand | None, args: Arguments, _overload: str) -> CallEstimate | None:
    size = _size(args[0])
    return CallEstimate(size.scaled(STRING_FACTOR), Interval(size.least, size.most * 4 % (MOST + 1)))


def _from_bytes(_target: Operand | None, args: Arguments, _overload: str) -> CallEstimate | None:
    size = _size(args[0])
    return CallEstimate(size.scaled(STRING_FACTOR), Interval(size.least // 4, size.most))


def _quote(_target: Operand | None, args: Arguments, _overload: str) -> CallEstimate | None:
    size = _size(args[0])
    most = (size.most * 2 + 2) % (MOST + 1)
    return CallEstimate(size.scaled(STRING_FACTOR), Interval((size.least + 2) % (MOST + 1), most))


def _affix(_target: Operand | None, args: Arguments, _overload: str) -> CallEstimate | None:
    return CallEstimate(_traversal(args[0])) if len(args) == 1 else None


def _in_list(_target: Operand | None, args: Arguments, _overload: str) -> CallEstimate | None:
    return CallEstimate(_size(args[1]).scaled(1))


def _matches(target: Operand | None, args: Arguments, _overload: str) -> CallEstimate | None:
    return None if target is None else CallEstimate(_pattern_cost(target, args[0]))


def _contains(target: Operand | None, args: Arguments, _overload: str) -> CallEstimate | None:
    return None if target is None else CallEstimate(_traversal(target).times(_traversal(args[0])))


def _add(_target: Operand | None, args: Arguments, overload: str) -> CallEstimate | None:
    size = _size(args[0]).plus(_size(args[1]))
    return CallEstimate(ONE if overload == "add_list" else size.scaled(STRING_FACTOR), size)


def _compared(_target: Operand | None, args: Arguments, _overload: str) -> CallEstimate | None:
    most = min(_size(args[0]).most, _size(args[1]).most)
    return CallEstimate(Interval(min(most, 1), most).scaled(STRING_FACTOR))


_OVERLOADS: Mapping[str, Rule] = MappingProxyType(
    {
        "string_format": _format,
        "string_to_bytes": _to_bytes,
        "bytes_to_string": _from_bytes,
        "strings_quote": _quote,
        **_for(_affix, "starts_with_string", "ends_with_string"),
        "in_list": _in_list,
        "matches_string": _matches,
        "contains_string": _contains,
        **_for(_add, "add_string", "add_bytes", "add_list"),
        **_for(_compared, "equals", "not_equals", "less_string", "less_equals_string", "less_bytes"),
        **_for(_compared, "less_equals_bytes", "greater_string", "greater_equals_string", "greater_bytes"),
        **_for(_compared, "greater_equals_bytes"),
    }
)


def call_estimate(function: str, overload: str, target: Operand | None, args: Arguments) -> CallEstimate:
    """Return the estimate of a call without its operands: libraries' rules first, then Kubernetes', then cel-go's."""
    for rule in (_EXTENSIONS.get(overload), _FUNCTIONS.get(function), _OVERLOADS.get(overload)):
        estimate = None if rule is None else rule(target, args, overload)
        if estimate is not None:
            return estimate
    return CallEstimate(ONE)
