"""Texts about pods that have a node but do not start there: volumes, events and driver pods."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from dra_plan.claims.owners import CRASHING, RUNNING, STARTING
from dra_plan.documents.claim_sets import UnplannedOwner, WaitingContainer
from dra_plan.documents.reasons import UnreadyPod
from dra_plan.documents.stories import DriverPod
from dra_plan.documents.verdict_parts import PodEvent
from dra_plan.documents.verdicts import OwnerVerdict
from dra_plan.text import words


def start_lines(of: OwnerVerdict, unplanned: UnplannedOwner | None) -> Iterator[str]:
    """Yield why a pod does not start on its node, or a command that shows the reason if it is unknown.

    If a StatefulSet waits for another pod, the line about that pod comes first.
    """
    if of.held_by == "Order":
        yield from (f"Pod {one.pod} on {one.node} is not ready{_why(one)}." for one in of.awaited_pods)
    if of.verdict == "Bound" and of.awaited_pods:
        is_one = len(of.awaited_pods) == 1
        names = [f"{one.pod}{_why(one)}" for one in of.awaited_pods]
        yield f"Pod{'' if is_one else 's'} {words.listed(names)} {'is' if is_one else 'are'} not ready."
        example = of.awaited_pods[0].pod.rpartition("/")[2]
        yield f"`explain pod/{example}` says more."
    yield from _volume_lines(of)
    yield from (f"Find out first why {failing(one)}." for one in of.failing)
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
    """Yield a sentence about DaemonSet pods that are not ready, if a driver publishes no devices."""
    if of is None or not of.unready_pods:
        return
    by_reason: dict[str, list[str]] = {}
    for one in of.unready_pods:
        by_reason.setdefault(_why(one), []).append(f"{one.pod} on {one.node}")
    told = [f"{words.listed(names)}{why}" for why, names in by_reason.items()]
    yield f"Pods of DaemonSets that are not ready: {words.listed(told)}."


def failing(of: UnreadyPod) -> str:
    """Return a phrase that says which pod does not start on a node, and why."""
    message = words.one_line(of.message).rstrip(".")
    return f"pod {of.pod} on it does not start: {': '.join(filter(None, (of.reason, message)))}"


def unready_sentence(of: UnreadyPod, whose: str = "its ") -> str:
    """Return why a pod is not ready and, if a container crashes, the command that shows the container's log."""
    pod = f"{whose}pod {of.pod}"
    if not of.node:
        return f"{words.capital(pod)} is Pending{words.in_brackets(of.message)}."
    if not of.container:
        return f"{words.capital(pod)} on {of.node} is not ready."
    if of.reason != CRASHING:
        return f"Container {of.container} of {pod} does not start{_why(of)}."
    namespace, _, name = of.pod.partition("/")
    logs = _logs(namespace, name, of.container, "--previous")
    return f"Container {of.container} of {pod} crashes{words.in_brackets(of.message)}: {logs}"


def container_failing(one: WaitingContainer) -> str:
    """Return what a container does instead of starting, as a phrase that follows `its`.

    The phrase is empty if the container only waits for another container.
    """
    if one.reason in STARTING:
        return ""
    if one.reason == RUNNING:
        return f"sidecar {one.name} is not started" if one.sidecar else f"init container {one.name} has not finished"
    what = "crashes" if one.reason == CRASHING else "failed" if one.ended else "does not start"
    return f"{_kind(one)} {one.name} {what} ({one.reason})"


def container_line(one: WaitingContainer, namespace: str, pod: str) -> str:
    """Return why a container has not started or, if others wait for it, what it does and how to see its log."""
    kind, why = words.capital(_kind(one)), words.in_brackets(one.message)
    logs = _logs(namespace, pod, one.name, *(["--previous"] if one.reason == CRASHING else []))
    if one.reason == RUNNING:
        since = f" since {one.since}" if one.since else ""
        yet = "and its startup probe has not succeeded" if one.sidecar else "and has not finished"
        return f"{kind} {one.name} has been running{since}, {yet}: {logs}"
    if one.ended:
        return f"{kind} {one.name} failed{why}: {logs}"
    if one.reason == CRASHING:
        return f"{kind} {one.name} crashes: {one.reason}{why}. Its output: {logs}"
    return f"Its kubelet has not started {_kind(one)} {one.name}: {one.reason}{why}."


def _kind(one: WaitingContainer) -> str:
    return "sidecar" if one.sidecar else "init container" if one.init else "container"


def _logs(namespace: str, pod: str, container: str, *rest: str) -> str:
    return shlex.join(["kubectl", "logs", "-n", namespace, pod, "-c", container, *rest])


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
