"""Who controls whom, asked of one pair and of the two look-ups: they agree."""

from __future__ import annotations

import itertools

import pytest

from dra_plan.api.core import Pod
from dra_plan.api.meta import ObjectMeta, OwnerReference
from dra_plan.api.workloads import Job
from dra_plan.claims.owners import Controllers, Dependents, controls


def job(name: str, uid: str = "", namespace: str = "default") -> Job:
    return Job(metadata=ObjectMeta(name=name, namespace=namespace, uid=uid))


def pod(kind: str, name: str, uid: str = "", *, controller: bool | None = True) -> Pod:
    owner = OwnerReference(kind=kind, name=name, uid=uid, controller=controller)
    return Pod(metadata=ObjectMeta(name="p", namespace="default", owner_references=[owner]))


@pytest.mark.parametrize(
    ("owner", "owned", "expected"),
    [
        (job("a"), pod("Job", "a"), True),
        (job("a", "1"), pod("Job", "a"), True),
        (job("a"), pod("Job", "a", "1"), True),
        (job("a", "1"), pod("Job", "a", "1"), True),
        (job("a", "1"), pod("Job", "a", "2"), False),
        (job("b", "1"), pod("Job", "a", "1"), True),
        (job("b"), pod("Job", "a"), False),
        (job("a"), pod("CronJob", "a"), False),
        (job("a", namespace="other"), pod("Job", "a"), False),
        (job("a", "1", namespace="other"), pod("Job", "a", "1"), False),
        (job("a"), pod("Job", "a", controller=None), False),
    ],
)
def test_the_rule(owner, owned, expected):
    assert controls(owner, owned.metadata) is expected
    assert (Controllers([owner]).of(owned.metadata) is owner) is expected
    assert (list(Dependents([owned]).of(owner)) == [owned]) is expected


def test_the_look_ups_agree_with_the_rule_among_many():
    owners = [job(name, uid) for name, uid in itertools.product("ab", ("", "1", "2"))]
    pods = [pod("Job", name, uid) for name, uid in itertools.product("abc", ("", "1", "3"))]
    dependents = Dependents(pods)
    for owner in owners:
        found = list(dependents.of(owner))
        assert sorted(map(id, found)) == sorted(id(p) for p in pods if controls(owner, p.metadata))
    for owned in pods:
        controller = Controllers(owners).of(owned.metadata)
        assert (controller is not None) == any(controls(owner, owned.metadata) for owner in owners)
