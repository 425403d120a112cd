"""The wording for pods that have their nodes and do not start there: volumes, events, and the pods of drivers."""

from __future__ import annotations

from collections.abc import Iterator

from dra_plan.documents.claim_sets import UnplannedOwner
from dra_plan.documents.stories import DriverPod, UnreadyPod
from dra_plan.documents.verdicts import OwnerVerdict, PodEvent
from dra_plan.text import words

STARTING = ("ContainerCreating", "PodInitializing")
"""What the kubelet says of containers that wait for something else."""


def start_lines(of: OwnerVerdict, unplanned: UnplannedOwner | None) -> Iterator[str]:
    """Yield what keeps a pod from starting on its node. If this is unknown, yield a command that shows it.

    For a StatefulSet that waits for a pod, this pod comes first.
    """
    yield from (f"Pod {one.pod} on {one.node} is not ready{_why(one)}." for one in of.awaited_pods)
    yield from _volume_lines(of)
    yield from map(_driver_pod, of.driver_pods)
    yield from map(_event, of.events)
    waiting = unplanned.waiting if unplanned is not None else []
    is_known = of.volumes_elsewhere or of.driver_pods or of.events
    if waiting and not is_known and all(one.reason in STARTING and not one.message for one in waiting):
        yield (
            f"The input has no events that say why: kubectl events --for pod/{of.name} -n {of.namespace} shows what "
            "its kubelet is waiting for."
        )


def unready_lines(of: OwnerVerdict | None) -> Iterator[str]:
    """Yield a sentence about pods of DaemonSets that are not ready, if a driver publishes no devices."""
    if of is None or not of.unready_pods:
        return
    by_reason: dict[str, list[str]] = {}
    for one in of.unready_pods:
        by_reason.setdefault(_why(one), []).append(f"{one.pod} on {one.node}")
    told = [f"{words.listed(names)}{why}" for why, names in by_reason.items()]
    yield f"Pods of DaemonSets that are not ready: {words.listed(told)}."


def _why(of: UnreadyPod) -> str:
    message = words.one_line(of.message).rstrip(".")
    return f" ({': '.join(filter(None, (of.reason, message)))})" if of.reason or message else ""


def _driver_pod(of: DriverPod) -> str:
    why = f": {of.reason}{words.in_brackets(of.message)}" if of.reason else ""
    return f"Driver {of.driver} prepares its devices, and the driver's pod {of.pod} there is not ready{why}."


def _event(of: PodEvent) -> str:
    times = f"{words.counted(of.count, 'time')}, " if of.count > 1 else ""
    when = f" ({times}last at {of.time})" if of.time else ""
    return f"The {of.component or 'kubelet'} says: {of.reason}: {words.one_line(of.message).rstrip('.')}{when}."


def _volume_lines(of: OwnerVerdict) -> Iterator[str]:
    """Yield the pods on other nodes that use a volume which only one node may use."""
    for each in of.volumes_elsewhere:
        deleted = ", and is being deleted" if each.deleted else ""
        yield (
            f"Its volume claim {each.claim} is for one node at a time, and pod {each.pod} on {each.node_name} uses it, "
            f"too{deleted}. The volume cannot be attached here until that pod is gone."
        )
        if each.unreachable:
            yield (
                f"Node {each.node_name} does not report, so the pod cannot end by itself. If the machine is off, "
                "delete the pod with --force, or give the node the taint node.kubernetes.io/out-of-service."
            )
