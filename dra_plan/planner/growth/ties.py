"""Where kube-scheduler could as well have taken another node, and what is said of the number could be otherwise.

New nodes of one kind that have no pod yet are the same node under several names: a choice among them decides nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from dra_plan.api.core import Pod
from dra_plan.scheduler.attempts import PodRecord


def tied(records: Sequence[PodRecord], added: Sequence[Sequence[str]]) -> Iterator[PodRecord]:
    """The pods with a node for which another one scored the same, one that is not just as new and empty.

    `records` are in the order in which pods came to the queue, `added` the names of the new nodes of each kind. When a
    pod that was tried several times, or with its group, came to its node is not known: the node counts as used.
    """
    records = sorted(records, key=lambda record: -(record.pod.spec.priority or 0))
    kinds = {name: kind for kind, names in enumerate(added) for name in names}
    everything = {record.node for record in records if record.node and not _is_daemon(record.pod)}
    used = {record.node for record in records if _is_late(record)}
    for record in (each for each in records if each.node):
        if len(record.best) > 1 and _is_choice(record.best, kinds, everything if _is_late(record) else used):
            yield record
        if not _is_daemon(record.pod):
            used.add(record.node)


def _is_choice(best: Sequence[str], kinds: Mapping[str, int], used: Collection[str]) -> bool:
    """Whether these nodes are not all the same but for their names."""
    first = best[0]
    if first in used or first not in kinds:
        return True
    return any(name in used or kinds.get(name) != kinds[first] for name in best)


def _is_late(record: PodRecord) -> bool:
    return record.attempts > 1 or record.pod.spec.scheduling_group is not None


def _is_daemon(pod: Pod) -> bool:
    """Whether each node has one like it."""
    return any(owner.kind == "DaemonSet" for owner in pod.metadata.owner_references or ())
