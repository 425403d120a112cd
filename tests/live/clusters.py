"""Dumps of a real control plane 1.36.2, and what the cluster then had: read, compared, and with parts left out.

`clusters.jsonl.gz` holds a cluster a line: its objects; `expected`, what became of its pods and claims; and where
somebody then deleted a pod by hand, the objects `then` and what was `later`.
"""

from __future__ import annotations

import copy
import functools
import gzip
import json
from pathlib import Path
from typing import Any

from dra_plan import Cluster
from dra_plan.api.quantity import parse

Objects = list[dict[str, Any]]


@functools.cache
def _read() -> dict[str, dict[str, Any]]:
    with gzip.open(Path(__file__).parent / "clusters.jsonl.gz", "rt", encoding="utf-8") as lines:
        return {case["name"]: case for case in map(json.loads, lines)}


def names() -> list[str]:
    """The clusters of which is known what became of them."""
    return [name for name, case in _read().items() if "expected" in case]


def case(name: str) -> dict[str, Any]:
    return copy.deepcopy(_read()[name])


def objects(name: str, *, without: tuple[str, ...] = (), only: tuple[str, ...] = ()) -> Objects:
    """The objects of a cluster, without some kinds or only of some."""
    found = case(name)["objects"]
    return [obj for obj in found if obj["kind"] not in without and (not only or obj["kind"] in only)]


def name_of(obj: dict[str, Any]) -> str:
    return f"{obj['metadata']['namespace']}/{obj['metadata']['name']}"


def schedule(given: Objects, **options: Any) -> dict[str, Any]:
    return Cluster.of(given, kubernetes_version="1.36.2").schedule(**options).to_dict()


def difference(expected: dict[str, Any], document: dict[str, Any]) -> str | None:
    """The first pod, in the scheduler's order, that went elsewhere than in the cluster; None without any."""
    wanted = {entry["pod"]: entry for entry in expected["pods"]}
    for pod in document["pods"]:
        name = name_of_entry(pod)
        if name in wanted and _node(wanted[name]) != pod["nodeName"]:
            return name
    return None


def name_of_entry(entry: dict[str, Any]) -> str:
    return f"{entry['namespace']}/{entry['name']}"


def _node(entry: dict[str, Any]) -> str | None:
    """Where the pod ends: there were no kubelets, so those that make room never went, and nobody took their place."""
    return entry.get("node") or entry.get("nominated")


def placed(given: Objects, expected: dict[str, Any], pod: str) -> Objects:
    """The objects with the pod where it was in the cluster, and its claims as they were."""
    [node] = [entry["node"] for entry in expected["pods"] if entry["pod"] == pod]
    claims = {entry["claim"]: entry for entry in expected["claims"]}
    found = copy.deepcopy(given)
    [bound] = [obj for obj in found if obj["kind"] == "Pod" and name_of(obj) == pod]
    bound["spec"]["nodeName"] = node
    user = {"resource": "pods", "name": bound["metadata"]["name"], "uid": bound["metadata"]["uid"]}
    for obj in found:
        known = claims.get(name_of(obj), {}) if obj["kind"] == "ResourceClaim" else {}
        if user["name"] in known.get("reservedFor", ()):
            obj["status"] = {"allocation": known["allocation"], "reservedFor": [user]}
    return found


def bare(value: Any, key: str = "") -> Any:
    """Without nulls and empty containers; quantities by value."""
    if key == "consumedCapacity":
        return {name: parse(amount) for name, amount in (value or {}).items()}
    if isinstance(value, dict):
        cleaned = {name: bare(item, name) for name, item in value.items()}
        return {name: item for name, item in cleaned.items() if item not in (None, {}, [])}
    return [bare(item) for item in value] if isinstance(value, list) else value


def check(expected: dict[str, Any], document: dict[str, Any]) -> None:
    """All pods of the document are where, and all claims what, they were in the cluster; the evicted are the same."""
    wanted = {entry["pod"]: entry for entry in expected["pods"]}
    leaving = {name for name, entry in wanted.items() if entry.get("leaving")}
    evicted = {entry["pod"] for entry in document["evictions"]}
    assert evicted.isdisjoint(wanted.keys() - leaving)
    assert leaving <= evicted | {name_of_entry(pod) for pod in document["pods"]}
    for pod in document["pods"]:
        entry = wanted[name_of_entry(pod)]
        assert pod["nodeName"] == _node(entry), pod
        assert pod["nodeName"] or pod["message"] == entry.get("message"), pod
    unsettled = evicted | {name for name, entry in wanted.items() if _node(entry) != entry.get("node")}
    claims = {entry["claim"]: entry for entry in expected["claims"]}
    for claim in document["claims"]:
        users = sorted(user["name"] for user in claim["reservedFor"])
        if unsettled.isdisjoint(f"{claim['namespace']}/{user}" for user in users):
            entry = claims[_known(claims, claim)]
            assert bare(claim["allocation"]) == bare(entry.get("allocation")), claim
            assert users == sorted(entry.get("reservedFor", [])), claim


def _known(claims: dict[str, dict[str, Any]], claim: dict[str, Any]) -> str:
    """The name of a claim in the cluster; one that the scheduler makes itself ends in five letters by chance."""
    name = name_of_entry(claim)
    if name.endswith("-xxxxx"):
        [name] = [known for known in claims if known[:-5] == name[:-5]]
    return name
