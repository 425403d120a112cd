"""The document: valid by its schema, with and without a trace; and the tables made of it."""

from __future__ import annotations

import copy

import jsonschema
import msgspec
import pytest

from dra_plan.questions import schema as schemas
from dra_plan.questions.schedule.document import ScheduleDocument
from dra_plan.questions.schedule.text import FORMATS
from dra_plan.text.formats import parse
from tests.build import claim, gpus, node, placed, pod, template
from tests.scheduler import reading
from tests.scheduler.reading import plan

from .test_recorded import CASES

VALIDATOR = jsonschema.Draft202012Validator(schemas.load("SchedulePlan"))


@pytest.mark.parametrize("case", CASES[::17], ids=lambda case: case["id"])
@pytest.mark.parametrize("trace", [False, True])
def test_documents_meet_the_schema(case, trace):
    document = plan(case["objects"], trace=trace)
    VALIDATOR.validate(document)
    assert ("trace" in document) is trace


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("kind",), "Plan"),
        (("apiServer",), "imaginary"),
        (("pods", 0, "outcome"), "Maybe"),
        (("pods", 0, "extra"), 1),
        (("claims", 0, "allocation"), {}),
    ],
)
def test_the_schema_refuses_what_is_no_plan(path, value):
    document = copy.deepcopy(plan([*gpus("a"), claim("c"), pod("p", claims={"x": "c"})]))
    VALIDATOR.validate(document)
    place = document
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    assert not VALIDATOR.is_valid(document)


def shown(form, document):
    return parse(form, FORMATS)(msgspec.convert(document, ScheduleDocument), None)


def cluster() -> list[dict]:
    return [
        *gpus("a", "b", each=1),
        template("t"),
        placed("old", "a"),
        pod("p1", templates={"x": "t"}),
        pod("p2", cpu="20"),
        pod("p3", schedulingGates=[{"name": "later"}]),
    ]


def test_outcomes_have_one_word_each():
    objects = [*cluster(), pod("done", status={"phase": "Succeeded"}), pod("mine", schedulerName="other")]
    document = plan(objects)
    assert {entry["name"]: entry["outcome"] for entry in document["pods"]} == {
        "done": "Skipped",
        "mine": "Skipped",
        "old": "Bound",
        "p1": "Bound",
        "p2": "Unschedulable",
        "p3": "Gated",
    }


REFUSAL = (
    "0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate, "
    "preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."
)
NEWS = f"""\
default/p1    Bound           b      gpu.example.com: gpu-0   -
default/p2    Unschedulable   -      -                        {REFUSAL}
default/p3    Gated           -      -                        waiting for scheduling gates: [later]
"""
PODS = f"""\
POD           OUTCOME         NODE   DEVICES                  MESSAGE
default/old   Bound           a      -                        -
{NEWS}"""
TARGET = "Kubernetes 1.36.3.\n"
TABLE = f"""\
POD          OUTCOME         NODE   DEVICES                  MESSAGE
{"".join(line[:10] + line[11:] + chr(10) for line in NEWS.splitlines())}
1 Bound, 1 Unschedulable, 1 Gated.

Not shown: 1 pod already bound (use -o wide to show it).

{TARGET}"""


def test_table():
    assert shown("table", plan(cluster())) == TABLE


def test_wide_is_a_matrix_of_plugins_and_nodes():
    text = shown("wide", plan(cluster(), trace=True))
    assert text.startswith(PODS)
    matrix = text[text.index("default/p1, attempt 1: b") :].splitlines()
    headers = matrix[2].split()
    assert headers[0] == "NODE"
    assert headers[-1] == "TOTAL"
    assert {"TaintToleration", "NodeResourcesFit", "DynamicResources", "ImageLocality"} <= set(headers)
    assert matrix[3].startswith("a ")
    assert "ok 300" in matrix[3]
    assert "Insufficient cpu" in text


def test_trace_shows_what_woke_a_pod():
    before = [node("a", cpu="1"), placed("old", "a"), pod("p")]
    after = [node("a", cpu="1"), pod("p")]
    text = shown("table", plan(before, then=[after], trace=True))
    assert "default/p, attempt 1: 0/1 nodes are available: 1 Insufficient cpu." in text
    assert "\n  a: NodeResourcesFit: Insufficient cpu\n" in text
    assert "\n  a: passes\n" in text
    assert text.splitlines()[-3].split() == [
        "default/p",
        "AssignedPodDelete",
        "default/old",
        "NodeResourcesFit",
        "active",
    ]


def test_names_are_those_of_bound_pods():
    assert shown("name", plan(cluster())) == "pod/default/old node/a\npod/default/p1 node/b\n"


def test_evictions_are_listed():
    document = plan([node("a", cpu="1"), placed("old", "a"), pod("p", priority=10)])
    assert document["evictions"] == [{"pod": "default/old", "preemptor": "default/p", "node": "a"}]
    assert "EVICTED POD" in shown("table", document)
    assert reading.where(document) == {"p": "a"}
