"""What drivers' own examples look like, restated: one workload file of pods against one small cluster each.

The published files are not part of this project (`test_recorded.py` runs over them where they are); these are their
situations in other words, so that every shape is tried wherever the tests run.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests import build
from tests.build import Object, counters, device, device_class, node, pod, request, slice_, template, workload
from tests.scheduler.reading import claim_of, devices, message, outcome, plan, users, where

CARD = "card.example.net"


def card_class(name: str = CARD, *, version: str = "v1beta1", **spec: Any) -> Object:
    return device_class(name, driver=CARD, version=version, **spec)


def cards(where_: str, *devices_: Object, version: str = "v1", **spec: Any) -> Object:
    return slice_(
        where_, *devices_, driver=CARD, name=f"{where_}-cards", version=version, of=spec.pop("slices", 1), **spec
    )


def test_old_manifests_without_mode_or_count():
    """v1beta1: devices wrapped in `basic`, the class beside the request's name, nothing that has a default."""
    basic = [{"name": f"card-{i}", "basic": {"attributes": {"model": {"string": "LATEST"}}}} for i in range(2)]
    wanted = {"name": "card", "deviceClassName": CARD}
    objects = [
        card_class(),
        node("w"),
        cards("w", *basic, version="v1beta1"),
        template("one", wanted, version="v1beta1"),
    ]
    document = plan([*objects, pod("p0", templates={"c": "one"}), pod("p1", templates={"c": "one"})])
    assert where(document) == {"p0": "w", "p1": "w"}
    assert devices(document, "p0-c") == ["w/card-0"]
    assert devices(document, "p1-c") == ["w/card-1"]


def test_one_claim_for_several_containers_and_pods():
    """Whoever comes second shares the allocation; a third pod, on a node elsewhere, can't."""
    claim = build.claim("shared", request("card", of=CARD))
    objects = [card_class(), node("v"), node("w"), cards("w", {"name": "card-0"}), claim]
    document = plan([
        *objects,
        pod("p0", claims={"c": "shared"}),
        pod("p1", claims={"c": "shared"}),
        pod("p2", claims={"c": "shared"}, nodeSelector={"kubernetes.io/hostname": "v"}),
    ])  # fmt: skip
    assert where(document) == {"p0": "w", "p1": "w", "p2": None}
    assert set(users(document, "shared")) <= {"p0", "p1"}
    assert "1 node(s) didn't match Pod's node affinity/selector" in message(document, "p2")
    assert "1 resourceclaim not available on the node" in message(document, "p2")


def test_a_job_with_more_pods_than_cards():
    objects = [card_class(), node("w"), cards("w", *({"name": f"card-{i}"} for i in range(2)))]
    shape = pod("x", templates={"c": "one"}, restartPolicy="Never")
    job = workload("Job", "bench", shape, parallelism=3, completions=9)
    document = plan([*objects, template("one", request("card", of=CARD)), job])
    assert list(where(document).values()) == ["w", "w", None]
    assert message(document, "bench-2") == (
        "0/1 nodes are available: 1 cannot allocate all claims. still not schedulable, "
        "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."
    )


def partitions() -> list[dict]:
    """A card of eight slices: whole, or as two halves, which take from the same counters."""

    def part(name: str, slices: str) -> Object:
        return device(name, profile=f"{slices}s", consumes={"card-0": {"slices": slices}})

    parts = (part("card-0-half-a", "4"), part("card-0-half-b", "4"), part("card-0", "8"))
    counted = counters("w", {"card-0": {"slices": "8"}}, driver=CARD)
    return [card_class(), node("w"), cards("w", *parts, slices=2), counted]


def half(profile: str) -> Object:
    return request("part", f'device.attributes["{CARD}"].profile == "{profile}"', of=CARD)


def test_partitions_of_one_card_exclude_the_whole():
    halves = [pod("p0", templates={"c": "one"}), pod("p1", templates={"c": "one"})]
    both = plan([*partitions(), template("one", half("4s")), *halves])
    assert [devices(both, f"p{i}-c") for i in (0, 1)] == [["w/card-0-half-a"], ["w/card-0-half-b"]]
    whole = build.claim("whole", half("8s"))
    mixed = plan([*partitions(), template("one", half("4s")), whole, halves[0], pod("p9", claims={"c": "whole"})])
    assert where(mixed) == {"p0": "w", "p9": None}


def test_ranked_alternatives_fall_back():
    """The whole card while it is free; a half once the other half is taken."""
    ranked = [
        {"name": "whole", "deviceClassName": CARD, "selectors": half("8s")["exactly"]["selectors"]},
        {"name": "half", "deviceClassName": CARD, "selectors": half("4s")["exactly"]["selectors"]},
    ]
    wanted = {"name": "part", "firstAvailable": ranked}
    objects = [*partitions(), template("one", wanted)]
    document = plan([*objects, pod("p0", templates={"c": "one"})])
    [given] = claim_of(document, "p0-c")["allocation"]["devices"]["results"]
    assert (given["request"], given["device"]) == ("part/whole", "card-0")
    taken = build.claim("busy", half("4s"))
    document = plan([*objects, taken, pod("a0", claims={"c": "busy"}), pod("p0", templates={"c": "one"})])
    [given] = claim_of(document, "p0-c")["allocation"]["devices"]["results"]
    assert (given["request"], given["device"]) == ("part/half", "card-0-half-b")


def test_shares_of_one_card():
    """A card of ten units that may be given several times: three pods of four units, the third finds too little."""
    policy = {"default": "1", "validRange": {"min": "1", "step": "1"}}
    card = {
        "name": "card-0",
        "allowMultipleAllocations": True,
        "capacity": {"units": {"value": "10", "requestPolicy": policy}},
    }
    wanted = {"name": "share", "exactly": {"deviceClassName": CARD, "capacity": {"requests": {"units": "4"}}}}
    objects = [card_class(), node("w"), cards("w", card), template("one", wanted)]
    document = plan([*objects, *(pod(f"p{i}", templates={"c": "one"}) for i in range(3))])
    assert where(document) == {"p0": "w", "p1": "w", "p2": None}
    [given] = claim_of(document, "p1-c")["allocation"]["devices"]["results"]
    assert given["consumedCapacity"] == {"units": "4"}


def test_a_resource_name_instead_of_a_claim():
    """Limits count as requests; an init container uses what the main container will have."""
    name = f"{CARD}/card"
    subject = pod("p", initContainers=[{"name": "check", "resources": {"limits": {name: "1"}}}])
    subject["spec"]["containers"][0]["resources"]["limits"] = {name: "2"}
    shared = [node("w"), cards("w", *({"name": f"card-{i}"} for i in range(3)))]
    document = plan([card_class(extendedResourceName=name, version="v1"), *shared, subject])
    assert where(document) == {"p": "w"}
    assert devices(document, "p-extended-resources-xxxxx") == ["w/card-0", "w/card-1"]


@pytest.mark.parametrize("labelled", [True, False])
def test_admin_access_shows_devices_in_use(labelled):
    """The namespace's label is the API server's business; the scheduler hands out what is in use."""
    labels = {"resource.kubernetes.io/admin-access": "true"} if labelled else {}
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default", "labels": labels}}
    watch = build.claim("watch", {"name": "all", "exactly": {
        "deviceClassName": CARD, "allocationMode": "All", "adminAccess": True}})  # fmt: skip
    objects = [space, card_class(), node("w"), cards("w", *({"name": f"card-{i}"} for i in range(2))), watch]
    used = build.claim("used", request("card", of=CARD))
    document = plan([*objects, used, pod("a", claims={"c": "used"}), pod("b", claims={"c": "watch"})])
    assert devices(document, "watch") == ["w/card-0", "w/card-1"]
    assert devices(document, "used") == ["w/card-0"]


def test_a_workload_file_whose_template_is_in_another_file():
    document = plan([card_class(), node("w"), cards("w", {"name": "card-0"}), pod("p", templates={"c": "elsewhere"})])
    found = outcome(document, "p")
    assert (found["outcome"], found["waiting"]) == ("Gated", 'pod "default/p": ResourceClaim not created yet')


def test_a_selector_that_no_card_meets():
    wanted = half("16s")
    document = plan([*partitions(), template("one", wanted), pod("p", templates={"c": "one"})])
    assert message(document, "p").startswith("0/1 nodes are available: 1 cannot allocate all claims.")
