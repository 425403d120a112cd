"""Devices that stand for the node's own resources: what kube-scheduler 1.36.2 does, recorded and rule by rule."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from dra_plan import Cluster, schedule
from dra_plan.scheduler.simulate import advance, simulate
from tests.build import GPU, allocation, claim, device, device_class, node, placed, pod, request, slice_
from tests.scheduler.reading import claim_of, codes, message, outcome, plan, simulation, where

from .scripted import Scripted, run
from .test_recorded import check

RECORDED = Path(__file__).parents[1] / "conformance" / "nodealloc.jsonl.gz"
ON = {"DRANodeAllocatableResources": True}


def read() -> list[dict[str, Any]]:
    with gzip.open(RECORDED, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@pytest.mark.parametrize("case", read(), ids=lambda case: case["id"])
def test_recorded_cases_agree(case: dict[str, Any]) -> None:
    document = schedule(case["objects"], feature_gates=case["featureGates"]).to_dict()
    check(case["expected"], document)
    pods = {f"{entry['namespace']}/{entry['name']}": entry for entry in document["pods"]}
    for wanted in case["expected"]["pods"]:
        assert pods[wanted["pod"]].get("nodeAllocatable", []) == (wanted.get("nodeAllocatable") or [])


def mapped(where: str, *devices: str, driver: str = GPU, **mappings: dict[str, str]) -> dict:
    return slice_(where, *(device(each, nodeAllocatableResourceMappings=mappings) for each in devices), driver=driver)


def using(name: str, *claims: str, cpu: str = "1", by: str | None = None, **options: Any) -> dict:
    """A pod whose container names each of its claims, or only the one that `by` says."""
    made = pod(name, cpu=cpu, claims={one: one for one in claims}, **options)
    named = claims if by is None else [by] if by else []
    made["spec"]["containers"][0]["resources"]["claims"] = [{"name": one} for one in named]
    return made


def taken(document: dict[str, Any], name: str) -> list[tuple[str, dict[str, str]]]:
    entries = outcome(document, name).get("nodeAllocatable", [])
    return [(entry["resourceClaimName"], entry["resources"]) for entry in entries]


def running(name: str, on: str, *entries: dict[str, Any], **options: Any) -> dict:
    made = placed(name, on, **options)
    made["status"]["nodeAllocatableResourceClaimStatuses"] = list(entries)
    return made


def test_what_devices_take_counts_for_the_next_pods() -> None:
    objects = [device_class(), node("n"), mapped("n", "d", cpu={"allocationMultiplier": "6"}), claim("a")]
    document = plan([*objects, using("p", "a"), pod("q", cpu="2")], feature_gates=ON)
    assert where(document) == {"p": "n", "q": None}
    assert taken(document, "p") == [("a", {"cpu": "6"})]
    assert message(document, "q").startswith("0/1 nodes are available: 1 Insufficient cpu.")
    assert "gate-not-simulated" not in codes(document)
    assert where(plan([*objects, using("p", "a"), pod("q", cpu="2")])) == {"p": "n", "q": "n"}


def test_amounts_are_exact_and_keep_their_first_format() -> None:
    capacity = {"gpu.example.com/memory": {"value": "3Gi"}, "gpu.example.com/cores": {"value": "3"}}
    piece = mapped(
        "n",
        "d",
        memory={"capacityKey": "gpu.example.com/memory", "allocationMultiplier": "0.5"},
        cpu={"capacityKey": "gpu.example.com/cores", "allocationMultiplier": "1.5"},
        **{"ephemeral-storage": {"capacityKey": "gpu.example.com/other"}},
    )
    piece["spec"]["devices"][0] |= {"capacity": capacity, "allowMultipleAllocations": True}
    document = plan([device_class(), node("n"), piece, claim("a"), using("p", "a")], feature_gates=ON)
    assert taken(document, "p") == [("a", {"cpu": "4500m", "memory": "1536Mi"})]


def test_devices_are_summed_and_a_missing_multiplier_is_one() -> None:
    piece = mapped("n", "d", "e", cpu={})
    objects = [device_class(), node("n"), piece, claim("a", request(count=2)), using("p", "a")]
    assert taken(plan(objects, feature_gates=ON), "p") == [("a", {"cpu": "2"})]


def test_entries_are_sorted_by_claim() -> None:
    piece = mapped("n", "d", "e", cpu={"allocationMultiplier": "1"})
    objects = [device_class(), node("n"), piece, claim("b"), claim("a"), using("p", "b", "a")]
    assert [name for name, _ in taken(plan(objects, feature_gates=ON), "p")] == ["a", "b"]


def test_a_claim_that_no_container_names_is_refused() -> None:
    piece = mapped("n", "d", "e", cpu={"allocationMultiplier": "1"})
    objects = [device_class(), node("n"), piece, claim("a"), claim("b"), using("p", "a", "b", by="a")]
    told = message(plan(objects, feature_gates=ON), "p")
    assert "1 claim b: node-allocatable resource claim not referenced by any container within the pod." in told


def test_two_pods_alike_are_told_apart_by_their_claims() -> None:
    """An answer that names a claim, or counts the pod's own cpu, is nobody else's."""
    piece = mapped("n", "d", cpu={"allocationMultiplier": "1"})
    objects = [device_class(), node("n"), piece, claim("a"), claim("b")]
    document = plan([*objects, using("p", "a", by=""), using("q", "b", by="")], feature_gates=ON)
    assert "claim a:" in message(document, "p")
    assert "claim b:" in message(document, "q")
    document = plan([*objects, using("p", "a", cpu="8"), using("q", "b", cpu="7")], feature_gates=ON)
    assert where(document) == {"p": None, "q": "n"}


def test_pod_level_requests_have_to_cover_devices() -> None:
    piece = mapped("n", "d", cpu={"allocationMultiplier": "3"})
    objects = [device_class(), node("n"), piece, claim("a")]
    less = plan([*objects, using("p", "a", resources={"requests": {"cpu": "3"}})], feature_gates=ON)
    assert "1 pod level request for cpu is insufficient to cover the aggregated container" in message(less, "p")
    enough = plan(
        [*objects, using("p", "a", resources={"requests": {"cpu": "4"}}), pod("q", cpu="4")], feature_gates=ON
    )
    assert where(enough) == {"p": "n", "q": "n"}


def test_a_claim_in_another_pods_status_is_not_shared() -> None:
    piece = mapped("n", "d", cpu={"allocationMultiplier": "1"})
    stored = claim("a", status={"allocation": allocation("n", "d"), "reservedFor": []})
    entry = {"resourceClaimName": "a", "containers": ["c"], "resources": {"cpu": "1"}}
    objects = [device_class(), node("n"), piece, stored, using("p", "a")]
    one = plan([*objects, running("r", "n", entry)], feature_gates=ON)
    assert "1 node allocatable resource claim a is already used by another pod." in message(one, "p")
    two = plan([*objects, running("r", "n", entry), running("s", "n", entry)], feature_gates=ON)
    assert "1 node allocatable resource claim a shared by multiple pods." in message(two, "p")
    elsewhere = plan([*objects, running("r", "n", entry, namespace="other")], feature_gates=ON)
    assert where(elsewhere)["p"] == "n"
    assert taken(elsewhere, "p") == []


def test_devices_are_found_by_pool_and_name_alone() -> None:
    other = mapped("n", "d", driver="a.example.com", cpu={"allocationMultiplier": "2"})
    objects = [device_class(), node("n"), other, slice_("n", "d"), claim("a"), using("p", "a")]
    assert taken(plan(objects, feature_gates=ON), "p") == [("a", {"cpu": "2"})]


def test_undo_gives_the_node_its_resources_back() -> None:
    piece = mapped("n", "d", cpu={"allocationMultiplier": "6"})
    objects = [device_class(), node("n"), piece, claim("a"), using("p", "a")]
    for point in ("reserve", "permit", "pre_bind"):
        made, result = run(Scripted({point: "reject"}), objects=objects, gates=ON)
        info = made.cluster.nodes["n"]
        assert not info.pods, point
        assert not any(info.requested.values())
        assert info.scored_cpu == info.scored_memory == 0
        assert all(not p.status.node_allocatable_resource_claim_statuses for p in made.cluster.pods.values())
        assert result.pods[0].node == ""


def test_nodes_never_give_more_than_they_have() -> None:
    piece = mapped("n", *(f"d{index}" for index in range(8)), cpu={"allocationMultiplier": "700m"})
    claims = [claim(f"c{index}") for index in range(8)]
    pods = [using(f"p{index}", f"c{index}", cpu="500m") for index in range(8)]
    made = simulation([device_class(), node("n", cpu="5"), piece, *claims, *pods], gates=ON)
    simulate(made)
    info = made.cluster.nodes["n"]
    assert len(info.pods) == 4
    assert info.requested["cpu"] == 4 * 1200


def test_a_later_state_keeps_what_was_decided() -> None:
    piece = mapped("n", "d", cpu={"allocationMultiplier": "6"})
    objects = [device_class(), node("n"), piece, claim("a")]
    made = simulation([*objects, using("p", "a")], gates=ON)
    simulate(made)
    later = simulation([*objects, using("p", "a", labels={"new": "label"})], gates=ON)
    advance(made, made.inventory, later.inventory)
    assert made.cluster.nodes["n"].requested["cpu"] == 7000


def test_the_table_says_what_devices_take() -> None:
    piece = mapped("n", "d", cpu={"allocationMultiplier": "6"}, memory={"allocationMultiplier": "1Gi"})
    answer = schedule([device_class(), node("n"), piece, claim("a"), using("p", "a")], feature_gates=ON)
    assert "TAKES FROM ITS NODE" in str(answer)
    assert "cpu 6, memory 1Gi" in str(answer)
    assert claim_of(answer.to_dict(), "a")["reservedFor"][0]["name"] == "p"


def test_no_container_can_name_the_claim_for_extended_resources() -> None:
    name = "example.com/gpu"
    classes = [device_class(extendedResourceName=name)]
    subject = pod("p", requests={name: "1"})
    plain = plan([*classes, node("n"), slice_("n", "d"), subject], feature_gates=ON)
    assert where(plain) == {"p": "n"}
    document = plan([*classes, node("n"), mapped("n", "d", cpu={}), subject], feature_gates=ON)
    told = (
        "1 claim <extended-resources>: node-allocatable resource claim not referenced by any container within the pod"
    )
    assert told in message(document, "p")


def test_a_device_that_is_not_shared_has_no_consumed_capacity() -> None:
    piece = mapped("n", "d", cpu={"capacityKey": "gpu.example.com/cores"})
    piece["spec"]["devices"][0]["capacity"] = {"gpu.example.com/cores": {"value": "3"}}
    document = plan([device_class(), node("n"), piece, claim("a"), using("p", "a")], feature_gates=ON)
    assert outcome(document, "p")["reason"] == "SchedulerError"
    assert message(document, "p") == (
        'running "DynamicResources" filter plugin: claim default/a, device d: ConsumedCapacity is nil, '
        "but Capacity key 'gpu.example.com/cores' is set in NodeAllocatableResourceMappings for resource cpu"
    )


def test_an_eviction_for_a_device_does_not_wake_the_pod() -> None:
    piece = mapped("n", "d", cpu={"allocationMultiplier": "6"})
    document = plan(
        [device_class(), node("n"), piece, claim("a"), placed("r", "n", cpu="4"), using("p", "a", priority=10)],
        feature_gates=ON,
    )
    assert [entry["pod"] for entry in document["evictions"]] == ["default/r"]
    assert message(document, "p") == "0/1 nodes are available: 1 Insufficient cpu."


def test_capacity_says_what_of_the_node_is_short_for_a_device() -> None:
    objects = [device_class(), node("n", cpu="4"), mapped("n", "d", cpu={"allocationMultiplier": "6"}), claim("a")]
    [item] = Cluster.of(objects, feature_gates=ON).capacity(using("p", "a")).to_dict()["items"]
    [short] = item["nextCopy"]["obstacles"]
    assert (short["plugin"], short["kind"], short["resource"]) == ("DynamicResources", "Resource", "cpu")
    assert (short["message"], short["need"], short["left"]) == ("Insufficient cpu", "7", "4")
