"""Pods that the scheduler treats in another way."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping

from dra_plan.documents.base import ObjectName
from dra_plan.documents.diff import ChangedPod, ComparedPod, PodChange
from dra_plan.documents.schedule import ScheduleDocument, ScheduledPod

PodKey = tuple[str, str]
"""Namespace and name."""


def changed_pods(
    before: ScheduleDocument, after: ScheduleDocument, asked: Callable[[str, str], bool]
) -> Iterator[ChangedPod]:
    """The pods that differ and are asked about, in the order of the state before, then those that are new."""
    old, new = pod_states(before), pod_states(after)
    holders, held = _holders(new), _holders(old)
    for key in (each for each in dict.fromkeys((*old, *new)) if asked(*each)):
        change = _change(old.get(key), new.get(key))
        if change is not None:
            namespace, name = key
            yield ChangedPod(
                namespace=namespace,
                name=name,
                change=change,
                before=old.get(key),
                after=new.get(key),
                taken_by=_takers(key, old, holders) if change != "Undecided" else [],
                freed_by=_takers(key, new, held) if change != "Undecided" else [],
            )


def _holders(states: Mapping[PodKey, ComparedPod]) -> Mapping[str, list[PodKey]]:
    found: dict[str, list[PodKey]] = defaultdict(list)
    for key, state in states.items():
        for device in state.devices:
            found[device].append(key)
    return found


def _takers(pod: PodKey, here: Mapping[PodKey, ComparedPod], holders: Mapping[str, list[PodKey]]) -> list[ObjectName]:
    """The pods that have devices in the other state which this one has here, and they have not."""
    has = here[pod].devices if pod in here else []
    takers = ((taker, device) for device in has for taker in holders.get(device, ()))
    others = (taker for taker, device in takers if taker not in here or device not in here[taker].devices)
    return [ObjectName(kind="Pod", namespace=space, name=name) for space, name in dict.fromkeys(others)]


def pod_states(document: ScheduleDocument) -> Mapping[PodKey, ComparedPod]:
    """The pods that the scheduler does not leave alone: one that has finished is gone."""
    devices = _devices(document)
    return {(pod.namespace, pod.name): _state(pod, devices) for pod in document.pods if pod.outcome != "Skipped"}


def _devices(document: ScheduleDocument) -> Mapping[tuple[str, str], list[str]]:
    """DRIVER/POOL/DEVICE by namespace and name of the pods for which they are reserved."""
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for claim in document.claims:
        if claim.allocation is None:
            continue
        names = [f"{each.driver}/{each.pool}/{each.device}" for each in claim.allocation.devices.results]
        for user in claim.reserved_for:
            found[claim.namespace, user.name] += names
    return found


def _state(pod: ScheduledPod, devices: Mapping[tuple[str, str], list[str]]) -> ComparedPod:
    return ComparedPod(
        outcome=pod.outcome,
        node_name=pod.node_name,
        devices=devices.get((pod.namespace, pod.name), []),
        message=pod.message or pod.waiting or None,
        running=pod.outcome == "Bound" and not pod.attempts,
        undecided=pod.is_undecided,
    )


def _change(before: ComparedPod | None, after: ComparedPod | None) -> PodChange | None:
    if before is None or after is None:
        return "New" if before is None else "Gone"
    if before.undecided or after.undecided:
        return "Undecided"
    was, now = before.outcome == "Bound", after.outcome == "Bound"
    if was is not now:
        return "Lost" if was else "Gained"
    if before.node_name != after.node_name:
        return "OtherNode"
    if before.devices != after.devices:
        return "OtherDevices"
    return "OtherMessage" if (before.outcome, before.message) != (after.outcome, after.message) else None
