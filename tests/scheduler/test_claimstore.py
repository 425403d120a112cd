"""The claims of a simulation: what is in use while claims come, go and are being allocated."""

from __future__ import annotations

import random
from typing import Any

import pytest
from msgspec.structs import replace

from dra_plan.allocator.identity import PoolID
from dra_plan.allocator.ledger import AllocatedState
from dra_plan.api.core import Pod
from dra_plan.api.resource import ResourceClaim, ResourceClaimStatus
from dra_plan.manifests.decode import from_dicts
from dra_plan.scheduler.cluster.claims import ClaimStore
from dra_plan.scheduler.dra.extended import new_special_claim
from tests.build import GPU, allocation, claim, pod, reserved

ALLOCATED = {"status": {"allocation": allocation("a", "d")}}


def store(*claims: ResourceClaim) -> ClaimStore:
    return ClaimStore(claims, consumable_capacity=False)


def one(name: str, **extra: object) -> ResourceClaim:
    [made] = from_dicts([claim(name, **extra)]).claims
    return made


def test_devices_in_flight_are_free_again_unless_the_stored_claim_has_them() -> None:
    waiting, given = one("c"), one("c", **ALLOCATED)
    claims = store(waiting)
    claims.signal_pending_allocation(given)
    assert claims.state.dedicated
    assert claims.remove_pending_allocation("u-c") == given
    assert not claims.state.dedicated
    claims.signal_pending_allocation(given)
    claims.put(given)
    assert claims.remove_pending_allocation("u-c") is None
    assert len(claims.state.dedicated) == 1


def test_a_claim_in_flight_is_known_by_its_uid_whatever_its_name() -> None:
    given = one("c", **ALLOCATED)
    claims = store()
    claims.signal_pending_allocation(replace(given, metadata=replace(given.metadata, name="<extended-resources>")))
    claims.put(given)
    assert claims.remove_pending_allocation("u-c") is None


def test_the_special_claim_of_a_pod_is_the_stored_one_that_it_controls() -> None:
    asking = pod_of("p")
    special = new_special_claim(asking)
    claims = store(one("c"))
    assert claims.special(asking) is None
    claims.put(special)
    assert claims.special(asking) is special
    assert claims.special(pod_of("q")) is None
    changed = replace(special, status=ResourceClaimStatus())
    claims.put(changed)
    assert claims.special(asking) is changed
    claims.put(replace(special, metadata=replace(special.metadata, annotations={})))
    assert claims.special(asking) is None
    claims.put(special)
    claims.remove(special)
    assert claims.special(asking) is None


def parts(of: ClaimStore) -> dict[str, object]:
    """Everything that a store keeps but the number of its changes, with the order of arrival."""
    kept = {name: value for name, value in vars(of).items() if name not in ("_state", "revision")}
    return {name: list(value.items()) if isinstance(value, dict) else value for name, value in kept.items()}


def test_a_copy_with_other_contents_is_the_store_of_these_claims() -> None:
    r, special = random.Random(7), new_special_claim(pod_of("p"))
    contents: list[dict[str, Any]] = [{}, ALLOCATED, {"status": {"reservedFor": reserved("p", "q")}}]
    for _ in range(200):
        names = r.sample("abcdefgh", r.randrange(1, 8))
        before = [one(name, **r.choice(contents)) for name in names] + r.choice(([], [special]))
        after = [r.choice((each, replace(each, status=ResourceClaimStatus()))) for each in before]
        first, unchanged = store(*before), parts(store(*before))
        in_use = [first.state] if r.random() < 0.5 else []  # found before the copy is made, or not
        copy = first.copy(after)
        assert copy is not None
        assert parts(copy) == parts(store(*after))
        assert copy.state == store(*after).state
        copy.put(one("new", **ALLOCATED))
        copy.remove(after[0])
        assert copy.state == store(*copy).state
        assert parts(first) == unchanged
        assert all(first.state is each == store(*before).state for each in in_use)


@pytest.mark.parametrize("is_first", [True, False])
def test_a_copy_of_the_devices_in_use_changes_on_its_own(is_first: bool) -> None:
    """With whole devices and shares, whether the copy or the original changes."""
    whole, shares = one("w", **ALLOCATED), [one(name, **shared(name)) for name in "xyz"]
    first = AllocatedState.of([whole, *shares[:2]], consumable_capacity=True)
    copy, unchanged = first.copy(), AllocatedState.of([whole, *shares[:2]], consumable_capacity=True)
    assert copy == first == unchanged
    changing, other = (first, copy) if is_first else (copy, first)
    pool, names = PoolID(GPU, "a"), ["d", "s"]
    assert other.uses(pool, "slice", lambda: names) == changing.uses(pool, "slice", lambda: names)
    assert changing.remove(whole, consumable_capacity=True)
    assert changing.remove(shares[0], consumable_capacity=True)
    changing.add(shares[2], consumable_capacity=True)
    assert other == unchanged != changing
    assert other.dedicated_in(pool) == unchanged.dedicated_in(pool) == {"d"}
    assert other.uses(pool, "slice", lambda: names) == unchanged.uses(pool, "slice", lambda: names)
    assert changing == AllocatedState.of(shares[1:], consumable_capacity=True)


def test_there_is_no_copy_with_other_claims() -> None:
    first = store(one("a"), one("b"))
    assert first.copy([one("a")]) is None
    assert first.copy([one("a"), one("c")]) is None
    assert first.copy([one("b"), one("a")]) is None
    assert first.copy([one("a"), one("b", uid="made again")]) is None


def shared(name: str) -> dict[str, Any]:
    return {"status": {"allocation": allocation("a", "s", shareID=name, consumedCapacity={"memory": "1Gi"})}}


def pod_of(name: str) -> Pod:
    [made] = from_dicts([pod(name)]).pods
    return made
