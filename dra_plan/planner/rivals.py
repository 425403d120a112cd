"""Pods that get no node only because other pending pods come first.

To find them, the pods of an owner are scheduled without the others: for each owner in `explain`, and for the owners of
unscheduled pods in `schedule`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from dra_plan.api.core import Pod
from dra_plan.claims.index import Index, owner_of
from dra_plan.claims.owners import DEPLOYMENT, deployment_of, ended
from dra_plan.claims.sets import Owner
from dra_plan.documents.base import ObjectName
from dra_plan.documents.scheduling import ContestedPods, PodName
from dra_plan.documents.verdict_parts import OtherPod
from dra_plan.planner.question import Chosen
from dra_plan.scheduler.attempts import PodRecord

MOST_FIRST = 3
"""The maximum number of earlier pods to name."""

MOST_CONTESTED = 10
"""The maximum number of owners that `schedule` tries without the other pods."""


class OwnersOfPods:
    """A look-up of the owners of a pod: the pod itself, its controllers and its Deployment."""

    def __init__(self, index: Index) -> None:
        self._index = index

    def of(self, pod: Pod) -> Iterator[Owner]:
        """Yield the owners of the pod, starting with the pod itself."""
        yield owner_of(pod)
        for above in (pod, *self._index.owners.above(pod.metadata)):
            yield owner_of(above)
            deployment = deployment_of(above.metadata)
            if deployment:
                yield Owner(DEPLOYMENT, above.metadata.namespace, deployment)

    def highest(self, pod: Pod) -> Owner:
        """Return the topmost controller of the pod, or the pod itself if it has none."""
        return list(self.of(pod))[-1]


def rivals(records: Iterable[PodRecord], owner: Owner, owners: OwnersOfPods) -> list[PodRecord]:
    """Return the pods that got a node in this run and do not belong to the owner."""
    return [each for each in records if each.attempts and each.node and owner not in owners.of(each.pod)]


def gained(together: Iterable[PodRecord], alone: Sequence[PodRecord]) -> PodRecord | None:
    """Return the first pod that has a node in the run `alone` but not in the run `together`.

    Return None if `alone` does not have more pods with a node than `together`.
    """
    before = {each.pod.key for each in together if each.node}
    now = [each for each in alone if each.node]
    return next(each for each in now if each.pod.key not in before) if len(now) > len(before) else None


def that_come_first(others: Sequence[PodRecord], node: str, priority: Callable[[Pod], int]) -> list[OtherPod]:
    """Return up to `MOST_FIRST` pods that got this node or, if there are none, that got another node."""
    first = [each for each in others if each.node == node] or others
    return [other_pod(each.pod, priority(each.pod), each.node) for each in first[:MOST_FIRST]]


def other_pod(pod: Pod, priority: int, node: str) -> OtherPod:
    """Return the entry for a document about this pod, including the node on which the scheduler placed the pod."""
    metadata = pod.metadata
    return OtherPod(namespace=metadata.namespace, name=metadata.name, priority=priority, node_name=node)


def contested(
    records: Sequence[PodRecord],
    failed: Iterable[PodRecord],
    owners: OwnersOfPods,
    alone: Callable[[Chosen], Sequence[PodRecord]],
    priority: Callable[[Pod], int],
) -> Iterator[ContestedPods]:
    """Yield each owner of failed pods that would get more pods scheduled without the pods of other owners.

    `alone` repeats the run for only the selected pods, and returns their records.
    """
    asked = list(dict.fromkeys(owners.highest(each.pod) for each in failed))
    for owner in asked[:MOST_CONTESTED]:
        others = rivals(records, owner, owners)
        if not others:
            continue

        def is_own(pod: Pod, owner: Owner = owner) -> bool:
            return owner in owners.of(pod)

        together = _waiting(records, is_own)
        then = _waiting(alone(is_own), is_own)
        found = gained(together, then)
        if found is not None:
            yield ContestedPods(
                owner=ObjectName(kind=owner.kind, namespace=owner.namespace, name=owner.name),
                pods=len(together),
                would_bind=sum(bool(each.node) for each in together),
                would_bind_alone=sum(bool(each.node) for each in then),
                without_node=[
                    PodName(namespace=each.pod.metadata.namespace, name=each.pod.metadata.name)
                    for each in together
                    if not each.node
                ],
                node_name=found.node,
                first=that_come_first(others, found.node, priority),
            )


def _waiting(records: Iterable[PodRecord], chosen: Chosen) -> list[PodRecord]:
    """Return the selected pods that had no node before."""
    return [each for each in records if chosen(each.pod) and (each.attempts or not each.node) and not ended(each.pod)]
