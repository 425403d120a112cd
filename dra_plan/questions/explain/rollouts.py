"""`explain`: a rolling update that blocks itself, and the change that unblocks it, tried with the controllers.

With `maxUnavailable` 0, a Deployment deletes an old pod only once a new one is ready. If the old pods use the devices
or the capacity, no new pod ever gets a node.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from msgspec import structs

from dra_plan.allocator import View
from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory
from dra_plan.api.workloads import RollingUpdate, UpdateStrategy, Workload, pod_template
from dra_plan.claims.index import Index, owner_of
from dra_plan.claims.owners import DEPLOYMENT, ended, wanted
from dra_plan.claims.sets import Owner
from dra_plan.documents.cluster_changes import RolloutLoosened
from dra_plan.documents.suggestions import ObjectPatch, PatchOperation, TriedChanges
from dra_plan.explanation.suggest import patches
from dra_plan.planner.creation import NotCreated
from dra_plan.planner.question import Question
from dra_plan.planner.settling import settle_chosen
from dra_plan.questions.explain.editing import edited, found

if TYPE_CHECKING:
    from dra_plan.controllers.settle import Settled

MOST_ABOVE = 2
"""The maximum number of controllers above a pod: its ReplicaSet, and the ReplicaSet's Deployment."""

LEAST_UNAVAILABLE = 1
"""The value of `maxUnavailable` that is suggested instead of 0."""


def rollout_suggestions(index: Index, view: View, owner: Owner, question: Question) -> list[TriedChanges]:
    """Return the change that unblocks the rolling update of the owner's Deployment.

    Returns nothing unless all pods of the Deployment fit after the change.
    """
    deployment = _updating(index, owner, stuck=True)
    if deployment is None:
        return []
    changed = edited(index.inventory, {owner_of(deployment)}, _loosened)
    node = _place_when_settled(changed, view.after(changed), question, deployment)
    if node is None:
        return []
    told = RolloutLoosened(code="loosen-rollout", deployment=deployment.metadata.name, to=LEAST_UNAVAILABLE)
    return [TriedChanges(changes=[told], node=node, patches=[_patch(deployment)])]


def place_after_rollout(index: Index, view: View, owner: Owner, question: Question) -> str:
    """Return the node that a new pod gets once the rolling update has deleted old pods, or "" if it gets none."""
    deployment = _updating(index, owner, stuck=False)
    if deployment is None:
        return ""
    return _place_when_settled(index.inventory, view, question, deployment) or ""


class StuckRollout(NamedTuple):
    """A rolling update whose next pod the API server rejects."""

    outdated: int
    """The number of pods that an older template has created."""
    rejected: NotCreated
    suggestions: list[TriedChanges]


def stuck_rollout(index: Index, view: View, owner: Owner, question: Question) -> StuckRollout | None:
    """Return why the rolling update of a Deployment creates no pods, with the changes that complete it; else None.

    A quota may have room for the pods that run, but not for one more of them.
    """
    deployment = found(index.inventory, owner)
    if not isinstance(deployment, Workload) or deployment.kind != DEPLOYMENT or deployment.spec.paused:
        return None
    outdated = len(_old(index, deployment, [pod for pod in index.pods_of(deployment) if not ended(pod)]))
    if not outdated:
        return None

    def rejected(of: Inventory) -> list[NotCreated]:
        return _rejected(of, view.after(of), question, owner)

    refused = rejected(index.inventory)
    if not refused:
        return None
    made = rollout_suggestions(index, view, owner, question)
    from dra_plan.questions.explain.quota_remedies import raised as raised_in  # few inputs have quotas

    raised = raised_in(index.inventory, rejected)
    node = _place_when_settled(raised.changed, view.after(raised.changed), question, deployment) if raised else None
    if raised is not None and node is not None:
        made.append(TriedChanges(changes=[*raised.told], node=node, patches=raised.patches))
    return StuckRollout(outdated, refused[0], made)


def _rejected(inventory: Inventory, view: View, question: Question, owner: Owner) -> list[NotCreated]:
    """Return the pods of a workload that the API server still rejects when the cluster has settled."""
    settled = settle_chosen(inventory, view.target, question, lambda _pod: True, view=view, always=True).settled
    if settled is None:
        return []
    of = settled.state.index.owners
    own = (each for each in settled.not_made if owner in map(owner_of, of.above(each[0].metadata)))
    return [_not_created(settled, pod, said) for pod, said in own]


def _not_created(settled: Settled, pod: Pod, said: str) -> NotCreated:
    key = (pod.metadata.namespace, pod.metadata.name)
    over = tuple(settled.over_quota.get(key, ()))
    return NotCreated(pod, said, reason=settled.why_not_made.get(key, said), over=over)


def _updating(index: Index, owner: Owner, *, stuck: bool) -> Workload | None:
    """Return the Deployment of the owner, if it is updating.

    With `stuck`, only if it keeps every old pod until a new one is ready; otherwise only if it does not.
    """
    deployment = _deployment(index, owner)
    if deployment is None or deployment.spec.paused:
        return None
    from dra_plan.controllers.workloads import rollout_bounds

    strategy = deployment.spec.strategy or UpdateStrategy()
    pods = [pod for pod in index.pods_of(deployment) if not ended(pod)]
    _, unavailable = rollout_bounds(strategy, wanted(deployment, pods).number)
    keeps = strategy.type != "Recreate" and not unavailable
    if keeps is not stuck:
        return None
    holding = [pod for pod in pods if pod.spec.node_name]
    return deployment if _old(index, deployment, holding) else None


def _old(index: Index, deployment: Workload, pods: Iterable[Pod]) -> list[Pod]:
    """Return the pods created by ReplicaSets of another template."""
    from dra_plan.controllers.workloads import revision

    newest = revision(pod_template(deployment))
    made_by = ((pod, index.controllers.of(pod.metadata)) for pod in pods)
    return [pod for pod, by in made_by if isinstance(by, Workload) and revision(pod_template(by)) != newest]


def _deployment(index: Index, owner: Owner) -> Workload | None:
    """Return the owner if it is a Deployment, or the Deployment above this ReplicaSet or pod."""
    above = found(index.inventory, owner)
    for _ in range(MOST_ABOVE):
        if above is None or above.kind == DEPLOYMENT:
            break
        above = index.controllers.of(above.metadata)
    return above if isinstance(above, Workload) and above.kind == DEPLOYMENT else None


def _loosened(deployment: Workload) -> Workload:
    """Return the Deployment with a setting that allows deleting an old pod first."""
    strategy = deployment.spec.strategy or UpdateStrategy()
    rolling = structs.replace(strategy.rolling_update or RollingUpdate(), max_unavailable=LEAST_UNAVAILABLE)
    strategy = structs.replace(strategy, rolling_update=rolling)
    return structs.replace(deployment, spec=structs.replace(deployment.spec, strategy=strategy))


def _patch(deployment: Workload) -> ObjectPatch:
    """Return the patch for this in a cluster; missing members above `maxUnavailable` are created."""
    strategy, path = deployment.spec.strategy, "/spec/strategy"
    value: object = {"rollingUpdate": {"maxUnavailable": LEAST_UNAVAILABLE}}
    if strategy is not None:
        path, value = f"{path}/rollingUpdate", {"maxUnavailable": LEAST_UNAVAILABLE}
        if strategy.rolling_update is not None:
            path, value = f"{path}/maxUnavailable", LEAST_UNAVAILABLE
    return patches.of_object(
        owner_of(deployment), deployment.api_version, [PatchOperation(op="add", path=path, value=value)]
    )


def _place_when_settled(inventory: Inventory, view: View, question: Question, deployment: Workload) -> str | None:
    """Return a node of a new pod, if all pods of the Deployment are new and have nodes in the end; else None."""
    outcome = settle_chosen(inventory, view.target, question, lambda _pod: True, view=view, always=True)
    settled = outcome.settled
    if settled is None or settled.unsettled:
        return None
    index = settled.state.index
    pods = [pod for pod in index.pods_of(deployment) if not ended(pod)]
    places = [pod.spec.node_name for pod in pods]
    is_done = len(places) >= wanted(deployment, pods).number and all(places) and not _old(index, deployment, pods)
    return places[0] if is_done else None
