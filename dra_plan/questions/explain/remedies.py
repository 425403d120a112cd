"""`explain`: changes that help a pod rejected for reasons other than devices, tried with the whole scheduler.

Changes are derived from the obstacles on the nodes closest to fitting (`obstacle_remedies`). Changes to claims come
from `explanation.suggest`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice, product
from typing import Any

from msgspec import structs

from dra_plan.api.core import Node, Pod
from dra_plan.api.inventory import Inventory
from dra_plan.api.workloads import Job
from dra_plan.claims.index import Index, owner_of
from dra_plan.claims.sets import Owner
from dra_plan.documents.claim_changes import RequestDropped
from dra_plan.documents.cluster_changes import (
    ClaimDropped,
    NodeAdded,
    NodeAwaited,
    NodeRequirementDropped,
    NodeTaintMet,
    PodsGone,
    ResourceLowered,
)
from dra_plan.documents.node_obstacles import NodeObstacle, RefusingNodes
from dra_plan.documents.suggestions import ObjectPatch, PatchOperation, SuggestedChange, TriedChanges
from dra_plan.documents.verdicts import DEVICES, MOST_NODES_TRIED, OwnerVerdict
from dra_plan.explanation.suggest import patches
from dra_plan.explanation.suggest.admissions import suggestion_rank
from dra_plan.manifests import kinds
from dra_plan.planner.carried_out import carried_out
from dra_plan.questions.explain.asked_twice import without_one
from dra_plan.questions.explain.claim_changes import ClaimChanges, asking_less
from dra_plan.questions.explain.editing import (
    OwnedPods,
    Remedy,
    found,
    spec_of,
)
from dra_plan.questions.explain.leaving import is_of_leaving, without_leaving
from dra_plan.questions.explain.obstacle_remedies import ObstacleRemedies, may_be_new
from dra_plan.questions.explain.outranking import after_eviction, evicted, outranking, with_replacements
from dra_plan.questions.explain.removals import (
    MOST_RESTARTS,
    is_of_pods,
    priority_of,
    removals,
    restarted,
    with_restart,
)
from dra_plan.questions.explain.shared_claims import claim_per_pod, own_claim
from dra_plan.questions.explain.spec_edits import of_spec
from dra_plan.questions.explain.topology_keys import replaced_key
from dra_plan.questions.explain.trial import Trial, Tries
from dra_plan.scheduler.cluster.pod_requests import amounts

MOST_GROUPS = 4
"""The maximum number of node kinds for which changes are tried."""


MOST_TRIALS = 8
"""The maximum number of changes, or pairs of changes, that are tried for an owner."""


MOST_ALIKE = 2
"""The maximum number of node kinds of which one more is tried, and of running pods whose removal is tried."""


MOST_LOWERED = 4
"""The maximum number of lower device counts that are tried to help all pods of a workload."""


MOST_CHANGES = 2
"""The maximum number of changes that are tried together."""


class Remedies:
    """A search for changes that help an owner. `claims` are the changes that would make its claims fit.

    `siblings` are the other pods (NAMESPACE/NAME) of the owner's controllers.
    """

    def __init__(
        self, index: Index, owner: Owner, tries: Tries, claims: ClaimChanges, siblings: Collection[str]
    ) -> None:
        self._index, self._siblings = index, siblings
        self._inventory, self._owner, self._tries, self._claims = index.inventory, owner, tries, claims
        self._pods = OwnedPods(index, owner)
        self._object = self._pods.object
        self._nodes = {node.metadata.name: node for node in self._inventory.nodes}
        self._of_obstacles = ObstacleRemedies(self._inventory, owner, self._pods)
        self._most = min(MOST_TRIALS, MOST_NODES_TRIED // max(1, len(self._nodes)))
        self._tried: set[tuple[str, ...]] = set()
        self.tried = 0
        """The number of changes, and combinations, that were tried."""

    def found(self, verdict: OwnerVerdict) -> list[TriedChanges]:
        """Return the changes that help all of the owner's pods or, if there are none, those that help some."""
        is_partial = 0 < verdict.would_bind < verdict.pods or verdict.full_claims
        fewer = self._of_obstacles.fewer(verdict) if is_partial else None
        enough = self._helping([(fewer,)], verdict) if fewer is not None else []
        found = self._claims.known or (self._claims.later(_of_devices(verdict)) if _is_crowded_out(verdict) else [])
        known = self._helping([(_carrying_out(one),) for one in found if not one.feature_gates], verdict)
        known += self._for_all(known, verdict)
        others = self._helping(sorted(self._combinations(verdict), key=_order), verdict)
        helped = [*known, *others]
        if not found:
            helped += self._helping(sorted(self._of_claims(verdict, 1), key=_order), verdict)
        if not helped:
            helped += self._helping(sorted(self._wider(verdict), key=_order), verdict)
        helped += [one for one in self._claims.known if _key(one.changes) not in self._tried and verdict.is_met_by(one)]
        helped = _different([one for one in helped if not one.would_bind] or helped)
        helped = self._with_restarts(helped, verdict)
        most = 1 if any(len(one.changes) == 1 for one in helped) else MOST_CHANGES
        if not any(isinstance(change, NodeAdded) for one in helped for change in one.changes):
            added = _up_to(most, self._one_more(verdict))
            helped += self._first_of(added, verdict, for_some=not helped)
        helped += self._first_of(_up_to(most, self._removed(verdict)), verdict, is_best=_has_place)
        helped += self._outranking(verdict)
        helped += enough
        worse = (_asks_less, _empties)
        return [one for one in helped if not any(is_worse(one, other) for other in helped for is_worse in worse)]

    def _first_of(
        self,
        combinations: Iterator[tuple[Remedy, ...]],
        verdict: OwnerVerdict,
        *,
        for_some: bool = False,
        is_best: Callable[[TriedChanges], bool] = lambda _: True,
    ) -> list[TriedChanges]:
        """Return the first of equally good changes that helps all pods, or some; in large clusters, one is tried.

        If some of them are better (`is_best`), the first of these is returned.
        """
        first: list[TriedChanges] = []
        for one in islice(combinations, min(MOST_ALIKE, max(1, self._most - 1))):
            helped = [each for each in self._helping([one], verdict) if for_some or not each.would_bind]
            if any(map(is_best, helped)):
                return helped
            first = first or helped
        return first

    def _with_restarts(self, helped: Sequence[TriedChanges], verdict: OwnerVerdict) -> list[TriedChanges]:
        """Return the changes. If a claim is to be released, its pods are deleted, with the pods that replace them.

        The release remains, and says so, if no node takes these; it also remains if that is not known.
        """
        made, left = list(helped), MOST_RESTARTS
        for at, one in enumerate(helped):
            restart = restarted(one.changes, self._index) if left else None
            if restart is not None:
                left -= 1
                tried = self._helping([(restart,)], verdict)
                made[at] = next((with_restart(one, each) for each in tried), one)
        return _different(made)

    def _outranking(self, verdict: OwnerVerdict) -> list[TriedChanges]:
        """Return the lowest higher priority with which the pods preempt others, and what becomes of these."""
        for remedy in outranking(self._inventory, self._pods, self.priority, list(self._groups(verdict))):
            for one in self._helping([(remedy,)], verdict):
                gone = evicted(self._pods, one, {*self._siblings})
                changed = remedy.apply(self._inventory)
                if gone and changed is not None:
                    self.tried += 1
                    return [with_replacements(one, gone, self._tries(after_eviction(changed, gone)))]
        return []

    def _for_all(self, helped: Sequence[TriedChanges], verdict: OwnerVerdict) -> list[TriedChanges]:
        """Return the changes of counts that help only some pods, lowered further until they help all of them."""
        found: list[TriedChanges] = []
        lower = next((less for each in helped if each.would_bind and (less := asking_less(each)) is not None), None)
        for _ in range(min(MOST_LOWERED, self._most)):
            if lower is None or found:
                break
            found += (each for each in self._helping([(_carrying_out(lower),)], verdict) if not each.would_bind)
            lower = asking_less(lower)
        return found

    @property
    def priority(self) -> int:
        """The priority of the owner's pods."""
        spec, classes = self._pods.spec, {one.metadata.name: one.value for one in self._inventory.priority_classes}
        return priority_of(Pod(spec=spec), classes) if spec is not None else 0

    def _helping(self, combinations: Iterable[tuple[Remedy, ...]], verdict: OwnerVerdict) -> list[TriedChanges]:
        """Return the helpful ones of these combinations, within the limit on trials."""
        helped: list[TriedChanges] = []
        left = self._most
        for remedies in combinations:
            changes = [change for one in remedies for change in one.told]
            key = _key(changes)
            if (
                any(map(self._pods.sets_again, changes))
                or key in self._tried
                or left <= 0
                or any({*_key(known.changes)} <= {*key} for known in helped)
            ):
                continue  # if a part of it helps, the rest is unnecessary
            before = _applied(self._inventory, [one for one in remedies if one.patches])
            changed = _applied(before, [one for one in remedies if not one.patches])
            if before is None or changed is None:
                continue
            left -= 1
            self._tried.add(key)
            self.tried += 1
            trial = self._tries(changed)
            if trial is None or not trial.helps(verdict.would_bind):
                continue
            made = [patch for one in remedies for patch in one.patches]
            made += self._of_owner(changed, fixed=any(one.fixed for one in remedies))
            made += [*_of_nodes(before, changed), *_of_classes(before, changed)]
            whole = structs.replace(trial.after(changes, made), also_on=self._also_on(changes, changed, trial))
            helped += self._parts(remedies, trial, verdict) or [self._in_any_order(whole, remedies, verdict)]
        return helped

    def _in_any_order(self, whole: TriedChanges, remedies: Sequence[Remedy], verdict: OwnerVerdict) -> TriedChanges:
        """Return the changes; pods are only restarted if it also helps when their replacements come first.

        A ReplicaSet creates these while the deleted pods still have their devices and their room.
        """
        keys = {pod for one in whole.changes if isinstance(one, PodsGone) and one.code == _RESTART for pod in one.pods}
        others = _applied(self._inventory, [one for one in remedies if not any(map(_removes_pods, one.told))])
        if not keys or others is None:
            return whole
        from dra_plan.questions.explain.replacing import while_they_end  # few changes restart pods

        states = while_they_end(others, keys)
        trial = self._tries(states[0], states[1:]) if states is not None else None
        helps = trial is not None and trial.helps(verdict.would_bind) and all(trial.places.values())
        if helps or states is None:
            return whole
        return structs.replace(whole, changes=[*map(_not_replaced, whole.changes)])

    def _also_on(self, changes: Sequence[SuggestedChange], changed: Inventory, trial: Trial) -> list[str]:
        """Return further nodes that take the pod after a correction of a toleration, which is meant for all of them."""
        if not any(isinstance(one, NodeTaintMet) and one.code == "correct-toleration" for one in changes):
            return []
        nodes, last = [trial.node], trial
        while len(nodes) <= MOST_ALIKE and last.is_whole and last.bound == 1:
            changed = replace(changed, nodes=[*map(_cordoned_if(nodes[-1]), changed.nodes)])
            found = self._tries(changed)
            if found is None or found.node in nodes:
                break
            nodes.append(found.node)
            last = found
        return nodes[1:]

    def _parts(self, remedies: Sequence[Remedy], trial: Trial, verdict: OwnerVerdict) -> list[TriedChanges]:
        """Return single ones of these changes that are enough, because the others are about other nodes."""
        number = sum(len(one.told) for one in remedies)
        if len(remedies) < MOST_CHANGES or self._lacks(trial.node, verdict) >= number:
            return []
        return self._helping(((one,) for one in remedies), verdict)

    def _lacks(self, node: str, verdict: OwnerVerdict) -> int:
        """Return the number of obstacles on a node; 0 on a new one. So many changes are all needed."""
        return next((len(told) for group, told in self._groups(verdict) if node in group.nodes), 0)

    def _combinations(self, verdict: OwnerVerdict) -> Iterator[tuple[Remedy, ...]]:
        spec = self._pods.spec
        own = [entry.resource_claim_name or "" for entry in (spec.resource_claims if spec is not None else ())]
        yield from ((one,) for one in without_leaving(self._inventory, verdict, own))
        yield from ((one,) for one in claim_per_pod(self._inventory, self._pods, verdict))
        groups = 0
        for group, obstacles in self._groups(verdict):
            options = list(self._options(group, obstacles, verdict))
            recovered = (one for each in options for one in each if _ends_pods(one))
            yield from ((one,) for one in recovered)  # the pods that it ends may be all that is in the way
            if options and all(options) and sum(_EVICTING not in one for one in options) <= MOST_CHANGES:
                groups += 1
                made = (_distinct(each) for each in product(*options))
                yield from (each for each in made if _is_small(each) and _is_tolerant(each, options))
            if groups == MOST_GROUPS:
                return

    def _one_more(self, verdict: OwnerVerdict) -> Iterator[tuple[Remedy, ...]]:
        """Yield one more node of each kind that would have room for the pod if it were empty."""
        for group, obstacles in self._groups(verdict):
            made = self._of_obstacles.one_more(group)
            if made is not None:
                rest = [one for one in obstacles if not may_be_new(one)]
                if not any(one.taint is not None for one in rest):  # a new node need not have it
                    yield from self._with_rest(made, group, rest, verdict)

    def _removed(self, verdict: OwnerVerdict) -> Iterator[tuple[Remedy, ...]]:
        """Yield pods that leave nodes with too little room or a taken port, with changes for what else these lack."""
        groups = list(self._groups(verdict))
        for at, made in removals(self._index, groups, self.priority, self._siblings):
            group, obstacles = groups[at]
            yield from self._with_rest(made, group, [one for one in obstacles if not is_of_pods(one)], verdict)

    def _with_rest(
        self, made: Remedy, group: RefusingNodes, rest: Sequence[NodeObstacle], verdict: OwnerVerdict
    ) -> Iterator[tuple[Remedy, ...]]:
        """Yield a change with those for the `rest` of the obstacles, which it does not remove."""
        options = [list(self._alone(one, group, verdict)) for one in rest]
        combined = product([made], *options)
        yield from (each for each in combined if _is_small(each) and _is_tolerant(each, [[made], *options]))

    def _options(
        self, group: RefusingNodes, obstacles: Sequence[NodeObstacle], verdict: OwnerVerdict
    ) -> Iterator[list[Remedy]]:
        """Yield the changes for each obstacle on nodes of one kind; those of one contradiction have one in common."""
        conflict = verdict.label_conflict
        merged = list(self._of_obstacles.merged(conflict)) if conflict is not None else []
        rest = [one for one in obstacles if not (merged and conflict is not None and conflict.has(one))]
        if len(rest) < len(obstacles):
            yield merged
        for one in rest:
            evicting = [_EVICTING] if group.lower_priority and one.is_of_room else []
            yield [*evicting, *self._alone(one, group, verdict)]

    def _alone(self, one: NodeObstacle, group: RefusingNodes, verdict: OwnerVerdict) -> Iterator[Remedy]:
        """Yield the changes for an obstacle, except changes of what claims request."""
        yield from replaced_key(self._pods, one)
        yield from self._of_obstacles.of(one, group)
        yield from own_claim(self._inventory, self._pods, verdict, one)
        if one.kind == "Volume" and not one.volume:
            from dra_plan.questions.explain.volume_remedies import smaller_claim  # few pods have such claims

            yield from smaller_claim(self._pods, verdict, one)
        yield from without_one(self._index, self._pods, one)

    def _wider(self, verdict: OwnerVerdict) -> Iterator[tuple[Remedy, ...]]:
        """Yield pairs with changes that are otherwise tried alone: of claims, and of pods that are being deleted."""
        yield from self._of_claims(verdict, MOST_CHANGES)
        spec = self._pods.spec
        own = [entry.resource_claim_name or "" for entry in (spec.resource_claims if spec is not None else ())]
        leaving = list(without_leaving(self._inventory, verdict, own))
        for group, obstacles in islice(self._groups(verdict), MOST_GROUPS if leaving else 0):
            rest = [one for one in obstacles if not is_of_leaving(one)]
            for made in leaving:
                if any(isinstance(told, PodsGone) and told.on in group.nodes for told in made.told):
                    yield from self._with_rest(made, group, rest, verdict)

    def _of_claims(self, verdict: OwnerVerdict, most: int) -> Iterator[tuple[Remedy, ...]]:
        """Yield changes of claims, found on nodes of one kind, with up to `most` changes that are needed there."""
        for group, obstacles in islice(self._groups(verdict), MOST_GROUPS):
            rest = [one for one in obstacles if one.kind != "Devices"]
            options = [self._beside_claims(one, group, verdict) for one in rest]
            if len(rest) < len(obstacles) and len(rest) < most and all(options):
                claims = [_carrying_out(one) for one in self._claims.on([self._nodes[name] for name in group.nodes])]
                claims += claim_per_pod(self._inventory, self._pods, verdict) if rest else ()
                yield from (each for each in product(claims, *options) if _is_tolerant(each, options))

    def _beside_claims(self, one: NodeObstacle, group: RefusingNodes, verdict: OwnerVerdict) -> list[Remedy]:
        """Return the changes for an obstacle; the value that nodes have of a label is used before none is required."""
        found = list(self._alone(one, group, verdict))
        if all(isinstance(told, NodeRequirementDropped) for each in found for told in each.told):
            return list(self._of_obstacles.at_last(one, group)) or found
        return found

    def _groups(self, verdict: OwnerVerdict) -> Iterator[tuple[RefusingNodes, list[NodeObstacle]]]:
        """Yield the node kinds whose obstacles are all known."""
        for group in verdict.nodes:
            obstacles = [one for reason in group.reasons for one in reason.about]
            if all(reason.about for reason in group.reasons):
                yield group, [one for one in obstacles if not self._goes_with(one, obstacles)]

    @staticmethod
    def _goes_with(one: NodeObstacle, others: Sequence[NodeObstacle]) -> bool:
        """Return whether it is the taint of a cordon, which is removed together with it."""
        return one.is_of_cordon and any(other.kind == "Cordoned" for other in others)

    def _of_owner(self, changed: Inventory, *, fixed: bool) -> Iterator[ObjectPatch]:
        """Yield the patch of the owner, if it differs."""
        before, after = self._object, found(changed, self._owner)
        if before is None or after is None or before == after:
            return
        kind = kinds.named(before.kind)
        specs = spec_of(before), spec_of(after)
        made = list(_of_replicas(before, after))
        if kind is not None and specs[0] is not None and specs[1] is not None:
            made += of_spec(specs[0], specs[1], patches.pointer(*kind.pod_spec))
        recreate = bool(made) and (
            (isinstance(before, Job) and specs[0] != specs[1]) or (fixed and isinstance(before, Pod))
        )
        yield patches.of_object(owner_of(before), before.api_version, made, recreate=recreate)


def _of_nodes(before: Inventory, changed: Inventory) -> Iterator[ObjectPatch]:
    for old, new in zip(before.nodes, changed.nodes, strict=False):  # added nodes come last
        if old is not new:
            yield from _of_node(old, new)


def _of_classes(before: Inventory, changed: Inventory) -> Iterator[ObjectPatch]:
    for old, new in zip(before.classes, changed.classes, strict=True):
        if old is not new:
            path, name = "/spec/extendedResourceName", new.spec.extended_resource_name
            made = [PatchOperation(op="add", path=path, value=name)]
            yield patches.of_object(("DeviceClass", "", new.metadata.name), new.api_version, made)


def _of_replicas(before: Any, after: Any) -> Iterator[PatchOperation]:
    for field in ("replicas", "parallelism"):
        number = getattr(after.spec, field, None)
        if number != getattr(before.spec, field, None):
            yield PatchOperation(op="add", path=f"/spec/{field}", value=number)


def _of_node(before: Node, after: Node) -> Iterator[ObjectPatch]:
    """Yield the patch of a node that differs."""
    if before.spec != after.spec:
        yield patches.of_node_spec(before, after)
    if before.metadata.labels != after.metadata.labels:
        had = before.metadata.labels or {}
        new = {key: value for key, value in (after.metadata.labels or {}).items() if had.get(key) != value}
        places = [(f"/metadata/labels{patches.pointer(key)}", value) for key, value in new.items()]
        made = [PatchOperation(op="add", path=path, value=value) for path, value in places]
        if before.metadata.labels is None:
            made = [PatchOperation(op="add", path="/metadata/labels", value=new)]
        yield patches.of_object(("Node", "", before.metadata.name), "v1", made)


def _carrying_out(tried: TriedChanges) -> Remedy:
    """Return the remedy for changes found elsewhere, with their patches."""
    made = tuple(tried.patches)
    return Remedy(tuple(tried.changes), lambda of: carried_out(of, made), patches=made)


def _has_place(of: TriedChanges) -> bool:
    """Return whether each pod that it removes is started elsewhere, or has no controller that would start it."""
    return all(one.stays != "WithoutPlace" for one in of.changes if isinstance(one, PodsGone))


def _removes_pods(change: SuggestedChange) -> bool:
    return isinstance(change, PodsGone) and change.code == "remove-pods"


def _not_replaced(change: SuggestedChange) -> SuggestedChange:
    """Return the change; if it restarts pods, it only removes them."""
    if not isinstance(change, PodsGone) or change.code != _RESTART:
        return change
    return structs.replace(change, code="remove-pods", then_on=[])


def _ends_pods(one: Remedy) -> bool:
    return any(isinstance(change, NodeAwaited) and change.ends for change in one.told)


_RESTART = "restart-pods"


_EVICTING = Remedy((), lambda of: of)
"""No change: the pod evicts others, which removes the obstacle."""


def _up_to(most: int, combinations: Iterable[tuple[Remedy, ...]]) -> Iterator[tuple[Remedy, ...]]:
    return (one for one in combinations if len(one) <= most)


def _cordoned_if(name: str) -> Callable[[Node], Node]:
    """Return a function that cordons the node with this name."""

    def made(node: Node) -> Node:
        if node.metadata.name != name:
            return node
        return structs.replace(node, spec=structs.replace(node.spec, unschedulable=True))

    return made


def _distinct(remedies: Iterable[Remedy]) -> tuple[Remedy, ...]:
    """Return the remedies without one that is there already: one more node removes several obstacles."""
    found: dict[str, Remedy] = {}
    for at, one in enumerate(remedies):
        found.setdefault(repr(one.told) if one.told else str(at), one)
    return tuple(found.values())


def _is_small(remedies: Sequence[Remedy]) -> bool:
    """Return whether there are changes, and not more than are tried together."""
    return 0 < sum(len(one.told) for one in remedies) <= MOST_CHANGES


def _is_tolerant(remedies: Sequence[Remedy], options: Sequence[Sequence[Remedy]]) -> bool:
    """Return whether taints are met in one way: all removed, or, together with other changes, tolerated if possible.

    A toleration says that the other way helps as well, and each combination costs a trial.
    """
    met = [one.code for each in remedies for one in each.told if isinstance(one, NodeTaintMet)]
    if "remove-node-taint" not in met:
        return True
    every = {one.code for each in options for remedy in each for one in remedy.told}
    return len(set(met)) == 1 and (len(met) == len(remedies) or every.isdisjoint(_TOLERATED))


_TOLERATED = {"tolerate-node-taint", "correct-toleration"}


def _different(helped: Iterable[TriedChanges]) -> list[TriedChanges]:
    """Return the changes without those that edit the same objects in the same way as an earlier one."""
    found: dict[str, TriedChanges] = {}
    for one in helped:
        found.setdefault(repr(one.patches) if one.patches else repr(one.changes), one)
    return list(found.values())


def _asks_less(one: TriedChanges, other: TriedChanges) -> bool:
    """Return whether it only lowers a request that another suggestion lowers less."""
    if len(one.changes) > 1 or len(other.changes) > 1:
        return False
    less, more = one.changes[0], other.changes[0]
    if not isinstance(less, ResourceLowered) or not isinstance(more, ResourceLowered):
        return False
    amount = [amounts({each.resource: each.to})[each.resource] for each in (less, more)]
    return (less.container, less.resource) == (more.container, more.resource) and amount[0] < amount[1]


def _empties(one: TriedChanges, other: TriedChanges) -> bool:
    """Return whether it removes a request from a claim that another suggestion removes from the pod as a whole."""
    whole = [change.claim for change in other.changes if isinstance(change, ClaimDropped)]
    requests = [change.claim for change in one.changes if isinstance(change, RequestDropped)]
    return any(claim in whole for claim in requests)


def _key(changes: Iterable[SuggestedChange]) -> tuple[str, ...]:
    return tuple(map(repr, changes))


def _is_crowded_out(verdict: OwnerVerdict) -> bool:
    """Return whether it, or more of its pods or of its pod group, would fit if other pods did not come first."""
    is_partial = 0 < verdict.would_bind < verdict.pods
    return verdict.alone is not None or verdict.gang is not None or is_partial


def _of_devices(verdict: OwnerVerdict) -> list[str]:
    """Return the nodes on which only devices are the problem."""
    alone = (group for group in verdict.nodes if all(reason.plugin == DEVICES for reason in group.reasons))
    return [name for group in alone for name in group.nodes]


def _applied(inventory: Inventory | None, remedies: Iterable[Remedy]) -> Inventory | None:
    for remedy in remedies:
        inventory = remedy.apply(inventory) if inventory is not None else None
    return inventory


def _order(remedies: Sequence[Remedy]) -> tuple[object, ...]:
    return suggestion_rank([change for one in remedies for change in one.told])
