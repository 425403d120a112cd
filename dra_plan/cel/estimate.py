"""The maximum cost of an expression, as the API server estimates it.

The estimate follows cel-go's checker. The environment has the maximum sizes of a device's parts, and the tables in
`library` have the costs of calls.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TypeAlias

from msgspec import Struct

from dra_plan.cel.library.operators import INDEX_LIST, INDEX_MAP
from dra_plan.cel.library.overload import CallEstimate, Overload, PricedOperand

from .ast import ACCUMULATOR, Call, Comprehension, Const, Expr, Ident, List, Map, Message, Select, with_room
from .cost import FREE, MOST, ONE, UNKNOWN, Entries, Interval, fixed
from .device import Sized
from .environment import Environment
from .format_strings import Checked
from .types import Type

_LIST_COST, _MAP_COST, _MESSAGE_COST = fixed(10), fixed(30), fixed(40)
_SCALARS = frozenset({"bool", "double", "duration", "int", "timestamp", "uint"})

ValuePath: TypeAlias = tuple[str, ...]
"""The path to a value: a variable, followed by field names, "@keys", "@values", "@items" or "@indices"."""


def estimate(checked: Checked, environment: Environment) -> int:
    """Return the maximum cost of evaluating the expression, at most 2**64 - 1."""
    return with_room(lambda: _Estimator(checked, environment).cost(checked.root).most)


class _Local(Struct, frozen=True):
    """A local variable, with the path to its value, and its sizes as far as they are known."""

    path: ValuePath
    size: Interval | None
    entries: Entries | None


class _Estimator:
    def __init__(self, checked: Checked, environment: Environment) -> None:
        self._checked = checked
        self._device = environment.device
        self._paths: dict[int, ValuePath] = {}
        self._sizes: dict[int, Interval] = {}
        self._entries: dict[int, Entries] = {}
        self._locals: dict[str, list[_Local]] = {}

    def cost(self, expr: Expr) -> Interval:
        """Return the cost of evaluating an expression, and record sizes and paths."""
        match expr:
            case Const():
                return FREE
            case Ident():
                local = self._local(expr.name)
                self._paths[expr.id] = (expr.name,) if local is None else local.path
                return ONE
            case Select():
                return self._select(expr)
            case Call():
                return self._dyn(expr) if expr.function == "dyn" else self._call(expr)
            case List():
                return self._list(expr)
            case Map():
                return self._map(expr)
            case Message():
                return self._sum(field.value for field in expr.fields).plus(_MESSAGE_COST)
            case Comprehension():
                return self._bind(expr) if _is_bind(expr) else self._fold(expr)

    def _sum(self, parts: Iterator[Expr]) -> Interval:
        total = FREE
        for part in parts:
            total = total.plus(self.cost(part))
        return total

    # Known facts about a value

    def _type(self, expr: Expr) -> Type:
        return self._checked.types[expr.id]

    def _local(self, name: str) -> _Local | None:
        stack = self._locals.get(name)
        return stack[-1] if stack else None

    def _path(self, expr: Expr) -> ValuePath:
        if isinstance(expr, Ident) and (local := self._local(expr.name)) is not None:
            return local.path
        return self._paths.get(expr.id, ())

    def _size(self, expr: Expr) -> Interval | None:
        """Return the size of a value: found before, written as a literal, limited by the API, or given by its type."""
        if expr.id in self._sizes:
            return self._sizes[expr.id]
        written = _written_size(expr)
        if written is not None:
            return written
        limit = self._limit(self._path(expr))
        if limit is not None:
            self._sizes[expr.id] = limit
            return limit
        if _is_scalar(self._type(expr)):
            return ONE
        if isinstance(expr, Ident) and (local := self._local(expr.name)) is not None:
            return local.size
        return None

    def _limit(self, path: ValuePath) -> Interval | None:
        """Return the size that the API allows at the path; None if the path does not lead into the device."""
        if not path or path[0] != "device":
            return None
        at: Sized | None = self._device
        for step in path[1:]:
            assert at is not None
            at = _step(at, step)
            if at is None:
                return None
        assert at is not None
        return Interval(0, at.most)

    def _entry_sizes(self, expr: Expr) -> Entries | None:
        if expr.id in self._entries:
            return self._entries[expr.id]
        if isinstance(expr, Ident) and (local := self._local(expr.name)) is not None:
            return local.entries
        return None

    def _set_size(self, expr: Expr, size: Interval | None) -> None:
        if size is not None:
            self._sizes[expr.id] = size

    def _set_entries(self, expr: Expr, entries: Entries | None) -> None:
        if entries is not None:
            self._entries[expr.id] = entries

    def _operand(self, expr: Expr) -> PricedOperand:
        path = self._path(expr)
        if path and path[0] == ACCUMULATOR:
            path = ()
        return PricedOperand(self._type(expr), expr, self._size(expr), self._limit((*path, "@items")) if path else None)

    # Nodes

    def _select(self, expr: Select) -> Interval:
        cost = self.cost(expr.operand)
        if expr.test_only:
            return cost  # presence tests cost nothing in Kubernetes
        self._paths[expr.id] = (*self._path(expr.operand), expr.field)
        return cost.plus(ONE) if self._type(expr.operand).kind in ("map", "object", "param") else cost

    def _dyn(self, expr: Call) -> Interval:
        cost = self.cost(expr.args[0])
        self._copy_sizes(expr, expr.args[0])
        return cost.plus(ONE)

    def _copy_sizes(self, to: Expr, of: Expr) -> None:
        self._set_size(to, self._size(of))
        self._set_entries(to, self._entry_sizes(of))

    def _call(self, expr: Call) -> Interval:
        costs, priced = [], []
        for operand in (*expr.args, expr.target) if expr.target is not None else expr.args:
            costs.append(self.cost(operand))
            priced.append(self._operand(operand))
        if expr.target is not None:
            priced.insert(0, priced.pop())
        total, size = Interval(MOST, 0), None
        for overload in self._checked.overloads[expr.id]:
            found = self._overload(expr, overload, priced, costs)
            total = total.union(found.cost)
            if found.size is not None:
                size = found.size if size is None else size.union(found.size)
            size = self._indexed(expr, overload, size)
            if size is None:
                size = self._size(expr)
        self._set_size(expr, size)
        return total

    def _indexed(self, expr: Call, overload: Overload, size: Interval | None) -> Interval | None:
        """Record the path of an element; return the size of the result, known before or now."""
        if overload not in (INDEX_LIST, INDEX_MAP):
            return size
        container = expr.args[0]
        self._paths[expr.id] = (*self._path(container), "@items" if overload is INDEX_LIST else "@values")
        entries = self._entry_sizes(container)
        return None if entries is None else entries.value

    def _overload(
        self, expr: Call, overload: Overload, operands: Sequence[PricedOperand], costs: Sequence[Interval]
    ) -> CallEstimate:
        """Return the estimate for the call with its operands, as one of its overloads."""
        if expr.function in ("_&&_", "_||_"):
            return CallEstimate(Interval(costs[0].least, costs[0].plus(costs[1]).most))
        if expr.function == "_?_:_":
            return self._conditional(expr, operands, costs)
        if expr.function == "_+_" and overload.result.kind in ("string", "bytes", "list"):
            first = self._entry_sizes(expr.args[0])
            self._set_entries(expr, None if first is None else first.union(self._entry_sizes(expr.args[1])))
        found = overload.price.estimate(operands)
        cost = found.cost
        for operand in costs:
            cost = cost.plus(operand)
        return CallEstimate(cost, found.size)

    def _conditional(self, expr: Call, args: Sequence[PricedOperand], costs: Sequence[Interval]) -> CallEstimate:
        entries = self._entry_sizes(expr.args[1])
        self._set_entries(expr, None if entries is None else entries.union(self._entry_sizes(expr.args[2])))
        size = (args[1].size or UNKNOWN).union(args[2].size or UNKNOWN)
        return CallEstimate(costs[0].plus(costs[1].union(costs[2])), size)

    def _list(self, expr: List) -> Interval:
        cost = self._sum(iter(expr.elements))
        sizes = [self._size(element) or UNKNOWN for element in expr.elements]
        self._set_entries(expr, Entries("list", ONE, _union(sizes)))
        return cost.plus(_LIST_COST)

    def _map(self, expr: Map) -> Interval:
        cost, keys, values = FREE, [], []
        for entry in expr.entries:
            cost = cost.plus(self.cost(entry.key)).plus(self.cost(entry.value))
            keys.append(self._size(entry.key) or UNKNOWN)
            values.append(self._size(entry.value) or UNKNOWN)
        self._set_entries(expr, Entries("map", _union(keys), _union(values)))
        return cost.plus(_MAP_COST)

    # Folds

    @contextmanager
    def _with(self, variables: dict[str, _Local]) -> Iterator[None]:
        for name, local in variables.items():
            self._locals.setdefault(name, []).append(local)
        yield
        for name in variables:
            self._locals[name].pop()

    def _bound(self, name: str, value: Expr) -> dict[str, _Local]:
        return {name: _Local(self._path(value), self._size(value), self._entry_sizes(value))}

    def _fold(self, expr: Comprehension) -> Interval:
        cost = self.cost(expr.iter_range).plus(self.cost(expr.accu_init))
        with self._with(self._bound(expr.accu_var, expr.accu_init)):
            with self._with(self._iterated(expr)):
                each = self.cost(expr.loop_condition)
                each = self.cost(expr.loop_step).plus(each)
            cost = cost.plus(self.cost(expr.result))
        count = self._size(expr.iter_range) or UNKNOWN
        if isinstance(expr.accu_init, Const):
            self._set_size(expr, self._size(expr.accu_init))
        elif isinstance(expr.accu_init, List | Map):
            self._set_size(expr, count)
            self._set_entries(expr, self._entry_sizes(expr.loop_step))
        return cost.plus(count.times(each))

    def _iterated(self, expr: Comprehension) -> dict[str, _Local]:
        """Return the iteration variables."""
        over = expr.iter_range
        entries, path = self._entry_sizes(over), self._path(over)
        is_list = (self._type(over).kind if entries is None else entries.kind) == "list"
        key = _Local((*path, "@indices" if is_list else "@keys"), None if entries is None else entries.key, None)
        value = _Local((*path, "@items" if is_list else "@values"), None if entries is None else entries.value, None)
        if expr.iter_var2:
            return {expr.iter_var: key, expr.iter_var2: value}
        return {expr.iter_var: value if is_list else key}

    def _bind(self, expr: Comprehension) -> Interval:
        cost = self.cost(expr.iter_range).plus(self.cost(expr.accu_init))
        with self._with(self._bound(expr.accu_var, expr.accu_init)):
            cost = cost.plus(self.cost(expr.result))
        self._copy_sizes(expr, expr.result)
        return cost


def _union(sizes: Sequence[Interval]) -> Interval:
    if not sizes:
        return FREE
    return Interval(min(size.least for size in sizes), max(size.most for size in sizes))


def _is_bind(expr: Comprehension) -> bool:
    """Return whether cel-go's estimate treats the fold as a cel.bind: not one whose variable is `__result__`."""
    over, condition = expr.iter_range, expr.loop_condition
    empty = isinstance(over, List) and not over.elements and isinstance(condition, Const) and condition.value is False
    return empty and expr.accu_var != "__result__"


def _written_size(expr: Expr) -> Interval | None:
    match expr:
        case Const(value=str() | bytes() as value):
            return fixed(len(value))
        case Const():
            return ONE
        case List(elements=parts) | Map(entries=parts):
            return fixed(len(parts))
    return None


def _is_scalar(of: Type) -> bool:
    if of.kind in ("optional", "wrapper"):
        return _is_scalar(of.params[0])
    return of.kind in _SCALARS


def _step(at: Sized, step: str) -> Sized | None:
    if step in ("@items", "@values"):
        return at.element
    if step == "@keys":
        return at.key
    return at.fields.get(step, at.any_field)
