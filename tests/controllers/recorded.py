"""What a whole control plane 1.36.2 did, and how an answer of `--settle` is compared with it.

Two recordings of a case can disagree: `chance` says in what, and there only numbers are compared, or nothing.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dra_plan import Cluster
from dra_plan.questions.schedule.answer import SchedulePlan

CONFORMANCE = Path(__file__).parents[1] / "conformance"
QUIRK = "139651"
"""The scheduler of these recordings loses device taint rules that are made while it runs (E3)."""


def cases(name: str) -> Iterator[dict[str, Any]]:
    """The cases of a file; those of which the recording began in another state than it says are left out."""
    with gzip.open(CONFORMANCE / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            case = json.loads(line)
            if case["family"] != "admission" and not case.get("startDiffers"):
                yield case


def settled(case: dict[str, Any], **options: Any) -> dict[str, Any]:
    """The `settled` part of the document for a case."""
    return settled_plan(case, **options)[0]


def settled_plan(case: dict[str, Any], **options: Any) -> tuple[dict[str, Any], SchedulePlan]:
    """The same, and the whole answer."""
    steps = [step for step in case["action"] if "scheduler" not in step]
    version = "1.36.2" if case.get("quirk") == QUIRK else "1.36.3"
    cluster = Cluster.of(case["before"], kubernetes_version=version)
    order = "arrival" if case.get("live") else "name"
    plan = cluster.schedule(settle=True, events=steps, order=order, never_ready=never_ready(case), **options)
    return plan.to_dict()["settled"], plan


def never_ready(case: dict[str, Any]) -> list[str]:
    """The pods that the kubelet of the recording never made ready."""
    named: list[str] = (case.get("kubelet") or {}).get("notReady", [])
    return named


def name_of(entry: dict[str, Any]) -> str:
    return entry["name"] if entry["namespace"] == "default" else f"{entry['namespace']}/{entry['name']}"


def _owner(entry: dict[str, Any]) -> str | None:
    owner = entry.get("owner")
    return f"{owner['kind']}/{owner['name']}" if owner else None


def root(name: str, owner: str | None) -> str:
    """What a pod is compared under: its name, or its workload where names are random."""
    if not owner:
        return name
    kind, owned = owner.split("/", 1)
    namespace = name.rsplit("/", 1)[0] + "/" if "/" in name else ""
    if kind == "StatefulSet":
        return name
    if kind == "ReplicaSet":
        return f"Deployment/{namespace}{re.sub(r'-[a-z0-9]+$', '', owned)}"
    return f"{kind}/{namespace}{owned}"


def differences(case: dict[str, Any], document: dict[str, Any]) -> list[str]:
    """What the document says otherwise than the cluster, as far as it is no chance."""
    if case.get("loop") or case.get("unsettled"):
        return [] if document["unsettled"] else ["settles, and the cluster did not"]
    after, chance = case["after"], set(case.get("chance") or ())
    theirs = Counter((root(name, pod.get("owner")), pod["node"]) for name, pod in after["pods"].items())
    ours = Counter((root(name_of(pod), _owner(pod)), pod["nodeName"]) for pod in document["pods"])
    found = []
    if "which" in chance:
        if _placed(theirs) != _placed(ours):
            found.append(f"pods with a node: {_placed(ours)}, in the cluster {_placed(theirs)}")
    elif "count" not in chance:
        tied = {name.removeprefix("default/") for name in case.get("ties") or ()}
        theirs, ours = (_coarse(each, tied, places="node" not in chance) for each in (theirs, ours))
        if theirs != ours:
            found.append(f"only in the cluster {dict(theirs - ours)}, only here {dict(ours - theirs)}")
        if not chance & {"device", "node"} and not tied:
            found += _of_devices(after, document)
    found += _of_evicted(case, document, numbers_only=bool(chance & {"which", "gone"}))
    theirs_refused = {entry[0]: entry[2] for entry in after["refused"]}
    ours_refused = {entry["object"]: entry["message"] for entry in document["refused"]}
    if theirs_refused.keys() != ours_refused.keys() or ("refused" not in chance and theirs_refused != ours_refused):
        found.append(f"rejected {ours_refused}, in the cluster {theirs_refused}")
    return found


def _placed(pods: Counter[tuple[str, str | None]]) -> int:
    return sum(count for (_, node), count in pods.items() if node)


def _coarse(pods: Counter[tuple[str, str | None]], tied: set[str], *, places: bool) -> Counter[Any]:
    """Nodes as far as they are compared: of tied pods only whether they have one."""
    coarse: Counter[Any] = Counter()
    for (name, node), count in pods.items():
        coarse[name, node if places and name not in tied else node is not None] += count
    return coarse


def _of_devices(after: dict[str, Any], document: dict[str, Any]) -> list[str]:
    held: dict[str, list[str]] = defaultdict(list)
    for name, claim in after["claims"].items():
        namespace = name.rsplit("/", 1)[0] + "/" if "/" in name else ""
        for pod in claim.get("reservedFor") or ():
            held[namespace + pod] += map(_device, claim.get("devices") or ())
    theirs = Counter(
        (root(name, pod.get("owner")), tuple(sorted(held[name]))) for name, pod in after["pods"].items() if pod["node"]
    )
    ours = Counter(
        (root(name_of(pod), _owner(pod)), tuple(sorted(map(_device, pod["devices"]))))
        for pod in document["pods"]
        if pod["nodeName"]
    )
    return [] if theirs == ours else [f"devices {dict(ours - theirs)}, in the cluster {dict(theirs - ours)}"]


def _device(text: str) -> str:
    return re.sub(r"^container-\d+-request-\d+", "x", text)


def by_hand(case: dict[str, Any]) -> set[str]:
    """The pods that the events delete or drain."""
    named = [step["delete"][1] for step in case["action"] if step.get("delete", [""])[0] == "Pod"]
    return {name.removeprefix("default/") for name in (*named, *(case.get("drained") or ()))}


def _of_evicted(case: dict[str, Any], document: dict[str, Any], *, numbers_only: bool) -> list[str]:
    before = {
        name_of({"namespace": o["metadata"].get("namespace") or "default", "name": o["metadata"]["name"]})
        for o in case["before"]
        if o["kind"] == "Pod"
    }
    gone = [g for g in case["after"]["gone"] if g["wasBefore"] and g["name"] not in by_hand(case)]
    theirs = Counter(root(each["name"], each.get("owner")) for each in gone)
    ours = Counter(root(name_of(pod), _owner(pod)) for pod in document["evicted"] if name_of(pod) in before)
    if (sum(theirs.values()) == sum(ours.values())) if numbers_only else theirs == ours:
        return []
    return [f"evicted {dict(ours)}, in the cluster {dict(theirs)}"]
