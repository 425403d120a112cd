"""Pods whose answer is another one only because of other pods: they are asked about again, without those.

How a state is asked is not known here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from msgspec import structs

from dra_plan.documents.base import ObjectName
from dra_plan.documents.diff import ChangedPod, ComparedPod

from .pods import PodKey

MOST_ASKED_ALONE = 50
"""So many pods that lost or got a place or devices are asked about once more, each alone."""
MOST_ASKED_WITHOUT = 1000
"""So many pods are scheduled in all, where pods are asked about without some others."""


@dataclass(frozen=True)
class AskedState:
    """One of the two states; how many pods wait there, and how it is asked about a pod."""

    waiting: int
    alone: Callable[[PodKey], ComparedPod | None]
    """What becomes of the pod if no other one waits."""
    without: Callable[[PodKey, Collection[PodKey]], ComparedPod | None]
    """What becomes of the pod if those do not wait."""


def because_of_others(changed: Iterable[ChangedPod], before: AskedState, after: AskedState) -> Iterator[ChangedPod]:
    """The changed pods. Of lost ones it is known whether they would be bound if no other pod waited.

    Those that have its devices in the other state are kept where they are the reason: if they did not wait, or no
    other pod did, it would be the same in both.
    """
    left, pods = MOST_ASKED_ALONE, [MOST_ASKED_WITHOUT]
    for pod in changed:
        takers, givers, lost = pod.taken_by, pod.freed_by, pod.change == "Lost"
        if not (lost or takers or givers) or left <= 0:
            yield structs.replace(pod, taken_by=[], freed_by=[]) if takers or givers else pod
            continue
        left -= 1
        key = (pod.namespace, pod.name)
        alone = after.alone(key) if lost or takers else None
        then = before.alone(key) if givers else None
        yield structs.replace(
            pod,
            fits_alone=lost and alone is not None and alone.node_name is not None,
            taken_by=takers if _is_reason(key, takers, alone, pod.before, after, pods) else [],
            freed_by=givers if _is_reason(key, givers, then, pod.after, before, pods) else [],
        )


def _is_reason(
    key: PodKey,
    others: Sequence[ObjectName],
    alone: ComparedPod | None,
    wanted: ComparedPod | None,
    state: AskedState,
    pods: list[int],
) -> bool:
    if not others or wanted is None:
        return False
    if _same(alone, wanted):
        return True
    pods[0] -= state.waiting
    return pods[0] >= 0 and _same(state.without(key, {(one.namespace, one.name) for one in others}), wanted)


def _same(one: ComparedPod | None, other: ComparedPod) -> bool:
    return one is not None and (one.node_name, one.devices) == (other.node_name, other.devices)
