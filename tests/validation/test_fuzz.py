"""Broken manifests: an answer or a plain rejection, soon, and in little memory."""

import contextlib
import io
import resource
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dra_plan
from dra_plan import releases
from dra_plan.errors import DraPlanError
from dra_plan.manifests.load import load
from dra_plan.questions.validate.answer import ValidationReport, report
from dra_plan.questions.validate.text import FORMATS
from dra_plan.validation.reading import read
from dra_plan.validation.registry import RuleSelection
from tests.limits import ended_after

from .mutations import mutated, samples

TEXTS = samples()
SECONDS = 20
"""For one input; a slow machine needs under a second."""
MEGABYTES = 600
"""What a whole run may add to the process."""


def judge(text: str) -> ValidationReport | None:
    """Through validate and all its tables; None if it was rejected."""
    with ended_after(SECONDS):
        try:
            reading = read(["-"], stdin=io.BytesIO(text.encode()))
        except DraPlanError:
            return None
        judged = report(reading, releases.target(), RuleSelection())
        document = judged.document
        for form in (FORMATS.table, FORMATS.wide):
            assert form(document, None)
        FORMATS.name(document)
    return judged


def load_it(text: str) -> None:
    with ended_after(SECONDS), contextlib.suppress(DraPlanError):
        load(["-"], stdin=io.BytesIO(text.encode()))


def check(seeds: range, run: Callable[[str], Any]) -> int:
    """Runs all seeds; how many were answered rather than rejected. A failure names its seed."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    answered = 0
    for seed in seeds:
        try:
            answered += run(mutated(seed, TEXTS)) is not None
        except Exception as error:
            raise AssertionError(f"seed {seed}: {type(error).__name__}") from error
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert grown < MEGABYTES
    return answered


def test_validate() -> None:
    answered = check(range(250), judge)
    assert 80 < answered < 250


def test_loader() -> None:
    check(range(250), load_it)


@pytest.mark.long
@pytest.mark.parametrize("part", range(8))
def test_validate_at_length(part: int) -> None:
    check(range(10_000 + part * 1000, 10_000 + (part + 1) * 1000), judge)


@pytest.mark.long
@pytest.mark.parametrize("part", range(4))
def test_loader_at_length(part: int) -> None:
    check(range(50_000 + part * 1000, 50_000 + (part + 1) * 1000), load_it)


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)
kinds = st.sampled_from(["ResourceSlice", "DeviceClass", "ResourceClaim", "ResourceClaimTemplate", "Pod", "Deployment"])


@settings(max_examples=150, deadline=None)
@given(kinds, plain, plain, st.sampled_from(["v1", "v1beta1", "v1beta2", "v1alpha3"]))
def test_objects_of_any_shape(kind: str, metadata: Any, spec: Any, version: str) -> None:
    """Plain objects need not come from a file: every value that Python can hold there is judged."""
    group = {"Pod": "v1", "Deployment": "apps/v1"}.get(kind, f"resource.k8s.io/{version}")
    judged = dra_plan.validate({"apiVersion": group, "kind": kind, "metadata": metadata, "spec": spec})
    assert judged.findings
    judged.to_dict()
