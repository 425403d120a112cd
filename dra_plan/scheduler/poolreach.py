"""Which nodes reach the devices of a pool, by what its slices say."""

from __future__ import annotations

from collections.abc import Iterable

from dra_plan.api.resource import ResourceSlice


def pool_reach(slices: Iterable[ResourceSlice]) -> dict[str, dict[str, None] | None]:
    """Pool name to the nodes that reach it; None for all."""
    reach: dict[str, dict[str, None] | None] = {}
    for slice_ in slices:
        spec = slice_.spec
        if not spec.node_name:
            reach[spec.pool.name] = None
        elif (known := reach.setdefault(spec.pool.name, {})) is not None:
            known[spec.node_name] = None
    return reach
