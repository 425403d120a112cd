"""Nobody can tell from an explanation that the scheduler's run takes over the allocator's answers for the claim sets.

Random clusters with pods, nodes and devices in use are explained twice, with and without this: both documents must be
the same.
"""

from __future__ import annotations

import pickle

import pytest
from msgspec.structs import replace

from dra_plan import Cluster
from dra_plan.allocator import NodeOutcome, Outcome, allocator
from dra_plan.allocator.results import LateResults
from dra_plan.manifests.decode import from_dicts
from dra_plan.questions.explain.reasons import VerdictRun
from dra_plan.scheduler.cluster.claims import ClaimStore
from dra_plan.scheduler.dra import plugin
from dra_plan.scheduler.dra.filter import NodeAnswer, known_answer
from tests import build
from tests.scheduler.random_clusters import cluster, later

SEEDS = range(3, 120, 24)


def told(seed: int) -> list[object]:
    """All that is said of a cluster, in which nothing is allocated, and of a later state, in which pods run."""
    first = cluster(seed)
    return [Cluster.of(objects).explain().to_dict() for objects in (first, later(seed + 1, first))]


def take_over_nothing(patch: pytest.MonkeyPatch) -> None:
    """The scheduler asks the allocator about each node, and each allocation is written."""
    patch.setattr(VerdictRun, "_take_over", lambda *_: None)
    patch.setattr(allocator, "can_be_late", lambda *_: False)


@pytest.mark.parametrize("seed", SEEDS)
def test_nobody_can_tell(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    taken_over = told(seed)
    take_over_nothing(monkeypatch)
    assert told(seed) == taken_over


@pytest.mark.long
@pytest.mark.parametrize("seed", range(20_000, 21_000, 18))
def test_nobody_can_tell_of_many(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    taken_over = told(seed)
    take_over_nothing(monkeypatch)
    assert told(seed) == taken_over


def test_wrong_answers_would_be_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above is worth something: the answers that are taken over decide."""
    right = told(SEEDS[0])

    def wrong(outcome: NodeOutcome) -> NodeAnswer | None:
        refused = NodeOutcome(outcome.node, Outcome.DOES_NOT_FIT)
        return known_answer(refused if outcome.outcome is Outcome.FITS else outcome)

    monkeypatch.setattr(plugin, "known_answer", wrong)
    assert told(SEEDS[0]) != right


def test_answers_hold_until_a_node_changes() -> None:
    """Two pods with equal claims, and one device left: the second pod finds none."""
    pods = [build.bare_pod(name, *build.claimed({"gpu": name})) for name in ("first", "second")]
    claims = [build.claim(name) for name in ("first", "second")]
    held = build.allocated("old", "a/gpu-0", pod="gone", on="a")
    found = Cluster.of([*build.gpus("a", "b", each=1), held, *claims, *pods]).explain().verdicts
    assert [(one.verdict, one.node_name) for one in found or ()] == [("WouldBind", "b"), ("Unschedulable", "")]


def test_answers_about_other_devices_in_use_are_not_taken_over() -> None:
    made = [*(build.allocated(name, f"a/gpu-{name}", pod="p") for name in ("x", "y")), build.claim("waiting")]
    *held, waiting = from_dicts(made).claims
    store = ClaimStore(held, consumable_capacity=True)
    assert store.is_allocated_like(held)
    assert store.is_allocated_like([waiting, *held])
    assert not store.is_allocated_like(held[:1])
    assert not store.is_allocated_like(held[::-1])
    store.put(waiting)
    assert store.is_allocated_like(held)
    store.signal_pending_allocation(replace(waiting, status=held[0].status))
    assert not store.is_allocated_like(held)


def test_allocations_that_are_written_late_are_like_others() -> None:
    objects = [*build.gpus(*(f"n{at}" for at in range(8))), build.claim("c")]
    late = [node.allocations for node in next(iter(Cluster.of(objects).explain())).nodes]
    written = [node.allocations for node in next(iter(Cluster.of(objects).allocate())).nodes]
    assert any(isinstance(each, LateResults) for each in late)
    assert late == written
    assert late != written[::-1]
    assert pickle.loads(pickle.dumps(late)) == written
    assert repr(late) == repr(written)
