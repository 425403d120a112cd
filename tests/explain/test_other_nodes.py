"""Changes are checked on nodes that look alike at once, with the answer that each node would give alone."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

import pytest

from dra_plan.allocator import Outcome
from dra_plan.explanation.placement import Budget
from dra_plan.explanation.suggest import other_nodes
from dra_plan.explanation.suggest.other_nodes import OtherNodes
from dra_plan.explanation.suggest.patches import Change
from tests.build import Object, allocated, claim, device, device_class, node, request, slice_, taint
from tests.conformance import recorded

from .asking import explain
from .situations import cel

SELECTORS = (
    ' .model == "H100" && .index >= 0',
    ' .model == "B200" && .index > 1',
    " :memory.isGreaterThan(quantity('90Gi')) && .index < 9",
    ' .index > 3 && .vendor == "x"',
)


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> Counter[tuple[str, bool]]:
    """Count the checks by the code of their first change and by the answer, each of them compared node by node."""
    counts: Counter[tuple[str, bool]] = Counter()
    have_errors = OtherNodes.have_errors

    def compared(self: OtherNodes, made: Sequence[Change]) -> bool:
        found = have_errors(self, made)
        budget = Budget(len(self._placements) * other_nodes.CONFIRM_STEPS, other_nodes.CONFIRM_STEPS)
        alone = [other_nodes.applied(each, made).ask(budget).outcome for each in self._placements]
        assert found == (Outcome.ERROR in alone)
        counts[made[0].code, found] += 1
        return found

    monkeypatch.setattr(OtherNodes, "have_errors", compared)
    return counts


def fleet(r: random.Random) -> list[Object]:
    """Nodes alike but for one or two, whose devices lack an attribute, so that a changed selector fails there."""
    names = [f"n{at}" for at in range(r.randrange(6, 14))]
    odd = set(r.sample(names, r.randrange(3)))
    model = r.choice(("A100", "H100"))
    made: list[Object] = [device_class(), *map(node, names)]
    for name in names:
        shape = {"model": "A100" if name in odd else model, **({} if name in odd else {"index": r.randrange(3)})}
        taints = [taint("k")] if r.random() < 0.3 else None
        devices = [device(f"gpu-{at}", capacity={"memory": "80Gi"}, taints=taints, **shape) for at in range(2)]
        made.append(slice_(name, *devices, number=0, of=1 if r.random() < 0.8 else 2))
        made += [allocated(f"old-{name}-{at}", f"{name}/gpu-{at}", pod="web") for at in range(2) if r.random() < 0.6]
    asked = request("gpu", *[cel(r.choice(SELECTORS))][: r.randrange(2)], count=r.randrange(1, 4))
    return [*made, claim("train", asked)]


def test_the_answer_is_that_of_each_node_alone(checked: Counter[tuple[str, bool]]) -> None:
    for seed in range(60):
        explain(fleet(random.Random(seed)))
    found = Counter(each for _, each in checked.elements())
    assert min(found[True], found[False]) > 10
    assert {"release-claim", "drop-selector", "tolerate-taint", "wait-for-slice"} <= {code for code, _ in checked}, (
        checked
    )


def test_the_answer_is_the_same_where_a_release_has_defects(checked: Counter[tuple[str, bool]]) -> None:
    for case in recorded.cases("quirks"):
        explain(case["objects"], feature_gates=recorded.gates(case), kubernetes_version=recorded.version(case))
    assert checked.total() > 20
