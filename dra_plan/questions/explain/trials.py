"""`explain`: what would become of an owner in an input in which something is otherwise, by runs of the whole scheduler.

What holds a pod is taken away, to see what is in the way besides; pods may preempt that must not; and whatever might
help is tried.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from msgspec import structs

from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory
from dra_plan.claims.index import Index
from dra_plan.claims.sets import Owner
from dra_plan.documents.verdicts import DEVICES, TRIED, AloneVerdict, OwnerVerdict
from dra_plan.explanation.suggest.admissions import suggestion_rank
from dra_plan.planner.claim_sets import ClaimSetPlan
from dra_plan.planner.question import Question
from dra_plan.questions.explain.claim_changes import ClaimChanges
from dra_plan.questions.explain.editing import OwnedPods
from dra_plan.questions.explain.fates import Fates, decisive
from dra_plan.questions.explain.reasons import OwnersOfPods, RunQuestion, VerdictRun
from dra_plan.questions.explain.remedies import Remedies, Trial, Tries
from dra_plan.questions.explain.rollouts import rollout_suggestions
from dra_plan.questions.explain.volumes import OF_VOLUMES
from dra_plan.scheduler.attempts import PodRecord
from dra_plan.scheduler.cluster.common import Common
from dra_plan.scheduler.node_refusals import NodeRefusals

MOST_RIVALS = 50
"""Pods that wait with which a change is tried; where there are more, it is tried for the owner's alone."""

WithNodes = Callable[[OwnerVerdict, Owner, PodRecord, NodeRefusals, VerdictRun], OwnerVerdict]
"""The verdict with what keeps a pod from each node in a run."""


@dataclass(frozen=True, slots=True)
class TrialGround:
    """What trials start from: the input as the API server takes it, and the run of it.

    `closely` are the owners that are looked at closely, `is_explained` says whose pods these are; `at_length` is
    whether there are few enough of them to try what would help.
    """

    index: Index
    about: RunQuestion
    question: Question
    run: VerdictRun
    owners_of: OwnersOfPods
    fates: Fates
    closely: frozenset[Owner]
    is_explained: Callable[[Pod], bool]
    at_length: bool
    with_nodes: WithNodes
    plan_of: Callable[[Owner], ClaimSetPlan | None]


class OwnerTrials:
    """Tries changes for owner after owner, until the time is up."""

    def __init__(self, ground: TrialGround) -> None:
        self._ground = ground

    def with_freed(self, made: OwnerVerdict, owner: Owner) -> OwnerVerdict:
        """The verdict with what would become of it without gates, volumes, or claims that are faulty or missing."""
        if not self._is_tried(owner) or not self._ground.at_length:
            return made
        changed = self._freed(made, OwnedPods(self._ground.index, owner))
        if changed is None:
            return made
        run = self._changed(changed, owner, self._ground.is_explained)
        fate = decisive(self._ground.fates.of(run, owner))
        if fate is None or fate.record is None or (fate.is_good and _is_about_claims(made)):
            return made  # which devices it would get is not known
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
        """The input without what holds the pods, or without the volumes that keep them from all nodes alike."""
        if made.verdict == "Held":
            return pods.freed(made.held_by, made.held)
        if made.verdict == "Unschedulable" and made.of_all_nodes and OF_VOLUMES.issuperset(made.refused_by):
            return pods.without_volume_claims()
        if made.verdict == "Unschedulable" and _is_about_claims(made):
            return pods.without_claims()
        return None

    def with_spared(self, made: OwnerVerdict, owner: Owner, pod: Pod) -> OwnerVerdict:
        """The verdict with the pods that it would preempt, if its preemptionPolicy is all that keeps it from that."""
        if made.verdict != "Unschedulable" or pod.spec.preemption_policy != "Never" or not self._is_tried(owner):
            return made
        run = self._changed(OwnedPods(self._ground.index, owner).preempting(), owner)
        return structs.replace(
            made, spared=list(next((fate.victims for fate in self._ground.fates.of(run, owner)), ()))
        )

    def with_remedies(self, made: OwnerVerdict, owner: Owner) -> OwnerVerdict:
        """The verdict with what would help; of owners that are not told at length, what makes their claims fit."""
        if made.verdict not in TRIED or made.alone is not None or made.of_all_nodes:
            return made
        index, about = self._ground.index, self._ground.about
        claims = ClaimChanges(self._ground.plan_of(owner), about)
        if self._ground.at_length and self._is_tried(owner):
            found = Remedies(index, owner, self._tries(owner), claims).found(made)
            found += rollout_suggestions(index, about.view, owner, self._ground.question)
        else:
            found = [one for one in claims.known if made.is_met_by(one)]
        return structs.replace(made, suggestions=sorted(found, key=lambda one: suggestion_rank(one.changes)))

    def _is_tried(self, owner: Owner) -> bool:
        return owner in self._ground.closely and not is_over_time(self._ground.about.deadline)

    def _tries(self, owner: Owner) -> Tries:
        """What a changed input does for the owner's pods, of which all have to be made.

        That is with the other pods that wait if they are few.
        """
        owners_of = self._ground.owners_of

        def tried(changed: Inventory) -> Trial | None:
            run = self._changed(changed, owner)
            if any(owner in owners_of.of(each.pod) for each in run.not_made):
                return None
            fates = self._ground.fates.of(run, owner)
            good = [fate.record.node for fate in fates if fate.is_good and fate.record is not None]
            return Trial(good[0], len(good), len(good) == len(fates)) if good else None

        return tried

    def _changed(
        self, changed: Inventory, owner: Owner, explained: Callable[[Pod], bool] = lambda _pod: False
    ) -> VerdictRun:
        """A run of a changed input: with all pods that wait if they are few, else with the owner's alone."""
        ground = self._ground
        waiting = sum(record.attempts > 0 for record in ground.run.result.pods)
        about = replace(ground.about, inventory=changed, view=ground.about.view.after(changed))
        chosen = everybody if waiting <= MOST_RIVALS else lambda pod: owner in ground.owners_of.of(pod)
        return VerdictRun(about, ground.owners_of, Common(), explained, chosen)


def _is_about_claims(made: OwnerVerdict) -> bool:
    """Whether claims that do not exist, or can't be read, are what keeps it from all nodes."""
    return made.held_by == "MissingClaim" or (made.of_all_nodes and made.refused_by == [DEVICES])


def everybody(_pod: Pod) -> bool:
    """That no pod is left out."""
    return True


def is_over_time(deadline: float | None) -> bool:
    """Whether the time is up."""
    return deadline is not None and time.monotonic() > deadline
