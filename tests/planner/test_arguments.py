"""What the Python functions are given by mistake is rejected with a DraPlanError that names the argument."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

import pytest

import dra_plan
from dra_plan import Cluster, DraPlanError
from tests.build import claim, node, request
from tests.cli.running import ROOT

OBJECTS = list(dra_plan.load([ROOT / "fixtures" / "quickstart"]))
CLUSTER = Cluster.of(OBJECTS)
HUGE = 10**5000
"""An integer that Python can't write."""


WRONG: dict[str, Callable[[Any], object]] = {
    "objects": dra_plan.allocate,
    "claims": lambda wrong: dra_plan.allocate([*OBJECTS, claim("z", request(count=wrong))]),
    "labels": lambda wrong: dra_plan.allocate([*OBJECTS, node("x", metadata={"labels": wrong})]),
    "paths": dra_plan.load,
    "one path": lambda wrong: dra_plan.load([wrong]),
    "paths of a cluster": Cluster.load,
    "what to validate": dra_plan.validate,
    "one to validate": lambda wrong: dra_plan.validate([wrong]),
    "version": lambda wrong: dra_plan.allocate(OBJECTS, kubernetes_version=wrong),
    "version of another cluster": lambda wrong: CLUSTER.at(wrong or {}),
    "gates": lambda wrong: dra_plan.allocate(OBJECTS, feature_gates=wrong or 0),
    "gate": lambda wrong: dra_plan.allocate(OBJECTS, feature_gates={"DRAAdminAccess": wrong}),
    "name of a gate": lambda wrong: dra_plan.allocate(OBJECTS, feature_gates={_key(wrong): True}),
    "quirks": lambda wrong: dra_plan.allocate(OBJECTS, quirks=wrong),
    "owner": CLUSTER.allocate,
    "owner to schedule": CLUSTER.schedule,
    "nodes": lambda wrong: CLUSTER.allocate(nodes=wrong or 0),
    "node": lambda wrong: CLUSTER.explain(nodes=[wrong]),
    "node of pools": lambda wrong: CLUSTER.pools([wrong]),
    "namespace": lambda wrong: CLUSTER.allocate(namespace=wrong or 0),
    "selector": lambda wrong: CLUSTER.allocate(selector=wrong or 0),
    "together": lambda wrong: CLUSTER.allocate(together=wrong),
    "steps": lambda wrong: CLUSTER.allocate(max_steps=wrong or 0),
    "steps of schedule": lambda wrong: CLUSTER.schedule(max_steps=wrong or 0),
    "timeout": lambda wrong: CLUSTER.explain(timeout=[wrong]),  # type: ignore[arg-type]
    "jobs": lambda wrong: CLUSTER.allocate(jobs=wrong),
    "progress": lambda wrong: CLUSTER.allocate(progress=wrong or 0),
    "probe": lambda wrong: CLUSTER.allocate("train", nodes="gpu-a", probe=wrong or 0),
    "devices": lambda wrong: CLUSTER.explain(devices=[wrong]),
    "then": lambda wrong: CLUSTER.schedule(then=wrong),
    "one state": lambda wrong: CLUSTER.schedule(then=[wrong]),
    "config": lambda wrong: CLUSTER.schedule(config=wrong or 0),
    "snapshot": lambda wrong: Cluster.load([], snapshot=wrong or 0),
    "gates that are reported": CLUSTER.reported,
    "edit": CLUSTER.edited,
    "extender": lambda wrong: CLUSTER.schedule(extenders=[wrong]),
    "extenders": lambda wrong: CLUSTER.schedule(extenders=wrong or 0),
    "plugins": lambda wrong: CLUSTER.schedule(plugins=wrong or 0),
    "plugin": lambda wrong: CLUSTER.schedule(plugins={"Mine": wrong or 0}),  # type: ignore[arg-type]
    "API server": lambda wrong: CLUSTER.schedule(api_server=wrong or "no"),
    "order": lambda wrong: CLUSTER.schedule(order=wrong or "no"),
    "select": lambda wrong: CLUSTER.validate(select=[wrong]),
    "ignore": lambda wrong: CLUSTER.validate(ignore=wrong or 0),
    "selector to compile": dra_plan.cel.compile_selector,
    "owner to copy": CLUSTER.capacity,
    "limit of copies": lambda wrong: CLUSTER.capacity("train", limit=wrong or 0),
    "cordoned node": CLUSTER.cordon,
    "drained node": CLUSTER.drain,
    "object left out": CLUSTER.without,
    "number of nodes": lambda wrong: CLUSTER.add_nodes(wrong, like="gpu-a"),
    "model of nodes": lambda wrong: CLUSTER.add_nodes(2, like=wrong),
}


MAY_BE = [
    ("version", 5.5),
    ("version", None),
    ("version of another cluster", 5.5),
    ("labels", None),
    ("claims", None),
]
"""What is no mistake: a version as a number or none at all, values that a field may have."""


def _key(wrong: Any) -> Any:
    return wrong if isinstance(wrong, int | float) or wrong is None else 5


@pytest.mark.parametrize("wrong", [None, 5.5, [[5]], b"x", HUGE], ids=["None", "number", "list", "bytes", "huge"])
@pytest.mark.parametrize("argument", WRONG)
def test_a_wrong_type_is_refused(argument: str, wrong: Any) -> None:
    if (argument, wrong) in MAY_BE:
        return
    with pytest.raises(DraPlanError) as caught:
        WRONG[argument](wrong)
    assert 0 < len(str(caught.value)) < 1000


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: CLUSTER.allocate(max_steps=-1), "max_steps: expected a whole number of at least 1, got -1"),
        (lambda: CLUSTER.allocate(max_steps=True), "max_steps: expected a whole number, got True"),
        (lambda: CLUSTER.schedule(max_steps=0), "max_steps: expected a whole number of at least 1, got 0"),
        (lambda: CLUSTER.allocate(timeout=-0.1), "timeout: expected a number of seconds, at least 0, got -0.1"),
        (lambda: CLUSTER.allocate(timeout=float("nan")), "timeout: expected a number of seconds, at least 0, got nan"),
        (lambda: CLUSTER.allocate(jobs=0), "jobs: expected a whole number of at least 1, got 0"),
        (lambda: CLUSTER.allocate(together="no"), "together: expected True or False, got 'no'"),  # type: ignore[arg-type]
        (lambda: CLUSTER.at(feature_gates={"A": 1}), "feature_gates: A: expected True or False, got 1"),
        (lambda: CLUSTER.at(feature_gates={"A": "true"}), "expected True or False, got 'true'"),  # type: ignore[dict-item]
        (lambda: CLUSTER.allocate(nodes=HUGE), "nodes: expected a name or several, got a number of 16610 bits"),  # type: ignore[arg-type]
        (lambda: CLUSTER.allocate(""), "'' is not a name"),
        (lambda: CLUSTER.reported({"A": 1}), "gates: A: expected True or False, got 1"),
        (lambda: CLUSTER.edited("drain"), "edits: expected edits, got 'drain'"),  # type: ignore[arg-type]
        (lambda: CLUSTER.schedule(extenders=["x"]), "extenders: expected extenders, got 'x'"),  # type: ignore[list-item]
        (lambda: Cluster.load([], snapshot="x"), "snapshot: expected a Snapshot, got 'x'"),  # type: ignore[arg-type]
    ],
)
def test_the_argument_is_named(ask: Callable[[], object], said: str) -> None:
    with pytest.raises(dra_plan.UsageError) as caught:
        ask()
    assert said in str(caught.value)


def test_a_time_that_no_machine_reaches_is_no_limit() -> None:
    assert CLUSTER.allocate(timeout=HUGE).to_dict() == CLUSTER.allocate().to_dict()


def test_values_that_no_manifest_can_hold_are_faults() -> None:
    for value in (datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC), object(), {1, 2}):
        with pytest.raises(DraPlanError, match=r"labels"):
            dra_plan.allocate([*OBJECTS, node("x", metadata={"labels": value})])
