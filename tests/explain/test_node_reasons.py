"""What is told of nodes is true of the objects of the input: taints, labels, resources, ports, cordons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from dra_plan import Cluster
from dra_plan.api.quantity import parse
from tests.conformance import recorded

Object = dict[str, Any]
CORPORA = ("schedule", "volume", "gang", "nodealloc")


def told(case: Object) -> Iterator[tuple[Object, list[Object], Object]]:
    """Each pod that no node takes, with the nodes that are told together and one thing that is in the way there."""
    asked: dict[str, Any] = {"kubernetes_version": "1.36.2", "feature_gates": case.get("featureGates")}
    nodes = {each["metadata"]["name"]: each for each in case["objects"] if each["kind"] == "Node"}
    if not nodes:
        return
    for verdict in Cluster.of(case["objects"], **asked).explain().to_dict()["verdicts"]:
        for group in verdict.get("nodes", []):
            about = [one for reason in group["reasons"] for one in reason.get("about", [])]
            yield from ((verdict, [nodes[name] for name in group["nodes"]], one) for one in about)


def pod_of(case: Object, verdict: Object) -> Object:
    name = (verdict["namespace"], verdict["name"])
    pods = [each for each in case["objects"] if each["kind"] == "Pod"]
    return next(pod for pod in pods if (pod["metadata"].get("namespace", "default"), pod["metadata"]["name"]) == name)


def is_true(case: Object, verdict: Object, nodes: list[Object], one: Object) -> bool:
    labels = [node["metadata"].get("labels", {}) for node in nodes]
    match one["kind"]:
        case "Taint":
            taints = [node["spec"].get("taints", []) for node in nodes]
            same = [{"value": "", **taint} for each in taints for taint in each]
            return len([taint for taint in same if one["taint"].items() <= taint.items()]) >= len(nodes)
        case "Cordoned":
            return all(node["spec"].get("unschedulable") for node in nodes)
        case "Label" if one["label"] != "metadata.name":
            found = Counter(each[one["label"]] for each in labels if one["label"] in each)
            known = {each["value"]: each["nodes"] for each in one.get("found", [])}
            without = sum(one["label"] not in each for each in labels)
            wrong = one["operator"] == "In" and bool(set(found) & set(one["values"]))
            return known == dict(found) and one.get("without", 0) == without and not wrong
        case "Resource":
            has = [node["status"]["allocatable"].get(one["resource"], "0") for node in nodes]
            if one["resource"] == "pods":
                return True
            most = max(parse(amount).nano for amount in has)
            fits = parse(one["need"]).nano <= parse(one["left"]).nano
            return (
                parse(one["room"]).nano == most
                and not fits
                and (parse(one["need"]).nano > most) == one.get("never", False)
            )
        case "Port":
            containers = pod_of(case, verdict)["spec"]["containers"]
            wanted = [port.get("hostPort") for each in containers for port in each.get("ports", [])]
            return one["port"] in wanted
        case "VolumeInUse":
            return is_used(case, verdict, one)
        case "VolumeLimit":
            limits = [limit_of(case, node["metadata"]["name"], one["resource"]) for node in nodes]
            return int(one["room"]) == max(limits) and int(one["need"]) > int(one["left"])
    return True


def is_used(case: Object, verdict: Object, one: Object) -> bool:
    """Whether the pod that is named has the claim, or a disk of the kind."""
    own, pods = pod_of(case, verdict), [each for each in case["objects"] if each["kind"] == "Pod"]
    [user] = [
        each
        for each in pods
        if f"{each['metadata'].get('namespace', 'default')}/{each['metadata']['name']}" == one["pod"]
    ]
    if not one.get("claim"):
        return all(any(one["volume"] in volume for volume in each["spec"]["volumes"]) for each in (own, user))
    named = [
        {
            volume["persistentVolumeClaim"]["claimName"]
            for volume in each["spec"]["volumes"]
            if "persistentVolumeClaim" in volume
        }
        for each in (own, user)
    ]
    claims = [each for each in case["objects"] if each["kind"] == "PersistentVolumeClaim"]
    [claim] = [
        each
        for each in claims
        if (each["metadata"].get("namespace", "default"), each["metadata"]["name"])
        == (verdict["namespace"], one["claim"])
    ]
    return one["claim"] in named[0] & named[1] and "ReadWriteOncePod" in claim["spec"]["accessModes"]


def limit_of(case: Object, node: str, driver: str) -> int:
    [found] = [each for each in case["objects"] if each["kind"] == "CSINode" and each["metadata"]["name"] == node]
    return int(next(each["allocatable"]["count"] for each in found["spec"]["drivers"] if each["name"] == driver))


def check(corpus: str, every: int) -> Counter[str]:
    kinds: Counter[str] = Counter()
    for case in recorded.cases(corpus, every):
        for verdict, nodes, one in told(case):
            assert is_true(case, verdict, nodes, one), (case["id"], verdict["name"], one)
            kinds[one["kind"]] += 1
    return kinds


@pytest.mark.parametrize("corpus", CORPORA)
def test_reasons_are_true(corpus: str) -> None:
    assert check(corpus, 6)


@pytest.mark.long
@pytest.mark.parametrize("corpus", CORPORA)
def test_reasons_are_true_in_whole_corpora(corpus: str) -> None:
    kinds = check(corpus, 1)
    if corpus == "schedule":
        assert {"Taint", "Label", "Resource", "Devices"} <= set(kinds), kinds
    if corpus == "volume":
        assert {"Volume", "VolumeInUse", "VolumeLimit"} <= set(kinds), kinds
