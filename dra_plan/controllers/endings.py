"""Pods that ended while a cluster settled, and the pods that replaced them or were rejected as replacements."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dra_plan.api.core import Pod
from dra_plan.api.meta import ObjectMeta
from dra_plan.claims.owners import deployment_of
from dra_plan.scheduler.cluster.keys import pod_uid

from .state import EndCause, EndedPod

BY_EVENT = EndCause(by="events")
DRAINED = EndCause(by="drain", is_disruption=True)
FINISHED = EndCause(by="its end")
"""The cause for a pod whose fixed run time is over."""
EXPECTED = (BY_EVENT, DRAINED, FINISHED)
"""The causes of endings that events requested."""

PodKey = tuple[str, str]
"""The namespace and name of a pod."""


@dataclass(frozen=True)
class Ending:
    """A pod that ended although no event requested it.

    `made` are the existing pods that its owner has created since then.
    """

    ended: EndedPod
    made: tuple[Pod, ...]


def endings(ended: Sequence[EndedPod], pods: Iterable[Pod], made: Mapping[str, int]) -> list[Ending]:
    """Return the pods that ended although no event requested it, in the order in which they ended.

    `made` has the pods that controllers created, by UID, each with the number of pods that had ended before.
    """
    by_owner: dict[tuple[str, str, str], list[Pod]] = defaultdict(list)
    for pod in pods:
        if pod.metadata.controller is not None and pod_uid(pod) in made:
            by_owner[maker(pod.metadata)].append(pod)
    found = []
    for index, each in enumerate(ended):
        if each.cause not in EXPECTED:
            since = (pod for pod in by_owner.get(maker(each.pod.metadata), ()) if made[pod_uid(pod)] > index)
            found.append(Ending(each, tuple(_of_its_name(each.pod, since))))
    return found


def _of_its_name(pod: Pod, made: Iterable[Pod]) -> Iterator[Pod]:
    """Yield the pod's replacements; for a StatefulSet, the pod with the same name."""
    owner = pod.metadata.controller
    by_name = owner is not None and owner.kind == "StatefulSet"
    return (each for each in made if not by_name or each.metadata.name == pod.metadata.name)


NOBODY = ("", "", "")
"""The creator of pods that have no controller."""


def maker(metadata: ObjectMeta) -> tuple[str, str, str]:
    """Return the kind, namespace and name of the object that creates pods with this metadata, or `NOBODY`.

    The creator of a ReplicaSet's pods is the ReplicaSet's Deployment.
    """
    owner, deployment = metadata.controller, deployment_of(metadata)
    if deployment:
        return "Deployment", metadata.namespace, deployment
    return (owner.kind, metadata.namespace, owner.name) if owner is not None else NOBODY


def followed(found: Iterable[Ending], made: Mapping[str, int]) -> dict[PodKey, tuple[EndedPod, Pod | None]]:
    """Return how each pod that existed at the start ended, and the pod that replaces it, if any.

    The keys are the pods' namespaces and names. No two pods have the same replacement. If several pods of an owner
    ended, it is undefined which replacement belongs to which pod.
    """
    used: set[str] = set()
    places: dict[PodKey, tuple[EndedPod, Pod | None]] = {}
    for each in found:
        pod = each.ended.pod
        if made.get(pod_uid(pod), 0):
            continue
        heir = _closest(pod, (heir for heir in each.made if pod_uid(heir) not in used))
        if heir is not None:
            used.add(pod_uid(heir))
        places[pod.metadata.namespace, pod.metadata.name] = each.ended, heir
    return places


def heirs(gone: Iterable[Pod], lacking: Sequence[Pod]) -> dict[PodKey, Pod]:
    """Return, for each pod in `gone`, the pod in `lacking` that should replace it but was rejected.

    The keys are the namespaces and names of the pods in `gone`. No two pods have the same replacement. If an owner has
    several pods in `gone`, it is undefined which replacement belongs to which pod.
    """
    used: set[int] = set()
    found: dict[PodKey, Pod] = {}
    for pod in gone:
        own = maker(pod.metadata)
        left = [each for each in lacking if own != NOBODY and maker(each.metadata) == own and id(each) not in used]
        heir = _closest(pod, _of_its_name(pod, left))
        if heir is not None:
            used.add(id(heir))
            found[pod.metadata.namespace, pod.metadata.name] = heir
    return found


def _closest(pod: Pod, heirs: Iterable[Pod]) -> Pod | None:
    """Return the replacement with the same name, or else the first replacement."""
    return min(heirs, key=lambda one: one.metadata.name != pod.metadata.name, default=None)
