"""A cluster in which something is tried that is undone: with some of its nodes only, or with pods taken off."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager

from dra_plan.scheduler.cluster import SimulatedCluster


@contextmanager
def only(cluster: SimulatedCluster, names: Collection[str]) -> Iterator[None]:
    """Within, the cluster has no other nodes than these; what is changed within must be undone within."""
    everything = cluster.nodes
    cluster.see({name: info for name, info in everything.items() if name in names})
    try:
        yield
    finally:
        cluster.see(everything)


@contextmanager
def same_order(cluster: SimulatedCluster) -> Iterator[None]:
    """Pods that are taken off their nodes within and put back are in the same order afterwards."""
    before = {name: list(info.pods) for name, info in cluster.nodes.items()}
    try:
        yield
    finally:
        for name, uids in before.items():
            pods = cluster.nodes[name].pods
            if list(pods) != uids:
                cluster.nodes[name].pods = {uid: pods[uid] for uid in uids}
