"""For which pods an answer about a node's devices holds as well: those with the same key."""

from __future__ import annotations

from collections.abc import Hashable

import msgspec

from dra_plan.allocator import View
from dra_plan.api.core import Pod

from . import conditions
from .extended import container_shape
from .ranks import rank
from .state import PodState


def answer_key(kept: PodState, pod: Pod, view: View) -> Hashable:
    """What the answer for a node depends on beside the node; None if that can't be said in a key."""
    if view.shared_counter_names or view.target.features.node_allocatable:
        return None  # the node that is asked first decides for all; what the pod asks of the node decides too
    if any(conditions.conditional_results(claim) for claim in kept.allocated):
        return None
    specs = tuple(msgspec.json.encode(claim.spec) for claim in kept.pending)
    allocations = [claim.allocation for claim in kept.allocated if claim.allocation is not None]
    where = tuple(msgspec.json.encode(allocation.node_selector) for allocation in allocations)
    ranks: tuple[int | bytes, ...] = tuple(rank(claim, claim.allocation) for claim in kept.allocated)
    if kept.shared:
        found = (kept.shared.get(claim.metadata.uid) for claim in kept.waiting)
        ranks = (*ranks, *(-1 if each is None else msgspec.json.encode(each) for each in found))
    if kept.special is None:
        return specs, where, ranks, None
    special = (msgspec.json.encode(kept.special.spec), kept.special_pending, tuple(kept.names))
    return specs, where, ranks, (*special, container_shape(pod))
