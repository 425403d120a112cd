"""Recorded selectors taken apart and put together anew: all ways to evaluate say the same, whatever is left out."""

from __future__ import annotations

import functools
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dra_plan.cel import Evaluation, Selector, ast, compile_selector
from dra_plan.cel.ast import nodes
from dra_plan.cel.device import as_device, device_value
from dra_plan.cel.interpret import Evaluator
from dra_plan.cel.lexer import CelCompileError, CelRuntimeError
from dra_plan.cel.rewrite import expression_text
from dra_plan.cel.values import EvaluationError, Fatal, begin_work
from tests.conformance.recorded import cases as recorded_cases

Recorded = dict[str, Any]


def gates(case: Recorded) -> dict[str, bool]:
    return {"DRAListTypeAttributes": case["listTypeAttributes"], "DRAConsumableCapacity": True}


@functools.cache
def parts() -> tuple[list[Recorded], dict[str, list[str]]]:
    """The cases, and by type the sub-expressions that use no variable of a comprehension."""
    cases, found = [], dict[str, set[str]]()
    for case in recorded_cases("cel"):
        if len(case["expression"]) > 300:
            continue
        try:
            checked = compile_selector(case["expression"], feature_gates=gates(case))._checked
        except CelCompileError:
            continue
        cases.append(case)
        folds = [node for node in nodes(checked.root) if isinstance(node, ast.Comprehension)]
        bound = {name for fold in folds for name in (fold.iter_var, fold.iter_var2, fold.accu_var)}
        for node in nodes(checked.root):
            names = {inner.name for inner in nodes(node) if isinstance(inner, ast.Ident)}
            if not names & bound:
                found.setdefault(str(checked.types[node.id]), set()).add(expression_text(node))
    return cases, {kind: sorted(texts) for kind, texts in found.items()}


@st.composite
def recombined(draw: st.DrawFn) -> tuple[str, Recorded]:
    """An expression with up to three parts replaced by parts of the same type from others, and its devices."""
    cases, pools = parts()
    case = draw(st.sampled_from(cases))
    text = case["expression"]
    for _ in range(draw(st.integers(1, 3))):
        pool = pools[draw(st.sampled_from(sorted(pools)))]
        inside = [part for part in pool if part in text]
        if inside:
            text = text.replace(draw(st.sampled_from(inside)), f"({draw(st.sampled_from(pool))})", 1)
    return text, case


def outcome(selector: Selector, device: Recorded, driver: str) -> Evaluation | str:
    try:
        return selector.evaluate(device, driver=driver)
    except CelRuntimeError as error:
        return str(error)


def on_everything(selector: Selector, device: Recorded, driver: str, *, lists: bool) -> Evaluation | str:
    """The outcome with the whole device before the evaluator, not only what the expression is said to read."""
    begin_work()
    exact = selector._exact
    try:
        value = device_value(as_device(device), driver, lists=lists, exact_quantities=exact)
        return Evaluation(*Evaluator(selector._checked, exact_quantities=exact).evaluate(value))
    except (EvaluationError, Fatal) as error:
        return str(error)


def assert_agree(text: str, case: Recorded) -> None:
    try:
        selector = compile_selector(text, feature_gates=gates(case))
    except CelCompileError:
        return
    for device in case["devices"]:
        accounted = outcome(selector, device, case["driver"])
        assert outcome(selector, device, case["driver"]) == accounted  # remembered
        try:
            quick: bool | str = selector.matches(device, case["driver"])
        except CelRuntimeError as error:
            quick = str(error)
        assert quick == (accounted if isinstance(accounted, str) else accounted.match)
        if isinstance(accounted, str) and accounted.startswith(("attribute ", "CEL result ")):
            continue  # said before or after the evaluation
        whole = on_everything(selector, device, case["driver"], lists=case["listTypeAttributes"])
        assert whole == accounted
        shown = selector.explain(device, driver=case["driver"])
        assert (shown.error or shown.value) == (quick if isinstance(quick, str) else str(quick).lower())


NO_CHECKS = settings(deadline=None, suppress_health_check=list(HealthCheck))


@settings(NO_CHECKS, max_examples=200)
@given(recombined())
def test_all_ways_to_evaluate_agree(made: tuple[str, Recorded]) -> None:
    assert_agree(*made)


@pytest.mark.long
@settings(NO_CHECKS, max_examples=4_000)
@given(recombined())
def test_all_ways_to_evaluate_agree_on_very_many(made: tuple[str, Recorded]) -> None:
    assert_agree(*made)
