"""What is known of an expression before any device is looked at."""

import pytest

from dra_plan.api.quantity import parse
from dra_plan.cel.ast import Call, nodes
from dra_plan.cel.environment import environment
from dra_plan.cel.lexer import CelCompileError
from dra_plan.cel.library.overload import cost_of
from dra_plan.cel.selector import check

STORED = environment("1.36")


def constants(expression: str) -> list[object]:
    """The constants that are calls or larger, in the order of their nodes."""
    checked = check(expression, STORED)
    return [
        checked.constants[node.id]
        for node in nodes(checked.root)
        if node.id in checked.constants and type(node).__name__ in ("Call", "List", "Map")
    ]


@pytest.mark.parametrize(
    ("expression", "known"),
    [
        ("int('3') == 3", [3]),
        ("string(int('3')) == device.driver", ["3", 3]),
        ("device.driver in ['a', string(1)]", [["a", "1"], "1"]),
        ("{'a': [1]}.size() == 1", [{"a": [1]}, [1]]),
        ("[device.driver, 'a'] == ['b']", [["b"]]),
        ("'a'.size() == 1 && 1 + 2 == 3", []),  # evaluated, and charged, every time
        ("[?optional.of(1)] == [1]", [[1]]),
    ],
)
def test_constants(expression: str, known: list[object]) -> None:
    assert constants(expression) == known


def test_a_variable_that_is_named_as_a_type_is_none() -> None:
    checked = check("[string].all(int, int == string)", STORED)
    named = [node for node in nodes(checked.root) if getattr(node, "name", "") in ("int", "string")]
    assert [(node.name, node.id in checked.constants) for node in named] == [  # type: ignore[union-attr]
        ("string", True),
        ("int", False),
        ("string", True),
    ]


def test_what_is_read_from_a_constant_text_is_made_once_and_charged_every_time() -> None:
    checked = check("quantity('40Gi') == quantity(device.driver) && isSemver('1')", STORED)
    assert sorted(map(str, checked.results.values())) == sorted([str(parse("40Gi")), "False"])
    calls = [node for node in nodes(checked.root) if isinstance(node, Call) and node.id in checked.results]
    assert [cost_of(checked.overloads[call.id])(["x" * 21], None) for call in calls] == [3, 3]


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("int('a') == 1 || true", "type conversion error from 'string' to 'int'"),
        ("[1, int('a')] == [] || true", "type conversion error from 'string' to 'int'"),
        ("string(dyn([1])) == '' || true", "no such overload"),
        ("device.driver.find('(') == ''", "error parsing regexp: missing closing ): `(`"),
    ],
)
def test_what_fails_in_advance_refuses_the_expression(expression: str, problem: str) -> None:
    with pytest.raises(CelCompileError) as refused:
        check(expression, STORED)
    assert str(refused.value) == f"program instantiation failed: {problem}"


def test_a_text_that_is_no_quantity_fails_when_it_is_evaluated() -> None:
    assert check("quantity('x').isInteger() || true", STORED).results == {}
