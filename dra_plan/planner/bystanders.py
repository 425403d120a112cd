"""Notices about objects in the input that are not simulated although they can reject, delay or terminate pods."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set

from dra_plan.api.core import Pod
from dra_plan.api.inventory import ADMISSION, Inventory, Notice

from .suspended import QUEUE_LABEL

CODE = "not-simulated"

_REFUSING = (
    f"ValidatingAdmissionPolicy.{ADMISSION}",
    f"ValidatingAdmissionPolicyBinding.{ADMISSION}",
    f"MutatingAdmissionPolicy.{ADMISSION}",
    f"ValidatingWebhookConfiguration.{ADMISSION}",
    f"MutatingWebhookConfiguration.{ADMISSION}",
    ".constraints.gatekeeper.sh",
    "Policy.kyverno.io",
    "Policy.policies.kyverno.io",
)
_HOLDING = (".kueue.x-k8s.io", ".scheduling.volcano.sh")
_ENDING = (
    "DeschedulerPolicy.descheduler",
    "VerticalPodAutoscaler.autoscaling.k8s.io",
    "HorizontalPodAutoscaler.autoscaling",
    "ScaledObject.keda.sh",
    "NodePool.karpenter.sh",
)
"""Suffixes of KIND.GROUP."""


def of_bystanders(inventory: Inventory, pods: Iterable[Pod], *, creates: bool, settles: bool) -> list[Notice]:
    """Return notices about objects that are not simulated but may change the result.

    `pods` are the planned pods. `creates` says whether objects are created, because admission may reject them.
    `settles` says whether the simulation runs until nothing changes, because other components may terminate pods before
    then.
    """
    if not inventory.skipped:
        return []
    queued = {
        (each.kind, each.metadata.namespace, each.metadata.name)
        for each in inventory.workloads
        if QUEUE_LABEL in (each.metadata.labels or {})
    }
    waits = any(_is_queued(pod, queued) for pod in pods)
    words: Mapping[str, tuple[tuple[str, ...], bool]] = {
        "may reject or change objects": (_REFUSING, creates),
        "may hold back pods, or terminate them in favour of others": (_HOLDING, waits or settles),
        "may terminate pods, or change their number": (_ENDING, settles),
    }
    found = ((said, list(_present(inventory, ends))) for said, (ends, matters) in words.items() if matters)
    return [Notice(CODE, f"not simulated, and {said}: {', '.join(kinds)}") for said, kinds in found if kinds]


def _present(inventory: Inventory, ends: tuple[str, ...]) -> Iterator[str]:
    """Yield the number of objects of these kinds, by kind."""
    for name, number in sorted(inventory.skipped.items()):
        if name.endswith(ends):
            yield f"{number} {name.partition('.')[0]}"


def _is_queued(pod: Pod, queued: Set[tuple[str, str, str]]) -> bool:
    owner = pod.metadata.controller
    if QUEUE_LABEL in (pod.metadata.labels or {}):
        return True
    return owner is not None and (owner.kind, pod.metadata.namespace, owner.name) in queued
