"""When pods go, and what is said of it: seconds, conditions, events and rejections, as the cluster wrote them."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest

from .recorded import QUIRK, by_hand, cases, name_of, settled

CASES = [
    case
    for case in cases("control")
    if not (case.get("loop") or case.get("unsettled") or case.get("quirk") == QUIRK or case.get("chance"))
]
LATE = 1.0
"""Seconds are compared within this: the server writes whole ones."""
START = 2.0
"""A scheduler that is started needs some time until it preempts."""
DAEMON = {"nt-14"}
"""The DaemonSet controller and the taint manager delete the same pod; who is first is chance."""


def _random(text: str) -> str:
    """Names of pods and claims without their random ends, and uids left out."""
    text = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "UID", text).replace("(combined from similar events): ", "")
    return re.sub(r'^(.*?)"[^"]+"', r'\1"NAME"', text)


@pytest.mark.parametrize("family", sorted({case["family"] for case in CASES}))
def test_seconds_and_conditions_of_pods_that_go(family: str) -> None:
    wrong = {}
    for case in CASES:
        if case["family"] != family or case["id"] in DAEMON:
            continue
        theirs = {g["name"]: g for g in case["after"]["gone"] if g["wasBefore"] and g["name"] not in by_hand(case)}
        ours = {name_of(pod): pod for pod in reversed(settled(case)["evicted"])}
        for name in theirs.keys() & ours.keys():
            reason, message = theirs[name].get("condition") or ("", "")
            if (ours[name].get("reason", ""), ours[name].get("message", "")) != (reason, message):
                wrong[case["id"], name] = ours[name]
            late = START if reason == "PreemptionByScheduler" else LATE
            second = theirs[name].get("second")
            if second is not None and family != "ordered" and abs(ours[name]["second"] - second) > late:
                wrong[case["id"], name] = ours[name]["second"], second
    assert wrong == {}


@pytest.mark.parametrize("family", ["devicetaint", "nodetaint", "quota"])
def test_events(family: str) -> None:
    wrong = {}
    for case in CASES:
        if case["family"] == family:
            theirs = {_shown(*event) for event in case["after"].get("events", ()) if event[2] in NAMED}
            ours = {
                _shown(e["kind"], e["name"], e["reason"], e["message"])
                for e in settled(case)["events"]
                if e["reason"] in NAMED
            }
            if theirs != ours and case["id"] not in SHARERS | TWO_QUOTAS:
                wrong[case["id"]] = theirs ^ ours
    assert wrong == {}


NAMED = {"DeviceTaintManagerEviction", "TaintManagerEviction", "FailedCreate", "FailedResourceClaimCreation"}
SHARERS = {"dt-68", "dt-69"}
"""Of pods that share a claim the successors of the first race with the eviction of the last."""
TWO_QUOTAS = {"q-g19"}
"""Which of two quotas a message names is chance."""


def _shown(kind: str, name: str, reason: str, message: str) -> tuple[str, str, str]:
    owner = "Deployment" if kind == "ReplicaSet" else kind
    return owner, reason, _random(message if "Marking" not in message else message.partition(" Pod ")[0])


def test_conditions_of_device_taint_rules() -> None:
    """A rule is Completed ten seconds after its last eviction; recordings that ended earlier still say how many go."""
    compared: Counter[str] = Counter()
    for case in CASES:
        for name, conditions in case["after"].get("conditions", ()):
            kind, _, rule = name.partition("/")
            if kind != "DeviceTaintRule":
                continue
            [[_, status, reason, message]] = conditions
            [ours] = [c for c in settled(case)["conditions"] if (c["kind"], c["name"]) == (kind, rule)]
            if reason == "PodsPendingEviction":
                number = int(message.split()[0])
                assert ours["reason"] == "Completed"
                assert int(ours["message"].split()[0]) == number, case["id"]
            else:
                assert (ours["status"], ours["reason"], ours["message"]) == (status, reason, message), case["id"]
            compared[reason] += 1
    assert len(compared) == 5


def test_replica_failures() -> None:
    compared = 0
    for case in CASES:
        told: list[Any] = [entry for entry in case["after"].get("conditions", ()) if entry[0].startswith("Deployment/")]
        for name, [[_, status, reason, message]] in told:
            [ours] = [c for c in settled(case)["conditions"] if f"{c['kind']}/{c['name']}" == name]
            assert (ours["status"], ours["reason"]) == (status, reason)
            assert _random(ours["message"]) == _random(message), case["id"]
            compared += 1
    assert compared > 3
