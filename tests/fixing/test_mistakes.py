"""`--fix` on mutated manifests: what it wrote is right, nothing else has moved, and there is nothing more to do."""

import random
import re
from typing import Any

import pytest

from dra_plan import releases
from dra_plan.errors import InputError
from dra_plan.manifests.sources import Source
from dra_plan.validation.fixing import FixedInput, fixed
from dra_plan.validation.reading import of_text
from dra_plan.validation.registry import RuleSelection
from dra_plan.validation.rule import Severity
from dra_plan.validation.run import judge

from .mistakes import LAYOUTS, correct, damaged, manifest

TARGET = releases.target(releases.NEWEST)


def fix(text: str) -> FixedInput:
    return fixed(
        [Source("x", text.encode())], lambda reading: judge(reading, TARGET, RuleSelection(("DRA0", "DRA1"))), TARGET
    )


def after(done: FixedInput, text: str) -> str:
    return done.sources[0].after if done.sources else text


def comments(text: str) -> list[str]:
    return sorted(re.findall(r"# (?:above|behind) \d+", text))


def plain(text: str) -> list[Any]:
    return [subject.value for subject in of_text(text, "x").subjects]


def check(number: int) -> None:
    objects, text = manifest(number)
    done = fix(text)
    made = after(done, text)
    errors = [f"{one.code} {one.field} {one.message}" for one in done.judgement.findings if _counts(one.severity)]
    assert errors == []
    want = [{**one, "metadata": {**one["metadata"], "labels": None}} for one in objects]
    assert [{**one, "metadata": {**one["metadata"], "labels": None}} for one in plain(made)] == want
    assert comments(made) == comments(text)
    assert ("\r" in made) == ("\r" in text)
    assert made.endswith("\n") == text.endswith("\n")
    again = fix(made)
    assert (again.sources, again.made) == ([], 0)


def check_damaged(number: int) -> None:
    text = damaged(number)
    try:
        done = fix(text)
    except InputError:
        return  # what can't be read is not fixed
    made = after(done, text)
    assert (made != text) == (done.made > 0)
    again = fix(made)
    assert (again.sources, again.made) == ([], 0)
    assert len(done.judgement.findings) == len(again.judgement.findings)
    assert comments(made) == comments(text)


def _counts(severity: Severity) -> bool:
    return severity >= Severity.WARNING


@pytest.mark.parametrize("number", range(60))
def test_mistakes_are_fixed(number: int) -> None:
    check(number)


@pytest.mark.parametrize("number", range(40))
def test_damage_does_no_harm(number: int) -> None:
    check_damaged(number)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_is_right_is_left_alone(layout: Any) -> None:
    for number in range(5):
        source = random.Random(number)
        text = layout(correct(source), source)
        assert (fix(text).sources, fix(text).made) == ([], 0)


@pytest.mark.long
@pytest.mark.parametrize("number", range(1000))
def test_mistakes_are_fixed_in_a_thousand_files(number: int) -> None:
    check(number)


@pytest.mark.long
@pytest.mark.parametrize("number", range(1000))
def test_damage_does_no_harm_in_a_thousand_files(number: int) -> None:
    check_damaged(number)
