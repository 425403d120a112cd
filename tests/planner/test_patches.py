"""`place -o patches`: applied to the manifests, they give the placement that was told."""

from __future__ import annotations

import copy
from itertools import product
from typing import Any

import pytest
import yaml
from msgspec import structs

import dra_plan
from dra_plan import Cluster
from dra_plan.questions.place.text import patches
from tests.build import gpus, node, pod, request, template
from tests.cli.running import in_process
from tests.placement.families import FAMILIES, family_fleet
from tests.placement.fleets import objects_of

Plain = dict[str, Any]


def merged(old: Any, patch: Any) -> Any:
    """A strategic merge where no list is merged by key: objects are merged field by field, lists replaced."""
    if isinstance(old, dict) and isinstance(patch, dict):
        return {**old, **{name: merged(old.get(name), value) for name, value in patch.items()}}
    return patch


def patched(objects: list[Plain], text: str) -> list[Plain]:
    """The manifests with the patches of a text, each of which has to find its object."""
    done = [copy.deepcopy(each) for each in objects]
    for patch in yaml.safe_load_all(text):
        names = [_identity(each) for each in done]
        place = names.index(_identity(patch))
        done[place] = merged(done[place], patch)
    return done


def _identity(of: Plain) -> tuple[str, str, str, str]:
    metadata = of["metadata"]
    return of["apiVersion"], of["kind"], metadata.get("namespace", "default"), metadata["name"]


def findings(objects: list[Plain]) -> set[tuple[str, str]]:
    return {(each.code, each.message) for each in Cluster.of(objects).validate().findings if each.severity == "error"}


def small_and_large() -> list[Plain]:
    """A placement exists that the scheduler misses: it spreads the small pods."""
    objects = [*gpus("a", "b", each=2), template("one"), template("two", request(count=2))]
    objects += [pod("s1", templates={"g": "one"}), pod("s2", templates={"g": "one"})]
    return [*objects, pod("large", templates={"g": "two"})]


def test_patched_pods_go_where_they_were_told_to() -> None:
    objects = small_and_large()
    plan = Cluster.of(objects).place()
    again = patched(objects, patches(plan.document))
    told = {each.name: each.node for each in plan}
    assert findings(again) <= findings(objects)
    assert {each.name: each.node for each in Cluster.of(again).place()} == told
    assert {each.name: each.node_name for each in Cluster.of(again).schedule()} == told


def test_patches_of_random_fleets_pin_the_placement() -> None:
    seen = 0
    for family, seed in product(FAMILIES, range(5)):
        objects, where = objects_of(family_fleet(family, seed)), f"{family} {seed}"
        plan = Cluster.of(objects, quirks="fixed").place()
        if plan.outcome == "Placed":
            again = patched(objects, patches(plan.document))
            assert findings(again) <= findings(objects), where
            told = Cluster.of(again, quirks="fixed").place()
            assert told.outcome == "Placed", where
            assert {each.name: each.node for each in told} == {each.name: each.node for each in plan}, where
            seen += 1
    assert seen > 10


@pytest.mark.parametrize("name", ["quickstart", "tpu-slice", "scattered"])
def test_patches_find_their_workloads(name: str) -> None:
    objects = [dict(each) for each in dra_plan.load(f"fixtures/{name}")]
    plan = Cluster.of(objects).place(most=True)
    again = patched(objects, patches(plan.document))
    assert findings(again) <= findings(objects)
    nodes = {each.node for each in plan}
    assert {each.node for each in Cluster.of(again).place(most=True)} <= nodes


@pytest.mark.parametrize(
    ("kind", "api", "field"),
    [
        ("Deployment", "apps/v1", "template"),
        ("StatefulSet", "apps/v1", "template"),
        ("ReplicaSet", "apps/v1", "template"),
        ("Job", "batch/v1", "template"),
    ],
)
def test_a_workload_is_kept_to_all_nodes_of_its_pods(kind: str, api: str, field: str) -> None:
    spec = {"replicas": 2, "selector": {"matchLabels": {"a": "b"}}, field: template_of("5")}
    if kind == "Job":
        made = template_of("5")
        made["spec"]["restartPolicy"] = "Never"
        spec = {"completions": 2, "parallelism": 2, "suspend": False, field: made}
    workload = {"apiVersion": api, "kind": kind, "metadata": {"name": "w", "namespace": "default"}, "spec": spec}
    plan = Cluster.of([node("a"), node("b"), workload]).place()
    [patch] = yaml.safe_load_all(patches(plan.document))
    assert _identity(patch) == (api, kind, "default", "w")
    required = patch["spec"][field]["spec"]["affinity"]["nodeAffinity"][
        "requiredDuringSchedulingIgnoredDuringExecution"
    ]
    assert [term["matchFields"][0]["values"] for term in required["nodeSelectorTerms"]] == [["a"], ["b"]]
    assert "1 pod on a and 1 pod on b" in patches(plan.document)


def template_of(cpu: str) -> Plain:
    made = pod("x", cpu=cpu, labels={"a": "b"})
    return {"metadata": {"labels": {"a": "b"}}, "spec": made["spec"]}


def test_a_pod_of_an_unknown_kind_has_no_patch() -> None:
    reference = {"apiVersion": "x.example.com/v1", "kind": "Gang", "name": "g", "uid": "u", "controller": True}
    plan = Cluster.of([node("a"), pod("p", metadata={"ownerReferences": [reference]})]).place()
    text = patches(plan.document)
    assert list(yaml.safe_load_all(text)) in ([], [None])
    assert "gang/default/g: no patch" in text


def test_without_a_placement_there_is_nothing_to_apply() -> None:
    ran = in_process("place", "fixtures/quickstart", "-o", "patches")
    assert ran.status == 1
    assert ran.out == "# Impossible: the pods cannot all be placed, so there is nothing to apply.\n"


def test_names_make_no_lines_of_their_own() -> None:
    plan = Cluster.of([node("a"), pod("p")]).place()
    document = plan.document
    [placed] = document.placed
    document = structs.replace(document, placed=[structs.replace(placed, name="p\n---\nkind: Evil")])
    found = [each for each in yaml.safe_load_all(patches(document)) if each]
    assert [each["kind"] for each in found] == ["Pod"]
