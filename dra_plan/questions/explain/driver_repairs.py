"""`explain`: driver pods that are not ready or not running, on nodes that could otherwise take a pod.

The devices of a node are known only after its driver has published them. A repair can therefore be tried only if the
present slices of an incomplete pool are enough.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import islice

from msgspec import structs

from dra_plan.allocator import PoolState, View
from dra_plan.api.core import Node
from dra_plan.api.inventory import Inventory
from dra_plan.api.well_known import INSTANCE_TYPE
from dra_plan.documents.claim_changes import PoolAwaited
from dra_plan.documents.stories import DriverPod
from dra_plan.documents.suggestions import SuggestedChange, TriedChanges
from dra_plan.documents.verdicts import DEVICES, OwnerVerdict
from dra_plan.explanation.driver_pods import DriverPods
from dra_plan.explanation.funnel import NodeOffer
from dra_plan.explanation.unready_pods import REPAIRABLE
from dra_plan.planner.claim_sets import ClaimSetPlan

MOST_REPAIRS = 2
"""The maximum number of driver pods that are named for repair."""

MOST_GROUPS = 8
"""The maximum number of kinds of nodes on which driver pods are searched for."""

_SETTABLE = re.compile(r"[^=!<> ]+=[^=!<> ]*")
"""A requirement that one value of a label meets."""


class DriverRepairs:
    """Finds driver pods that need repair. `view` must be a view of the input."""

    def __init__(self, inventory: Inventory, view: View) -> None:
        self._inventory, self._view = inventory, view

    @cached_property
    def _pods(self) -> DriverPods:
        return DriverPods(self._inventory)

    def told(self, of: TriedChanges) -> TriedChanges:
        """Return the changes. If slices of a pool are missing, driver pods that are not ready are added to the changes.

        These are the pods that should publish the missing slices.
        """
        if not any(isinstance(one, PoolAwaited) for one in of.changes):
            return of
        nodes = {node.metadata.name: node for node in self._inventory.nodes}

        def with_pods(one: SuggestedChange) -> SuggestedChange:
            if not isinstance(one, PoolAwaited) or one.on not in nodes:
                return one
            return structs.replace(one, driver_pods=self._pods.on_node(self._view, one.pool.driver, nodes[one.on]))

        return structs.replace(of, changes=[with_pods(one) for one in of.changes])

    def with_failing(self, of: TriedChanges, plan: ClaimSetPlan | None) -> TriedChanges:
        """Return the changes, with failing driver pods on the node that the pod then gets."""
        claims = plan.claim_set.claims if plan is not None else ()
        return structs.replace(of, failing=self._pods.failing_on(of.node, claims)) if claims else of

    def untried(self, made: OwnerVerdict, plan: ClaimSetPlan | None, found: Iterable[TriedChanges]) -> list[DriverPod]:
        """Return the driver pods to repair, on nodes that lack only devices or a label that the driver requires.

        Nodes that are named in the changes in `found` are left out.
        """
        waited = {one.on for of in found for one in of.changes if isinstance(one, PoolAwaited)}
        if plan is None or plan.explanation is None:
            return []
        alone = (group for group in made.nodes if all(reason.plugin == DEVICES for reason in group.reasons))
        names = {name for group in islice(alone, MOST_GROUPS) for name in group.nodes} - waited
        return list(islice(self._broken(plan, names), MOST_REPAIRS))

    def _broken(self, plan: ClaimSetPlan, names: set[str]) -> Iterator[DriverPod]:
        groups = plan.explanation.groups if plan.explanation is not None else []
        there = ((group.offer, [node for node in group.nodes if node.metadata.name in names]) for group in groups)
        for offer, nodes in islice((each for each in there if each[1]), MOST_GROUPS):
            if offer is not None:
                found = [*self._pods.missing(offer, nodes), *self._of_pools(offer, nodes[0])]
                yield from (one for one in found if one.pod and one.state in REPAIRABLE)
                yield from filter(None, map(self._to_label, found))

    def _to_label(self, of: DriverPod) -> DriverPod | None:
        """Return the DaemonSet with the nodes on which it would run if they had labels, if they should have devices.

        These nodes are of the same instance type as one with devices.
        """
        if of.state != "label" or not all(map(_SETTABLE.fullmatch, of.labels.split(","))):
            return None
        types = {one.metadata.name: (one.metadata.labels or {}).get(INSTANCE_TYPE) for one in self._inventory.nodes}
        alike = [name for name in of.lacking if types.get(of.node) and types.get(name) == types[of.node]]
        return structs.replace(of, lacking=alike) if alike else None

    def _of_pools(self, offer: NodeOffer, node: Node) -> Iterator[DriverPod]:
        """Yield the pods on a node of the drivers whose pools there are incomplete."""
        partial = (each.pool for each in offer.unusable if each.pool.state is PoolState.INCOMPLETE)
        for driver in dict.fromkeys(pool.id.driver for pool in islice(partial, MOST_GROUPS)):
            yield from self._pods.on_node(self._view, driver, node)
