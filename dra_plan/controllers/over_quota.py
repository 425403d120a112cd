"""The exceeded amounts of a quota, in words, and the pods that use them.

Usage consists of what is used now and of what pods that are created first will use. A cluster shows only the former.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from dra_plan.api.core import Pod
from dra_plan.api.resource import ResourceClaim
from dra_plan.claims.owners import controller_names
from dra_plan.documents.refusals import FirstPods, OverQuota
from dra_plan.wording import listed

DEVICES = ".deviceclass.resource.k8s.io/devices"
_NAMED_PODS = "StatefulSet"
"""The kind of workload that gives its pods the names that the simulation gives them."""


def first_pods(made: Iterable[object], objects: Iterable[object]) -> list[FirstPods]:
    """Return the pods in `made`, and the pods whose claims are in `made`, counted by workload.

    `objects` are all objects of the namespace, including these pods.
    """
    pods = {one.metadata.name: one for one in objects if isinstance(one, Pod)}
    names: dict[str, None] = {}
    for one in made:
        owner = one.metadata.controller if isinstance(one, ResourceClaim) else None
        if isinstance(one, Pod):
            names[one.metadata.name] = None
        elif owner is not None and owner.kind == "Pod":
            names[owner.name] = None
    counts = Counter(_workload(name, pods.get(name)) for name in names)
    return [FirstPods(kind=kind, name=name, pods=number) for (kind, name), number in counts.items()]


def _workload(name: str, pod: Pod | None) -> tuple[str, str]:
    """Return the kind and name of the pod's workload, or of the pod itself if its name is the one in a cluster."""
    controllers = controller_names(pod.metadata) if pod is not None else []
    return controllers[-1] if controllers and controllers[-1][0] != _NAMED_PODS else ("Pod", name)


def in_words(amounts: Sequence[OverQuota], namespace: str) -> str:
    """Return a clause such as `quota ml/gpus allows 28 h100 devices: 28 are used and 1 more is requested`."""
    return f"quota {namespace}/{amounts[0].quota} allows {'; '.join(map(_one, amounts))}"


def _one(of: OverQuota) -> str:
    what = f"{of.resource.removesuffix(DEVICES)} devices" if of.resource.endswith(DEVICES) else of.resource
    what = what.removesuffix("s") if of.hard == "1" and what.endswith((" devices", "pods")) else what
    parts = [f"{of.used_now} {_are(of.used_now)} used{' now' if of.later != '0' else ''}"]
    if of.later != "0":
        who = listed([_named(each) for each in of.first]) or "pods that are created first"
        parts = [*(parts if of.used_now != "0" else []), f"{of.later} will be used by {who}"]
    parts.append(f"{of.requested} more {_are(of.requested)} requested")
    comma = "," if len(parts) > 2 else ""
    return f"{of.hard} {what}: {', '.join(parts[:-1])}{comma} and {parts[-1]}"


def _are(amount: str) -> str:
    return "is" if amount == "1" else "are"


def _named(of: FirstPods) -> str:
    if of.kind == "Pod":
        return f"pod {of.name}"
    return f"{of.pods} {'pod' if of.pods == 1 else 'pods'} of {of.kind.lower()}/{of.name}"
