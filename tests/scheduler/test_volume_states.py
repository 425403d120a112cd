"""Volumes over time: what is undone, what wakes pods, and what a later state of the cluster changes."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from dra_plan import schedule
from dra_plan.scheduler.cluster.volumes import VolumeStore
from dra_plan.scheduler.simulate import simulate
from tests.build import (
    CSI,
    HOST,
    WAIT,
    ZONE,
    attachment,
    csi_driver,
    csi_node,
    member,
    mounts,
    node,
    on_csi,
    pod,
    pod_group,
    storage_capacity,
    storage_class,
    volume,
    volume_claim,
)
from tests.scheduler.groups.planning import GANGS
from tests.scheduler.groups.planning import plan as planned_groups
from tests.scheduler.reading import message, outcome, simulation, volumes, where

from .scripted import Scripted, run

NOTHING = "node(s) didn't find available persistent volumes to bind"
LOCAL = storage_class("local", "kubernetes.io/no-provisioner")


def using(*claims: str, name: str = "p", **options) -> dict:
    return pod(name, volumes=mounts(*claims), **options)


def state_of(store: VolumeStore) -> tuple[Any, ...]:
    """Everything that the store knows and has assumed."""
    return (
        {name: found.object for name, found in store._volumes.items()},
        {key: found.object for key, found in store._claims.items()},
        dict(store._assumed_volumes),
        dict(store._assumed_claims),
        dict(store.decisions),
    )


# Undo


@pytest.mark.parametrize("point", ["reserve", "permit"])
def test_what_was_assumed_is_undone(point: str) -> None:
    objects = [
        node("a"), LOCAL, storage_class(), volume("v", of="local"),
        volume_claim("c", of="local"), volume_claim("d"), using("c", "d"),
    ]  # fmt: skip
    untouched, _ = run(Scripted({"pre_filter": "refuse"}), objects=objects)
    made, result = run(Scripted({point: "reject"}), objects=objects)
    assert result.pods[0].node == ""
    assert state_of(made.cluster.volumes) == state_of(untouched.cluster.volumes)
    assert not made.cluster.nodes["a"].volume_pods


def test_what_was_written_stays() -> None:
    """PreBind of another plugin fails after VolumeBinding has written: the volume stays set aside for the claim."""
    objects = [node("a"), LOCAL, volume("v", of="local"), volume_claim("c", of="local"), using("c")]
    made, result = run(Scripted({"pre_bind": "error"}), objects=objects)
    store = made.cluster.volumes
    assert result.pods[0].node == ""
    assert not store._assumed_volumes
    found = store.volume("v")
    assert found is not None
    assert found.object.spec.claim_ref is not None
    assert found.object.spec.claim_ref.name == "c"


def test_a_pod_that_waits_for_permission_holds_its_volume() -> None:
    objects = [node("a"), LOCAL, volume("v", of="local"), volume_claim("c", of="local"), volume_claim("d", of="local")]
    plugin = Scripted({"permit": "wait"})
    made, _ = run(plugin, objects=[*objects, using("c"), using("d", name="q")], trace=True)
    first = next(a for a in made.tracer.attempts if a.pod == "default/q")
    assert NOTHING in first.message
    assert not made.cluster.volumes._assumed_volumes


@pytest.mark.parametrize("quirks", ["upstream", "fixed"])
def test_a_group_that_does_not_fit_gives_its_volumes_back(quirks: str) -> None:
    claims = [volume_claim(f"c{index}", of="local") for index in range(3)]
    members = [member(f"m{index}", volumes=mounts(f"c{index}")) for index in range(3)]
    objects = [
        node("a"),
        LOCAL,
        volume("v0", of="local"),
        volume("v1", of="local"),
        *claims,
        pod_group(least=3),
        *members,
    ]
    made = simulation(objects, gates=GANGS, quirks=quirks)
    before = state_of(made.cluster.volumes)
    simulate(made)
    assert state_of(made.cluster.volumes) == before
    third = volume("v2", of="local")
    assert sorted(volumes(planned_groups([*objects, third], GANGS)).values()) == ["v0", "v1", "v2"]
    alone = planned_groups([*objects, using("c2", name="z")], GANGS)
    assert (where(alone)["z"], volumes(alone)["c2"]) == ("a", "v0")


# Later states


def then(before: list[dict], *after: list[dict]) -> list[dict[str, Any]]:
    """The document, and what has changed with each later state."""
    states = [before]
    documents = [schedule(before).to_dict()]
    for state in after:
        states.append(state)
        documents.append(schedule(states[0], then=states[1:]).to_dict())
    return documents


BASE = [node("a", labels={ZONE: "x"}), LOCAL, volume_claim("c", of="local"), using("c")]
ON_CSI = [node("a"), storage_class(), csi_driver(), volume_claim("c"), using("c")]
LIMITED = [node("a"), csi_node("a", {CSI: 1}), on_csi("w"), volume_claim("w", bound="w"), using("w")]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (BASE, [*BASE, volume("v", of="local")]),
        ([*BASE, volume("v", "1Gi", of="local")], [*BASE, volume("v", of="local")]),
        ([*BASE, volume("v", of="local", zone="y")],
         [node("a", labels={ZONE: "y"}), *BASE[1:], volume("v", of="local", zone="y")]),
        ([*BASE, volume("v", of="local", on="b")], [*BASE, volume("v", of="local", on="b"), node("b")]),
        (BASE[:1] + BASE[2:], [*BASE, volume("v", of="local")]),
        ([BASE[0], LOCAL, BASE[3], volume("v", of="local")], [*BASE, volume("v", of="local")]),
        ([node("a"), storage_class("wait", CSI, WAIT, {ZONE: ["z"]}), volume_claim("c"), using("c")],
         [node("a"), storage_class(), volume_claim("c"), using("c")]),
        ([*ON_CSI, storage_capacity("k", "1Gi", topology={})],
         [*ON_CSI, storage_capacity("k", "9Gi", topology={})]),
        ([*LIMITED, attachment("x", "a", "w")], LIMITED),
        ([LIMITED[0], csi_node("a", {CSI: 0}), *LIMITED[2:]], LIMITED),
    ],
)  # fmt: skip
def test_what_makes_a_refused_pod_land(before: list[dict], after: list[dict]) -> None:
    first, second = then(before, after)
    assert where(first) == {"p": None}
    assert where(second)["p"] is not None, message(second, "p")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([*LIMITED[:1], csi_node("a", {CSI: 0}), *LIMITED[2:]],
         [*LIMITED[:1], csi_node("a", {CSI: 0}), *LIMITED[2:], attachment("x", "a", "w")]),
        ([*BASE, csi_driver()], [*BASE, csi_driver(capacity=False)]),
        (BASE, [*BASE, volume_claim("other", of="local")]),
        ([*BASE, storage_capacity("k", "9Gi", topology={})], [*BASE, storage_capacity("k", "1Gi", topology={})]),
    ],
)  # fmt: skip
def test_what_does_not_wake_a_refused_pod(before: list[dict], after: list[dict]) -> None:
    _, second = then(before, after)
    assert outcome(second, "p")["attempts"] == 1


def test_a_user_that_leaves_gives_the_claim_to_the_next() -> None:
    claim = volume_claim("c", bound="v", spec={"accessModes": ["ReadWriteOncePod"]})
    objects = [node("a"), volume("v", accessModes=["ReadWriteOncePod"]), claim]
    first, second = then([*objects, using("c"), using("c", name="q")], [*objects, using("c", name="q")])
    assert where(first) == {"p": "a", "q": None}
    assert where(second) == {"q": "a"}


def test_decisions_stay_in_later_states() -> None:
    objects = [node("a"), node("b"), storage_class(), volume_claim("c"), using("c")]
    first, second = then(objects, [*objects, volume("v"), pod("another")])
    assert volumes(first) == volumes(second)
    assert where(first)["p"] == where(second)["p"]


def test_a_claim_that_the_input_binds_later_is_no_longer_told() -> None:
    objects = [node("a"), storage_class("now", mode="Immediate"), using("c")]
    bound = [*objects, volume("v", of="now"), volume_claim("c", of="now", bound="v")]
    first, second = then([*objects, volume_claim("c", of="now")], bound)
    assert volumes(first) == {"c": ""}
    assert "unbound immediate" in message(first, "p")
    assert (where(second), volumes(second)) == ({"p": "a"}, {})


# Laws


def world(seed: int) -> list[dict]:
    """A small cluster with volumes of every kind, by chance."""
    chance = random.Random(seed)
    names = [f"n{index}" for index in range(chance.randint(1, 4))]
    objects: list[dict] = [LOCAL, storage_class(), storage_class("now", mode="Immediate")]
    for name in names:
        objects.append(node(name, cpu=str(chance.choice([2, 8])), labels={ZONE: chance.choice("xy")}))
        if chance.random() < 0.7:
            objects.append(
                csi_node(name, {CSI: chance.choice([None, 1, 2, 5])}, *chance.choice([(), (ZONE,), (HOST,)]))
            )
    for index in range(chance.randint(0, 6)):
        on = {"on": chance.choice(names)} if chance.random() < 0.5 else {}
        made, of = chance.choice([(volume, "local"), (on_csi, "wait")])
        objects.append(made(f"v{index}", f"{chance.randint(1, 9)}Gi", of=of, **on))
    claims = [f"c{index}" for index in range(chance.randint(1, 7))]
    objects += [
        volume_claim(c, f"{chance.randint(1, 9)}Gi", of=chance.choice(["local", "wait", "wait"])) for c in claims
    ]
    for index in range(chance.randint(1, 9)):
        wanted = chance.sample(claims, min(len(claims), chance.choice([0, 1, 1, 2])))
        objects.append(
            using(*wanted, name=f"p{index}", cpu=str(chance.choice([1, 2])), priority=chance.choice([0, 0, 5]))
        )
    return objects


@pytest.mark.parametrize("seed", range(60))
def test_volumes_are_bound_once_and_limits_hold(seed: int) -> None:
    objects = world(seed)
    document = schedule(objects).to_dict()
    decided = volumes(document)
    given = [name for name in decided.values() if name and not name.startswith("@")]
    assert len(given) == len(set(given)), "one claim for each volume"
    placed = where(document)
    limits = {
        o["metadata"]["name"]: d["allocatable"]["count"]
        for o in objects if o["kind"] == "CSINode" for d in o["spec"]["drivers"] if "allocatable" in d
    }  # fmt: skip
    counted = {o["metadata"]["name"] for o in objects if o.get("spec", {}).get("storageClassName") == "wait"}
    held: dict[str, set[str]] = {}
    for one in (o for o in objects if o["kind"] == "Pod"):
        where_to = placed.get(one["metadata"]["name"])
        for entry in one["spec"].get("volumes", []) if where_to else []:
            claim = entry["persistentVolumeClaim"]["claimName"]
            assert decided[claim], "a placed pod has its volumes"
            held.setdefault(where_to, set()).update({claim} & counted)
    counts = Counter({name: len(claims) for name, claims in held.items()})
    assert all(counts[name] <= limit for name, limit in limits.items())
    others = [one for one in objects if one["kind"] != "Pod"]
    random.Random(seed).shuffle(others)
    mixed = [*others, *(one for one in objects if one["kind"] == "Pod")]
    again = schedule(mixed).to_dict()
    assert (where(again), volumes(again)) == (placed, decided), "the order of the input changes nothing"
    traced = schedule(objects, trace=True).to_dict()
    assert (where(traced), volumes(traced)) == (placed, decided), "remembered answers change nothing"
