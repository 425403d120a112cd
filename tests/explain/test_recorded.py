"""Every node that the scheduler rejected has a reason; documents keep to their schema; watching changes nothing."""

from __future__ import annotations

from functools import cache
from typing import Any

import jsonschema
import pytest

from dra_plan import releases
from dra_plan.allocator import Allocator, Probe, View
from dra_plan.claims import expand
from dra_plan.documents.devices import DEVICE_CODES
from dra_plan.explanation import funnel
from dra_plan.explanation.placement import Placements
from dra_plan.explanation.reasons import OTHER_CODES
from dra_plan.manifests.decode import from_dicts
from dra_plan.questions import schema as schemas
from dra_plan.questions.explain.text import parse
from tests.conformance import recorded

from .asking import explain

CORPORA = ("quirks", "cases", "cases-1.35", "cases-1.34")


@cache
def validator(kind: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(schemas.load(kind))


def check(case: dict[str, Any]) -> int:
    """The number of rejecting nodes of a case, all of which have a reason."""
    asked = {"feature_gates": recorded.gates(case), "kubernetes_version": recorded.version(case)}
    told = explain(case["objects"], **asked, max_steps=20_000)
    plan, document = told.plan.to_dict(), told.to_dict()
    validator("AllocationPlan").validate(plan)
    validator("Explanation").validate(document)
    assert parse("text")(told.document, None).endswith("\n")
    assert parse("markdown")(told.document, None).endswith("\n")
    refused = 0
    for node in plan["claimSets"][0]["nodes"]:
        assert bool(node["reasons"]) == (node["outcome"] != "Fits"), f"{case['id']} {node['name']}"
        assert {reason["code"] for reason in node["reasons"]} <= {*DEVICE_CODES, *OTHER_CODES}
        refused += node["outcome"] == "DoesNotFit"
    return refused


@pytest.mark.parametrize("corpus", CORPORA)
def test_every_refusing_node_has_a_reason(corpus: str) -> None:
    every = {"quirks": 9, "cases": 32}.get(corpus, 54)
    assert sum(check(case) for case in recorded.cases(corpus, every)) > (0 if corpus == "quirks" else 10)


@pytest.mark.long
@pytest.mark.parametrize("corpus", CORPORA)
def test_every_refusing_node_of_a_whole_corpus_has_a_reason(corpus: str) -> None:
    assert sum(check(case) for case in recorded.cases(corpus)) > 10


class Listening(Probe):
    """Hears everything and keeps the first reason against each device of a request."""

    def __init__(self) -> None:
        self.first: dict[tuple[int, str, object], object] = {}
        self.heard = 0

    def entered(self, want: Any, slot: int) -> None:
        self.heard += 1

    def rejected(self, want: Any, slot: int, device: Any, reason: Any) -> None:
        self.heard += 1
        self.first.setdefault((want.claim_index, want.full_name, device.id), reason)

    def taken(self, want: Any, slot: int, device: Any) -> None:
        self.heard += 1
        self.first.setdefault((want.claim_index, want.full_name, device.id), None)


def every_node(every: int) -> Any:
    for case in recorded.cases("cases", every):
        inventory = from_dicts(case["objects"])
        view = View.of(inventory, releases.target(recorded.version(case), recorded.gates(case)))
        [claim_set] = expand(inventory, together=True).sets
        for node in inventory.nodes:
            yield case["id"], view, claim_set.claims, node


def test_the_walk_is_the_same_when_watched() -> None:
    heard = 0
    for name, view, claims, node in every_node(3):
        probe = Listening()
        watched = Allocator(claims, view, max_steps=20_000).allocate(node, probe)
        alone = Allocator(claims, view, max_steps=20_000).allocate(node)
        assert watched == alone or str(watched.error) == str(alone.error), name
        assert (watched.steps, watched.allocations, watched.outcome) == (alone.steps, alone.allocations, alone.outcome)
        heard += probe.heard
    assert heard > 1000


def test_checks_agree_with_the_first_device_that_a_search_looks_at() -> None:
    """The first request of a claim, asked alone, is rejected each device for the reason that the checks give."""
    compared = 0
    for name, view, claims, node in every_node(2):
        for claim in claims:
            placement = Placements(view, [claim], max_steps=5_000).on(node)
            probe = Listening()
            if placement.ask(probe=probe).error is not None:
                continue
            row = funnel.Checks(placement)
            pools = {pool.id: pool for pool in placement.view.gatherer.gather(node)}
            want = placement.requests[0].requests[0][0]
            if want.takes_all or placement.ask().steps > 400:
                continue
            first = [device.id for pool in pools.values() if pool.usable for device in pool.devices()]
            for pool in pools.values():
                for device in pool.devices():
                    heard = probe.first.get((0, want.full_name, device.id), "nothing")
                    # Only before anything was taken do the search and the checks look at the same state.
                    if heard == "nothing" or any(
                        probe.first.get((0, want.full_name, earlier), 0) is None
                        for earlier in first[: first.index(device.id)]
                    ):
                        continue
                    assert row.first(want, device, pool) == heard, f"{name} {device.id}"
                    compared += 1
    assert compared > 500
