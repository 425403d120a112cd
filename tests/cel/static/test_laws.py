"""What holds for every expression, tried on mutated recorded selectors, and laws of types."""

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dra_plan.cel.ast import nodes
from dra_plan.cel.cost import MOST
from dra_plan.cel.environment import environment
from dra_plan.cel.estimate import estimate
from dra_plan.cel.lexer import CelCompileError, tokenize
from dra_plan.cel.selector import check
from dra_plan.cel.types import (
    ANY,
    BOOL,
    DURATION,
    DYN,
    INT,
    NULL,
    QUANTITY,
    STRING,
    TYPE,
    Bindings,
    equivalent,
    list_of,
    map_of,
    optional_of,
)

RECORDED = Path(__file__).parents[2] / "conformance"
SCOPES = [
    environment("1.36", {}, "stored"),
    environment("1.36", {"DRAListTypeAttributes": True}, "stored"),
    environment("1.34", {}, "new"),
]
EXTRA = [".?", "[?", "?", "null", "0u", "1.5", '"\\xZ"', "b'x'", "r'('", "`a`", "@", "\\", '"', "optMap", "cel.bind("]


def recorded() -> list[list[str]]:
    with gzip.open(RECORDED / "cel.jsonl.gz", "rt", encoding="utf-8") as lines:
        expressions = [json.loads(line)["expression"] for line in lines]
    return [[token.text for token in tokenize(expression)[0][:-1]] for expression in expressions[:400]]


TOKENS = recorded()
PIECES = st.one_of(
    st.sampled_from([word for words in TOKENS for word in words]).map(lambda word: [word]),
    st.sampled_from(EXTRA).map(lambda word: [word]),
    st.sampled_from(TOKENS).flatmap(lambda words: st.integers(0, len(words)).map(lambda at: words[at : at + 6])),
)


@st.composite
def mutated(draw) -> str:
    words = list(draw(st.sampled_from(TOKENS)))
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(words)))
        words[at : at + draw(st.integers(0, 2))] = draw(PIECES)
    return draw(st.sampled_from(["", " "])).join(words)


def assert_sound(expression: str) -> None:
    """Every environment either rejects with a CelCompileError or gives every node a type and a bounded cost."""
    for scope in SCOPES:
        try:
            checked = check(expression, scope)
        except CelCompileError:
            continue
        for node in nodes(checked.root):
            assert node.id in checked.types
            assert 0 <= node.offset <= len(expression)
        assert 0 <= estimate(checked, scope) <= MOST


@given(mutated())
@settings(max_examples=300, deadline=None)
def test_every_expression_is_refused_or_sound(expression):
    assert_sound(expression)


@pytest.mark.long
@given(mutated())
@settings(max_examples=10_000, deadline=None)
def test_very_many_expressions_are_refused_or_sound(expression):
    assert_sound(expression)


@given(st.text(max_size=60))
@settings(max_examples=200, deadline=None)
def test_every_text_is_refused_or_sound(text):
    assert_sound(text)


PLAIN = st.sampled_from([ANY, BOOL, DURATION, DYN, INT, NULL, QUANTITY, STRING, TYPE])
TYPES = st.recursive(
    PLAIN,
    lambda inner: st.one_of(
        inner.map(list_of), inner.map(optional_of), st.tuples(inner, inner).map(lambda two: map_of(*two))
    ),
)


@given(TYPES)
def test_a_type_may_stand_for_itself(of):
    assert Bindings().assign(of, of)
    assert equivalent(of, of)


@given(TYPES)
def test_anything_may_stand_for_dyn_and_dyn_for_anything(of):
    assert Bindings().assign(of, DYN)
    assert Bindings().assign(DYN, of)


@given(TYPES, TYPES)
def test_a_parameter_is_bound_to_what_is_given(first, second):
    bindings = Bindings()
    parameter = bindings.fresh()
    assert bindings.assign(first, parameter)
    assert bindings.resolve(parameter) == first
    if bindings.assign(second, parameter):
        assert bindings.resolve(parameter) in (first, second) or any(of.params for of in (first, second))


@given(TYPES, TYPES)
def test_a_failed_assignment_leaves_no_trace(first, second):
    bindings = Bindings()
    one, other = bindings.fresh(), bindings.fresh()
    assert bindings.assign(first, one)
    if not bindings.assign_all((second, second, INT), (other, one, STRING)):
        assert bindings.resolve(one) == first
        assert bindings.resolve(other) == other


def test_a_parameter_never_contains_itself():
    bindings = Bindings()
    parameter = bindings.fresh()
    assert not bindings.assign(list_of(parameter), parameter)
