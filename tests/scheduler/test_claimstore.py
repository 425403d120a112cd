"""The claims of a simulation: what is in use while claims come, go and are being allocated."""

from __future__ import annotations

from msgspec.structs import replace

from dra_plan.api.core import Pod
from dra_plan.api.resource import ResourceClaim, ResourceClaimStatus
from dra_plan.manifests.decode import from_dicts
from dra_plan.scheduler.cluster.claims import ClaimStore
from dra_plan.scheduler.dra.extended import new_special_claim
from tests.build import allocation, claim, pod

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


def pod_of(name: str) -> Pod:
    [made] = from_dicts([pod(name)]).pods
    return made
