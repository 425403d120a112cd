"""Selecting from values: `a.b`, `a[b]`, their optional forms and `has()`, as cel-go's attributes do it, with costs.

An attribute is a root (a variable or any other operand) and the qualifiers behind it. They are resolved together: the
root is not observed by itself, each qualifier costs 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

from .cost import COST_LIMIT
from .values import (
    NONE,
    DefaultMap,
    EvaluationError,
    Optional,
    Uint,
    Value,
    cost_exceeded,
    entries_of,
    is_comparable,
    map_key,
    no_such_overload,
)


class Run:
    """One evaluation: the variables' values and the cost so far."""

    __slots__ = ("cost", "device", "slots")

    def __init__(self, slots: int, device: Value) -> None:
        self.slots: list[Value] = [UNSET] * slots
        self.device = device
        self.cost = 0

    def charge(self, cost: int) -> None:
        """Add to the cost; raises Fatal beyond the limit."""
        self.cost += cost
        if self.cost > COST_LIMIT:
            raise cost_exceeded()


UNSET = object()
"""The value of a variable that was not evaluated yet."""

Evaluate = Callable[[Run], Value]
"""Gives a value or an EvaluationError; raises only Fatal."""


class Attribute(Protocol):
    """Something that qualifiers can be added to."""

    def resolve(self, run: Run) -> Value:
        """The value or an EvaluationError."""

    def add(self, qualifier: Qualifier) -> None:
        """Append a qualifier."""


class Qualifier:
    """One selection: by a constant key or by the key that `dynamic` gives."""

    __slots__ = ("dynamic", "key", "only_test", "optional")

    def __init__(self, key: Value, dynamic: Evaluate | None, optional: bool, only_test: bool) -> None:
        self.key = key
        self.dynamic = dynamic
        self.optional = optional
        self.only_test = only_test

    def qualify(self, run: Run, value: Value) -> Value:
        """What is selected, or an EvaluationError."""
        if self.only_test:
            found = self.qualify_if_present(run, value)
            return found if type(found) is EvaluationError else found is not UNSET
        key = self.key if self.dynamic is None else self.dynamic(run)
        selected = key if type(key) is EvaluationError else select(value, key)
        run.charge(1)
        if selected is UNSET:
            return _missing(value, key)
        return selected

    def qualify_if_present(self, run: Run, value: Value) -> Value:
        """What is selected, UNSET when there is nothing, or an EvaluationError."""
        key = self.key if self.dynamic is None else self.dynamic(run)
        selected = key if type(key) is EvaluationError else select(value, key)
        if self.only_test or (selected is not UNSET and type(selected) is not EvaluationError):
            run.charge(1)
        return selected


class Chain:
    """A root and its qualifiers. `observed` roots are operands; variables are read directly."""

    __slots__ = ("qualifiers", "root")

    def __init__(self, root: Evaluate) -> None:
        self.root = root
        self.qualifiers: list[Qualifier] = []

    def add(self, qualifier: Qualifier) -> None:
        """Append a qualifier."""
        self.qualifiers.append(qualifier)

    def resolve(self, run: Run) -> Value:
        """The value or an EvaluationError."""
        value = self.root(run)
        if type(value) is EvaluationError:
            return value
        optional = type(value) is Optional
        if optional:
            if value is NONE:
                return value
            value = value.value
        for qualifier in self.qualifiers:
            if optional or qualifier.optional:
                optional = True
                value = qualifier.qualify_if_present(run, value)
                if value is UNSET:
                    return NONE
            else:
                value = qualifier.qualify(run, value)
            if type(value) is EvaluationError:
                return value
        return Optional(value) if optional else value


class Conditional:
    """`c ? a : b` with qualifiers behind it, which belong to both branches."""

    __slots__ = ("condition", "falsy", "truthy")

    def __init__(self, condition: Evaluate, truthy: Attribute, falsy: Attribute) -> None:
        self.condition = condition
        self.truthy = truthy
        self.falsy = falsy

    def add(self, qualifier: Qualifier) -> None:
        """Append a qualifier to both branches."""
        self.truthy.add(qualifier)
        self.falsy.add(qualifier)

    def resolve(self, run: Run) -> Value:
        """The value of the branch that the condition chooses, or an EvaluationError."""
        chosen = self.condition(run)
        if chosen is True:
            return self.truthy.resolve(run)
        if chosen is False:
            return self.falsy.resolve(run)
        return chosen if type(chosen) is EvaluationError else no_such_overload()


def select(value: Value, key: Value) -> Value:
    """What a key leads to; UNSET when it leads nowhere, an EvaluationError for a key that can't be one."""
    if isinstance(value, dict):
        found = value.get(map_key(key), UNSET)
        return {} if found is UNSET and type(value) is DefaultMap else found
    if type(value) is list:
        index = _index(key)
        if type(index) is EvaluationError:
            return index
        return value[index] if 0 <= index < len(value) else UNSET
    return UNSET


def _index(key: Value) -> Value:
    kind = type(key)
    if kind is int or kind is Uint:
        return int(key)
    if kind is float and key.is_integer():
        return int(key)
    return EvaluationError("unsupported index type")


def _missing(value: Value, key: Value) -> EvaluationError:
    if type(value) is list:
        return EvaluationError(f"index out of bounds: {key}")
    shown = ("true" if key else "false") if type(key) is bool else key
    if not is_comparable(key):
        return EvaluationError("no such key")
    error = EvaluationError(f"no such key: {shown}")
    error.missing_key = True
    return error


def iterate(value: Value) -> Iterator[Value]:
    """The elements of a list, the keys of a map."""
    return iter(value) if type(value) is list else (key for key, _value in entries_of(value))
