"""Results with active controllers. A cluster is settled if controllers would act after a pass of the scheduler.

`schedule --settle` always settles the cluster. Commands that compare, drain or grow call `settle_chosen`, which keeps
the result of a single pass if no controller would act.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

from msgspec import Struct

from dra_plan.allocator import View
from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory
from dra_plan.api.meta import ObjectMeta
from dra_plan.claims.owners import DEPLOYMENT, deployment_of
from dra_plan.documents.refusals import CLAIM_REFUSED, REFUSED
from dra_plan.releases import Target
from dra_plan.scheduler.attempts import PodRecord
from dra_plan.scheduler.cluster.common import Common
from dra_plan.scheduler.simulate import SimulationResult, result_of, simulate
from dra_plan.scheduler.simulation import Simulation

from .certainty import Certainty, keep_refusals, may_lack
from .creation import NotCreated, as_created, has_quotas
from .question import Chosen, Question

if TYPE_CHECKING:
    from dra_plan.controllers.endings import PodKey
    from dra_plan.controllers.events import EventStep
    from dra_plan.controllers.foreseen import NextActions
    from dra_plan.controllers.settle import Settled
    from dra_plan.controllers.state import EndedPod

FOR_EVER = math.inf
"""The patience of commands that list every future eviction, however late."""


class SettledOutcome(Struct, frozen=True):
    """The final outcome for pods. `settled` is None if no controller had to act."""

    result: SimulationResult
    settled: Settled | None = None
    lacking: frozenset[PodKey] = frozenset()
    """The pods for which the input lacks objects that decide the result."""

    def records(self) -> dict[PodKey, PodRecord]:
        """Return the records of the pods by namespace and name.

        The record of a replaced pod is that of its replacement. A pod that ended without a replacement has no record.
        """
        found = {(one.pod.metadata.namespace, one.pod.metadata.name): one for one in self.result.pods}
        if self.settled is None:
            return found
        places = self.settled.places
        heirs = {key: found.pop(_key(heir), None) for key, heir in self._heirs(places)}
        for key in places:
            found.pop(key, None)
        return found | {key: record for key, record in heirs.items() if record is not None}

    def _heirs(self, places: Mapping[PodKey, tuple[EndedPod, Pod | None]]) -> Iterator[tuple[PodKey, Pod]]:
        assert self.settled is not None
        yield from ((key, heir) for key, (_, heir) in places.items() if heir is not None)
        yield from self.settled.refused_heirs.items()

    def why(self, record: PodRecord) -> str:
        """Return why the pod has no node: the scheduler's message, or why the pod or its claim was not created."""
        said, settled, key = record.message or record.waiting, self.settled, _key(record.pod)
        if settled is None or record.node:
            return said
        from dra_plan.controllers.over_quota import in_words

        over = settled.over_quota.get(key)
        what = REFUSED if record.refused else CLAIM_REFUSED
        if over:
            return f"{what}: {in_words(over, key[0])}"
        return f"{what}: {settled.why_not_made.get(key, said)}" if record.refused else said

    def lacks_room(self, record: PodRecord) -> bool:
        """Return whether the pod fits on no node. An error or a rejection by the API server does not count."""
        refused = self.settled is not None and _key(record.pod) in self.settled.claims_refused
        return record.outcome == "Unschedulable" and not refused

    def is_undecided(self, record: PodRecord) -> bool:
        """Return whether the pod has no node although it may be possible to schedule it."""
        return self.result.is_undecided(record) or (not record.node and _key(record.pod) in self.lacking)


def _key(pod: Pod) -> tuple[str, str]:
    return pod.metadata.namespace, pod.metadata.name


def lacking(inventory: Inventory, result: SimulationResult, simulation: Simulation) -> frozenset[PodKey]:
    """Return the unscheduled pods that might fit if the input had objects of the missing kinds."""
    if not may_lack(inventory):
        return frozenset()
    certainty = Certainty(inventory, lambda pod: simulation.cluster.info(pod).priority)
    return frozenset(_key(each.pod) for each in result.unbound if each.message and certainty.is_open(each))


def outlook_of(simulation: Simulation, outcome: SimulationResult) -> NextActions | None:
    """Return what controllers would do until the cluster settles, or None if they would do nothing."""
    inventory = simulation.inventory
    if not (
        outcome.evictions
        or inventory.taint_rules
        or any(node.spec.taints for node in inventory.nodes)
        or any(device.taints for each in inventory.slices for device in each.spec.devices)
    ):
        return None
    from dra_plan.controllers.foreseen import outlook

    found = outlook(simulation, outcome)
    return found if found.said else None


def settled_result(
    simulation: Simulation,
    chosen: Chosen,
    events: Sequence[EventStep] = (),
    never_ready: Sequence[str] = (),
    patience: float | None = None,
    then: Sequence[Inventory] = (),
    beyond: Sequence[NotCreated] = (),
) -> tuple[SimulationResult, Settled]:
    """Let the simulation settle in its current state, and then after each later input in `then`.

    The result includes the chosen pods that the API server rejects, and those in `beyond`, which were rejected before
    the simulation started. If a controller tries to replace a rejected pod, the result has the name of the rejected
    pod.
    """
    from dra_plan.controllers.endings import heirs
    from dra_plan.controllers.quota import without_name
    from dra_plan.controllers.settle import PATIENCE_SECONDS, Settling

    patience = PATIENCE_SECONDS if patience is None else patience
    settled = Settling(simulation, never_ready, patience).run(events, then)
    result = result_of(simulation)
    there = {_key(each.pod) for each in result.pods}
    out = {_key(each.pod): each for each in beyond if _key(each.pod) not in there}
    tried = heirs((each.pod for each in out.values()), [pod for pod, _ in settled.not_made])
    meant = {id(heir): out.pop(key).pod for key, heir in tried.items()}
    reasons = {_key(meant.get(id(pod), pod)): without_name(pod, said) for pod, said in settled.not_made}
    settled.why_not_made = reasons | {key: each.reason or each.message for key, each in out.items()}
    settled.not_made = [(meant.get(id(pod), pod), said) for pod, said in settled.not_made]
    settled.over_at_creation = {key: [*each.over] for key, each in out.items()}
    refused = [*settled.not_made, *((each.pod, each.message) for each in out.values())]
    result.pods = [*result.pods, *(PodRecord(pod, message=said, refused=True) for pod, said in refused if chosen(pod))]
    return result, settled


def settle_chosen(
    inventory: Inventory,
    target: Target,
    question: Question,
    chosen: Chosen,
    common: Common | None = None,
    view: View | None = None,
    *,
    ordered: bool = False,
    always: bool = False,
) -> SettledOutcome:
    """Return the final outcome for the chosen pods.

    Other pods do not change unless controllers terminate them. The cluster settles only if controllers would act or
    `always` is set.
    """
    chosen = with_successors(chosen, inventory.pods)
    if not (always or has_quotas(inventory)):
        with _simulation(inventory, target, question, chosen, common, view, ordered=ordered) as simulation:
            result = simulate(simulation)
            if not outlook_of(simulation, result):
                return SettledOutcome(result, lacking=lacking(inventory, result, simulation))
    given, beyond = as_created(inventory)
    makes = not has_quotas(inventory)
    simulation = simulation_of(given, target, question, chosen, common, view, ordered=ordered, makes=makes)
    result, settled = settled_result(simulation, chosen, patience=FOR_EVER, beyond=beyond)
    return SettledOutcome(result, settled, lacking(inventory, result, simulation))


@contextmanager
def _simulation(
    inventory: Inventory,
    target: Target,
    question: Question,
    chosen: Chosen,
    common: Common | None,
    view: View | None,
    *,
    ordered: bool,
) -> Iterator[Simulation]:
    """Return the simulation of the chosen pods; with `common`, that of the first state, which has become this one.

    What happens to it is taken back at the end.
    """
    first = standing_by(inventory, target, question, common, view, ordered=ordered) if common is not None else None
    if first is None or not first.can_become(inventory):
        yield simulation_of(inventory, target, question, chosen, common, view, ordered=ordered)
        return
    with first.forks.trial():
        first.become(inventory, chosen)
        first.handle.deadline = question.deadline()
        keep_refusals(first)
        yield first


def simulation_of(
    inventory: Inventory,
    target: Target,
    question: Question,
    chosen: Chosen,
    common: Common | None = None,
    view: View | None = None,
    *,
    makes: bool = True,
    ordered: bool = False,
    explain: bool = False,
) -> Simulation:
    """Return a simulation of the chosen pods, for commands that call the scheduler more than once.

    Only the limits of the question are used. `common` is shared with other questions, and `view` is the target's view
    of the inventory. If `explain` is set, failed attempts are recorded.
    """
    simulation = Simulation(
        inventory,
        target=target,
        max_steps=question.max_steps,
        deadline=question.deadline(),
        chosen=chosen,
        makes=makes,
        ordered=ordered,
        common=common,
        view=view,
        explain=explain,
    )
    keep_refusals(simulation)
    return simulation


def standing_by(
    inventory: Inventory,
    target: Target,
    question: Question,
    common: Common,
    view: View | None = None,
    *,
    ordered: bool = False,
) -> Simulation:
    """Return the simulation of the cluster's first state, which has not started. Later states are forked from it."""
    if ordered not in common.standing_by:
        made = simulation_of(inventory, target, question, lambda _pod: False, common, view, ordered=ordered)
        made.stand_by()
        common.standing_by[ordered] = made
    first: Simulation = common.standing_by[ordered]
    return first


def with_successors(chosen: Chosen, pods: Sequence[Pod]) -> Chosen:
    """Return a choice of the chosen pods and their replacements, which have the same controllers."""

    @cache
    def known() -> tuple[set[tuple[str, str]], set[tuple[str, str, str]]]:
        owners = {owner for pod in pods if chosen(pod) for owner in _owners(pod.metadata)}
        return {(pod.metadata.namespace, pod.metadata.name) for pod in pods}, owners

    def is_chosen(pod: Pod) -> bool:
        if chosen(pod):
            return True
        given, owners = known()
        key = (pod.metadata.namespace, pod.metadata.name)
        return key not in given and not owners.isdisjoint(_owners(pod.metadata))

    return is_chosen


def _owners(metadata: ObjectMeta) -> list[tuple[str, str, str]]:
    """Return the kind, namespace and name of the controller, and of the Deployment behind it."""
    controller, deployment = metadata.controller, deployment_of(metadata)
    named = [(controller.kind, metadata.namespace, controller.name)] if controller is not None else []
    return [*named, (DEPLOYMENT, metadata.namespace, deployment)] if deployment else named
