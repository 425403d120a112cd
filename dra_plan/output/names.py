"""`-o name`: names alone, one a line, for scripts."""

from __future__ import annotations

from dra_plan import shown
from dra_plan.documents.allocation import AllocationDocument
from dra_plan.documents.pools import PoolsDocument

from . import text


def allocation(document: AllocationDocument) -> str:
    """`KIND/NAMESPACE/NAME node/NODE` for every node that fits."""
    return "".join(
        shown.line(f"{text.owner_name(claim_set)} node/{node}") + "\n"
        for claim_set in document.claim_sets
        for node in claim_set.fitting_nodes
    )


def pools(document: PoolsDocument) -> str:
    """`DRIVER/POOL` for every pool, each once."""
    names = dict.fromkeys(shown.line(f"{pool.driver}/{pool.pool_name}") + "\n" for pool in document.pools)
    return "".join(names)
