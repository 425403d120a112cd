import pytest

from dra_plan.cel.environment import environment
from dra_plan.cel.lexer import CelCompileError
from dra_plan.cel.library import LIBRARIES
from dra_plan.cel.selector import check

CONSUMABLE = {"DRAConsumableCapacity": True}
LISTS = {"DRAListTypeAttributes": True}


def accepts(expression, version, gates, rules):
    try:
        check(expression, environment(version, gates, rules))
    except CelCompileError:
        return False
    return True


@pytest.mark.parametrize(
    ("expression", "version", "gates", "stored", "new"),
    [
        ("device.driver == 'a'", "1.34", {}, True, True),
        ("[2, 1].sort() == [1, 2]", "1.34", {}, True, False),
        ("[2, 1].sort() == [1, 2]", "1.35", {}, True, True),
        ("[2, 1].sortBy(x, x) == [1, 2]", "1.34", {}, True, False),
        ("isSemver('1')", "1.34", {}, True, True),
        ("device.allowMultipleAllocations", "1.34", {}, True, False),
        ("device.allowMultipleAllocations", "1.34", CONSUMABLE, True, True),
        ("device.allowMultipleAllocations", "1.36", {}, True, False),
        ("[1].includes(1)", "1.36", {}, True, False),
        ("[1].includes(1)", "1.36", LISTS, True, True),
        ("[1].includes(1)", "1.35", LISTS, False, False),
        ("device.attributes['d'].a.exists(x, x == 1)", "1.36", {}, False, False),
        ("device.attributes['d'].a.exists(x, x == 1)", "1.36", LISTS, True, True),
        ("device.attributes['d'].a.exists(x, x == 1)", "1.35", LISTS, False, False),
        ("[1].includes(1)", "1.37", {}, True, False),
        ("[1].includes(1)", "1.37", LISTS, True, True),
        ("device.attributes['d'].a.exists(x, x == 1)", "1.37", {}, True, False),
        ("dyn(true)", "1.36", LISTS, True, True),
        ("dyn(true)", "1.36", {}, False, False),
        ("math.greatest(1, 2) == 2", "1.36", {}, False, False),
        ("'ab'.reverse() == 'ba'", "1.36", {}, False, False),
        ("quantity('1').mul(2) == quantity('2')", "1.36", {}, False, False),
    ],
)
def test_rules(expression, version, gates, stored, new):
    assert accepts(expression, version, gates, "stored") is stored
    assert accepts(expression, version, gates, "new") is new


def test_only_new_expressions_are_limited_to_10_kib():
    longest = "'" + "é" * 5116 + "' == ''"
    assert len(longest.encode()) == 10 * 1024
    assert accepts(longest, "1.36", {}, "new")
    assert accepts(longest + " ", "1.36", {}, "stored")
    with pytest.raises(CelCompileError, match="Too long: may not be more than 10240 bytes"):
        check(longest + " ", environment("1.36", {}, "new"))


def test_the_same_question_gives_the_same_environment():
    assert environment("1.36", {"DRAListTypeAttributes": False}) is environment("1.36")
    assert environment("1.35", LISTS) is environment("1.35")


def test_overload_ids_are_unique():
    ids = [overload.id for library in LIBRARIES for overloads in library.functions.values() for overload in overloads]
    assert sorted(ids) == sorted(set(ids))


PLANNED = {"_?_:_", "_&&_", "_||_", "@not_strictly_false", "_==_", "_!=_", "_[_]", "_[?_]", "_?._", "or", "orValue"}
"""What the evaluators do themselves."""


def test_every_overload_has_an_implementation_unless_it_is_planned():
    without = {
        name
        for library in LIBRARIES
        if not library.name.startswith("kubernetes authorizer")
        for name, overloads in library.functions.items()
        if any(overload.function is None for overload in overloads)
    }
    assert without == PLANNED
