"""Makes expression nodes with ids; which nodes stand for which text is decided by parser and macros."""

from .ast import (
    ACCUMULATOR,
    Call,
    Comprehension,
    Const,
    ConstKind,
    Expr,
    Ident,
    List,
    Map,
    MapEntry,
    Message,
    MessageField,
    Select,
)

MOST_NODES = 50_000
"""Nodes of one expression after macro expansion; upstream has no limit, but optMap doubles its target each time."""


class TooManyNodesError(Exception):
    """Raised when macro expansion makes more than MOST_NODES nodes."""


class NodeFactory:
    """Hands out ids, unique within one expression, from 1."""

    def __init__(self) -> None:
        self._last = 0

    def id(self) -> int:
        """Return the next free id."""
        self._last += 1
        if self._last > MOST_NODES:
            raise TooManyNodesError
        return self._last

    def copy(self, expr: Expr) -> Expr:
        """Return the same expression with new ids."""
        new, at = self.id(), expr.offset
        match expr:
            case Const():
                return Const(new, at, expr.value, expr.kind)
            case Ident():
                return Ident(new, at, expr.name)
            case Select():
                return Select(new, at, self.copy(expr.operand), expr.field, expr.test_only)
            case Call():
                target = None if expr.target is None else self.copy(expr.target)
                return Call(new, at, target, expr.function, tuple(map(self.copy, expr.args)))
            case List():
                return List(new, at, tuple(map(self.copy, expr.elements)), expr.optional_indices)
            case Map():
                return Map(new, at, tuple(map(self._entry, expr.entries)))
            case Message():
                return Message(new, at, expr.name, tuple(map(self._field, expr.fields)))
            case Comprehension():
                return self._comprehension(new, expr)

    def _entry(self, entry: MapEntry) -> MapEntry:
        return MapEntry(self.id(), entry.offset, self.copy(entry.key), self.copy(entry.value), entry.optional)

    def _field(self, field: MessageField) -> MessageField:
        return MessageField(self.id(), field.offset, field.field, self.copy(field.value), field.optional)

    def _comprehension(self, new: int, fold: Comprehension) -> Comprehension:
        return Comprehension(
            new,
            fold.offset,
            iter_range=self.copy(fold.iter_range),
            iter_var=fold.iter_var,
            iter_var2=fold.iter_var2,
            accu_var=fold.accu_var,
            accu_init=self.copy(fold.accu_init),
            loop_condition=self.copy(fold.loop_condition),
            loop_step=self.copy(fold.loop_step),
            result=self.copy(fold.result),
        )


class MacroBuilder:
    """Makes the nodes of one macro's expansion; all of them stand at the macro's place."""

    def __init__(self, factory: NodeFactory, offset: int) -> None:
        self._factory = factory
        self._offset = offset

    def copy(self, expr: Expr) -> Expr:
        """Return the same expression with new ids."""
        return self._factory.copy(expr)

    def const(self, value: bool | int, kind: ConstKind) -> Const:
        """Return a literal."""
        return Const(self._factory.id(), self._offset, value, kind)

    def ident(self, name: str) -> Ident:
        """Return an identifier."""
        return Ident(self._factory.id(), self._offset, name)

    def accumulator(self) -> Ident:
        """Return a reference to the fold's accumulator."""
        return self.ident(ACCUMULATOR)

    def call(self, function: str, *args: Expr, target: Expr | None = None) -> Call:
        """Return a call; with a target, of a member function."""
        return Call(self._factory.id(), self._offset, target, function, args)

    def list(self, *elements: Expr) -> List:
        """Return a list literal."""
        return List(self._factory.id(), self._offset, elements)

    def map(self) -> Map:
        """Return an empty map literal."""
        return Map(self._factory.id(), self._offset, ())

    def has(self, operand: Expr, field: str) -> Select:
        """Return a presence test."""
        return Select(self._factory.id(), self._offset, operand, field, test_only=True)

    def fold(  # every part of a fold is needed, and all are named at the call
        self, over: Expr, variables: tuple[str, str], *, init: Expr, condition: Expr, step: Expr, result: Expr
    ) -> Comprehension:
        """Return a fold that counts in the accumulator."""
        return Comprehension(
            self._factory.id(), self._offset, over, *variables, ACCUMULATOR, init, condition, step, result
        )

    def bind(self, name: str, value: Expr, result: Expr) -> Comprehension:
        """Return the fold over nothing that stands for a local variable."""
        nothing, never, step = self.list(), self.const(value=False, kind="bool"), self.ident(name)
        return Comprehension(self._factory.id(), self._offset, nothing, "#unused", "", name, value, never, step, result)
