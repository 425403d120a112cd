"""The quick evaluator: an expression as one Python function over the decoded device.

Nothing written in an expression reaches the generated text: names come from tables here, constants are passed in the
function's globals. The function is optimistic; on any error it raises, and the accounting evaluator (`interpret`)
finds out what the error becomes. Costs are not counted, so only expressions that `bounds` vouches for may use it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dra_plan.cel import ast, quick
from dra_plan.cel.ast import Checked, Expr
from dra_plan.cel.library import OVERLOADS
from dra_plan.cel.library.operators import SINGLETONS, contained
from dra_plan.cel.library.patterns import compile_regex
from dra_plan.cel.reads import DevicePath, bound_place, is_bind, place_of, tested_place
from dra_plan.cel.types import Type
from dra_plan.cel.values import EvaluationError, Fatal, TypeValue, Uint, Value, map_key
from dra_plan.cel.walk import children

QuickFunction = Callable[[dict[str, Value], dict[str, Value], str, bool], Value]
"""Takes attributes, capacities, driver and allowMultipleAllocations; raises EvaluationError when it can't tell."""

_MOST_DEPTH = 40
"""Python's own parser ends at a nesting of 200 parentheses; each level here makes a few."""
_MOST_NODES = 2000

_HELPERS = (
    quick.attribute, quick.capacity, quick.present, quick.truth, quick.same, quick.different, quick.member, quick.pick,
    quick.dispatch, quick.fail, quick.every, quick.some, quick.exactly_one, quick.collect, quick.collect_if, len,
)  # fmt: skip
_NAMES = {helper.__name__: helper for helper in _HELPERS} | {"contained": contained}

_PLAIN_KINDS = frozenset(("bool", "int", "uint", "string", "bytes"))
_OPEN_KINDS = frozenset(("any", "dyn", "param", "wrapper", "error"))
_ORDERS = {"_<_": "<", "_<=_": "<=", "_>_": ">", "_>=_": ">="}
LOGIC = {"_&&_": "and", "_||_": "or"}
OPTIONAL_FUNCTIONS = frozenset(("_?._", "_[?_]", "or", "orValue", "@not_strictly_false"))

Scope = Mapping[str, "str | DevicePath"]
"""What each variable is: the name of a Python variable, or a place in the device."""


class NotGenerated(Exception):  # noqa: N818 - an outcome, not an error
    """Only the accounting evaluator takes the expression."""


def generate(checked: Checked) -> QuickFunction | None:
    """The function for an expression, or None for one that only the accounting evaluator takes."""
    writer = Writer(checked)
    try:
        body = writer.expression(checked.root, {}, 0)
    except (NotGenerated, Fatal, RecursionError):
        return None
    return compiled(f" return {body}", writer.constants)


def compiled(body: str, constants: Mapping[str, Value]) -> QuickFunction:
    """The function with this body, which may use the helpers, the constants and nothing else."""
    names: dict[str, Value] = {"__builtins__": {}, **_NAMES, **constants}
    exec(compile(f"def quick(attributes, capacities, driver, multiple):\n{body}", "<selector>", "exec"), names)
    function: QuickFunction = names["quick"]
    return function


class Writer:
    """Writes the expression and collects its constants."""

    def __init__(self, checked: Checked) -> None:
        self.checked = checked
        self.constants: dict[str, Value] = {}
        self._variables = 0
        self._nodes = 0

    def constant(self, value: Value) -> str:
        """The name of a constant."""
        name = f"c{len(self.constants)}"
        self.constants[name] = value
        return name

    def variable(self) -> str:
        """A new variable's name."""
        self._variables += 1
        return f"v{self._variables}"

    def kind(self, expr: Expr) -> str:
        """The kind of the expression's type."""
        return self.checked.types[expr.id].kind

    def enter(self, depth: int) -> None:
        """Count one more expression; raises NotGenerated when it is too deep or one too many."""
        self._nodes += 1
        if depth > _MOST_DEPTH or self._nodes > _MOST_NODES:
            raise NotGenerated

    def expression(self, expr: Expr, scope: Scope, depth: int) -> str:
        """The expression as Python text."""
        self.enter(depth)
        place = self._place(expr, scope)
        if place is not None:
            return place
        match expr:
            case ast.Const():
                return self._const(expr)
            case ast.Ident():
                return self._ident(expr, scope)
            case ast.Select() if not expr.test_only:
                return f"pick({self.expression(expr.operand, scope, depth + 1)}, {self.constant(expr.field)})"
            case ast.Call():
                return self._call(expr, scope, depth + 1)
            case ast.List() if not expr.optional_indices:
                return f"[{', '.join(self.expression(element, scope, depth + 1) for element in expr.elements)}]"
            case ast.Comprehension():
                return self._fold(expr, scope, depth + 1)
        raise NotGenerated

    def _ident(self, expr: ast.Ident, scope: Scope) -> str:
        name = scope.get(expr.name)
        if isinstance(name, str):
            return name
        if name is None and self.kind(expr) == "type":
            return self.constant(TypeValue(self.checked.idents.get(expr.id, expr.name)))
        raise NotGenerated

    def truth(self, expr: Expr, scope: Scope, depth: int) -> str:
        """The expression as a condition."""
        return self.truth_of(expr, self.expression(expr, scope, depth))

    def truth_of(self, expr: Expr, text: str) -> str:
        """The text of the expression as that of a condition."""
        return text if self.kind(expr) == "bool" else f"truth({text})"

    def _place(self, expr: Expr, scope: Scope) -> str | None:
        places = {name: value if isinstance(value, DevicePath) else None for name, value in scope.items()}
        tested = tested_place(expr, self.checked, places)
        if tested is not None:
            return f"present({'attributes' if tested.kind == 'attributes' else 'capacities'}, {self._names(tested)})"
        place = place_of(expr, self.checked, places)
        if place is None:
            return None
        if place.kind == "driver":
            return "driver"
        if place.kind == "allowMultipleAllocations":
            return "multiple"
        if place.identifier is None:
            raise NotGenerated
        if place.kind == "attributes":
            return f"attribute(attributes, {self._names(place)})"
        return f"capacity(capacities, {self._names(place)})"

    def _names(self, place: DevicePath) -> str:
        full = self.constant(f"{place.domain}/{place.identifier}")
        return f"driver, {full}, {self.constant(place.domain)}, {self.constant(place.identifier)}"

    def _const(self, expr: ast.Const) -> str:
        if expr.value is None or isinstance(expr.value, bool):
            return repr(expr.value)
        return self.constant(constant_value(expr))

    def _call(self, expr: ast.Call, scope: Scope, depth: int) -> str:
        function, operands = expr.function, children(expr)
        if function in LOGIC:
            return f"({f' {LOGIC[function]} '.join(self.truth(part, scope, depth) for part in operands)})"
        if function == "!_":
            return f"(not {self.truth(operands[0], scope, depth)})"
        if function == "_?_:_":
            condition = self.truth(operands[0], scope, depth)
            then, otherwise = (self.expression(part, scope, depth) for part in operands[1:])
            return f"({then} if {condition} else {otherwise})"
        if function in OPTIONAL_FUNCTIONS:
            raise NotGenerated
        folded = self._folded(expr, operands)
        if folded is not None:
            return folded
        if function == "@in" and isinstance(operands[1], ast.List):
            found = self._membership(operands[0], operands[1], scope, depth)
            if found is not None:
                return found
        texts = [self.expression(part, scope, depth) for part in operands]
        if function in ("_==_", "_!=_"):
            return self._equality(operands, texts, negated=function == "_!=_")
        if function == "_[_]":
            return f"pick({texts[0]}, {texts[1]})"
        return self._operator(expr, operands, texts)

    def _equality(self, operands: tuple[Expr, ...], texts: list[str], *, negated: bool) -> str:
        left, right = map(self.kind, operands)
        if left == right and left in _PLAIN_KINDS:
            return f"({texts[0]} {'!=' if negated else '=='} {texts[1]})"
        return f"{'different' if negated else 'same'}({texts[0]}, {texts[1]})"

    def _operator(self, expr: ast.Call, operands: tuple[Expr, ...], texts: list[str]) -> str:
        function = expr.function
        order = _ORDERS.get(function)
        kinds = [self.kind(operand) for operand in operands]
        if order is not None and kinds[0] == kinds[1] and kinds[0] in _PLAIN_KINDS:
            return f"({texts[0]} {order} {texts[1]})"
        if function in SINGLETONS:
            return f"{self.constant(SINGLETONS[function])}({', '.join(texts)})"
        if function == "size" and kinds[0] in ("string", "list", "map", "bytes"):
            return f"len({texts[0]})"
        if function == "matches" and kinds[0] == "string" and isinstance(operands[1], ast.Const):
            return f"({self.constant(compile_regex(str(operands[1].value)))}.search({texts[0]}) is not None)"
        return self._function(expr, operands, texts)

    def _function(self, expr: ast.Call, operands: tuple[Expr, ...], texts: list[str]) -> str:
        candidates = tuple(OVERLOADS[name] for name in self.checked.overloads[expr.id] if name in OVERLOADS)
        if len(candidates) == 1 and all(_is_certain(self.checked.types[operand.id]) for operand in operands):
            return f"{self.constant(candidates[0].function)}({', '.join(texts)})"
        return f"dispatch({', '.join((self.constant(candidates), *texts))})"

    def _folded(self, expr: ast.Call, operands: tuple[Expr, ...]) -> str | None:
        """A function of constants, computed now: it always gives the same."""
        if expr.function in SINGLETONS or not operands or not all(isinstance(part, ast.Const) for part in operands):
            return None
        values = [constant_value(part) for part in operands if isinstance(part, ast.Const)]
        for name in self.checked.overloads.get(expr.id, ()):
            known = OVERLOADS.get(name)
            if known is not None and known.accepts(values):
                try:
                    return self.constant(known.function(*values))
                except EvaluationError:
                    return "fail()"
        return None

    def _membership(self, item: Expr, values: ast.List, scope: Scope, depth: int) -> str | None:
        constants = [constant_value(element) for element in values.elements if isinstance(element, ast.Const)]
        if len(constants) != len(values.elements) or values.optional_indices or not constants:
            return None
        if not all(type(value) in (bool, int, Uint, float, str) for value in constants):
            return None
        keys = self.constant(frozenset(map(map_key, constants)))
        text = self.expression(item, scope, depth)
        if self.kind(item) == "string":
            return f"({text} in {keys})"
        return f"member({text}, {keys}, {self.constant(constants)})"

    def _fold(self, expr: ast.Comprehension, scope: Scope, depth: int) -> str:
        if is_bind(expr):
            return self._bind(expr, scope, depth)
        if expr.iter_var2:
            raise NotGenerated
        over = self.expression(expr.iter_range, scope, depth)
        name = self.variable()
        inner = {**scope, expr.iter_var: name}
        step = expr.loop_step
        if not isinstance(step, ast.Call):
            raise NotGenerated
        if step.function in LOGIC and _is_accumulator(step.args[0], expr):
            quantifier = "every" if step.function == "_&&_" else "some"
            return f"{quantifier}(lambda {name}: {self.truth(step.args[1], inner, depth)}, {over})"
        if step.function == "_?_:_" and _is_accumulator(step.args[2], expr):
            return self._conditional_fold(expr, step, inner, name, over, depth)
        return f"collect(lambda {name}: {self._element(step, expr, inner, depth)}, {over})"

    def _conditional_fold(
        self, expr: ast.Comprehension, step: ast.Call, inner: Scope, name: str, over: str, depth: int
    ) -> str:
        predicate = f"lambda {name}: {self.truth(step.args[0], inner, depth)}"
        growth = step.args[1]
        if isinstance(expr.result, ast.Call):
            return f"exactly_one({predicate}, {over})"
        return f"collect_if({predicate}, lambda {name}: {self._element(growth, expr, inner, depth)}, {over})"

    def _element(self, step: Expr, expr: ast.Comprehension, inner: Scope, depth: int) -> str:
        """The x of the step `accumulator + [x]`."""
        if isinstance(step, ast.Call) and step.function == "_+_" and _is_accumulator(step.args[0], expr):
            addition = step.args[1]
            if isinstance(addition, ast.List) and len(addition.elements) == 1 and not addition.optional_indices:
                return self.expression(addition.elements[0], inner, depth)
        raise NotGenerated

    def _bind(self, expr: ast.Comprehension, scope: Scope, depth: int) -> str:
        places = {name: value if isinstance(value, DevicePath) else None for name, value in scope.items()}
        place = bound_place(expr, self.checked, places)
        if place is not None:
            return self.expression(expr.result, {**scope, expr.accu_var: place}, depth)
        initial = self.expression(expr.accu_init, scope, depth)
        name = self.variable()
        return f"(lambda {name}: {self.expression(expr.result, {**scope, expr.accu_var: name}, depth)})({initial})"


def constant_value(expr: ast.Const) -> Value:
    """The value of a literal."""
    return Uint(expr.value) if expr.kind == "uint" and isinstance(expr.value, int) else expr.value


def _is_certain(of: Type) -> bool:
    """Whether values of the type need no look at run time."""
    return of.kind not in _OPEN_KINDS and all(map(_is_certain, of.params))


def _is_accumulator(expr: Expr, fold: ast.Comprehension) -> bool:
    return isinstance(expr, ast.Ident) and expr.name == fold.accu_var
