"""`impact` of device taints: who is evicted and when, beside what control planes of 1.36.2 did."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from dra_plan import Cluster
from tests.controllers.recorded import QUIRK, cases, name_of

Plain = dict[str, Any]
TAINTS = ("DeviceTaintRule", "ResourceSlice")
SECONDS = 1.0
"""How far the second of an eviction may be from the recorded one."""


def written(case: Plain) -> list[Plain] | None:
    """The taint rules and slices as they are after the steps; None if the case has other steps than to write them."""
    found: dict[tuple[str, str], Plain] = {}
    for step in case["action"]:
        if "create" in step and step["create"]["kind"] in TAINTS:
            found[step["create"]["kind"], step["create"]["metadata"]["name"]] = step["create"]
        elif "patch" in step and step["patch"][0] in TAINTS:
            kind, name, patch = step["patch"]
            [now] = [obj for obj in case["before"] if (obj["kind"], obj["metadata"]["name"]) == (kind, name)]
            found[kind, name] = merged(found.get((kind, name), now), patch)
        elif "settle" not in step:
            return None
    return list(found.values()) or None


def merged(was: Any, patch: Any) -> Any:
    """A merge patch (RFC 7386)."""
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    now = dict(was) if isinstance(was, dict) else {}
    for key, value in patch.items():
        if value is None:
            now.pop(key, None)
        else:
            now[key] = merged(now.get(key), value)
    return now


def chosen() -> Iterator[Plain]:
    for case in cases("control"):
        if case["family"] == "devicetaint" and written(case) is not None:
            yield case


CASES = {case["id"]: case for case in chosen()}


def evicted(case: Plain) -> tuple[dict[str, float], dict[str, float]]:
    """Of the pods that ran, those that end by a taint, and when: in the cluster, and as `impact` says.

    In three cases a scheduler that never heard of the rule bound pods that waited to tainted devices, and those ended.
    """
    ran = {
        name_of({"namespace": "default", **obj["metadata"]})
        for obj in case["before"]
        if obj["kind"] == "Pod" and obj["spec"].get("nodeName")
    }
    gone = [each for each in case["after"]["gone"] if each["wasBefore"] and each["name"] in ran]
    theirs = {each["name"]: each["second"] for each in gone}
    version = "1.36.2" if case.get("quirk") == QUIRK else "1.36.3"
    gates = {"DRADeviceTaintRules": True}
    cluster = Cluster.of(case["before"], kubernetes_version=version, feature_gates=gates)
    found = cluster.impact(Cluster.of(written(case) or []))
    ours = {}
    for pod in found.document.pods:
        if pod.before is not None and pod.before.running and pod.after is not None and pod.after.ended is not None:
            ours[name_of({"namespace": pod.namespace, "name": pod.name})] = pod.after.ended.second
    return theirs, ours


@pytest.mark.parametrize("name", CASES)
def test_who_is_evicted_and_when(name: str) -> None:
    case = CASES[name]
    theirs, ours = evicted(case)
    last = max([*theirs.values(), 0.0])
    soon = {pod: second for pod, second in ours.items() if pod in theirs or second <= last + SECONDS}
    if "which" in (case.get("chance") or ()):
        assert sorted(map(round, soon.values())) == sorted(map(round, theirs.values()))
        return
    assert soon.keys() == theirs.keys()
    assert all(abs(soon[pod] - second) <= SECONDS for pod, second in theirs.items()), (theirs, soon)


def test_there_are_cases_of_both_kinds() -> None:
    outcomes = [bool(evicted(case)[0]) for case in CASES.values()]
    assert len(outcomes) >= 50
    assert min(outcomes.count(True), outcomes.count(False)) >= 10
