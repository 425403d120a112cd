"""The worked walks of docs/internals/search.md: a node and claims, and the walk that they lead to."""

from __future__ import annotations

from dra_plan import claims, releases
from dra_plan.allocator import Allocator, View
from dra_plan.allocator.pruning_rules import ALWAYS, NEVER
from dra_plan.manifests.decode import from_dicts
from dra_plan.questions.allocate.trace import SearchTrace, ending
from tests.allocator.described import objects


def walk(description: str, *, pruned: bool, quirks: str = "upstream") -> str:
    """The walk for a description, as `allocate --trace` tells it."""
    inventory = from_dicts(objects(description))
    view = View.of(inventory, releases.target("1.36.2", quirks=quirks))
    [claim_set] = claims.expand(inventory, namespace=None, selector=None, together=True).sets
    allocator = Allocator(claim_set.claims, view, pruning=ALWAYS if pruned else NEVER)
    trace = SearchTrace()
    answer = allocator.allocate(inventory.nodes[0], trace)
    return "\n".join([*trace.lines(), ending(answer.outcome, answer.steps)])
