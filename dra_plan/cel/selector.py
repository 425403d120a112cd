"""Selectors: compiled once per expression and target, evaluated on devices; the public face of the language."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from dra_plan.api.resource import Device, DeviceAttribute
from dra_plan.cel import ast
from dra_plan.cel.ast import Checked
from dra_plan.cel.bounds import stays_below_limit
from dra_plan.cel.check import check
from dra_plan.cel.counted import generate_counted
from dra_plan.cel.deep import with_room
from dra_plan.cel.device import Inspector, as_device, device_value, named, read_value
from dra_plan.cel.environment import Environment, ExpressionRules, environment
from dra_plan.cel.errors import CelDeviceError, CelRuntimeError
from dra_plan.cel.estimate import estimate
from dra_plan.cel.generate import QuickFunction, generate
from dra_plan.cel.interpret import Evaluator
from dra_plan.cel.reads import Read, reads_of
from dra_plan.cel.values import EvaluationError, Fatal, Value, begin_work, type_name
from dra_plan.cel.walk import nodes
from dra_plan.releases import gate_defaults

if TYPE_CHECKING:
    from dra_plan.cel.explain import EvaluatedPart

_UNDECIDED = (EvaluationError, Fatal, RecursionError)
"""What the quick evaluation raises when the accounting one has to decide."""
_MOST_REMEMBERED = 10_000
_CHANGES_QUANTITIES = frozenset(("add", "sub"))
_COMPARES_QUANTITIES = frozenset(("isGreaterThan", "isLessThan", "compareTo"))
_SEES_QUANTITY_FORM = frozenset(("isInteger", "asInteger", "asApproximateFloat"))
_SLOW_FUNCTIONS = frozenset(("matches", "find", "findAll", "url", "isURL", "replace", "split", "join", "format"))


class Evaluation(msgspec.Struct, frozen=True, gc=False):
    """What an evaluation gave: whether the device matches, and the run-time cost as upstream counts it."""

    match: bool
    cost: int


class Selector:
    """A compiled expression. It may be used from several threads, and is never changed except for what it remembers."""

    def __init__(self, checked: Checked, scope: Environment, *, lists: bool) -> None:
        self._checked = checked
        self._environment = scope
        self._lists = lists
        self._inspector = _inspector(lists)
        self._exact = _sees_changed_quantities(checked)
        self.reads: frozenset[Read] | None = reads_of(checked)
        """What the expression looks at (kind, domain, id); None when it may look at everything."""
        bounded = not self._exact and stays_below_limit(checked)
        self._quick = generate(checked) if bounded else None
        self._known: dict[tuple[object, ...], bool | str] = {}
        self._accounts: dict[tuple[object, ...], Evaluation | str] = {}
        self._keys = None if self.reads is None else sorted(self.reads)
        self._remembers = self._keys is not None and (self._quick is None or _is_slow(checked))

    @property
    def expression(self) -> str:
        """The text that was compiled."""
        return self._checked.source

    @functools.cached_property
    def max_cost(self) -> int:
        """The cost that the API server estimates, and limits to 1,000,000."""
        return estimate(self._checked, self._environment)

    @functools.cached_property
    def _evaluator(self) -> Evaluator:
        return Evaluator(self._checked, exact_quantities=self._exact)

    @functools.cached_property
    def _counting(self) -> QuickFunction | None:
        return None if self._quick is None else generate_counted(self._checked)

    def evaluate(self, device: Device | Mapping[str, Any], *, driver: str) -> Evaluation:
        """Evaluate with costs. `device` may be a plain dict with attributes, capacity, allowMultipleAllocations.

        Raises CelRuntimeError with cel-go's text, also for an attribute that can't be converted, read or not.
        """
        found, usual = self._inspected(device)
        if usual and not self._remembers:
            counted = self._counted(found, driver)
            if counted is not None:
                return counted
        key = self._key(found, driver)
        outcome = None if key is None else self._accounts.get(key)
        if outcome is None:
            counted = self._counted(found, driver) if usual and self._remembers else None
            outcome = self._evaluated(found, driver) if counted is None else counted
            if key is not None:
                _remember(self._accounts, key, outcome)
        if isinstance(outcome, str):
            raise CelRuntimeError(outcome)
        return outcome

    def matches(self, device: Device | Mapping[str, Any], driver: str) -> bool:
        """Whether the device matches; raises CelRuntimeError as `evaluate`. Quicker, as nobody asks for costs."""
        found, usual = self._inspected(device)
        if self._remembers:
            return self._remembered(found, driver, usual)
        if usual and self._quick is not None:
            try:
                result = self._quick(found.attributes, found.capacity, driver, bool(found.allow_multiple_allocations))
            except _UNDECIDED:
                pass  # decided below, where work is counted from the beginning
            else:
                if result is True or result is False:
                    return bool(result)
        return self._remembered(found, driver, usual)

    def explain(self, device: Device | Mapping[str, Any], *, driver: str) -> EvaluatedPart:
        """The value or error of every sub-expression that was evaluated, as a tree."""
        from dra_plan.cel.explain import explain  # only explanations need it, and start-up time counts

        found, _usual = self._inspected(device)

        def explained() -> EvaluatedPart:
            value = device_value(found, driver, lists=self._lists, exact_quantities=self._exact)
            return explain(self._checked, value, exact_quantities=self._exact)

        return with_room(explained)

    def _inspected(self, device: Device | Mapping[str, Any]) -> tuple[Device, bool]:
        """The decoded device, and whether it is of usual size; raises CelDeviceError for one that no selector takes.

        Only what the caller holds decoded is remembered as seen: what was made from a dict is gone after the call.
        """
        if type(device) is Device:
            found = device
            seen = self._inspector.inspect(found)
        else:
            found = as_device(device)
            seen = self._inspector.look(found)
        if seen.problem is not None:
            raise CelDeviceError(seen.problem)
        return found, seen.is_usual

    def _remembered(self, device: Device, driver: str, usual: bool) -> bool:
        key = self._key(device, driver)
        outcome = None if key is None else self._known.get(key)
        if outcome is None:
            outcome = self._decide(device, driver, usual)
            if key is not None:
                _remember(self._known, key, outcome)
        if isinstance(outcome, str):
            raise CelRuntimeError(outcome)
        return outcome

    def _decide(self, device: Device, driver: str, usual: bool) -> bool | str:
        """The result, or the text of the error."""
        if usual and self._quick is not None:
            begin_work()
            try:
                result = self._quick(
                    device.attributes, device.capacity, driver, bool(device.allow_multiple_allocations)
                )
                if type(result) is bool:
                    return result
            except _UNDECIDED:
                pass
        outcome = self._evaluated(device, driver)
        return outcome if isinstance(outcome, str) else outcome.match

    def _counted(self, device: Device, driver: str) -> Evaluation | None:
        """Result and cost by the quick evaluation, for a device of usual size; None where it can't tell them."""
        count = self._counting
        if count is None:
            return None
        try:
            value, cost = count(device.attributes, device.capacity, driver, bool(device.allow_multiple_allocations))
        except _UNDECIDED:
            return None
        return Evaluation(value, cost) if value is True or value is False else None

    def _evaluated(self, device: Device, driver: str) -> Evaluation | str:
        """Result and cost, or the text of the error."""

        def account() -> tuple[Value, int]:
            begin_work()
            return self._evaluator.evaluate(self._value(device, driver))

        try:
            value, cost = with_room(account)
            return Evaluation(_as_bool(value), cost)
        except (EvaluationError, Fatal, CelRuntimeError) as error:
            return str(error)

    def _value(self, device: Device, driver: str) -> Value:
        lists, exact = self._lists, self._exact
        if self._keys is not None:
            return read_value(device, driver, self._keys, lists=lists, exact_quantities=exact)
        return device_value(device, driver, lists=lists, exact_quantities=exact)

    def _key(self, device: Device, driver: str) -> tuple[object, ...] | None:
        """Everything that the expression looks at on this device; None when that is not known."""
        if self._keys is None:
            return None
        parts: list[object] = []
        for kind, domain, identifier in self._keys:
            if kind == "attributes":
                attribute = named(device.attributes, driver, domain, identifier)
                parts.append(None if attribute is None else _attribute_key(attribute))
            elif kind == "capacity":
                amount = named(device.capacity, driver, domain, identifier)
                parts.append(None if amount is None else str(amount.value))
            else:
                parts.append(driver if kind == "driver" else bool(device.allow_multiple_allocations))
        return tuple(parts)


_Outcome = TypeVar("_Outcome")


def _remember(known: dict[tuple[object, ...], _Outcome], key: tuple[object, ...], outcome: _Outcome) -> None:
    if len(known) >= _MOST_REMEMBERED:
        known.clear()
    known[key] = outcome


def _attribute_key(attribute: DeviceAttribute) -> object:
    """What tells the attribute's value from all others. Python has `1 == True`, so bools and versions are wrapped."""
    if attribute.int_value is not None:
        return attribute.int_value
    if attribute.bool_value is not None:
        return (attribute.bool_value,)
    if attribute.string_value is not None:
        return attribute.string_value
    if attribute.version_value is not None:
        return (attribute.version_value,)
    lists = (attribute.int_values, attribute.bool_values, attribute.string_values, attribute.version_values)
    return tuple(None if values is None else tuple(values) for values in lists)


def _as_bool(value: Value) -> bool:
    if type(value) is bool:
        return value
    name = type_name(value)
    reason = f"unsupported native conversion from {name} to 'bool'"
    raise CelRuntimeError(f"CEL result of type {name} could not be converted to bool: {reason}")


def _sees_changed_quantities(checked: Checked) -> bool:
    """Whether the expression could see what upstream's quantity functions do to their receiver."""
    functions = {node.function for node in nodes(checked.root) if isinstance(node, ast.Call)}
    if functions & _CHANGES_QUANTITIES:
        return True
    return bool(functions & _COMPARES_QUANTITIES) and bool(functions & _SEES_QUANTITY_FORM)


def _is_slow(checked: Checked) -> bool:
    """Whether remembering results is worth looking at what the expression reads."""
    return any(
        isinstance(node, ast.Comprehension) or (isinstance(node, ast.Call) and node.function in _SLOW_FUNCTIONS)
        for node in nodes(checked.root)
    )


@functools.lru_cache(maxsize=2)
def _inspector(lists: bool) -> Inspector:
    return Inspector(lists=lists)


def compile_selector(
    expression: str,
    *,
    kubernetes_version: str = "1.36",
    feature_gates: Mapping[str, bool] | None = None,
    rules: ExpressionRules = "stored",
) -> Selector:
    """The selector for an expression, as the scheduler ("stored") or the API server on create ("new") compiles it.

    Gates that are not given have the version's defaults; only DRAConsumableCapacity and DRAListTypeAttributes count.
    Raises CelCompileError with Kubernetes' text. The same arguments give the same object.
    """
    gates = gate_defaults(kubernetes_version) | dict(feature_gates or {})
    lists = bool(gates.get("DRAListTypeAttributes"))
    return _compiled(expression, kubernetes_version, bool(gates.get("DRAConsumableCapacity")), lists, rules)


@functools.lru_cache(maxsize=4096)
def _compiled(expression: str, version: str, consumable: bool, lists: bool, rules: ExpressionRules) -> Selector:
    gates = {"DRAConsumableCapacity": consumable, "DRAListTypeAttributes": lists}
    scope = environment(version, gates, rules)
    checked = check(expression, scope)
    return with_room(lambda: Selector(checked, scope, lists=lists))
