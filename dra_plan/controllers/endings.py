"""Pods that ended while a cluster settled, and what stands in their place: who was made since, and who was refused."""

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
"""The pod has run as long as it was said to."""
EXPECTED = (BY_EVENT, DRAINED, FINISHED)
"""What somebody has asked for."""

PodKey = tuple[str, str]
"""Namespace and name."""


@dataclass(frozen=True)
class Ending:
    """A pod that ended although no event asked for it, and the pods that its owner has made since and that exist."""

    ended: EndedPod
    made: tuple[Pod, ...]


def endings(ended: Sequence[EndedPod], pods: Iterable[Pod], made: Mapping[str, int]) -> list[Ending]:
    """The pods that ended, in order; `made` says of pods that controllers made how many had ended before, by uid."""
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
    """The pods in its place: of a StatefulSet the one of its name."""
    owner = pod.metadata.controller
    by_name = owner is not None and owner.kind == "StatefulSet"
    return (each for each in made if not by_name or each.metadata.name == pod.metadata.name)


NOBODY = ("", "", "")
"""The maker of a bare pod."""


def maker(metadata: ObjectMeta) -> tuple[str, str, str]:
    """Kind, namespace and name of what makes the pod, for a pod of a ReplicaSet its Deployment; empty for none."""
    owner, deployment = metadata.controller, deployment_of(metadata)
    if deployment:
        return "Deployment", metadata.namespace, deployment
    return (owner.kind, metadata.namespace, owner.name) if owner is not None else NOBODY


def followed(found: Iterable[Ending], made: Mapping[str, int]) -> dict[PodKey, tuple[EndedPod, Pod | None]]:
    """By name of each pod that was there at the start and ended: how it ended, and the one pod in its place, if any.

    Each pod that was made since stands for one that ended; which of several, nobody could say.
    """
    used: set[str] = set()
    places: dict[PodKey, tuple[EndedPod, Pod | None]] = {}
    for each in found:
        pod = each.ended.pod
        if made.get(pod_uid(pod), 0):
            continue
        left = [heir for heir in each.made if pod_uid(heir) not in used]
        heir = min(left, key=lambda one: one.metadata.name != pod.metadata.name, default=None)
        if heir is not None:
            used.add(pod_uid(heir))
        places[pod.metadata.namespace, pod.metadata.name] = each.ended, heir
    return places
