"""The generated evaluator, which runs an expression as a Python function and returns its value and cost.

The text of an expression never becomes part of the generated code: names come from tables in this module, and constants
are passed as globals. Only what most selectors use is supported: fields, comparisons, logic, membership in constants,
calls, `has` and cel.bind. If an error occurs, or the cost limit is exceeded, the function gives up, and the accounting
evaluator (`interpret`) decides. Both evaluators count the same costs.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping

from dra_plan.api.quantity import Quantity
from dra_plan.api.resource import DeviceAttribute, DeviceCapacity
from dra_plan.api.semver import parse as parse_version
from dra_plan.cel.library.formats import compile_regex
from dra_plan.cel.library.operators import IN_LIST, contained
from dra_plan.cel.library.overload import cost_of, matching, one

from . import ast
from .ast import Expr, children, nodes
from .cost import COST_LIMIT, equality, inequality
from .device import attribute_value, capacity_value
from .format_strings import Checked
from .library import Overload
from .reads import DevicePath, bound_place, is_bind, place_of, tested_place
from .types import Type
from .values import EvaluationError, Fatal, Uint, Value, equal, map_key

# -- functions called by generated code --------------------------------------------------------------------------------
# These are look-ups in the decoded device, and operations that give up (`GiveUpError`) where the result needs care; the
# accounting evaluator then decides what an error becomes.


class GiveUpError(EvaluationError):
    """Raised if the generated evaluator cannot decide the result."""


def attribute(attributes: dict[str, DeviceAttribute], driver: str, full: str, domain: str, short: str) -> Value:
    """Return the value of an attribute. In the driver's own domain, its name may be written without the domain."""
    found = attributes.get(full)
    if found is None:
        if driver != domain:
            raise GiveUpError
        found = attributes.get(short)
        if found is None:
            raise GiveUpError
    if found.int_value is not None:
        return found.int_value
    if found.bool_value is not None:
        return found.bool_value
    if found.string_value is not None:
        return found.string_value
    if found.version_value is not None:
        return parse_version(found.version_value)
    return attribute_value(found, lists=True)


def capacity(capacities: dict[str, DeviceCapacity], driver: str, full: str, domain: str, short: str) -> Quantity:
    """Return the value of a capacity. In the driver's own domain, its name may be written without the domain."""
    found = capacities.get(full)
    if found is None:
        if driver != domain:
            raise GiveUpError
        found = capacities.get(short)
        if found is None:
            raise GiveUpError
    return capacity_value(found.value)


def present(names: dict[str, Value], driver: str, full: str, domain: str, short: str) -> bool:
    """Return whether the device has an attribute or capacity with this name."""
    return full in names or (driver == domain and short in names)


def truth(value: Value) -> bool:
    """Return the value if it is a bool. Otherwise, raise GiveUpError."""
    if value is True or value is False:
        return bool(value)
    raise GiveUpError


def same(left: Value, right: Value) -> bool:
    """Return `left == right` for values of unknown types."""
    if type(left) is str and type(right) is str:
        return bool(left == right)
    result = equal(left, right)
    if type(result) is EvaluationError:
        raise GiveUpError
    return bool(result)


def different(left: Value, right: Value) -> bool:
    """Return `left != right` for values of unknown types."""
    return equal(left, right) is not True


def member(value: Value, keys: frozenset[Value], values: list[Value]) -> bool:
    """Return `value in [...]` for a list of constants. `keys` are the constants that can be map keys."""
    return map_key(value) in keys or (type(value) is not str and contained(value, values))


def dispatch(overloads: tuple[Overload, ...], *arguments: Value) -> Value:
    """Return the result of the first overload that accepts the arguments."""
    function = matching(overloads, arguments)
    if function is None:
        raise GiveUpError
    return function(*arguments)


def give_up() -> None:
    """Raise GiveUpError."""
    raise GiveUpError


# -- the generator -----------------------------------------------------------------------------------------------------

Generated = Callable[[dict[str, Value], dict[str, Value], str, bool], tuple[bool, int]]
"""A function of attributes, capacities, driver and allowMultipleAllocations. It raises EvaluationError if undecided."""

_MOST_DEPTH = 40
"""The maximum depth, because Python's parser stops at 200 nested parentheses and each level here creates a few."""
_MOST_NODES = 2000
_MOST_INDENTS = 80
"""The maximum indentation, because Python's parser stops at 100 levels."""

_HELPERS = (
    attribute, capacity, present, truth, same, different, member,
    dispatch, give_up, equality, inequality, len, type, str,
)  # fmt: skip
_NAMES = {helper.__name__: helper for helper in _HELPERS}

_OF_ONE = frozenset(("bool", "int", "uint", "double"))
"""The kinds whose values have size 1."""
_PLAIN_KINDS = frozenset(("bool", "int", "uint", "string", "bytes"))
_OPEN_KINDS = frozenset(("any", "dyn", "param", "wrapper", "error"))
_ORDERS = {"_<_": "<", "_<=_": "<=", "_>_": ">", "_>=_": ">="}
_LEFT_OUT = frozenset(("_?._", "_[?_]", "_[_]", "or", "orValue", "@not_strictly_false"))


class _NotGenerated(Exception):  # noqa: N818 - an outcome, not an error
    """An expression that only the accounting evaluator supports."""


class _BoundDomain(DevicePath, frozen=True):
    """A domain that a cel.bind names. Looking up the domain is charged once, on its first use, from `debt`."""

    debt: str = ""


_Scope = Mapping[str, _BoundDomain]
"""The variables available to an expression."""


def generate(checked: Checked) -> Generated | None:
    """Return a function that evaluates the expression, or None if the expression is not supported."""
    if any(isinstance(part, ast.Const) and part.kind == "null" for part in nodes(checked.root)):
        return None  # null is accepted as an object, so the types do not show what a call gets
    writer = _Writer(checked)
    try:
        body = writer.body()
    except (_NotGenerated, Fatal, RecursionError):
        return None
    names: dict[str, Value] = {"__builtins__": {}, **_NAMES, **writer.constants}
    exec(compile(f"def quick(attributes, capacities, driver, multiple):\n{body}", "<selector>", "exec"), names)
    function: Generated = names["quick"]
    return function


class _Writer:
    """A writer of statements and collector of constants; the strings that its methods return are names of values.

    Each value is stored in a variable, so that the cost of an operation can be added next to it, and the parts of `&&`,
    `||` and `?:` that are not evaluated cost nothing.
    """

    def __init__(self, checked: Checked) -> None:
        self.constants: dict[str, Value] = {}
        self._checked = checked
        self._variables = 0
        self._nodes = 0
        self._lines: list[str] = [" cost = 0"]
        self._indents = 1
        self._due = 0
        """The fixed cost of the statements written since the last branch."""

    def body(self) -> str:
        """Return the function's statements."""
        result = self._truth(self._checked.root, {}, 0)
        self._settle()
        self._write(f"return {result}, cost")
        return "\n".join(self._lines)

    def _expression(self, expr: Expr, scope: _Scope, depth: int, *, observed: bool = True) -> str:
        """Return the name of the value, after the statements that compute and charge it.

        A place selected by a `?:` is resolved but not observed, which costs one less.
        """
        self._nodes += 1
        if depth > _MOST_DEPTH or self._nodes > _MOST_NODES:
            raise _NotGenerated
        place = self._place(expr, scope)
        if place is not None:
            self._charge_place(expr, scope, observed=observed)
            return self._assigned(place)
        if expr.id in self._checked.constants:
            return self._constant(self._checked.constants[expr.id])
        match expr:
            case ast.Call():
                return self._call(expr, scope, depth + 1)
            case ast.Comprehension() if is_bind(expr):
                return self._bind(expr, scope, depth + 1)
        raise _NotGenerated

    def _truth(self, expr: Expr, scope: _Scope, depth: int) -> str:
        """Return the expression as a condition."""
        return self._truth_of(expr, self._expression(expr, scope, depth))

    def _truth_of(self, expr: Expr, text: str) -> str:
        return text if self._kind(expr) == "bool" else f"truth({text})"

    # -- places in the device ------------------------------------------------------------------------------------

    def _place(self, expr: Expr, scope: _Scope) -> str | None:
        """Return the code that looks up a value selected by constants only."""
        tested = tested_place(expr, self._checked, scope)
        if tested is not None:
            return f"present({'attributes' if tested.kind == 'attributes' else 'capacities'}, {self._names(tested)})"
        place = place_of(expr, self._checked, scope)
        if place is None:
            return None
        if place.kind == "driver":
            return "driver"
        if place.kind == "allowMultipleAllocations":
            return "multiple"
        if place.identifier is None:
            raise _NotGenerated
        if place.kind == "attributes":
            return f"attribute(attributes, {self._names(place)})"
        return f"capacity(capacities, {self._names(place)})"

    def _names(self, place: DevicePath) -> str:
        full = self._constant(f"{place.domain}/{place.identifier}")
        return f"driver, {full}, {self._constant(place.domain)}, {self._constant(place.identifier)}"

    def _charge_place(self, expr: Expr, scope: _Scope, *, observed: bool) -> None:
        if isinstance(expr, ast.Select) and expr.test_only:
            self._due += self._qualifiers(expr.operand, scope) + 1
        elif isinstance(expr, ast.Call) and expr.function == "@in":
            self._due += self._qualifiers(expr.args[1], scope) + 2  # the map is observed and searched
        else:
            self._due += self._qualifiers(expr, scope) + observed

    def _qualifiers(self, place: Expr, scope: _Scope) -> int:
        """Return the number of keys that lead to a place, and charge for its root."""
        name, count = _root(place)
        if name in scope:
            debt = scope[name].debt
            self._write(f"cost += {debt}")
            self._write(f"{debt} = 0")
        return count

    def _bind(self, expr: ast.Comprehension, scope: _Scope, depth: int) -> str:
        place = bound_place(expr, self._checked, scope)
        if place is None or _root(expr.accu_init)[0] in scope:
            raise _NotGenerated
        debt = self._assigned(str(self._qualifiers(expr.accu_init, scope) + 1))
        bound = _BoundDomain(place.kind, place.domain, place.identifier, debt)
        return self._expression(expr.result, {**scope, expr.accu_var: bound}, depth)

    # -- calls ---------------------------------------------------------------------------------------------------

    def _call(self, expr: ast.Call, scope: _Scope, depth: int) -> str:
        function, operands = expr.function, children(expr)
        if function in ("_&&_", "_||_"):
            result = self._variable()
            self._logic(operands, result, scope, depth, follows="" if function == "_&&_" else "not ")
            return result
        if function == "_?_:_":
            return self._choice(operands, scope, depth)
        if function in _LEFT_OUT:
            raise _NotGenerated
        if function == "@in":
            return self._in_list(expr, operands, scope, depth)
        if function in ("_==_", "_!=_"):
            return self._equality(operands, scope, depth, negated=function == "_!=_")
        return self._charged_call(expr, operands, scope, depth)

    def _logic(self, parts: tuple[Expr, ...], result: str, scope: _Scope, depth: int, *, follows: str) -> None:
        """Evaluate each part only if the earlier parts did not decide the result."""
        self._write(f"{result} = {self._truth(parts[0], scope, depth)}")
        if len(parts) > 1:
            with self._branch(f"if {follows}{result}:"):
                self._logic(parts[1:], result, scope, depth, follows=follows)

    def _choice(self, operands: tuple[Expr, ...], scope: _Scope, depth: int) -> str:
        condition = self._truth(operands[0], scope, depth)
        result = self._variable()
        for head, part in zip((f"if {condition}:", "else:"), operands[1:], strict=True):
            with self._branch(head):
                self._write(f"{result} = {self._expression(part, scope, depth, observed=False)}")
        return result

    def _in_list(self, expr: ast.Call, operands: tuple[Expr, ...], scope: _Scope, depth: int) -> str:
        """Return `item in [constants]`, a look-up in a set, which costs nothing."""
        item, values = operands[0], self._checked.constants.get(operands[1].id)
        if not values or type(values) is not list or self._checked.overloads[expr.id] != (IN_LIST,):
            raise _NotGenerated
        if not all(type(value) in (bool, int, Uint, float, str) for value in values):
            raise _NotGenerated
        keys = self._constant(frozenset(map(map_key, values)))
        text = self._expression(item, scope, depth)
        if self._kind(item) == "string":
            return self._assigned(f"{text} in {keys}")
        return self._assigned(f"member({text}, {keys}, {self._constant(values)})")

    def _equality(self, operands: tuple[Expr, ...], scope: _Scope, depth: int, *, negated: bool) -> str:
        texts = [self._expression(part, scope, depth) for part in operands]
        kinds = [self._kind(part) for part in operands]
        result, sign = self._variable(), "!=" if negated else "=="
        direct = f"{result} = {texts[0]} {sign} {texts[1]}"
        compare = f"{result} = {'different' if negated else 'same'}({', '.join(texts)})"
        charge = f"cost += {'inequality' if negated else 'equality'}({', '.join(texts)})"
        written = [(at, len(part.value)) for at, part in enumerate(operands)
                   if isinstance(part, ast.Const) and isinstance(part.value, str)]  # fmt: skip
        if written:
            self._compare_text(texts[1 - written[0][0]], kinds[1 - written[0][0]], written[0][1],
                               direct, (compare, charge))  # fmt: skip
            return result
        self._write(direct if kinds[0] == kinds[1] and kinds[0] in _PLAIN_KINDS else compare)
        if all(kind in _OF_ONE for kind in kinds):
            self._due += 1
        else:
            self._charge(charge)
        return result

    def _compare_text(self, other: str, kind: str, size: int, direct: str, otherwise: tuple[str, str]) -> None:
        """Compare with a string literal; the shorter of the two strings is traversed."""
        through = f"cost += ((len({other}) if len({other}) < {size} else {size}) + 9) // 10"
        if kind == "string":
            self._write(direct)
            self._write(through)
            return
        with self._branch(f"if type({other}) is str:"):
            self._write(direct)
            self._write(through)
        with self._branch("else:"):
            for statement in otherwise:
                self._write(statement)

    def _charged_call(self, expr: ast.Call, operands: tuple[Expr, ...], scope: _Scope, depth: int) -> str:
        cost = cost_of(self._checked.overloads[expr.id])
        if expr.id in self._checked.results:
            known = self._checked.results[expr.id]
            self._due += cost([self._checked.constants[operand.id] for operand in operands], known)
            return self._constant(known)
        texts = [self._expression(part, scope, depth) for part in operands]
        result = self._assigned(self._operation(expr, operands, texts))
        if cost is one:
            self._due += 1
        else:
            self._charge(f"cost += {self._constant(cost)}([{', '.join(texts)}], {result})")
        return result

    def _operation(self, expr: ast.Call, operands: tuple[Expr, ...], texts: list[str]) -> str:
        function, overloads = expr.function, self._checked.overloads[expr.id]
        order = _ORDERS.get(function)
        kinds = [self._kind(operand) for operand in operands]
        if function == "!_":
            return f"not {self._truth_of(operands[0], texts[0])}"
        if order is not None and kinds[0] == kinds[1] and kinds[0] in _PLAIN_KINDS:
            return f"{texts[0]} {order} {texts[1]}"
        if function == "size" and kinds[0] in ("string", "list", "map", "bytes"):
            return f"len({texts[0]})"
        if overloads[0].pattern and kinds[0] == "string" and function == "matches":
            pattern = self._checked.constants.get(operands[1].id)
            if pattern is not None:
                return f"{self._constant(compile_regex(pattern))}.search({texts[0]}) is not None"
        certain = len(overloads) == 1 and all(_is_certain(self._checked.types[operand.id]) for operand in operands)
        if overloads[0].singleton or certain:
            return f"{self._constant(overloads[0].function)}({', '.join(texts)})"
        return f"dispatch({', '.join((self._constant(overloads), *texts))})"

    # -- statements ----------------------------------------------------------------------------------------------

    def _kind(self, expr: Expr) -> str:
        return self._checked.types[expr.id].kind

    def _constant(self, value: Value) -> str:
        name = f"c{len(self.constants)}"
        self.constants[name] = value
        return name

    def _variable(self) -> str:
        self._variables += 1
        return f"v{self._variables}"

    def _assigned(self, text: str) -> str:
        name = self._variable()
        self._write(f"{name} = {text}")
        return name

    def _write(self, statement: str) -> None:
        self._lines.append(" " * self._indents + statement)

    def _charge(self, statement: str) -> None:
        """Add a cost that depends on the values, and stop if it is too high."""
        self._write(statement)
        self._write(f"if cost > {COST_LIMIT}: give_up()")

    def _settle(self) -> None:
        if self._due:
            self._write(f"cost += {self._due}")
            self._due = 0

    @contextlib.contextmanager
    def _branch(self, head: str) -> Iterator[None]:
        """Collect the statements and charges of a branch; its own charges are settled at its end."""
        if self._indents > _MOST_INDENTS:
            raise _NotGenerated
        outer, self._due = self._due, 0
        self._write(head)
        self._indents += 1
        yield
        self._settle()
        self._indents -= 1
        self._due = outer


def _is_certain(of: Type) -> bool:
    """Return whether values of the type need no check at run time."""
    return of.kind not in _OPEN_KINDS and all(map(_is_certain, of.params))


def _root(place: Expr) -> tuple[str, int]:
    """Return the variable at the root of a place, and the number of keys that lead from it to the place."""
    count = 0
    while not isinstance(place, ast.Ident):
        place = children(place)[0]
        count += 1
    return place.name, count
