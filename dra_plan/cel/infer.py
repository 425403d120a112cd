"""The types and overloads in an expression, inferred as in cel-go's checker."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from msgspec import Struct

from .ast import Call, Comprehension, Const, Expr, Ident, List, Map, MapEntry, Message, MessageField, Select
from .environment import Environment
from .lexer import Issue
from .library import Overload
from .types import (
    BOOL,
    BYTES,
    DOUBLE,
    DYN,
    ERROR,
    INT,
    NULL,
    STRING,
    UINT,
    Bindings,
    Type,
    is_dyn,
    list_of,
    map_of,
    most_general,
    optional_of,
    type_of,
)

_CONSTANTS = {
    "null": NULL,
    "bool": BOOL,
    "int": INT,
    "uint": UINT,
    "double": DOUBLE,
    "string": STRING,
    "bytes": BYTES,
}
_NULL_VALUE = "google.protobuf.NullValue.NULL_VALUE"


class Inferred(Struct, frozen=True, eq=False):
    """The result of type inference. `root` has resolved names."""

    root: Expr
    types: dict[int, Type]
    overloads: dict[int, tuple[Overload, ...]]
    idents: dict[int, str]
    issues: list[Issue]


def infer(root: Expr, environment: Environment) -> Inferred:
    """Infer the types in an expression, or report the issues that make this impossible."""
    inference = _Inference(environment)
    root = inference.expr(root)
    bindings = inference.bindings
    types = {node: bindings.resolve(of, free_to_dyn=True) for node, of in inference.types.items()}
    return Inferred(root, types, inference.overloads, inference.idents, inference.issues)


def _qualified(expr: Expr) -> str | None:
    """Return the dotted name that an expression spells, if it is nothing more."""
    if isinstance(expr, Ident):
        return expr.name
    if isinstance(expr, Select) and not expr.test_only:
        prefix = _qualified(expr.operand)
        return None if prefix is None else f"{prefix}.{expr.field}"
    return None


class _Inference:
    def __init__(self, environment: Environment) -> None:
        self.bindings = Bindings()
        self.types: dict[int, Type] = {}
        self.overloads: dict[int, tuple[Overload, ...]] = {}
        self.idents: dict[int, str] = {}
        self.issues: list[Issue] = []
        self._environment = environment
        self._scopes: list[dict[str, Type]] = [{"device": environment.device.type}]

    def expr(self, expr: Expr) -> Expr:
        """Infer an expression's type; return it with its names resolved."""
        match expr:
            case Const():
                return self._typed(expr, _CONSTANTS[expr.kind])
            case Ident():
                return self._ident(expr)
            case Select():
                return self._select(expr)
            case Call():
                return self._call(expr)
            case List():
                return self._list(expr)
            case Map():
                return self._map(expr)
            case Message():
                return self._message(expr)
            case Comprehension():
                return self._fold(expr)

    def _typed(self, expr: Expr, of: Type) -> Expr:
        self.types[expr.id] = of
        return expr

    def _issue(self, offset: int, message: str) -> None:
        self.issues.append(Issue(offset, message))

    def _undeclared(self, offset: int, name: str) -> None:
        self._issue(offset, f"undeclared reference to '{name}' (in container '')")

    def _mismatch(self, expr: Expr, wanted: Type, found: Type) -> None:
        self._issue(expr.offset, f"expected type '{wanted.describe()}' but found '{found.describe()}'")

    # Names

    def _look_up(self, name: str) -> Type | None:
        name = name.removeprefix(".")
        for scope in reversed(self._scopes):
            if name in scope:
                return scope[name]
        named = self._environment.types.get(name)
        return None if named is None else type_of(named)

    def _resolved(self, expr: Expr, name: str) -> Expr | None:
        """Return the identifier that the name stands for, with its type, or None if the name is unknown."""
        if name.removeprefix(".") == _NULL_VALUE:
            return self._typed(Const(expr.id, expr.offset, 0, "int"), INT)
        found = self._look_up(name)
        if found is None:
            return None
        name = name.removeprefix(".")
        self.idents[expr.id] = name
        return self._typed(Ident(expr.id, expr.offset, name), found)

    def _ident(self, expr: Ident) -> Expr:
        resolved = self._resolved(expr, expr.name)
        if resolved is None:
            self._undeclared(expr.offset, expr.name)
            return self._typed(expr, ERROR)
        return resolved

    @contextmanager
    def _scope(self, names: dict[str, Type]) -> Iterator[None]:
        self._scopes.append(names)
        yield
        self._scopes.pop()

    # Selection

    def _select(self, expr: Select) -> Expr:
        name = _qualified(expr)
        if name is not None and (resolved := self._resolved(expr, name)) is not None:
            return resolved
        operand = self.expr(expr.operand)
        of = self._field_type(expr.offset, operand, expr.field)
        node = Select(expr.id, expr.offset, operand, expr.field, expr.test_only)
        return self._typed(node, BOOL if expr.test_only else self.bindings.resolve(of))

    def _optional_select(self, expr: Call) -> Expr:
        operand, field = expr.args
        assert isinstance(field, Const)  # the parser creates nothing else
        operand = self.expr(operand)
        of = self._field_type(expr.offset, operand, str(field.value), optional=True)
        self.overloads[expr.id] = self._environment.functions["_?._"]
        self.types[field.id] = STRING
        node = Call(expr.id, expr.offset, None, expr.function, (operand, field))
        return self._typed(node, self.bindings.resolve(of))

    def _field_type(self, offset: int, operand: Expr, field: str, *, optional: bool = False) -> Type:
        target = self.bindings.resolve(self.types[operand.id])
        if target.kind == "optional":
            target, optional = target.params[0], True
        result = self._direct_field_type(offset, target, field)
        return optional_of(result) if optional else result

    def _direct_field_type(self, offset: int, target: Type, field: str) -> Type:
        match target.kind:
            case "map":
                return target.params[1]
            case "object":
                return self._object_field(offset, target, field)
            case "param":
                self.bindings.assign(DYN, target)
            case "dyn" | "any" | "error":
                pass
            case _:
                self._issue(offset, f"type '{target.describe()}' does not support field selection")
        return DYN

    def _object_field(self, offset: int, target: Type, field: str) -> Type:
        device = self._environment.device
        if target == device.type:
            sized = device.fields.get(field)
            if sized is not None:
                return sized.type
        elif target.name not in self._environment.messages:
            self._issue(offset, f"unexpected failed resolution of '{target.name}'")
            return ERROR
        self._issue(offset, f"undefined field '{field}'")
        return ERROR

    # Calls

    def _call(self, expr: Call) -> Expr:
        if expr.function == "_?._":
            return self._optional_select(expr)
        args = tuple(map(self.expr, expr.args))
        target, function = expr.target, expr.function
        if target is not None and (prefix := _qualified(target)) is not None:
            name = f"{prefix}.{function}".removeprefix(".")
            if name in self._environment.functions:
                target, function = None, name
        if target is not None:
            target = self.expr(target)
        else:
            function = function.removeprefix(".")
        node = Call(expr.id, expr.offset, target, function, args)
        overloads = self._environment.functions.get(function)
        if overloads is None:
            self._undeclared(expr.offset, expr.function)
            return self._typed(node, ERROR)
        return self._typed(node, self._overloaded(node, overloads))

    def _overloaded(self, call: Call, overloads: tuple[Overload, ...]) -> Type:
        """Record the overloads that may apply and return the type of the result."""
        operands = call.args if call.target is None else (call.target, *call.args)
        given = [self.types[operand.id] for operand in operands]
        if call.function in ("_&&_", "_||_"):
            return self._logical(call, operands, given, overloads[0])
        result, matching = None, []
        for overload in overloads:
            if overload.member != (call.target is not None) or len(overload.args) != len(given):
                continue
            found = self._applied(overload, given)
            if found is None:
                continue
            matching.append(overload)
            if result is None:
                result = found
            elif not is_dyn(result) and found != result:
                result = DYN
        if result is None:
            self._no_overload(call, given)
            return ERROR
        self.overloads[call.id] = tuple(matching)
        return result

    def _applied(self, overload: Overload, given: Sequence[Type]) -> Type | None:
        """Return the result's type if the overload may be called with the given types."""
        wanted: Sequence[Type] = overload.args
        result = overload.result
        if overload.generic:
            *wanted, result = self.bindings.instantiate((*wanted, result))
        if not self.bindings.assign_all(given, wanted):
            return None
        return self.bindings.resolve(result)

    def _logical(self, call: Call, operands: Sequence[Expr], given: Sequence[Type], overload: Overload) -> Type:
        wrong = False
        for operand, of in zip(operands, given, strict=True):
            if not self.bindings.assign(of, BOOL):
                self._mismatch(operand, BOOL, of)
                wrong = True
        if wrong:
            return ERROR
        self.overloads[call.id] = (overload,)
        return BOOL

    def _no_overload(self, call: Call, given: Sequence[Type]) -> None:
        shown = [self.bindings.resolve(of, free_to_dyn=True).describe() for of in given]
        target = f"{shown.pop(0)}." if call.target is not None else ""
        signature = f"{target}({', '.join(shown)})"
        self._issue(call.offset, f"found no matching overload for '{call.function}' applied to '{signature}'")

    # Literals

    def _joined(self, before: Type | None, now: Type) -> Type:
        """Return the element type for both types, which is dyn if they differ (a validator forbids that later)."""
        if before is None:
            return now
        return most_general(before, now) if self.bindings.assign(before, now) else DYN

    def _present(self, expr: Expr, *, optional: bool) -> Type:
        """Return the type of an element or value; one written with `?` must be optional."""
        of = self.types[expr.id]
        if not optional:
            return of
        if of.kind == "optional":
            return of.params[0]
        if not is_dyn(of):
            self._mismatch(expr, optional_of(of), of)
        return of

    def _list(self, expr: List) -> Expr:
        elements, joined = [], None
        for index, element in enumerate(expr.elements):
            elements.append(self.expr(element))
            joined = self._joined(joined, self._present(elements[-1], optional=index in expr.optional_indices))
        node = List(expr.id, expr.offset, tuple(elements), expr.optional_indices)
        return self._typed(node, list_of(joined or self.bindings.fresh()))

    def _map(self, expr: Map) -> Expr:
        entries, keys, values = [], None, None
        for entry in expr.entries:
            key = self.expr(entry.key)
            keys = self._joined(keys, self.types[key.id])
            value = self.expr(entry.value)
            values = self._joined(values, self._present(value, optional=entry.optional))
            entries.append(MapEntry(entry.id, entry.offset, key, value, entry.optional))
        node = Map(expr.id, expr.offset, tuple(entries))
        return self._typed(node, map_of(keys or self.bindings.fresh(), values or self.bindings.fresh()))

    def _message(self, expr: Message) -> Expr:
        of = self._look_up(expr.name)
        if of is None:
            self._undeclared(expr.offset, expr.name)
            return self._typed(expr, ERROR)
        name = expr.name.removeprefix(".")
        known = self._environment.messages.get(name)
        result = ERROR if known is None else known.type
        if known is None:
            kind = of.params[0] if of.kind == "type" else of
            problem = "not a message type" if of.kind == "type" else "not a type"
            self._issue(expr.offset, f"'{kind}' is {problem}")
        self.types[expr.id] = result
        fields = tuple(self._message_field(field, name) for field in expr.fields)
        return Message(expr.id, expr.offset, name, fields)

    def _message_field(self, field: MessageField, message: str) -> MessageField:
        value = self.expr(field.value)
        of = self._present(value, optional=field.optional)
        known = self._environment.messages.get(message)
        wanted = None if known is None else known.fields.get(field.field)
        if wanted is None:
            self._issue(field.offset, f"undefined field '{field.field}'")
        elif not self.bindings.assign(wanted, of):
            expected = f"'{field.field}' is '{wanted.describe()}' but provided type is '{of.describe()}'"
            self._issue(field.offset, f"expected type of field {expected}")
        return MessageField(field.id, field.offset, field.field, value, field.optional)

    # Folds

    def _fold(self, expr: Comprehension) -> Expr:
        over, init = self.expr(expr.iter_range), self.expr(expr.accu_init)
        accumulated = self.types[init.id]
        with self._scope({expr.accu_var: accumulated}):
            with self._scope(self._iterated(expr, over)):
                condition = self._expected(expr.loop_condition, BOOL)
                step = self._expected(expr.loop_step, accumulated)
            result = self.expr(expr.result)
        names = (expr.iter_var, expr.iter_var2, expr.accu_var)
        node = Comprehension(expr.id, expr.offset, over, *names, init, condition, step, result)
        return self._typed(node, self.bindings.resolve(self.types[result.id]))

    def _iterated(self, expr: Comprehension, over: Expr) -> dict[str, Type]:
        """Return the iteration variables with their types."""
        of = self.bindings.resolve(self.types[over.id])
        match of.kind:
            case "list":
                types = (INT, of.params[0]) if expr.iter_var2 else (of.params[0], DYN)
            case "map":
                types = (of.params[0], of.params[1])
            case "dyn" | "error" | "param":
                self.bindings.assign(DYN, of)
                types = (DYN, DYN)
            case _:
                rule = "cannot be range of a comprehension (must be list, map, or dynamic)"
                self._issue(over.offset, f"expression of type '{of.describe()}' {rule}")
                types = (ERROR, ERROR)
        variables = {expr.iter_var: types[0]}
        return variables | {expr.iter_var2: types[1]} if expr.iter_var2 else variables

    def _expected(self, expr: Expr, wanted: Type) -> Expr:
        node = self.expr(expr)
        if not self.bindings.assign(wanted, self.types[node.id]):
            self._mismatch(node, wanted, self.types[node.id])
        return node
