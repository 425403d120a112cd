import pytest

from dra_plan.cel.ast import Expr, nodes
from dra_plan.cel.environment import environment
from dra_plan.cel.parse import parse

from .shown import shown

MACROS = environment("1.36").macros


def expanded(text: str) -> Expr:
    expr, faults = parse(text, MACROS)
    assert faults == []
    assert expr is not None
    return expr


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("has(a.b.c)", "has(a.b.c)"),
        (
            "a.all(x, p)",
            "fold(x in a; @result = true; while @not_strictly_false(@result) do _&&_(@result, p) then @result)",
        ),
        (
            "a.exists(x, p)",
            "fold(x in a; @result = false; while @not_strictly_false(!_(@result)) do _||_(@result, p) then @result)",
        ),
        (
            "a.exists_one(x, p)",
            "fold(x in a; @result = 0; while true do _?_:_(p, _+_(@result, 1), @result) then _==_(@result, 1))",
        ),
        ("a.map(x, t)", "fold(x in a; @result = []; while true do _+_(@result, [t]) then @result)"),
        (
            "a.map(x, p, t)",
            "fold(x in a; @result = []; while true do _?_:_(p, _+_(@result, [t]), @result) then @result)",
        ),
        (
            "a.filter(x, p)",
            "fold(x in a; @result = []; while true do _?_:_(p, _+_(@result, [x]), @result) then @result)",
        ),
        (
            "a.all(k, v, p)",
            "fold(k, v in a; @result = true; while @not_strictly_false(@result) do _&&_(@result, p) then @result)",
        ),
        (
            "a.existsOne(k, v, p)",
            "fold(k, v in a; @result = 0; while true do _?_:_(p, _+_(@result, 1), @result) then _==_(@result, 1))",
        ),
        ("a.transformList(k, v, t)", "fold(k, v in a; @result = []; while true do _+_(@result, [t]) then @result)"),
        (
            "a.transformMap(k, v, p, t)",
            (
                "fold(k, v in a; @result = {}; while true do"
                " _?_:_(p, cel.@mapInsert(@result, k, t), @result) then @result)"
            ),
        ),
        (
            "a.transformMapEntry(k, v, {v: k})",
            "fold(k, v in a; @result = {}; while true do cel.@mapInsert(@result, {v: k}) then @result)",
        ),
        ("cel.bind(x, i, r)", "fold(#unused in []; x = i; while false do x then r)"),
        ("other.bind(x, i, r)", "other.bind(x, i, r)"),
        (
            "a.optMap(x, t)",
            (
                "_?_:_(a.hasValue(), optional.of(fold(#unused in []; x = a.value(); while false do x then t)),"
                " optional.none())"
            ),
        ),
        (
            "a.optFlatMap(x, t)",
            "_?_:_(a.hasValue(), fold(#unused in []; x = a.value(); while false do x then t), optional.none())",
        ),
        (
            "a.sortBy(x, t)",
            (
                "fold(#unused in []; @__sortBy_input__ = a; while false do @__sortBy_input__ then"
                " @__sortBy_input__.@sortByAssociatedKeys("
                "fold(x in @__sortBy_input__; @result = []; while true do _+_(@result, [t]) then @result)))"
            ),
        ),
        ("a.all(x)", "a.all(x)"),
        ("all(x, p)", "all(x, p)"),
    ],
)
def test_expansion(text, meaning):
    assert shown(expanded(text)) == meaning


@pytest.mark.parametrize(
    "text", ["a.optMap(x, x + 1).optMap(y, [y].map(z, {z: [z]}))", "a.filter(x, x.exists(y, has(y.b)))"]
)
def test_ids_are_unique(text):
    ids = [node.id for node in nodes(expanded(text))]
    assert len(ids) == len(set(ids))
