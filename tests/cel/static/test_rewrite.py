"""Expressions taken apart and changed: found in the tree, and what is not changed stays as it was written."""

from __future__ import annotations

import pytest

from dra_plan.cel.parts import Use, clauses, is_reference, mentions, parsed, references, strings
from dra_plan.cel.rewrite import (
    comparison,
    for_driver,
    grouped,
    guarded,
    renamed,
    with_amount,
    with_clause,
    with_domain,
    without_clause,
)

A, C = 'device.attributes["d"]', 'device.capacity["d"]'


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a && b", ["a", "b"]),
        (" a&&b ", ["a", "b"]),
        ("(a && b) && ((c))", ["a", "b", "((c))"]),
        ("((a && (b && c)))", ["a", "b", "c"]),
        ("(a || b) && c", ["(a || b)", "c"]),
        ("a || b && c", ["a || b && c"]),
        ("a ? b && c : d", ["a ? b && c : d"]),
        ("(a ? b : c) && d", ["(a ? b : c)", "d"]),
        (f'{A}.?x.orValue("") == "y" && {A}.z == 1', [f'{A}.?x.orValue("") == "y"', f"{A}.z == 1"]),
        (f'{A}[?"x"].hasValue() && b', [f'{A}[?"x"].hasValue()', "b"]),
        ("x == \"a && b\" && r'\\' != y", ['x == "a && b"', "r'\\' != y"]),
        ("[1, 2].all(i, i > 0 && i < 3) && b", ["[1, 2].all(i, i > 0 && i < 3)", "b"]),
        ("a // first && not this\n && b // second", ["a", "b"]),
        ("!(a && b)", ["!(a && b)"]),
        ("cel.bind(x, y, x && z)", ["cel.bind(x, y, x && z)"]),
        (" does not parse && ", ["does not parse &&"]),
        ("", [""]),
    ],
)
def test_clauses_are_what_must_all_be_true(text: str, parts: list[str]) -> None:
    assert list(clauses(text)) == parts


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (f"{A}.x == 1", ["read attribute d/x"]),
        (f'{C}["x"].isInteger()', ["read capacity d/x"]),
        (f'{A}.?x.orValue(1) == {A}[?"y"].orValue(1)', ["optional attribute d/x", "optional attribute d/y"]),
        ('device.attributes[?"d"].?x.hasValue()', ["optional attribute d/x"]),
        (f'"x" in {A} && "d" in device.attributes', ["test attribute d/x", "test domain d"]),
        (f"has({A}.x)", ["test attribute d/x"]),
        (f"has(({A}.x))", ["test attribute d/x"]),
        (f"cel.bind(g, {A}, g.x == 1 && has(g.y))", ["read attribute d/x", "test attribute d/y"]),
        (f"{A}.x.exists(device, device.driver == 1)", ["read attribute d/x"]),
        ('device.driver == "d"', ["read driver"]),
        (f"{A}.x.y(1) && {A}.z.size() > 0", ["read attribute d/x", "read attribute d/z"]),
        (f"{A}.?x.optMap(v, v == {A}.y).orValue(false)", ["optional attribute d/x", "read attribute d/y"]),
        ("device.attributes[name].x == 1", []),
        ("other.driver", []),
    ],
)
def test_mentions_say_what_is_named_and_how(text: str, named: list[str]) -> None:
    assert [f"{m.use} {m.reference.kind} {m.reference.label}".removesuffix(" driver") for m in mentions(text)] == named
    for mention in mentions(text):
        name = mention.reference.name or mention.reference.domain
        assert mention.name.of(text).strip("\"'") == name


@pytest.mark.parametrize(
    ("text", "uses", "names"),
    [
        (f'"x" in {A} && {A}.x == 1', ("read",), ["x"]),
        (f'"x" in {A} && {A}.?x.hasValue()', ("read",), []),
        (f'"x" in {A} && {A}.?x.hasValue()', ("optional",), ["x"]),
        (f"{A}.x == {A}.y && {A}.x > 0", (), ["x", "y"]),
    ],
)
def test_references_are_told_once_as_they_are_used(text: str, uses: tuple[Use, ...], names: list[str]) -> None:
    assert [reference.name for reference in references(text, *uses)] == names


def test_a_reference_is_a_name_and_nothing_more() -> None:
    assert is_reference(f"({A}.x)")
    assert is_reference("device.driver")
    assert not is_reference(A)
    assert not is_reference(f"has({A}.x)")
    assert not is_reference(f"{A}.x == 1")


def test_strings_are_all_constants_of_the_expression() -> None:
    assert strings(f"{A}.x == 'a' || y in ['b', \"c\"]") == {"d", "a", "b", "c"}


def test_names_change_where_they_are_names() -> None:
    [reference] = references(f"{A}.modle == 'modle'")
    text = f"'modle' in {A} && has({A}.modle) && {A}.modle == 'modle' // modle"
    assert renamed(text, reference, "model") == (f"\"model\" in {A} && has({A}.model) && {A}.model == 'modle' // modle")
    assert with_domain(f"cel.bind(g, {A}, g.x == 1) && '{A}' != 'd'", "d", "e.f") == (
        f"cel.bind(g, device.attributes[\"e.f\"], g.x == 1) && '{A}' != 'd'"
    )


def test_a_part_is_replaced_or_left_out_and_the_others_stay() -> None:
    text = "(ab == 1 && b == 1) && c // why"
    assert with_clause(text, "b == 1", "b == 2") == "(ab == 1 && b == 2) && c // why"
    assert without_clause(text, "b == 1") == "ab == 1 && c"
    assert without_clause("a", "a") is None
    assert without_clause("a && b", "c") is None


def test_guards_stand_in_front_and_bind_as_meant() -> None:
    [x, y] = references(f"{A}.x == {C}.y")
    assert guarded("a || b", [x]) == f'"x" in {A} && (a || b)'
    assert guarded(f'"x" in {A} && a', [x, y]) == f'"y" in {C} && "x" in {A} && a'
    assert guarded(f'"x" in {A} && a', [x]) is None
    assert for_driver("a ? b : c", "d") == 'device.driver == "d" && (a ? b : c)'
    assert grouped(f"{A}.?x.optMap(v, v).orValue(true)") == f"{A}.?x.optMap(v, v).orValue(true)"
    assert grouped(" (a || b) ") == "(a || b)"
    assert grouped("(a) || (b)") == "((a) || (b))"


@pytest.mark.parametrize(
    ("clause", "published", "retyped"),
    [
        (f'{A}.v == "1.2.3"', "version", f'{A}.v == semver("1.2.3")'),
        (f'{A}.v == "550.54"', "version", f'{A}.v == semver("550.54.0")'),
        (f'{A}.v == "550.54.x"', "version", None),
        (f'{A}.v   !=  "3"', "int", f"{A}.v   !=  3"),
        (f'{A}.v == "x"', "int", None),
        (f'{A}.v == "true"', "bool", f"{A}.v == true"),
        (f"{A}.v == -1", "string", f'{A}.v == "-1"'),
        (f"{A}.v == false", "string", f'{A}.v == "false"'),
        (f"{A}.v == 1", "bool", None),
    ],
)
def test_a_constant_as_the_type_that_is_published(clause: str, published: str, retyped: str | None) -> None:
    compared = comparison(clause)
    assert compared is not None
    assert compared.is_plain
    assert compared.retyped(published) == retyped


def test_what_is_no_comparison_with_a_constant() -> None:
    for text in (f"{A}.v > 1", f"{A}.v == x", f"{A}.v == 1.5", "a || b == 1", "a(", f"{A}.v in [1]"):
        assert comparison(text) is None
    compared = comparison(f"{A}.v.size() == 1")
    assert compared is not None
    assert not compared.is_plain
    assert compared.with_value(2) == f"{A}.v.size() == 2"


def test_a_bound_on_an_amount() -> None:
    clause = f'{C}.memory.compareTo(quantity("96Gi")) >= 0'
    assert with_amount(clause, "80Gi") == f'{C}.memory.compareTo(quantity("80Gi")) >= 0'
    assert with_amount(clause.replace(">=", "<"), "80Gi") is None
    assert with_amount(f"{C}.memory.isInteger()", "80Gi") is None


def test_any_text_can_be_asked_about() -> None:
    for text in ("", "&&", "(", ")", "a && (", "'", "has(", "device.", "cel.bind(a, b)", "\x00", "((((" * 200):
        assert clauses(text)
        assert mentions(text) == ()
        assert grouped(text) == parsed(text).whole().of(text)
