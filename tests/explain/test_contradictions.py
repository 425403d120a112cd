"""Requirements that no node can meet together: of the pod for labels, and of its volumes for places."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from dra_plan import Cluster
from dra_plan.api.core import NodeSelectorRequirement, NodeSelectorTerm
from dra_plan.api.selectors import term_matches
from dra_plan.questions.explain.contradictions import conflict
from tests.build import CSI, HOST, ZONE, Object, mounts, node, pod, storage_class, volume, volume_claim

from .test_remedies import changes, helps, told

NODES = [node(name, labels={ZONE: name}) for name in ("a", "b", "c")]


def text(objects: list[Object]) -> str:
    return " ".join(str(Cluster.of(objects).explain("pod/p")).split())


def terms(*of: list[Object]) -> Object:
    required = {"nodeSelectorTerms": [{"matchExpressions": term} for term in of]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}


def zone(*values: str, operator: str = "In") -> Object:
    return {"key": ZONE, "operator": operator, "values": list(values)}


# -- labels ------------------------------------------------------------------------------------------------------------


def test_two_expressions_of_one_term() -> None:
    objects = [*NODES, pod("p", affinity=terms([zone("a"), zone("b")]))]
    said = text(objects)
    assert f"asks for {ZONE}=a and {ZONE}=b: no node can have both" in said
    assert said.count("Waiting will not help") == 1
    assert "wants" not in said
    verdict = told(objects, "pod/p")
    assert changes(verdict) == [["merge-node-requirements"]]
    helps(objects, "pod/p", verdict["suggestions"][0])


def test_a_selector_against_an_affinity() -> None:
    objects = [*NODES, pod("p", nodeSelector={ZONE: "a"}, affinity=terms([zone("b", "c")]))]
    assert f"nodeSelector and node affinity ask for {ZONE}=a and {ZONE} in (b, c): no node can have both" in text(
        objects
    )
    verdict = told(objects, "pod/p")
    assert verdict["suggestions"][0]["changes"][0]["values"] == ["a", "b", "c"]
    helps(objects, "pod/p", verdict["suggestions"][0])


def test_another_obstacle_is_still_told_and_met() -> None:
    small = [node(name, labels={ZONE: name}, cpu="4") for name in ("a", "b")]
    objects = [*small, pod("p", cpu="6", affinity=terms([zone("a"), zone("b")]))]
    assert "2 nodes (a, b): cpu: needs 6, 4 of 4 free" in text(objects)
    verdict = told(objects, "pod/p")
    assert changes(verdict) == [["merge-node-requirements", "lower-request"]]
    helps(objects, "pod/p", verdict["suggestions"][0])


@pytest.mark.parametrize(
    "asked",
    [
        terms([zone("a"), zone("b")], [zone("d")]),
        terms([zone("a", "b"), zone("b", "d")]),
        terms([zone("d")]),
        terms([{"key": "x", "operator": "Exists"}, {"key": "y", "operator": "DoesNotExist"}]),
    ],
    ids=["another term", "a common value", "one value", "two labels"],
)
def test_what_some_node_could_meet_is_no_contradiction(asked: Object) -> None:
    taken = [each for each in NODES if each["metadata"]["name"] != "b"]
    verdict = told([*taken, pod("p", affinity=asked)], "pod/p")
    assert verdict["verdict"] == "Unschedulable"
    assert not verdict.get("labelConflict")


def test_a_conflict_is_what_no_value_meets() -> None:
    """Every set of up to three requirements, against all values that could make a difference."""
    kinds = [
        ("In", ["1"]),
        ("In", ["1", "2"]),
        ("NotIn", ["1"]),
        ("NotIn", ["2"]),
        ("Exists", []),
        ("DoesNotExist", []),
    ]
    kinds += [("Gt", ["1"]), ("Lt", ["2"])]
    every = [NodeSelectorRequirement("k", operator, values) for operator, values in kinds]
    for asked in (each for size in (1, 2, 3) for each in itertools.combinations(every, size)):
        term = NodeSelectorTerm(match_expressions=list(asked))
        possible = [None, *map(str, range(-1, 5)), "x"]
        is_met = any(term_matches(term, "n", {} if one is None else {"k": one}) for one in possible)
        found = conflict(asked)
        assert not (is_met and found), asked
        if not {"Gt", "Lt"} <= {one.operator for one in asked}:
            assert bool(found) is not is_met, asked


# -- volumes -----------------------------------------------------------------------------------------------------------


def in_zones(data: str, wal: str, mode: str = "Immediate", *more: Object) -> list[Object]:
    made = [
        volume(f"pv-{name}", phase="Bound", zone=at, csi={"driver": CSI, "volumeHandle": name})
        for name, at in (("data", data), ("wal", wal))
    ]
    claims = [volume_claim(name, bound=f"pv-{name}", of="fast") for name in ("data", "wal")]
    return [*NODES, storage_class("fast", mode=mode), *more, *made, *claims, pod("p", volumes=mounts("data", "wal"))]


def test_volumes_in_two_zones() -> None:
    said = text(in_zones("a", "b", "Immediate", storage_class("slow")))
    assert (
        "Its volumes are in different zones (data: a; wal: b): no node can reach both. Waiting will not help." in said
    )
    assert "StorageClass fast binds a claim at once, wherever its pod can run (volumeBindingMode Immediate)." in said
    assert "with a class that waits for the pod (WaitForFirstConsumer), such as slow." in said
    assert said.count("Waiting will not help") == 1
    assert "pv-data" not in said


def test_volumes_of_a_class_that_waits() -> None:
    said = text(in_zones("a", "b", "WaitForFirstConsumer"))
    assert "so that both volumes are in the same place." in said
    assert "Immediate" not in said


@pytest.mark.parametrize(("data", "wal"), [("a b", "b c"), ("d", "d")])
def test_volumes_with_a_zone_in_common(data: str, wal: str) -> None:
    objects = [each for each in in_zones(data, wal) if each["metadata"]["name"] != "b"]
    verdict = told(objects, "pod/p")
    assert verdict["verdict"] == "Unschedulable"
    assert not verdict.get("volumesApart")


def test_volumes_of_two_hosts() -> None:
    made = [volume(f"pv-{at}", phase="Bound", on=at) for at in "ab"]
    claims = [volume_claim(name, bound=f"pv-{at}") for name, at in (("data", "a"), ("wal", "b"))]
    hosts = [node(name, labels={HOST: name}) for name in "ab"]
    said = text([*hosts, storage_class(), *made, *claims, pod("p", volumes=mounts("data", "wal"))])
    assert "Its volumes are on different nodes (data: a; wal: b)" in said


def test_a_class_that_makes_volumes_elsewhere() -> None:
    made = volume("pv-data", phase="Bound", zone="a", csi={"driver": CSI, "volumeHandle": "h"})
    wants = volume_claim("wal", of="far")
    far: Any = storage_class("far", CSI, "WaitForFirstConsumer", {ZONE: ["b"]})
    objects = [*NODES, storage_class(), far, made, volume_claim("data", bound="pv-data"), wants]
    assert "(data: a; wal: b): no node can reach both" in text([*objects, pod("p", volumes=mounts("data", "wal"))])
