"""Pod groups that `explain` is asked about: which are meant, and why each starts or does not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dra_plan.api.inventory import Inventory
from dra_plan.api.scheduling import PodGroup
from dra_plan.documents.podgroups import ExplainedPodGroup, TriedPod
from dra_plan.near import nearest
from dra_plan.releases import Target
from dra_plan.scheduler.attempts import PodRecord
from dra_plan.scheduler.notices import GroupSummary

from .ownernames import Known, OwnerName, UnknownOwnerError, split
from .question import Question
from .scheduling import schedule_pods

_KIND = "podgroup"


def tell_groups_apart(
    inventory: Inventory, owners: Iterable[str], namespace: str | None
) -> tuple[list[PodGroup], tuple[str, ...]]:
    """The pod groups among what was named (podgroup/NAME, podgroup/NAMESPACE/NAME), and the other names.

    Raises UnknownOwnerError for a pod group that is not there.
    """
    groups: dict[str, PodGroup] = {}
    others: list[str] = []
    for text, readings in split(owners, Known(inventory)):
        if not readings or readings[0].kind != _KIND:
            others.append(text)
            continue
        found = _find(inventory.pod_groups, readings[0], namespace)
        groups |= {group.key: group for group in found}
    return list(groups.values()), tuple(others)


def _find(groups: Sequence[PodGroup], reading: OwnerName, namespace: str | None) -> list[PodGroup]:
    wanted = reading.namespace or (namespace or "").lower()
    found = [
        group
        for group in groups
        if group.metadata.name.lower() == reading.name and wanted in ("", group.metadata.namespace.lower())
    ]
    if not found:
        where = f" in namespace {wanted}" if wanted else ""
        near = nearest(reading.name, (group.metadata.name for group in groups))
        meant = f" (did you mean '{_KIND}/{near}'?)" if near else ""
        raise UnknownOwnerError(f"no {_KIND} is named {reading.name!r}{where}{meant}")
    return found


def explain_groups(
    inventory: Inventory, target: Target, groups: Sequence[PodGroup], question: Question
) -> list[ExplainedPodGroup]:
    """Why each of the groups starts or does not, as `schedule` has it with all pods of the input."""
    if not groups:
        return []
    asked = Question(infer_nodes=question.infer_nodes, max_steps=question.max_steps, timeout=question.timeout)
    outcome = schedule_pods(inventory, target, asked).outcome
    known = {f"{each.namespace}/{each.name}": each for each in outcome.groups}
    return [_explained(group, known.get(group.key), outcome.pods) for group in groups]


def _explained(group: PodGroup, told: GroupSummary | None, records: Sequence[PodRecord]) -> ExplainedPodGroup:
    named = (group.metadata.namespace, group.metadata.name)
    policy = group.spec.scheduling_policy
    own = [record for record in records if _group(record) == named]
    condition = next((each for each in told.conditions if each.type == "PodGroupScheduled"), None) if told else None
    return ExplainedPodGroup(
        namespace=named[0],
        name=named[1],
        state=told.outcome if told is not None else "Alone",
        policy="gang" if policy.gang is not None else "basic" if policy.basic is not None else "",
        min_count=group.min_count,
        pods=told.pods if told is not None else 0,
        bound=told.bound if told is not None else 0,
        message=(condition.message if condition is not None else told.waiting) if told is not None else "",
        last_cycle=[TriedPod(pod=each.pod, node=each.node, message=each.message) for each in told.last] if told else [],
        waiting=[
            TriedPod(pod=record.pod.key, message=record.waiting)
            for record in own
            if record.outcome == "Gated" and record.waiting
        ],
    )


def _group(record: PodRecord) -> tuple[str, str] | None:
    group = record.pod.spec.scheduling_group
    return (record.pod.metadata.namespace, group.pod_group_name) if group is not None else None
