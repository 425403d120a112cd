"""What holds of every settled cluster, shown on the recorded ones."""

from __future__ import annotations

import copy
import random
from collections import Counter
from typing import Any

import pytest
from msgspec import UNSET, structs, to_builtins

from dra_plan import Cluster
from dra_plan.api.inventory import Inventory
from dra_plan.controllers.settle import Settling
from dra_plan.manifests import kinds
from dra_plan.text.structured import json
from tests.conformance.recorded import cases as read

from .recorded import cases, name_of, never_ready, settled, settled_plan

CASES = [case for case in (*cases("control"), *cases("settled")) if not (case.get("loop") or case.get("unsettled"))]
SAMPLE = CASES[::9]


def _plain(document: dict[str, Any]) -> dict[str, Any]:
    """Without what tells how often somebody looked."""
    return {key: value for key, value in document.items() if key not in ("rounds", "events")}


@pytest.mark.parametrize("case", SAMPLE, ids=lambda case: case["id"])
def test_settling_twice_is_settling_once(case: dict[str, Any]) -> None:
    again = settled({**case, "action": [*case["action"], {"settle": 1}, {"settle": 1}]})
    once = settled(case)
    for document in (again, once):
        document["evicted"] = [{**pod, "second": 0} for pod in document["evicted"]]
    if case["action"] != [{"scheduler": "start"}]:
        assert _plain(again) == _plain(once)


@pytest.mark.parametrize("case", SAMPLE, ids=lambda case: case["id"])
def test_what_has_settled_stays_as_it_is(case: dict[str, Any]) -> None:
    """The cluster at the end, read as an input: nobody has anything to do in it."""
    document, plan = settled_plan(case)
    assert plan.settled is not None
    if document["later"] or plan.settled.waiting:
        return
    again = Cluster.of(_objects(plan.settled.state.inventory), kubernetes_version="1.36.3")
    after = again.schedule(settle=True, order="name", never_ready=never_ready(case)).to_dict()["settled"]
    assert (after["evicted"], after["unsettled"]) == ([], None)
    placed = {name_of(pod): pod["nodeName"] for pod in document["pods"]}
    assert {name_of(pod): pod["nodeName"] for pod in after["pods"]} == placed


def _objects(inventory: Inventory) -> list[dict[str, Any]]:
    holders = dict.fromkeys(kind.holder for kind in kinds.every())
    found = (each for holder in holders for each in getattr(inventory, holder))
    return [{"apiVersion": each.api_version, "kind": each.kind, **to_builtins(each)} for each in found]


@pytest.mark.parametrize("case", SAMPLE, ids=lambda case: case["id"])
def test_the_order_of_objects_changes_nothing(case: dict[str, Any]) -> None:
    """Except among pods that were made in the same second and have no name order: here the scheduler lists by name."""
    if case.get("live"):
        pytest.skip("the order of arrival is the order of the list where times are the same")
    shuffled = copy.deepcopy(case["before"])
    random.Random(7).shuffle(shuffled)
    assert _compared(settled({**case, "before": shuffled})) == _compared(settled(case))


def _compared(document: dict[str, Any]) -> Any:
    """Names of new pods tell the order of workloads; what they are and where does not."""
    pods = Counter(
        (str(pod["owner"]), pod["nodeName"], tuple(pod["devices"]), "" if pod.get("foreseen") else pod["name"])
        for pod in document["pods"]
    )
    return pods, Counter((pod["by"].partition(" by ")[0], str(pod["owner"])) for pod in document["evicted"])


@pytest.mark.parametrize("case", SAMPLE, ids=lambda case: case["id"])
def test_no_device_is_held_twice_at_any_step(case: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    looked = 0
    before = Settling._run_scheduler

    def looking(self: Settling, **options: bool) -> None:
        nonlocal looked
        before(self, **options)
        looked += 1
        held = Counter(
            (result.driver, result.pool, result.device)
            for claim in self._simulation.cluster.claims
            if claim.allocation is not None
            for result in claim.allocation.devices.results
            if not result.admin_access and result.share_id is None
        )
        assert not [device for device, count in held.items() if count > 1]

    monkeypatch.setattr(Settling, "_run_scheduler", looking)
    settled(case)
    assert looked


@pytest.mark.parametrize(
    "case", [case for case in CASES if case["family"] == "queue"][::3], ids=lambda case: case["id"]
)
def test_with_nothing_to_do_for_controllers_it_is_schedule(case: dict[str, Any]) -> None:
    cluster = Cluster.of(case["before"])
    alone = cluster.schedule(order="name").to_dict()
    both = cluster.schedule(order="name", settle=True).to_dict()
    document = both.pop("settled")
    assert not document["evicted"]
    if not any(pod.get("foreseen") for pod in document["pods"]):
        assert both == alone


@pytest.mark.parametrize("corpus", ["schedule", "gang", "volume", "nodealloc"])
def test_where_nobody_ends_it_is_schedule_to_the_byte(corpus: str) -> None:
    compared = 0
    for case in read(corpus, every=7):
        cluster = Cluster.of(case["objects"], feature_gates=case.get("featureGates"))
        alone, both = (cluster.schedule(settle=settle).document for settle in (False, True))
        assert both.settled
        if not both.settled.evicted:
            left = (
                structs.replace(document, settled=UNSET, outlook=UNSET, taint_evictions=UNSET)
                for document in (both, alone)
            )
            assert len({json(document) for document in left}) == 1
            compared += 1
    assert compared
