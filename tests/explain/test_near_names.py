"""Misspelt names with their corrections, and causes behind a first one."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from dra_plan import allocate, explain
from dra_plan.near import misspelt
from tests.build import (
    CSI,
    GPU,
    HOST,
    ZONE,
    Object,
    allocated,
    claim,
    counters,
    device,
    device_class,
    generated,
    gpus,
    manifest,
    mounts,
    node,
    pod,
    request,
    slice_,
    storage_class,
    template,
    volume,
    volume_claim,
)

from .apply import applied
from .json_patch import patched

POOL = "example.com/nodepool"


def text(objects: list[Object], owner: str = "pod/p") -> str:
    return str(explain(objects, owner))


def suggestions(objects: list[Object]) -> list[Object]:
    [verdict] = explain(objects, "pod/p").to_dict()["verdicts"]
    return list(verdict.get("suggestions", []))


def helps(objects: list[Object], suggestion: Object) -> None:
    """By its patches and by its words, the pod gets the node."""
    for changed in (
        patched(copy.deepcopy(objects), suggestion["patches"]),
        applied(objects, suggestion["changes"]),
    ):
        [verdict] = explain(changed, "pod/p").to_dict()["verdicts"]
        assert (verdict["verdict"], verdict["nodeName"]) == ("WouldBind", suggestion["node"])


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        ("gpu.exmple.com", ["gpu.example.com"], "gpu.example.com"),
        ("gpuexample.com", ["gpu.example.com"], "gpu.example.com"),
        ("mig.example.com", ["gpu.example.com"], None),
        ("nvidia.com/gpu", ["nvidia.com/gpus", "amd.com/gpu"], "nvidia.com/gpus"),
        ("nvidia.com/gpu", ["amd.com/gpu"], None),
        ("nvidia.com/mig-1g.20gb", ["nvidia.com/mig-1g.10gb"], None),
        ("gpu-a.x", ["gpu-b.x"], None),
        ("gpu", [], None),
    ],
)
def test_a_misspelt_name_has_the_same_words(name: str, known: list[str], meant: str | None) -> None:
    assert misspelt(name, known) == meant


# -- a class that does not exist ---------------------------------------------------------------------------------------


def without_its_class(of: str, *, is_generated: bool = True) -> list[Object]:
    if not is_generated:
        return [*gpus("a"), claim("c", request(of=of)), pod("p", claims={"gpu": "c"})]
    made = generated("p", "gpu", "a", "gpu-0")
    wrong = claim(made["metadata"]["name"], request(of=of), metadata=made["metadata"])
    return [*gpus("a"), template("t", request(of=of)), wrong, pod("p", templates={"gpu": "t"})]


@pytest.mark.parametrize("is_generated", [True, False])
def test_a_class_of_another_name_is_to_be_created_and_the_other_class_comes_last(is_generated: bool) -> None:
    objects = without_its_class("mig.example.com", is_generated=is_generated)
    said = text(objects)
    assert "Did you mean" not in said
    create = said.index("does not exist.\n  Create the class, or install what provides it")
    assert create < said.index("There are: gpu.example.com.") < said.index("1. ask for class gpu.example.com")
    assert ("To use another class, change the class in the template" in said) == is_generated
    created = [*objects, device_class("mig.example.com", driver=GPU)]
    assert "would be bound to a now" in text(created)


# -- names of extended resources ---------------------------------------------------------------------------------------


def serving(name: str) -> list[Object]:
    [of_class, *rest] = gpus("a")
    return [{**of_class, "spec": {**of_class["spec"], "extendedResourceName": name}}, *rest]


def test_a_misspelt_extended_resource_is_named_and_corrected() -> None:
    objects = [*serving("x.io/gpus"), pod("p", requests={"x.io/gpu": "1"})]
    said = text(objects)
    assert "No device class serves x.io/gpu. Class gpu.example.com serves x.io/gpus: did you mean that?\n" in said
    assert "  1. ask for x.io/gpus instead of x.io/gpu (the pod then fits on a)\n" in said
    [suggestion] = suggestions(objects)
    helps(objects, suggestion)


def test_a_misspelt_resource_of_a_device_plugin_is_corrected() -> None:
    objects = [node("a", **{"x.io/gpus": "4"}), pod("p", requests={"x.io/gpu": "1"})]
    [suggestion] = suggestions(objects)
    assert [change["code"] for change in suggestion["changes"]] == ["rename-resource"]
    helps(objects, suggestion)


@pytest.mark.parametrize("served", ["y.io/nic", "y.io/gpu"])
def test_another_resource_is_no_misspelt_one(served: str) -> None:
    said = text([*serving(served), pod("p", requests={"x.io/gpu": "1"})])
    assert "did you mean" not in said
    assert "instead of x.io/gpu" not in said


def test_a_corrected_resource_that_does_not_fit_is_not_suggested() -> None:
    assert suggestions([*serving("x.io/gpus"), pod("p", requests={"x.io/gpu": "3"})]) == []


# -- label keys --------------------------------------------------------------------------------------------------------


def required(key: str, *values: str) -> Object:
    terms = [{"matchExpressions": [{"key": key, "operator": "In", "values": list(values)}]}]
    return {
        "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}},
    }


def test_a_misspelt_label_key_is_corrected() -> None:
    objects = [node("a", labels={POOL: "big"}), pod("p", nodeSelector={"example.com/nodpool": "big"})]
    assert f"  1. ask for a node with {POOL}=big instead of example.com/nodpool (the pod then fits on a)\n" in text(
        objects
    )
    [suggestion] = suggestions(objects)
    helps(objects, suggestion)


def test_a_misspelt_label_key_of_an_affinity_is_corrected() -> None:
    objects = [node("a", labels={POOL: "big"}), pod("p", affinity=required("example.com/nodpool", "big"))]
    [suggestion] = suggestions(objects)
    [verdict] = explain(patched(copy.deepcopy(objects), suggestion["patches"]), "pod/p").to_dict()["verdicts"]
    assert verdict["verdict"] == "WouldBind"


@pytest.mark.parametrize(
    "selector", [{"example.com/nodpool": "small"}, {"example.com/nodpool": "big", POOL: "small"}], ids=str
)
def test_a_label_key_whose_correction_does_not_help_is_not_corrected(selector: dict[str, str]) -> None:
    found = suggestions([node("a", labels={POOL: "big"}), pod("p", nodeSelector=selector)])
    assert {change["code"] for one in found for change in one["changes"]} <= {"drop-node-requirement"}


# -- volumes that no node can use --------------------------------------------------------------------------------------


def on_a_volume(**options: Any) -> list[Object]:
    bound = volume_claim("data", bound="pv")
    return [storage_class(), volume("pv", phase="Bound", **options), bound, pod("p", cpu="20", volumes=mounts("data"))]


def test_a_volume_of_a_node_that_is_gone() -> None:
    said = text([node("a"), node("b"), *on_a_volume(on="old")])
    assert f"nodes with {HOST}=old, and there is no such node. Bring it back, or add one." in said
    assert "2 nodes (a, b): the volume of claim data cannot be used there; cpu: needs 20" in said


def test_a_volume_of_a_node_that_is_there() -> None:
    said = text([node("a"), node("b"), *on_a_volume(on="b")])
    assert f"nodes with {HOST}=b; cpu: needs 20" in said
    assert "no such node" not in said


def test_a_volume_of_a_zone_without_nodes() -> None:
    said = text([node("a", labels={ZONE: "x"}), *on_a_volume(zone="y", csi={"driver": CSI, "volumeHandle": "h"})])
    assert f"nodes with {ZONE}=y, and there is no such node." in said


# -- admin access, and what comes after it -----------------------------------------------------------------------------


def admin(**options: Any) -> list[Object]:
    asks = template("admin", request("r", adminAccess=True))
    return [*gpus("a"), manifest("Namespace", "default"), asks, pod("p", templates={"g": "admin"}, **options)]


def test_the_next_obstacle_is_told_with_the_label() -> None:
    said = text(admin(nodeSelector={"pool": "x"}))
    label = said.index("Add the label to the namespace")
    then = said.index("  With the label, no node could take it (0 of 1):\n  a: wants pool=x, has no label pool\n")
    assert label < then


def test_with_the_label_the_pod_is_bound() -> None:
    assert "  With the label, it would be bound to a now.\n" in text(admin())


def test_devices_are_told_as_the_next_obstacle() -> None:
    objects = admin()
    [asks] = [one for one in objects if one["kind"] == "ResourceClaimTemplate"]
    asks["spec"]["spec"]["devices"]["requests"].append(request("more", count=3))
    assert "  With the label, no node could take it (0 of 1):\n  a: devices: more needs 3" in text(objects)


def test_another_rejection_is_not_undone_by_the_label() -> None:
    objects = admin()
    [asks] = [one for one in objects if one["kind"] == "ResourceClaimTemplate"]
    asks["spec"]["spec"]["devices"]["requests"].append(request("more", count=-1))
    assert "With the label" not in text(objects)


# -- selectors ---------------------------------------------------------------------------------------------------------


def reading(name: str, *, model: str = "h100") -> list[Object]:
    asks = claim("c", request("r", f'device.attributes["{GPU}"].{name} == "{model}"'))
    slices = slice_("a", device("gpu-0", model="h100"))
    return [device_class(), node("a"), slices, asks, pod("p", claims={"gpu": "c"})]


def test_a_selector_that_only_avoids_the_error_is_not_shown_if_another_name_was_meant() -> None:
    said = text(reading("modl"))
    assert "With the following expression" not in said
    assert "did you mean model?" in said
    assert "1. correct the selector" in said
    assert "With the following expression, there is no error, but the claims do not fit (this was tested):" in text(
        reading("speed")
    )


# -- devices of other kinds that are in use ----------------------------------------------------------------------------


def test_devices_in_use_that_would_not_match_do_not_count_as_matching() -> None:
    """The nodes have 2 devices of the model, and 3 of another one that are in use."""
    kinds = [device(f"gpu-{at}", model="h100" if at < 2 else "a100") for at in range(5)]
    held = [allocated(f"c{at}", f"a/gpu-{at}", on="a") for at in range(1, 5)]
    cluster = [device_class(), node("a"), slice_("a", *kinds), *held]
    wanted = f'device.attributes["{GPU}"].model == "h100"'

    def asking(count: int) -> str:
        return text([*cluster, claim("c", request("r", wanted, count=count)), pod("p", claims={"gpu": "c"})])

    for count in (3, 5, 6):
        assert f"request r needs {count} devices, and no node has more than 2 that match." in asking(count)
    assert "Waiting will not help" not in asking(2)


def test_a_counter_set_that_a_device_names_in_vain_is_named_with_the_near_one() -> None:
    card = device("gpu-0", consumesCounters=[{"counterSet": "card0-luts", "counters": {"luts": {"value": "1"}}}])
    pool = [counters("a", {"card-0-luts": {"luts": "4"}}), slice_("a", number=0, of=2, devices=[card], nodeName="a")]
    objects = [node("a"), device_class(), claim("c", request()), *pool]
    said = text(objects, "resourceclaim/c")
    assert "is invalid: counter set card0-luts not found (did you mean card-0-luts?)" in said
    assert "The driver must correct the slices of gpu.example.com/a. There are no other changes to try." in said
    why = "invalid pool gpu.example.com/a: counter set card0-luts not found (did you mean card-0-luts?)"
    assert why in str(allocate(objects))


OLD = "gpu.resource.example.com"
OF_OLD = f"device.driver == '{OLD}' && device.attributes['{OLD}'].model == 'A'"


@pytest.mark.parametrize("of_class", [True, False], ids=["class", "request"])
def test_the_new_name_of_a_driver_is_tried_wherever_the_old_one_is(of_class: bool) -> None:
    """Another class of its devices is tried as well; devices of another kind are not taken instead."""
    wanted = request("g", of="old") if of_class else request("g", OF_OLD, of="any")
    asking = [claim("c", wanted), pod("p", claims={"g": "c"})]
    objects = [node("a"), device_class("old", OF_OLD), device_class("any", "true"), *asking]
    renamed = [*objects, slice_("a", device("gpu-0", model="A"))]
    [verdict] = explain(renamed, "pod/p").to_dict()["verdicts"]
    changed = [each["changes"][0] for each in verdict["suggestions"]]
    assert [one["code"] for one in changed][: 1 + of_class] == ["fix-spelling", "change-class"][: 1 + of_class]
    assert changed[0]["replacement"] == OF_OLD.replace(f"'{OLD}'", f'"{GPU}"')
    for each in verdict["suggestions"]:
        for after in (applied(renamed, each["changes"]), patched(renamed, each["patches"])):
            [then] = explain(after, "pod/p").to_dict()["verdicts"]
            assert (then["verdict"], then["nodeName"]) == ("WouldBind", each["node"])
    other = [*objects, slice_("a", device("nic-0", model="A"), driver="nic.example.com")]
    [verdict] = explain(other, "pod/p").to_dict()["verdicts"]
    codes = {one["code"] for each in verdict.get("suggestions", []) for one in each["changes"]}
    assert codes.isdisjoint(["fix-spelling", "change-class"])


def test_a_counter_set_that_no_slice_publishes_is_to_be_published() -> None:
    card = device("gpu-0", consumesCounters=[{"counterSet": "card", "counters": {"luts": {"value": "1"}}}])
    objects = [node("a"), device_class(), claim("c", request()), slice_("a", card)]
    assert (
        "To publish counter set card, list it in sharedCounters of another slice of the pool, without devices, and "
        "include that slice in resourceSliceCount of all its slices. There are no other changes to try."
    ) in text(objects, "resourceclaim/c")
