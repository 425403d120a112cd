"""The same object in two sources: the later one counts, with what only the cluster says of the earlier one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dra_plan.manifests.faults import ManifestErrors
from dra_plan.manifests.load import load
from tests.build import claim, device_class, node, owned, placed, pod, request, slice_, template
from tests.cli.running import dra_plan, in_process


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write(name: str, *objects: dict) -> str:
    Path(name).write_text("".join(json.dumps(obj) + "\n" for obj in objects))
    return name


def bare(name: str, **spec) -> dict:
    return pod(name, uid=None, **spec)


def test_the_later_source_overrides():
    first, later = node("a", cpu="1"), node("a", labels={"new": "yes"})
    del later["status"]
    found = load([write("1.json", node("z"), first), write("2.json", later)])
    assert [each.metadata.name for each in found.nodes] == ["z", "a"]
    assert (found.nodes[1].metadata.labels or {})["new"] == "yes"
    assert found.nodes[1].status.allocatable["cpu"] == "1", "the status stays"
    key = ("Node", "", "a")
    assert str(found.origins[key]) == "2.json:1"
    assert [str(origin) for origin in found.overridden[key]] == ["1.json:2", "2.json:1"]


def test_what_only_the_cluster_says_of_a_pod_stays():
    running = placed("p", "a", metadata={"creationTimestamp": "2026-01-01T00:00:00Z"})
    [found] = load([write("1.json", running), write("2.json", bare("p", cpu="3"))]).pods
    assert (found.metadata.uid, found.spec.node_name, found.status.phase) == ("u-p", "a", "Running")
    assert found.metadata.creation_timestamp == "2026-01-01T00:00:00Z"
    assert found.spec.containers[0].resources.requests["cpu"] == "3"


def test_what_the_later_one_says_counts():
    [found] = load([write("1.json", placed("p", "a")), write("2.json", placed("p", "b", phase="Failed"))]).pods
    assert (found.spec.node_name, found.status.phase) == ("b", "Failed")


def test_identical_objects_are_silent():
    found = load([write("1.json", placed("p", "a")), write("2.json", bare("p"))])
    assert len(found.pods) == 1
    again = load(["1.json", write("3.json", placed("p", "a"))])
    assert again.overridden == {}
    assert str(again.origins["Pod", "default", "p"]) == "1.json:1"


def test_twice_in_one_source_stays_an_error():
    with pytest.raises(ManifestErrors, match=r"2\.json:2: Pod default/p: defined twice; first in 2\.json:1"):
        load([write("1.json", pod("p")), write("2.json", pod("p", cpu="2"), pod("p", cpu="3"))])


def test_objects_of_unknown_kinds_too():
    def custom(replicas: int) -> dict:
        template = {"spec": {"containers": [{"name": "c"}]}}
        return {
            "apiVersion": "e.com/v1",
            "kind": "X",
            "metadata": {"name": "x"},
            "spec": {"replicas": replicas, "template": template},
        }

    found = load([write("1.json", custom(1)), write("2.json", custom(2))])
    assert [each.spec.replicas for each in found.workloads] == [2]
    assert [str(origin) for origin in found.overridden["X", "default", "x"]] == ["1.json:1", "2.json:1"]
    with pytest.raises(ManifestErrors, match="defined twice"):
        load([write("3.json", custom(1), custom(1))])


def test_the_command_line_names_both_places():
    write("1.json", node("a"), *(pod(f"p{index}") for index in range(7)))
    write("2.json", *(pod(f"p{index}", cpu="2") for index in range(7)))
    ran = dra_plan("schedule", "1.json", "2.json", cwd=Path.cwd())
    told = "different content in two sources; 2.json:1 is used, not 1.json:2 [object-overridden]"
    assert f"warning: {told}: Pod default/p0 at 2.json:1\n" in ran.err
    assert "warning: 2 more objects have different content in two sources [object-overridden]\n" in ran.err
    assert dra_plan("schedule", "1.json", "2.json", "--fail-on", "warning", cwd=Path.cwd()).status == 1


def test_a_manifest_over_what_a_cluster_has_is_no_contradiction():
    write("1.json", node("a"), pod("p", metadata={"creationTimestamp": "2026-01-01T00:00:00Z"}))
    write("2.json", bare("p", cpu="2"))
    ran = dra_plan("schedule", "1.json", "2.json", "--fail-on", "warning", cwd=Path.cwd())
    assert "note: Pod default/p is taken from 2.json:1, not from 1.json:2\n" in ran.err
    assert "object-overridden" not in ran.err


def test_the_same_object_twice_is_no_contradiction():
    write("1.json", node("a"), bare("p"))
    write("2.json", bare("p"))
    assert dra_plan("schedule", "1.json", "2.json", "--fail-on", "warning", cwd=Path.cwd()).err == ""


def waiting(template: str, **spec) -> dict:
    """A pod as a cluster with a claim for its entry has it, which may be edited to ask for another template."""
    made = pod("p", templates={"gpu": template}, **spec)
    made["status"] = {"phase": "Pending", "resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "p-gpu-x"}]}
    return made


def test_a_pod_that_asks_for_other_claims_is_another_pod():
    """An edited copy of a dumped pod: its old claim, which the copy's status names, is not what it asks for."""
    [found] = load([write("1.json", waiting("large")), write("2.json", waiting("small"))]).pods
    assert found.status.resource_claim_statuses == []
    assert found.metadata.uid not in ("", "u-p")
    [found] = load(["1.json", write("3.json", waiting("large", cpu="3"))]).pods
    assert [status.resource_claim_name for status in found.status.resource_claim_statuses] == ["p-gpu-x"]
    assert found.metadata.uid == "u-p"


def dump_of_a_waiting_pod() -> str:
    """A file with one device, templates for 1 and for 20, and a pod that has its claim for 20."""

    annotations = {"resource.kubernetes.io/pod-claim-name": "gpu"}
    metadata = {"annotations": annotations, **owned("Pod", "p")}
    old = claim("p-gpu-x", request("gpu", count=20), uid=None, metadata=metadata)
    templates = [template("large", request("gpu", count=20)), template("small", request("gpu", count=1))]
    cluster = [node("n"), slice_("n", "gpu-0"), device_class(), old, *templates]
    return write("1.json", *cluster, waiting("large"))


def claim_sets(*paths: str) -> tuple[int, list[tuple[str, str]]]:
    ran = in_process("allocate", *paths, "-o", "json")
    found = json.loads(ran.out)["claimSets"]
    return ran.status, [(one["owner"]["name"] if one["owner"] else "", one["outcome"]) for one in found]


def test_an_edited_copy_is_planned_with_what_it_asks_for():
    dump, copy = dump_of_a_waiting_pod(), write("2.json", waiting("small"))
    assert in_process("allocate", dump, "pod/p").status == 1
    assert in_process("allocate", dump, copy, "pod/p").status == 0


def test_the_old_claim_of_an_edited_copy_is_no_claim_set_of_its_own():
    dump = dump_of_a_waiting_pod()
    small = waiting("small")
    for lost in (["status"], ["status", "metadata.uid"]):
        for field in lost:
            where = small["metadata"] if field.startswith("metadata.") else small
            where.pop(field.removeprefix("metadata."), None)
        assert claim_sets(dump, write("2.json", small)) == (0, [("p", "Fits")])
    assert claim_sets(dump) == (1, [("p", "DoesNotFit")])


def test_a_dump_that_comes_after_the_edited_copy_counts_once_and_as_it_is():
    dump, copy = dump_of_a_waiting_pod(), waiting("small")
    del copy["status"], copy["metadata"]["uid"]
    assert claim_sets(write("2.json", copy), dump) == (1, [("p", "DoesNotFit")])
    [found] = load(["2.json", dump]).pods
    assert found.metadata.uid == "u-p"
    assert [status.resource_claim_name for status in found.status.resource_claim_statuses] == ["p-gpu-x"]


def test_pods_that_have_their_claims_keep_them_when_the_template_is_edited():
    dump = dump_of_a_waiting_pod()
    objects = map(json.loads, Path(dump).read_text().splitlines())
    [large] = [obj for obj in objects if obj["metadata"]["name"] == "large"]
    large["spec"]["spec"]["devices"]["requests"][0]["exactly"]["count"] = 1
    kept = "note: pod default/p keeps its claim, created from the old ResourceClaimTemplate default/large\n"
    ran = in_process("allocate", dump, write("2.json", large))
    assert (ran.status, kept in ran.err) == (1, True)
    fresh = waiting("large")
    fresh["metadata"] = {"name": "q"}
    del fresh["status"]
    ran = in_process("allocate", dump, "2.json", write("3.json", fresh), "pod/q")
    assert (ran.status, kept in ran.err, "default/q" in ran.err) == (0, True, False)
    assert "keeps its claim" not in in_process("allocate", dump, write("4.json", waiting("small"))).err
