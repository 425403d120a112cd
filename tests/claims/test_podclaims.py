"""Errors of pods' claims as values: what is missing is told beside upstream's words."""

from __future__ import annotations

import pickle

import pytest

from dra_plan.claims import expand
from dra_plan.claims.pod_claims import PodClaimError, pod_claims
from dra_plan.manifests.decode import from_dicts
from tests.manifests.objects import claim, pod, template, workload

GPU = {"name": "r", "exactly": {"deviceClassName": "gpu"}}
CLAIM = ("ResourceClaim", "default", "x")
TEMPLATE = ("ResourceClaimTemplate", "default", "t")


@pytest.mark.parametrize(
    ("objects", "missing"),
    [
        ([pod("p", {"name": "a", "resourceClaimName": "x"})], CLAIM),
        ([workload("Job", "w", {"name": "a", "resourceClaimName": "x"})], CLAIM),
        ([pod("p", {"name": "a", "resourceClaimTemplateName": "t"})], TEMPLATE),
        ([pod("p", {"name": "a"})], None),
    ],
)
def test_what_is_missing(objects, missing):
    (found,) = expand(from_dicts(objects)).sets
    assert found.error.missing == missing
    again = pickle.loads(pickle.dumps(found.error))
    assert (str(again), again.missing) == (str(found.error), missing)


def test_any_store_of_claims_can_be_asked():
    inventory = from_dicts([claim("x", GPU), pod("p", {"name": "a", "resourceClaimName": "x"}), template("t", GPU)])
    (x,), (p,) = inventory.claims, inventory.pods
    store = {("default", "x"): x}
    assert pod_claims(p, lambda namespace, name: store.get((namespace, name))) == [x]
    store.clear()
    with pytest.raises(PodClaimError, match='could not find ResourceClaim "default/x"'):
        pod_claims(p, lambda namespace, name: store.get((namespace, name)))


def test_a_claim_that_nobody_made_yet_is_told_by_the_scheduler():
    (p,) = from_dicts([pod("p", {"name": "a", "resourceClaimTemplateName": "t"})]).pods
    with pytest.raises(PodClaimError, match='pod "default/p": ResourceClaim not created yet'):
        pod_claims(p, lambda _namespace, _name: None)
