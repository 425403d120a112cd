"""Selectors: compile an expression once, and evaluate it on devices. This is the public interface of the package.

In order: constant folding; validators; the check of an expression in Kubernetes' order (parsing, types, validators and
planning); and the compiled selector, with its cache.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from msgspec import structs

from dra_plan import shown
from dra_plan.api.resource import Device, DeviceAttribute
from dra_plan.cel.library.formats import compile_regex
from dra_plan.cel.library.overload import matching
from dra_plan.errors import UsageError
from dra_plan.releases import find_release, gate_defaults

from . import ast
from .ast import Call, Comprehension, Const, Expr, Ident, List, Map, children, nodes, with_room
from .device import Inspector, as_device, device_value, named, read_value
from .environment import Environment, ExpressionRules, environment
from .estimate import estimate
from .format_strings import Checked, format_issues
from .generate import Generated, generate
from .infer import Inferred, infer
from .interpret import Evaluator
from .lexer import CelCompileError, CelDeviceError, CelRuntimeError, ExpressionText, Issue
from .library import Overload
from .parse import parse
from .reads import Read, reads_of
from .types import BOOL, Type, equivalent
from .values import EvaluationError, Fatal, TypeValue, Uint, Value, begin_work, map_key, no_such_overload, type_name

if TYPE_CHECKING:
    from .explain import EvaluatedPart


# -- constant folding --------------------------------------------------------------------------------------------------
# As in cel-go's planner, literals, type names, and lists and maps of constants are constants. Conversions are applied
# to them, and constant patterns are compiled; if either fails, the expression is rejected. Results of functions that
# read a text (quantities, versions, addresses) are also computed in advance, but charged every time.


def folded(checked: Checked) -> Checked:
    """Return the expression with its constants, and the results of calls with constants.

    Raises EvaluationError if planning fails in upstream.
    """
    folding = _Folding(checked)
    folding.fold(checked.root, frozenset())
    return structs.replace(checked, constants=folding.constants, results=folding.results)


def applied(overloads: Sequence[Overload], *values: Value) -> Value:
    """Return the result of the overload that accepts these values. Raises EvaluationError if there is none."""
    function = matching(overloads, values)
    if function is None:
        raise no_such_overload()
    return function(*values)


def literal_value(constant: Const) -> Value:
    """Return the value of a literal."""
    value = constant.value
    return Uint(value) if constant.kind == "uint" and isinstance(value, int) else value


class _Folding:
    def __init__(self, checked: Checked) -> None:
        self._checked = checked
        self.constants: dict[int, Any] = {}
        self.results: dict[int, Any] = {}

    def fold(self, expr: Expr, variables: frozenset[str]) -> None:
        """Record the facts about an expression and its parts, given the comprehensions' variables."""
        if isinstance(expr, Comprehension):
            self._fold_comprehension(expr, variables)
            return
        parts = children(expr)
        for part in parts:
            self.fold(part, variables)
        match expr:
            case Const():
                self.constants[expr.id] = literal_value(expr)
            case Ident() if expr.name not in variables and self._checked.types[expr.id].kind == "type":
                self.constants[expr.id] = TypeValue(self._checked.idents.get(expr.id, expr.name))
            case Call():
                self._fold_call(expr, parts)
            case List() if not expr.optional_indices and self._known(parts):
                self.constants[expr.id] = [self.constants[part.id] for part in parts]
            case Map() if self._known(parts) and not any(entry.optional for entry in expr.entries):
                self._fold_map(expr)

    def _known(self, parts: Sequence[Expr]) -> bool:
        return all(part.id in self.constants for part in parts)

    def _fold_comprehension(self, expr: Comprehension, variables: frozenset[str]) -> None:
        self.fold(expr.iter_range, variables)
        self.fold(expr.accu_init, variables)
        outer = variables | {expr.accu_var}
        inner = outer | {expr.iter_var, expr.iter_var2}
        self.fold(expr.loop_condition, inner)
        self.fold(expr.loop_step, inner)
        self.fold(expr.result, outer)

    def _fold_map(self, expr: Map) -> None:
        try:
            self.constants[expr.id] = {
                map_key(self.constants[entry.key.id]): self.constants[entry.value.id] for entry in expr.entries
            }
        except Fatal:
            return  # a key that crashes upstream when the map is created

    def _fold_call(self, call: Call, operands: Sequence[Expr]) -> None:
        overloads = self._checked.overloads[call.id]
        kind = overloads[0]
        if kind.pattern and isinstance(pattern := self.constants.get(operands[1].id), str):
            compile_regex(pattern)
        if not (kind.planned or kind.once) or not self._known(operands):
            return
        values = [self.constants[operand.id] for operand in operands]
        if kind.planned:
            self.constants[call.id] = applied(overloads, *values)
            return
        try:
            self.results[call.id] = applied(overloads, *values)
        except EvaluationError:
            return  # the error must be a new object every time


# -- validators --------------------------------------------------------------------------------------------------------
# These are cel-go's checks after the types: homogeneous literals, constant times and patterns, and format strings.


def validate(checked: Checked) -> list[Issue]:
    """Return the issues that the validators find, in no particular order."""
    return [*_mixed_literals(checked), *_bad_constants(checked), *format_issues(checked)]


def _mixed_literals(checked: Checked) -> Iterator[Issue]:
    """Yield elements, keys and values whose type differs from the first one's; arguments of `format` may be mixed."""
    waiting = [checked.root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Call) and node.function == "format":
            continue
        if isinstance(node, List):
            optional = node.optional_indices
            types = [_held(checked, part, optional=at in optional) for at, part in enumerate(node.elements)]
            yield from list(_differing(node.elements, types))[:1]
        elif isinstance(node, Map):
            keys = tuple(entry.key for entry in node.entries)
            values = tuple(entry.value for entry in node.entries)
            yield from _differing(keys, [checked.types[key.id] for key in keys])
            held = [_held(checked, entry.value, optional=entry.optional) for entry in node.entries]
            yield from _differing(values, held)
        waiting.extend(children(node))


def _held(checked: Checked, expr: Expr, *, optional: bool) -> Type:
    of = checked.types[expr.id]
    return of.params[0] if optional and of.params else of


def _differing(parts: Sequence[Expr], types: Sequence[Type]) -> Iterator[Issue]:
    for part, of in zip(parts, types, strict=True):
        if not equivalent(types[0], of):
            yield Issue(part.offset, f"expected type '{types[0].describe()}' but found '{of.describe()}'")


def _bad_constants(checked: Checked) -> Iterator[Issue]:
    """Yield first arguments that are constants the function cannot take.

    cel-go checks the first argument of `matches`, which is the pattern of s.matches(p) but the text of matches(s, p).
    """
    for node in nodes(checked.root):
        if not isinstance(node, Call) or not node.args or node.function not in _CONSTANTS:
            continue
        first = node.args[0]
        if not isinstance(first, Const):
            continue
        try:
            if node.function == "matches":
                compile_regex(str(first.value))
            else:
                applied(checked.overloads[node.id], literal_value(first))
        except EvaluationError:
            yield Issue(first.offset, f"invalid {node.function} argument")


_CONSTANTS = frozenset(("duration", "timestamp", "matches"))


# -- the check ---------------------------------------------------------------------------------------------------------


def check(expression: str, environment: Environment) -> Checked:
    """Return the expression with its types. Raises CelCompileError with Kubernetes' message.

    The expression must not be too long. It must parse, pass the type check and the validators (homogeneous literals,
    durations, timestamps, regular expressions, format strings), and have the type bool or the type of attributes.
    Conversions of constants must not fail.
    """
    most = environment.most_bytes
    if most is not None and len(expression.encode(errors="surrogatepass")) > most:
        raise CelCompileError(f"Too long: may not be more than {most} bytes")
    return with_room(lambda: _check(expression, environment))


def _check(expression: str, environment: Environment) -> Checked:
    root = _parsed(expression, environment)
    inferred = infer(root, environment)
    _refuse(expression, inferred.issues)
    checked = _checked(expression, inferred)
    _refuse(expression, validate(checked))
    result = checked.result_type
    if result not in (BOOL, environment.result_type):
        raise CelCompileError(f"must evaluate to bool or the unknown type, not {result}")
    try:
        return folded(checked)
    except EvaluationError as error:
        raise CelCompileError(f"program instantiation failed: {error}") from None


def _parsed(expression: str, environment: Environment) -> Expr:
    root, issues = parse(expression, environment.macros)
    _refuse(expression, issues)
    assert root is not None  # without issues there is an expression
    return root


def _refuse(expression: str, issues: list[Issue]) -> None:
    if issues:
        text = ExpressionText(expression)
        error = CelCompileError(f"compilation failed: {text.display(issues)}")
        first, *others = text.display_lines(issues)
        error.lines = (f"compilation failed: {first}", *others)
        error.offset = min((issue.offset for issue in issues if issue.offset is not None), default=None)
        raise error


def _checked(expression: str, inferred: Inferred) -> Checked:
    return Checked(expression, inferred.root, inferred.types, inferred.overloads, inferred.idents)


# -- the compiled selector ---------------------------------------------------------------------------------------------

_UNDECIDED = (EvaluationError, Fatal, RecursionError)
"""The errors of the generated function after which the accounting evaluator decides."""
_MOST_REMEMBERED = 10_000
_CHANGES_QUANTITIES = frozenset(("add", "sub"))
_COMPARES_QUANTITIES = frozenset(("isGreaterThan", "isLessThan", "compareTo"))
_SEES_QUANTITY_FORM = frozenset(("isInteger", "asInteger", "asApproximateFloat"))
_SLOW_FUNCTIONS = frozenset(
    ("matches", "find", "findAll", "url", "isURL", "replace", "split", "join", "format", "lists.range")
)


class Evaluation(msgspec.Struct, frozen=True, gc=False):
    """The result of an evaluation: whether the device matches, and the cost as upstream counts it."""

    match: bool
    cost: int


class FailedEvaluation(NamedTuple):
    """The message of the error that ended an evaluation, and the cost up to the error."""

    text: str
    cost: int
    missing_key: bool = False


class Selector:
    """A compiled expression. Selectors are thread-safe."""

    def __init__(self, checked: Checked, scope: Environment) -> None:
        self._checked = checked
        self._environment = scope
        self._lists = scope.lists
        self._inspector = _inspector(scope.lists)
        self._sound = self._inspector.sound
        self._exact = scope.changes_quantities and _sees_changed_quantities(checked)
        self.reads: frozenset[Read] | None = reads_of(checked)
        """The values of the device that the expression reads, or None if it may read any."""
        self._known: dict[tuple[object, ...], Evaluation | FailedEvaluation] = {}
        self._keys = None if self.reads is None else sorted(self.reads)

    @property
    def expression(self) -> str:
        """The text of the expression."""
        return self._checked.source

    @functools.cached_property
    def max_cost(self) -> int:
        """The cost as the API server estimates it. The API server rejects a cost above 1,000,000."""
        return estimate(self._checked, self._environment)

    @functools.cached_property
    def _generated(self) -> Generated | None:
        return None if self._exact else with_room(lambda: generate(self._checked))

    @functools.cached_property
    def _direct(self) -> Generated | None:
        """The generated function, if it is called before the cache because it is faster than the look-up."""
        return None if self._keys is not None and _is_slow(self._checked) else self._generated

    @functools.cached_property
    def _evaluator(self) -> Evaluator:
        return Evaluator(self._checked, exact_quantities=self._exact)

    def evaluate(self, device: Device | Mapping[str, Any], *, driver: str) -> Evaluation:
        """Return whether the device matches, and the cost of the evaluation.

        `device` may be a dict with attributes, capacity and allowMultipleAllocations. Raises CelRuntimeError with
        cel-go's message. An attribute that cannot be converted is an error even if the expression does not read it.
        """
        found = device if self._sound.get(id(device)) is device else self._inspected(device)
        quickly = None if self._direct is None else self._quickly(found, driver)
        return self._decided(found, driver) if quickly is None else Evaluation(*quickly)

    def matches(self, device: Device | Mapping[str, Any], driver: str) -> bool:
        """Return whether the device matches. Raises CelRuntimeError, as `evaluate` does."""
        found = device if self._sound.get(id(device)) is device else self._inspected(device)
        direct = self._direct
        if direct is not None:
            try:
                return direct(found.attributes, found.capacity, driver, bool(found.allow_multiple_allocations))[0]
            except _UNDECIDED:
                pass
        return self._decided(found, driver).match

    def explain(self, device: Device | Mapping[str, Any], *, driver: str) -> EvaluatedPart:
        """Return the value or the error of each part of the expression that was evaluated."""
        from .explain import explain  # only explanations need it, and start-up time matters

        found = self._inspected(device)

        def explained() -> EvaluatedPart:
            value = device_value(found, driver, lists=self._lists, exact_quantities=self._exact)
            return explain(self._checked, value, exact_quantities=self._exact)

        return with_room(explained)

    def _inspected(self, device: Device | Mapping[str, Any]) -> Device:
        """Return the decoded device; raises CelDeviceError for a device on which every selector fails.

        Only devices that the caller holds in decoded form are cached as checked; one created from a dict is gone after
        the call.
        """
        if type(device) is Device:
            found = device
            problem = self._inspector.inspect(found)
        else:
            found = as_device(device)
            problem = self._inspector.look(found)
        if problem is not None:
            raise CelDeviceError(problem)
        return found

    def _quickly(self, device: Device, driver: str) -> tuple[bool, int] | None:
        """Return the result and cost from the generated function; None if it cannot determine them."""
        if self._generated is None:
            return None
        try:
            return self._generated(device.attributes, device.capacity, driver, bool(device.allow_multiple_allocations))
        except _UNDECIDED:
            return None

    def _decided(self, device: Device, driver: str) -> Evaluation:
        """Return the cached evaluation; if there is none, evaluate the expression and cache the result."""
        key = self._key(device, driver)
        outcome = None if key is None else self._known.get(key)
        if outcome is None:
            quickly = self._quickly(device, driver) if self._direct is None else None  # otherwise it was called before
            outcome = self._evaluated(device, driver) if quickly is None else Evaluation(*quickly)
            if key is not None:
                if len(self._known) >= _MOST_REMEMBERED:
                    self._known.clear()
                self._known[key] = outcome
        if isinstance(outcome, FailedEvaluation):
            error = CelRuntimeError(outcome.text)
            error.cost, error.missing_key = outcome.cost, outcome.missing_key
            raise error
        return outcome

    def _evaluated(self, device: Device, driver: str) -> Evaluation | FailedEvaluation:
        """Return the result and cost, or the error."""

        def account() -> tuple[Value | EvaluationError | Fatal, int]:
            begin_work()
            return self._evaluator.outcome(self._value(device, driver))

        cost = 0
        try:
            value, cost = with_room(account)
            if isinstance(value, EvaluationError | Fatal):
                return _failed(value, cost)
            return Evaluation(_as_bool(value), cost)
        except (EvaluationError, Fatal, CelRuntimeError) as error:
            return _failed(error, cost)

    def _value(self, device: Device, driver: str) -> Value:
        lists, exact = self._lists, self._exact
        if self._keys is not None:
            return read_value(device, driver, self._keys, lists=lists, exact_quantities=exact)
        return device_value(device, driver, lists=lists, exact_quantities=exact)

    def _key(self, device: Device, driver: str) -> tuple[object, ...] | None:
        """Return everything that the expression reads from this device; None if that is unknown."""
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


def _attribute_key(attribute: DeviceAttribute) -> object:
    """Return a key that distinguishes the attribute's value from all others.

    Python has `1 == True`, so bools and versions are wrapped.
    """
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
    """Return whether the expression could see how upstream's quantity functions change their receiver."""
    functions = {node.function for node in nodes(checked.root) if isinstance(node, ast.Call)}
    if functions & _CHANGES_QUANTITIES:
        return True
    return bool(functions & _COMPARES_QUANTITIES) and bool(functions & _SEES_QUANTITY_FORM)


def _is_slow(checked: Checked) -> bool:
    """Return whether caching results is worth computing what the expression reads."""
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
    """Return the compiled selector, by the rules of the scheduler ("stored") or of the API server on create ("new").

    Gates that are not given have the defaults of the version; only DRAConsumableCapacity and DRAListTypeAttributes
    matter. Raises CelCompileError with Kubernetes' message. Equal arguments return the same object.
    """
    if not isinstance(expression, str):
        raise UsageError(f"expression: expected a string, got {shown.value(expression)}")
    if not isinstance(kubernetes_version, str):
        raise UsageError(
            f'kubernetes_version: expected a version such as "1.36", got {shown.value(kubernetes_version)}'
        )
    version = find_release(kubernetes_version).minor
    gates = gate_defaults(version) | dict(feature_gates or {})
    lists = bool(gates.get("DRAListTypeAttributes"))
    return _compiled(expression, version, bool(gates.get("DRAConsumableCapacity")), lists, rules)


@functools.lru_cache(maxsize=4096)
def _compiled(expression: str, version: str, consumable: bool, lists: bool, rules: ExpressionRules) -> Selector:
    gates = {"DRAConsumableCapacity": consumable, "DRAListTypeAttributes": lists}
    scope = environment(version, gates, rules)
    checked = check(expression, scope)
    return with_room(lambda: Selector(checked, scope))


def _failed(error: Exception, cost: int) -> FailedEvaluation:
    return FailedEvaluation(str(error), cost, isinstance(error, EvaluationError) and error.missing_key)
