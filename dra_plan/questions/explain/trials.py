"""`explain`: the result for an owner in a changed input, from runs of the whole scheduler.

Trials remove what holds a pod back in order to find other obstacles, let pods preempt others, and try each change that
might help.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TypeGuard

from msgspec import Struct, structs
from msgspec.structs import replace

from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory
from dra_plan.claims.index import Index
from dra_plan.claims.sets import Owner
from dra_plan.documents.cluster_changes import ClaimReleased, NodeLabelled, PodsGone
from dra_plan.documents.suggestions import SuggestedChange, TriedChanges
from dra_plan.documents.verdict_parts import AloneVerdict
from dra_plan.documents.verdicts import DEVICES, TRIED, OwnerVerdict
from dra_plan.planner.certainty import OF_VOLUMES
from dra_plan.planner.claim_sets import ClaimSetPlan
from dra_plan.planner.creation import NotCreated, not_created
from dra_plan.planner.owners import POD
from dra_plan.planner.question import Question
from dra_plan.planner.rivals import OwnersOfPods
from dra_plan.planner.suspended import resumed
from dra_plan.questions.explain.claim_changes import ClaimChanges
from dra_plan.questions.explain.claimed_resources import claimable
from dra_plan.questions.explain.driver_repairs import DriverRepairs
from dra_plan.questions.explain.editing import OwnedPods
from dra_plan.questions.explain.fates import Fates, decisive
from dra_plan.questions.explain.moving import movable
from dra_plan.questions.explain.reasons import RunQuestion, VerdictRun
from dra_plan.questions.explain.remedies import Remedies
from dra_plan.questions.explain.rollouts import place_after_rollout, rollout_suggestions
from dra_plan.questions.explain.shared_claims import shared_claims
from dra_plan.questions.explain.staying import with_staying
from dra_plan.questions.explain.suggestion_order import hardware_domains, ordered
from dra_plan.questions.explain.trial import Trial, Tries
from dra_plan.questions.explain.volumes import with_default_class
from dra_plan.scheduler.attempts import PodRecord
from dra_plan.scheduler.cluster.common import Common
from dra_plan.scheduler.cluster.keys import pod_uid
from dra_plan.scheduler.node_refusals import NodeRefusals
from dra_plan.scheduler.plugins.node_affinity import matches

MOST_RIVALS = 50
"""The maximum number of pending pods with which a change is tried. If there are more, only the owner's pods are."""

_NO_ADMIN = "DRA205"
"""The finding that a namespace does not allow claims with admin access."""


WithNodes = Callable[[OwnerVerdict, Owner, PodRecord, NodeRefusals, VerdictRun], OwnerVerdict]
"""Returns the verdict with the obstacles of a pod on each node in a run."""


class TrialGround(Struct, frozen=True):
    """The input without objects that the API server rejects, and its run, from which all trials start.

    `closely` are the owners that are examined closely, and `is_explained` returns whether a pod belongs to one of them.
    `at_length` is whether there are few enough owners for changes to be tried.
    """

    index: Index
    about: RunQuestion
    question: Question
    run: VerdictRun
    common: Common
    owners_of: OwnersOfPods
    fates: Fates
    closely: frozenset[Owner]
    is_explained: Callable[[Pod], bool]
    at_length: bool
    with_nodes: WithNodes
    with_admin_access: Callable[[str], Inventory]
    """Returns the input that the API server would accept if this namespace allowed admin access."""
    plan_of: Callable[[Owner], ClaimSetPlan | None]


class OwnerTrials:
    """Trials of changes, one owner after another, until the deadline."""

    def __init__(self, ground: TrialGround) -> None:
        self._ground = ground
        self._repairs = DriverRepairs(ground.index.inventory, ground.about.view)

    def with_freed(self, made: OwnerVerdict, owner: Owner) -> OwnerVerdict:
        """Return the verdict with the result that the pods would have if nothing held them back or rejected them.

        Pods may be held back by scheduling gates, suspension, volumes, or faulty or missing claims. If the API server
        rejects admin access, the namespace is assumed to allow it.
        """
        if not self._is_tried(owner) or not self._ground.at_length:
            return made
        if made.verdict == "Refused":
            lacks_label = bool(made.findings) and all(each.code == _NO_ADMIN for each in made.findings)
            changed = self._ground.with_admin_access(made.namespace) if lacks_label else None
        else:
            changed = self._freed(made, OwnedPods(self._ground.index, owner))
        if changed is None:
            return made
        run = self._changed(changed, owner, self._ground.is_explained)
        fate = decisive(self._ground.fates.of(run, owner))
        if fate is None or fate.record is None or (fate.is_good and _is_about_claims(made)):
            return made  # the devices that it would get are unknown
        then = AloneVerdict(verdict=fate.verdict, node_name=fate.record.node)
        if fate.is_good:
            return structs.replace(made, freed=then)
        if fate.verdict != "Unschedulable" or fate.record.refusals is None:
            return made
        told = self._ground.with_nodes(made, owner, fate.record, fate.record.refusals, run)
        then = structs.replace(then, nodes=told.nodes, of_all_nodes=told.of_all_nodes)
        return structs.replace(made, freed=then, volume_claims=told.volume_claims or made.volume_claims)

    @staticmethod
    def _freed(made: OwnerVerdict, pods: OwnedPods) -> Inventory | None:
        """Return the input without what holds the pods back, or without the volumes that exclude all nodes alike.

        A suspended owner is resumed, and claims that are about to get the default StorageClass have it.
        """
        if made.verdict == "Suspended":
            return resumed(pods.inventory, [f"{made.kind}/{made.namespace}/{made.name}"])
        if made.held_by == "MissingClaim" and made.missing:
            return pods.without_claims()
        if made.verdict == "Held":
            return pods.freed(made.held_by, made.held)
        if made.verdict == "Unschedulable" and made.of_all_nodes and OF_VOLUMES.issuperset(made.refused_by):
            given = with_default_class(pods.inventory, made.namespace, made.volume_claims)
            return given if given is not None else pods.without_volume_claims()
        if made.verdict == "Unschedulable" and _is_about_claims(made):
            return pods.without_claims()
        return None

    def with_spared(self, made: OwnerVerdict, owner: Owner, pod: Pod) -> OwnerVerdict:
        """Return the verdict with the pods that the pod would preempt if its preemptionPolicy allowed it."""
        if made.verdict != "Unschedulable" or pod.spec.preemption_policy != "Never" or not self._is_tried(owner):
            return made
        run = self._changed(OwnedPods(self._ground.index, owner).preempting(), owner)
        return structs.replace(
            made, spared=list(next((fate.victims for fate in self._ground.fates.of(run, owner)), ()))
        )

    def with_remedies(self, made: OwnerVerdict, owner: Owner, pod: Pod) -> OwnerVerdict:
        """Return the verdict with changes that help.

        For owners that are explained briefly, the changes only make their claims fit. `pod` is the pod that the verdict
        describes.
        """
        of_devices = made.refused_by == [DEVICES]  # a claim that no node can serve: it may be changed
        if made.verdict not in TRIED:
            return made
        freed = self._with_freed_volumes(made, owner)
        if freed is not None:
            return freed
        if made.of_all_nodes and not of_devices:
            return made
        index, about = self._ground.index, self._ground.about
        made = structs.replace(made, shared_claims=shared_claims(index, owner, would_bind=made.would_bind > 0))
        made = structs.replace(made, claimable=claimable(index.inventory, about.view, made))
        attempt = self._ground.run.attempts.get(pod_uid(pod))
        plan, own = self._ground.plan_of(owner), OwnedPods(index, owner)
        claims = ClaimChanges(plan, about, attempt, own)
        found: list[TriedChanges]
        siblings = self._siblings(owner)
        if self._ground.at_length and self._is_tried(owner):
            remedies = Remedies(index, owner, self._tries(owner), claims, siblings)
            found = remedies.found(made)
            made = structs.replace(made, tried=remedies.tried)
            found += rollout_suggestions(index, about.view, owner, self._ground.question)
            moves = movable(index, made, self._tries(owner), remedies.priority, siblings, found)
            made = structs.replace(made, moves_help=moves)
            after = place_after_rollout(index, about.view, owner, self._ground.question)
            made = structs.replace(made, after_rollout=after)
        else:
            found = [one for one in claims.known if made.is_met_by(one)]
        found = [one for one in found if not _evicts_by_label(one, index.inventory)]
        pods = {pod.key: pod for pod in index.inventory.pods}
        found = [with_staying(self._repairs.with_failing(self._repairs.told(one), plan), pods) for one in found]
        leaving = {pod for one in found for each in one.changes if _is_awaited(each) for pod in each.pods}
        found = [one for one in found if not _releases_only(one, leaving) or any(map(_is_awaited, one.changes))]
        kept = [one for one in found if not _releases_only(one, siblings)]
        held = sorted({pod for one in found if one not in kept for pod in _released_by(one)})
        return structs.replace(
            made,
            held_by_siblings=held,
            repairs=self._repairs.untried(made, plan, kept),
            suggestions=ordered(kept, hardware_domains(own.spec, plan)),
        )

    def _with_freed_volumes(self, made: OwnerVerdict, owner: Owner) -> OwnerVerdict | None:
        """Return the verdict with volumes that are freed for its claims, if it then gets a node; else None."""
        if not (made.volume_claims and self._ground.at_length and self._is_tried(owner)):
            return None
        from dra_plan.questions.explain.volume_remedies import freed_volumes

        found = freed_volumes(self._ground.index.inventory, made.namespace, made.volume_claims)
        trial = self._tries(owner)(found.changed) if found is not None else None
        if found is None or trial is None or not trial.helps(made.would_bind):
            return None
        return structs.replace(made, suggestions=[trial.after(found.told, found.patches)], tried=1)

    def with_quotas(self, made: OwnerVerdict, owner: Owner) -> OwnerVerdict:
        """Return the verdict on pods that a quota keeps from being created, with a raise of the quota that helps."""
        ground = self._ground
        if not (ground.at_length and self._is_tried(owner) and made.over):
            return made
        from dra_plan.questions.explain.quota_remedies import MOST_PODS, raised

        waiting = [pod for pod in ground.run.simulation.pods if not pod.spec.node_name]
        if len(waiting) > MOST_PODS:
            return made

        def refused(of: Inventory) -> list[NotCreated]:
            return [one for one in not_created(of, waiting) if owner in ground.owners_of.of(one.pod)]

        found = raised(ground.index.inventory, refused)
        trial = self._tries(owner)(found.changed) if found is not None else None
        if found is None or trial is None or not trial.helps(made.would_bind):
            return made
        return structs.replace(made, suggestions=[trial.after(found.told, found.patches)])

    def _siblings(self, owner: Owner) -> set[str]:
        """Return the other pods of the owner's controllers: when one is deleted, another is created."""
        index, owners_of = self._ground.index, self._ground.owners_of
        own = [pod for pod in index.inventory.pods if owner in owners_of.of(pod)]
        above = {each for pod in own for each in owners_of.of(pod) if each.kind != POD} | {owner}
        return {
            pod.key
            for pod in index.inventory.pods
            if pod.metadata.namespace == owner.namespace and not above.isdisjoint(owners_of.of(pod))
        }

    def _is_tried(self, owner: Owner) -> bool:
        return owner in self._ground.closely and not is_over_time(self._ground.about.deadline)

    def _tries(self, owner: Owner) -> Tries:
        """Return a function that returns the result of a changed input for the owner's pods, if all are created.

        Other pending pods are included if they are few.
        """
        owners_of = self._ground.owners_of

        def tried(changed: Inventory, then: Sequence[Inventory] = ()) -> Trial | None:
            run = self._changed(changed, owner, then=then)
            if any(owner in owners_of.of(each.pod) for each in run.not_made):
                return None
            fates = self._ground.fates.of(run, owner)
            good = [fate for fate in fates if fate.is_good]
            if not fates and (placed := run.records.get(owner)):
                return Trial(placed[0].node, 0, is_whole=True)  # its other pods are no longer wanted
            if not good or good[0].record is None or not self._is_accepted(changed, owner):
                return None
            evicts = tuple(f"{one.namespace}/{one.name}" for one in good[0].victims)
            places = self._places(run, changed)
            return Trial(good[0].record.node, len(good), len(good) == len(fates), evicts, places)

        return tried

    def _places(self, run: VerdictRun, changed: Inventory) -> dict[str, str]:
        """Return the nodes of the pods that a change removes and that their controllers create again; "" is no node.

        A pod is left out if its end is unknown, or if it is evicted or evicts others.
        """
        again = changed.returning - self._ground.index.inventory.returning
        keys = {f"{namespace}/{name}" for namespace, name in again}
        keys -= {key for one in run.result.evictions for key in (one.victim, one.preemptor)}
        return {
            record.pod.key: record.node
            for record in (run.result.pods if keys else ())
            if record.pod.key in keys and record.attempts and (record.node or not run.result.is_undecided(record))
        }

    def _is_accepted(self, changed: Inventory, owner: Owner) -> bool:
        """Return whether the API server accepts what a change edits, for the owner and all that it needs."""
        from dra_plan.questions.explain.acceptance import is_accepted  # few trials get this far

        return is_accepted(self._ground.index.inventory, changed, owner, self._ground.about.view.target)

    def _changed(
        self,
        changed: Inventory,
        owner: Owner,
        explained: Callable[[Pod], bool] = lambda _pod: False,
        then: Sequence[Inventory] = (),
    ) -> VerdictRun:
        """Return a run of a changed input: with all pending pods if they are few, else only with the owner's.

        It then goes on to the states in `then`.
        """
        ground = self._ground
        waiting = sum(record.attempts > 0 for record in ground.run.result.pods)
        about = replace(ground.about, inventory=changed, view=ground.about.view.after(changed))
        chosen = everybody if waiting <= MOST_RIVALS else lambda pod: owner in ground.owners_of.of(pod)
        return VerdictRun(about, ground.owners_of, ground.common, explained, chosen, then=then)


def _released_by(of: TriedChanges) -> list[str]:
    released = [one for one in of.changes if isinstance(one, ClaimReleased)]
    removed = [pod for one in of.changes if isinstance(one, PodsGone) and one.code == "remove-pods" for pod in one.pods]
    return [*(f"{one.release.namespace}/{pod}" for one in released for pod in one.pods), *removed]


def _evicts_by_label(of: TriedChanges, inventory: Inventory) -> bool:
    """Return whether it changes a label of a node that a pod there selects."""
    labels = {key: value for one in of.changes if isinstance(one, NodeLabelled) for key, value in one.labels.items()}
    node = next((one for one in inventory.nodes if labels and one.metadata.name == of.node), None)
    if node is None or labels.keys().isdisjoint(node.metadata.labels or {}):
        return False
    before, after = node.metadata.labels or {}, {**(node.metadata.labels or {}), **labels}
    there = (pod for pod in inventory.pods if pod.spec.node_name == of.node)
    return any(matches(pod, of.node, before) and not matches(pod, of.node, after) for pod in there)


def _is_awaited(change: SuggestedChange) -> TypeGuard[PodsGone]:
    """Return whether the change is to wait for pods that are being deleted, which also releases their claims."""
    return isinstance(change, PodsGone) and change.code == "await-pods"


def _releases_only(of: TriedChanges, pods: set[str]) -> bool:
    """Return whether it releases a claim of these pods only."""
    released = _released_by(of)
    return bool(released) and pods.issuperset(released)


def _is_about_claims(made: OwnerVerdict) -> bool:
    """Return whether claims that do not exist, or cannot be read, exclude all nodes."""
    return made.held_by == "MissingClaim" or (made.of_all_nodes and made.refused_by == [DEVICES])


def everybody(_pod: Pod) -> bool:
    """Return True, to select every pod."""
    return True


def is_over_time(deadline: float | None) -> bool:
    """Return whether the deadline has passed."""
    return deadline is not None and time.monotonic() > deadline
