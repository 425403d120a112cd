"""Macro expansion exactly as in cel-go v0.26, because costs depend on it."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias

from msgspec import Struct

from .ast import ACCUMULATOR, Call, Comprehension, Expr, Ident, List, MacroBuilder, Select


class MacroError(Exception):
    """Raised if a macro does not accept its arguments, with the position of the error."""

    def __init__(self, offset: int, message: str) -> None:
        super().__init__(message)
        self.offset = offset


class MacroKey(Struct, frozen=True):
    """The key of a macro: its name, its number of arguments, and whether it has a target."""

    name: str
    arguments: int
    member: bool


MacroTarget: TypeAlias = Expr | None
Expander: TypeAlias = Callable[[MacroBuilder, MacroTarget, Sequence[Expr]], Expr | None]
"""A function that returns the expansion of a macro, or None if the call is not one, such as x.bind(a, b, c)."""

_ACCUMULATORS = (ACCUMULATOR, "__result__")  # cel-go reserves both its old and its new name


def _variable(argument: Expr, message: str = "argument must be a simple name") -> str:
    if not isinstance(argument, Ident):
        raise MacroError(argument.offset, message)
    return argument.name


def _iteration_variable(argument: Expr, message: str = "argument must be a simple name") -> str:
    name = _variable(argument, message)
    if name in _ACCUMULATORS:
        raise MacroError(argument.offset, "iteration variable overwrites accumulator variable")
    return name


def _two_variables(args: Sequence[Expr]) -> tuple[str, str]:
    first, second = _variable(args[0]), _variable(args[1])
    if first == second:
        raise MacroError(args[1].offset, f"duplicate variable name: {first}")
    return _iteration_variable(args[0]), _iteration_variable(args[1])


def _range(target: MacroTarget) -> Expr:
    assert target is not None  # the macro's key requires a target
    return target


def _has(make: MacroBuilder, _target: MacroTarget, args: Sequence[Expr]) -> Expr:
    if not isinstance(args[0], Select):
        raise MacroError(args[0].offset, "invalid argument to has() macro")
    return make.has(args[0].operand, args[0].field)


def _all(make: MacroBuilder, over: Expr, variables: tuple[str, str], predicate: Expr) -> Comprehension:
    return make.fold(
        over,
        variables,
        init=make.const(value=True, kind="bool"),
        condition=make.call("@not_strictly_false", make.accumulator()),
        step=make.call("_&&_", make.accumulator(), predicate),
        result=make.accumulator(),
    )


def _exists(make: MacroBuilder, over: Expr, variables: tuple[str, str], predicate: Expr) -> Comprehension:
    return make.fold(
        over,
        variables,
        init=make.const(value=False, kind="bool"),
        condition=make.call("@not_strictly_false", make.call("!_", make.accumulator())),
        step=make.call("_||_", make.accumulator(), predicate),
        result=make.accumulator(),
    )


def _exists_one(make: MacroBuilder, over: Expr, variables: tuple[str, str], predicate: Expr) -> Comprehension:
    counted = make.call("_+_", make.accumulator(), make.const(1, "int"))
    return make.fold(
        over,
        variables,
        init=make.const(0, "int"),
        condition=make.const(value=True, kind="bool"),
        step=make.call("_?_:_", predicate, counted, make.accumulator()),
        result=make.call("_==_", make.accumulator(), make.const(1, "int")),
    )


def _quantifier(fold: Callable[[MacroBuilder, Expr, tuple[str, str], Expr], Expr], variables: int) -> Expander:
    def expand(make: MacroBuilder, target: MacroTarget, args: Sequence[Expr]) -> Expr:
        names = (_iteration_variable(args[0]), "") if variables == 1 else _two_variables(args)
        return fold(make, _range(target), names, args[variables])

    return expand


def _collect(
    make: MacroBuilder, over: Expr, variables: tuple[str, str], step: Expr, init: Expr, condition: Expr | None
) -> Expr:
    """Return the fold that collects into a list or map, filtered by the condition if there is one."""
    if condition is not None:
        step = make.call("_?_:_", condition, step, make.accumulator())
    always = make.const(value=True, kind="bool")
    return make.fold(over, variables, init=init, condition=always, step=step, result=make.accumulator())


def _map(make: MacroBuilder, target: MacroTarget, args: Sequence[Expr]) -> Expr:
    name = _iteration_variable(args[0], "argument is not an identifier")
    step = make.call("_+_", make.accumulator(), make.list(args[-1]))
    return _collect(make, _range(target), (name, ""), step, make.list(), args[1] if len(args) == 3 else None)


def _filter(make: MacroBuilder, target: MacroTarget, args: Sequence[Expr]) -> Expr:
    name = _iteration_variable(args[0], "argument is not an identifier")
    step = make.call("_+_", make.accumulator(), make.list(args[0]))
    return _collect(make, _range(target), (name, ""), step, make.list(), args[1])


def _transform_list(make: MacroBuilder, target: MacroTarget, args: Sequence[Expr]) -> Expr:
    names = _two_variables(args)
    step = make.call("_+_", make.accumulator(), make.list(args[-1]))
    return _collect(make, _range(target), names, step, make.list(), args[2] if len(args) == 4 else None)


def _transform_map(make: MacroBuilder, target: MacroTarget, args: Sequence[Expr]) -> Expr:
    names = _two_variables(args)
    step = make.call("cel.@mapInsert", make.accumulator(), make.ident(names[0]), args[-1])
    return _collect(make, _range(target), names, step, make.map(), args[2] if len(args) == 4 else None)


def _transform_map_entry(make: MacroBuilder, target: MacroTarget, args: Sequence[Expr]) -> Expr:
    names = _two_variables(args)
    step = make.call("cel.@mapInsert", make.accumulator(), args[-1])
    return _collect(make, _range(target), names, step, make.map(), args[2] if len(args) == 4 else None)


def _bind(make: MacroBuilder, target: MacroTarget, args: Sequence[Expr]) -> Expr | None:
    if not (isinstance(target, Ident) and target.name == "cel"):
        return None
    name = _variable(args[0], "cel.bind() variable names must be simple identifiers")
    return make.bind(name, args[1], args[2])


def _opt_map(make: MacroBuilder, target: MacroTarget, args: Sequence[Expr]) -> Expr:
    name = _variable(args[0], "optMap() variable name must be a simple identifier")
    value = make.bind(name, make.call("value", target=make.copy(_range(target))), args[1])
    return _if_present(make, target, make.call("optional.of", value))


def _opt_flat_map(make: MacroBuilder, target: MacroTarget, args: Sequence[Expr]) -> Expr:
    name = _variable(args[0], "optFlatMap() variable name must be a simple identifier")
    return _if_present(make, target, make.bind(name, make.call("value", target=make.copy(_range(target))), args[1]))


def _if_present(make: MacroBuilder, target: MacroTarget, value: Expr) -> Expr:
    return make.call("_?_:_", make.call("hasValue", target=target), value, make.call("optional.none"))


SORT_BY_KEYS = "@sortByAssociatedKeys"
"""The function that `sortBy` expands to."""
_SORTED = "@__sortBy_input__"


def _sort_by(make: MacroBuilder, target: MacroTarget, args: Sequence[Expr]) -> Expr:
    if not isinstance(target, List | Select | Ident | Comprehension | Call):
        message = "sortBy can only be applied to a list, identifier, comprehension, call or select expression"
        raise MacroError(_range(target).offset, message)
    keys = _map(make, make.ident(_SORTED), args)
    return make.bind(_SORTED, target, make.call(SORT_BY_KEYS, keys, target=make.ident(_SORTED)))


def _members(table: Mapping[tuple[str, int], Expander]) -> Mapping[MacroKey, Expander]:
    return MappingProxyType({MacroKey(*shape, member=True): expand for shape, expand in table.items()})


STANDARD: Mapping[MacroKey, Expander] = MappingProxyType(
    {
        MacroKey("has", 1, member=False): _has,
        **_members(
            {
                ("all", 2): _quantifier(_all, 1),
                ("exists", 2): _quantifier(_exists, 1),
                ("exists_one", 2): _quantifier(_exists_one, 1),
                ("map", 2): _map,
                ("map", 3): _map,
                ("filter", 2): _filter,
            }
        ),
    }
)

TWO_VARIABLES = _members(
    {
        ("all", 3): _quantifier(_all, 2),
        ("exists", 3): _quantifier(_exists, 2),
        ("existsOne", 3): _quantifier(_exists_one, 2),
        ("exists_one", 3): _quantifier(_exists_one, 2),
        ("transformList", 3): _transform_list,
        ("transformList", 4): _transform_list,
        ("transformMap", 3): _transform_map,
        ("transformMap", 4): _transform_map,
        ("transformMapEntry", 3): _transform_map_entry,
        ("transformMapEntry", 4): _transform_map_entry,
    }
)

BINDINGS = _members({("bind", 3): _bind})
OPTIONAL = _members({("optMap", 2): _opt_map, ("optFlatMap", 2): _opt_flat_map})
LISTS = _members({("sortBy", 2): _sort_by})
