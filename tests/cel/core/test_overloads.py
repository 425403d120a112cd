"""Every overload that Kubernetes declares is called by a case of our own that says what it gives."""

import pytest

from dra_plan.cel import compile_selector
from dra_plan.cel.environment import environment
from dra_plan.cel.format_strings import Checked
from dra_plan.cel.library import optionals
from dra_plan.cel.selector import check
from tests.cel.dynamic import test_library

from .oracle import Oracle
from .test_core import DEVICE, cases

GATES = {"DRAConsumableCapacity": True, "DRAListTypeAttributes": True}
EVERYTHING = environment("1.36", GATES, "stored")

UNCALLED = {overload.id for library in (optionals.AUTHORIZER, optionals.SELECTORS)
            for overloads in library.functions.values() for overload in overloads}  # fmt: skip
"""Nothing in a selector has the type to call these on."""

KUBERNETES = ("semver", "quantity", "cidr", "format.", "includes", "sort", "min()", "max()", ".last()", "unwrap")
ALSO_DIFFERENT = ("1.5", "1u", "9007199254740993", "9223372036854775807", "'UTC'", "optional.of(")
"""What the C++ engine does not know, or rejects: order of static types that differ, optional indices."""


@pytest.mark.parametrize("expression", cases("overloads"))
def test_true(expression: str) -> None:
    selector = compile_selector(expression, feature_gates=GATES)
    assert selector.evaluate(DEVICE, driver="gpu.example.com").match
    assert selector.matches(DEVICE, "gpu.example.com")


def called(checked: Checked) -> set[str]:
    """Overloads that calls were resolved to; not those of calls that several may take."""
    return {found[0].id for found in checked.overloads.values() if len(found) == 1}


def test_every_overload_is_called() -> None:
    declared = {overload.id for overloads in EVERYTHING.functions.values() for overload in overloads}
    library = [text for group in test_library.TRUE.values() for text in group]
    found: set[str] = set()
    for expression in [*cases("true"), *cases("overloads"), *library]:
        found |= called(check(expression, EVERYTHING))
    assert sorted(declared - found - UNCALLED) == []


@pytest.mark.parametrize(
    "expression",
    [text for text in cases("overloads") if not any(part in text for part in (*KUBERNETES, *ALSO_DIFFERENT))],
)
def test_the_oracle_finds_the_same(expression: str) -> None:
    assert Oracle().answer(expression) is True
