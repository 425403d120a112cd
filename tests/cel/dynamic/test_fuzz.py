"""Nothing that an expression can say breaks out, hangs, fills memory, or ends in anything but a result or an error."""

from __future__ import annotations

import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dra_plan.cel import Evaluation, Selector, compile_selector
from dra_plan.cel.device import as_device
from dra_plan.cel.lexer import CelCompileError, CelRuntimeError
from dra_plan.cel.library.formats import compile_regex
from dra_plan.cel.values import EvaluationError
from tests.limits import at_most

from .expressions import DEVICE, DRIVER, LISTS
from .grammar import TEXTS, expressions

GATES = [{"DRAConsumableCapacity": True, "DRAListTypeAttributes": lists} for lists in (False, True)]
SECONDS = 20
"""Generous: what the tests look for takes for ever."""
MEMORY = 800_000

OUTSIDE = ("open", "exec", "compile", "import", "os.", "subprocess.", "socket.", "shutil.", "ctypes.", "pickle.")


class Watch:
    """What the interpreter was seen to do while somebody watched."""

    on = False
    seen: ClassVar[list[tuple[str, Any]]] = []

    @classmethod
    def hook(cls, event: str, arguments: tuple[Any, ...]) -> None:
        if cls.on and event.startswith(OUTSIDE):
            cls.seen.append((event, arguments[:1]))


@pytest.fixture(scope="session", autouse=True)
def _hooked() -> None:
    """An audit hook stays for the rest of the process, so there is only one, which mostly does nothing."""
    sys.addaudithook(Watch.hook)
    for first in ('"a".matches("a")', 'timestamp(0).getHours("Europe/Berlin") == 1', '"%f".format([1.5]) == ""'):
        compile_selector(first).matches(DEVICE, DRIVER)  # loads what is loaded when it is first needed


@contextmanager
def nothing_outside() -> Iterator[None]:
    """Fail when the interpreter opens a file, imports, compiles or runs code, or talks to the system."""
    Watch.seen.clear()
    Watch.on = True
    try:
        yield
    finally:
        Watch.on = False
    assert Watch.seen == []


def answers(selector: Selector, device: dict[str, Any]) -> list[object]:
    """What the three ways to evaluate say."""
    found: list[object] = []
    for run in (
        lambda: selector.matches(device, DRIVER),
        lambda: selector.evaluate(device, driver=DRIVER).match,
        lambda: selector.explain(device, driver=DRIVER),
    ):
        try:
            found.append(run())
        except CelRuntimeError as error:
            found.append(str(error))
    return found[:2]


@at_most(SECONDS)
def attempt(expression: str) -> None:
    for gates in GATES:
        try:
            selector = compile_selector(expression, feature_gates=gates)
        except CelCompileError:
            continue
        assert 0 <= selector.max_cost < 2**64
        assert selector.reads is None or len(selector.reads) <= len(expression)
        for device in (DEVICE, LISTS) if gates["DRAListTypeAttributes"] else (DEVICE,):
            quick, accounted = answers(selector, device)
            assert quick == accounted
            counted = selector._quickly(as_device(device), DRIVER)
            assert counted is None or Evaluation(*counted) == selector._evaluated(as_device(device), DRIVER)


NO_CHECKS = settings(deadline=None, suppress_health_check=list(HealthCheck))


@settings(NO_CHECKS, max_examples=120)
@given(expressions())
def test_expressions_of_every_function(expression: str) -> None:
    attempt(expression)


@pytest.mark.long
@settings(NO_CHECKS, max_examples=1_500)
@given(expressions(depth=5))
def test_very_many_expressions_of_every_function(expression: str) -> None:
    attempt(expression)


@settings(NO_CHECKS, max_examples=100)
@given(expressions())
def test_evaluation_touches_nothing_outside(expression: str) -> None:
    try:
        selector = compile_selector(expression, feature_gates=GATES[0])
        selector._evaluator  # noqa: B018 - planned before the watch begins
        answers(selector, DEVICE)  # patterns and time zones are loaded when they are first used
    except CelCompileError:
        return
    selector._known.clear()
    with nothing_outside():
        answers(selector, DEVICE)


@pytest.mark.parametrize(
    "text", ["__import__('os').system('true')", "'''\n'''", "c0", "driver", "{0.__class__}", "%(x)s"]
)
def test_text_stays_text(text: str) -> None:
    quoted = '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
    selector = compile_selector(
        f"{quoted} + device.driver == device.driver + {quoted} || {quoted}.size() == {len(text)}"
    )
    assert selector._generated is not None  # made before the watch begins
    with nothing_outside():
        assert selector.matches(DEVICE, DRIVER)


@pytest.mark.parametrize("zone", ["../../../etc/passwd", "/etc/passwd", "..", "a\\b", "a/../b", "\x00", "America", "."])
def test_time_zones_are_no_paths(zone: str) -> None:
    written = zone.replace("\\", "\\\\").replace("\x00", "\\000")
    selector = compile_selector(f"timestamp(0).getHours('{written}') >= 0")
    with pytest.raises(CelRuntimeError, match="unknown time zone"):
        selector.matches(DEVICE, DRIVER)


def repeated(unit: str, size: int, wrap: str = "{}") -> str:
    return wrap.format(unit * (size // len(unit)))


LARGE = {
    "text": repeated("a", 9000, '"{}".size() > 0'),
    "digits": repeated("9", 9000, "{} > 0"),
    "fraction": repeated("9", 9000, "0.{} > 0.5"),
    "exponent": "1e" + "9" * 300 + " > 0.0",
    "hexadecimal": repeated("f", 9000, "0x{} > 0"),
    "list": repeated("1,", 9000, "[{}1].size() > 0"),
    "map": "{" + ",".join(f'"{index}":1' for index in range(900)) + "}.size() == 900",
    "selections": "device.attributes" + ".a" * 4000 + " == 1",
    "indices": "[[1]]" + "[0]" * 3000 + " == 1",
    "conditions": "true ? " * 1000 + "true" + " : false" * 1000,
    "negations": "!" * 9000 + "true",
    "binds": "cel.bind(a, 1, " * 200 + "true" + ")" * 200,
    "folds": "[1].all(x, " * 200 + "true" + ")" * 200,
    "optionals": "optional.of(" * 200 + "1" + ")" * 200 + ".hasValue()",
    "escapes": repeated("\\u00e9", 9000, '"{}".size() > 0'),
    "quotes": '"' * 9001,
    "brackets": "[" * 9000,
    "braces": "{" * 9000,
    "macros": "[1]" + ".map(x, [x, x])" * 500 + ".size() == 1",
    "sums": '"a"' + ' + "a"' * 1500 + ' == "b"',
    "pattern": repeated("(a|b)*", 9000, '"ab".matches("{}c")'),
    "repetition": '"' + "a" * 1000 + '".matches("' + "(x+x+)+" * 300 + 'y")',
    "counted": '"a".matches("' + "a{1000}" * 900 + '")',
    "classes": '"a".matches("' + "[\\\\pL\\\\d]" * 500 + '")',
    "quantity": 'quantity("1' + "0" * 9000 + '") == quantity("1")',
    "quantity exponent": 'quantity("1e999999999").add(quantity("1e-999999999")).isGreaterThan(quantity("1"))',
    "version": 'semver("' + "9" * 9000 + '.0.0").major() == 1',
    "address": 'isIP("' + ":" * 9000 + '")',
    "url": 'isURL("https://' + "[" * 9000 + '")',
    "duration": 'duration("' + "1h" * 4000 + '") > duration("1s")',
    "precision": '"%.999999999f".format([1.0]).size() > 3',
    "precisions": '"' + "%.9999f" * 900 + '".format([' + "1.0," * 900 + "]).size() > 3",
    "reversal": "lists.range(100000).map(x, x).reverse().size() > 3",
    "joined": 'lists.range(1000).map(x, lists.range(1000).map(y, "aaaaaaaaaa").join()).join().size() > 3',
    "squares": "lists.range(3000).all(x, lists.range(3000).all(y, x == y || true))",
    "cubes": "lists.range(900).map(x, lists.range(900).map(y, lists.range(900))).size() > 0",
}


LONGEST = ("joined", "squares", "reversal")
"""What the limits let run for seconds."""


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.long) if n in LONGEST else n for n in LARGE])
def test_large_things_end_in_time_and_memory(name: str) -> None:
    before = peak()
    attempt(LARGE[name])
    assert peak() - before < MEMORY


def peak() -> int:
    """The most memory this process ever had, in kB (bytes on macOS, where the test is therefore stricter)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


@settings(NO_CHECKS, max_examples=200)
@given(st.text(alphabet="ab(|)*+?{,}0123456789[]^-\\pPdDwWsSbBAzQECx.$:i<>", max_size=40))
def test_patterns_compile_or_are_faults(pattern: str) -> None:
    problem = ""
    try:
        compile_regex(pattern).search("aab")
    except EvaluationError as fault:
        problem = str(fault)
    assert problem == "" or (problem.startswith("error parsing regexp: ") and "b'" not in problem)


@settings(NO_CHECKS, max_examples=40)
@given(st.sampled_from(TEXTS), st.integers(1, 12))
def test_doubling_ends(text: str, times: int) -> None:
    doubled = text
    for _ in range(times):
        doubled = f"[{doubled}].map(x, x + x)[0]"
    attempt(f"{doubled}.size() > 0")
