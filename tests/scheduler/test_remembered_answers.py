"""The law of all that is remembered: nobody can tell from an answer that something was.

Random clusters are scheduled twice, with everything that is remembered and with nothing: pods are bound and evicted,
nodes, devices and labels change. All of both documents must be the same.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping

import msgspec
import pytest

from dra_plan.allocator import allocator
from dra_plan.allocator.pools import KnownPools
from dra_plan.manifests.decode import from_dicts
from dra_plan.questions.schedule.answer import schedule_document
from dra_plan.releases import target
from dra_plan.scheduler.cluster.cluster import SimulatedCluster
from dra_plan.scheduler.cluster.memo import NodeAnswers, ShapeAnswers
from dra_plan.scheduler.cluster.nodes import NodeInfo
from dra_plan.scheduler.dra import plugin as dra_plugin
from dra_plan.scheduler.plugins.inter_pod_affinity import Tallies
from dra_plan.scheduler.plugins.topology_spread import SpreadCounts, _Totals
from dra_plan.scheduler.simulate import simulate
from dra_plan.scheduler.simulation import Simulation

from .random_clusters import cluster, later


def told(seed: int) -> bytes:
    """All that is said of a cluster and of two states after it."""
    first = cluster(seed)
    second = later(seed + 1, first)
    states = [from_dicts(objects) for objects in (first, second, later(seed + 2, second))]
    simulation = Simulation(states[0], target=target("1.36"))
    return msgspec.json.encode(schedule_document(simulate(simulation, states[1:])))


def forget_everything(patch: pytest.MonkeyPatch) -> None:
    """Each cycle finds out everything anew."""
    patch.setattr(dra_plugin, "answer_key", lambda *_: None)
    patch.setattr(KnownPools, "gather", lambda self, node, sighted: self._gatherer.gather(node, sighted=sighted))
    patch.setattr(allocator, "can_be_late", lambda *_: False)

    def nothing_known(self: NodeAnswers[object], _key: object) -> ShapeAnswers[object]:
        shape: ShapeAnswers[object] = ShapeAnswers()
        shape.forget_all(self._unknown, len(self._cluster.nodes))
        return shape

    patch.setattr(NodeAnswers, "of", nothing_known)
    count = SpreadCounts._bring_up_to_date

    def counted_anew(self: SpreadCounts, found: _Totals, *arguments: object) -> None:
        found.revision = -1
        count(self, found, *arguments)  # type: ignore[arg-type]

    patch.setattr(SpreadCounts, "_bring_up_to_date", counted_anew)
    added = Tallies.of

    def added_anew(self: Tallies[Hashable], *arguments: object) -> Mapping[Hashable, int]:
        self.forget()
        return added(self, *arguments)  # type: ignore[arg-type]

    patch.setattr(Tallies, "of", added_anew)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(0, 240, 6))
def test_nobody_can_tell(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    remembered = told(seed)
    forget_everything(monkeypatch)
    assert told(seed) == remembered


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10_000, 12_400, 6))
def test_nobody_can_tell_of_many(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    remembered = told(seed)
    forget_everything(monkeypatch)
    assert told(seed) == remembered


def never(*_: object) -> None:
    """Something changes, and nobody is told."""


SEEDS = range(0, 60, 6)


@pytest.mark.parametrize(
    ("owner", "name"),
    [(NodeInfo, "touch"), (SimulatedCluster, "_touch")],
    ids=["what pods do", "what devices do"],
)
def test_it_would_be_told_if_changes_were_overlooked(owner: type, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above is worth something: without the journal's entries answers differ."""
    right = [told(seed) for seed in SEEDS]
    if owner is NodeInfo:
        touch = NodeInfo.touch
        monkeypatch.setattr(NodeInfo, "touch", lambda self: None if hasattr(self, "version") else touch(self))
    else:
        monkeypatch.setattr(owner, name, never)
    assert [told(seed) for seed in SEEDS] != right
