"""`allocate --require-fit`: whether the pods still fit when all of them are scheduled."""

from __future__ import annotations

from dataclasses import replace

from msgspec import structs

from dra_plan.api.inventory import Inventory
from dra_plan.documents.claim_sets import Competition, PodWithoutNode
from dra_plan.planner.creation import not_created
from dra_plan.planner.question import Question
from dra_plan.questions.allocate.answer import AllocationPlan
from dra_plan.releases import Target


def with_competition(plan: AllocationPlan, inventory: Inventory, target: Target, question: Question) -> AllocationPlan:
    """Return the plan with the result of scheduling all selected pods in turn, including the replicas of workloads.

    The plan is unchanged if it has no pods, or if the question sets `nodes`, `together` or `devices_only`. A pod gets
    no node if a quota or limit rejects the pod or one of its claims. Other objects that the API server rejects are left
    out, because the plan already lists them. Raises the same errors as `schedule_pods`.
    """
    if question.nodes or question.together or question.devices_only:
        return plan
    if not any(each.claim_set.pods for each in plan):
        return plan
    from dra_plan.questions.schedule.answer import (
        schedule_pods,  # the whole scheduler, which single claim sets do not need
    )

    found = schedule_pods(inventory, target, structs.replace(question, progress=None, probe=None))
    tried = [pod for pod in found if pod.attempts or pod.outcome not in ("Bound", "Skipped", "Refused")]
    left = [
        PodWithoutNode(
            namespace=pod.namespace,
            name=pod.name,
            undecided=pod.is_undecided,
            message=pod.message or pod.waiting or None,
        )
        for pod in tried
        if pod.outcome != "Bound"
    ]
    names = {(pod.namespace, pod.name) for pod in tried}
    pods = [each.pod for each in found.outcome.pods if (each.pod.metadata.namespace, each.pod.metadata.name) in names]
    refused = {(each.pod.metadata.namespace, each.pod.metadata.name): each.why for each in not_created(inventory, pods)}
    left = [pod for pod in left if (pod.namespace, pod.name) not in refused]
    left += [
        PodWithoutNode(namespace=namespace, name=name, undecided=False, message=why)
        for (namespace, name), why in refused.items()
    ]
    return replace(plan, competition=Competition(pods=len(tried), without_node=left))
