"""What is asked before an answer agrees with `validate`: of a pod or workload, and of all that it needs."""

from pathlib import Path
from typing import Any

import pytest

from dra_plan import releases
from dra_plan.manifests.decode import from_dicts
from dra_plan.manifests.load import load
from dra_plan.validation.refusals import ApiServerRefusals

from .judging import as_yaml
from .objects import Data, claim, device_class, request, template
from .objects import pod as pod_with_claim
from .test_admission import CLUSTER, REFUSED, TAKEN, pod, refusals

TARGET = releases.target("1.36")


def of(*objects: Data, runtime_config: dict[str, bool] | None = None) -> list[tuple[str, str]]:
    """Code and object of each rejection of the last object, and of what it needs."""
    inventory = from_dicts(list(objects))
    asked: Any = next(
        one
        for one in (*inventory.pods, *inventory.workloads, *inventory.claims, *inventory.templates)
        if (one.kind, one.metadata.name) == (objects[-1]["kind"], objects[-1]["metadata"]["name"])
    )
    return [(one.code, one.object) for one in ApiServerRefusals(inventory, TARGET, runtime_config or {}).of(asked)]


ASKED = [
    (code, made)
    for code, made in REFUSED
    if made["kind"] not in ("ResourceQuota", "PodDisruptionBudget", "PriorityClass")
]


@pytest.mark.parametrize(("code", "made"), ASKED, ids=[f"{n}-{code}" for n, (code, _) in enumerate(ASKED)])
def test_it_says_what_validate_says(code: str, made: Data) -> None:
    told = {code for code, _ in of(*CLUSTER, made)}
    assert told <= refusals(*CLUSTER, made)
    assert code in told or "ephemeralContainers" in made["spec"] or "backoffLimit" in made["spec"]


@pytest.mark.parametrize("made", [made for made in TAKEN if made["kind"] in ("Pod", "Deployment", "Job")])
def test_what_is_taken_is_taken(made: Data) -> None:
    """But of a workload that is taken itself, the pods may be rejected: they don't run either."""
    named = made["spec"].get("template", {}).get("spec", {}).get("priorityClassName")
    assert of(*CLUSTER, claim(), made) == ([("DRA226", "Deployment team/w")] if named == "nothing" else [])


def test_what_a_pod_needs_is_judged_with_it() -> None:
    wrong_class = device_class() | {"spec": {"extendedResourceName": "kubernetes.io/gpu"}}
    wrong_template = template(request("A B"))
    assert of(wrong_class, wrong_template, pod_with_claim({"name": "gpu"})) == [
        ("DRA101", "ResourceClaimTemplate team/gpus"),
        ("DRA148", "DeviceClass gpu"),
    ]


def test_the_controller_of_a_pod_is_judged_with_it() -> None:
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "train", "namespace": "team"},
        "spec": {"template": {"spec": pod()["spec"]}},
    }
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "1", "controller": True}
    assert of(job, pod(metadata={"name": "train-0", "ownerReferences": [owner]})) == [("DRA165", "Job team/train")]


@pytest.mark.parametrize("written", ["v1beta1", "v1beta2"])
def test_versions_that_are_not_served(written: str, tmp_path: Path) -> None:
    flat = {"name": "gpu", "deviceClassName": "gpu"} if written == "v1beta1" else request()
    made = claim(flat) | {"apiVersion": f"resource.k8s.io/{written}"}
    (tmp_path / "claim.yaml").write_text(as_yaml([device_class(), made]))
    inventory = load([tmp_path])
    (found,) = ApiServerRefusals(inventory, TARGET, {}).of(inventory.claims[0])
    assert (found.code, found.line, Path(found.file).name) == ("DRA011", 10, "claim.yaml")
    assert ApiServerRefusals(inventory, TARGET).of(inventory.claims[0]) == ()


def test_forms_that_are_gone() -> None:
    old = pod_with_claim({"name": "gpu"}, entry={"name": "gpu", "source": {"resourceClaimTemplateName": "gpus"}})
    assert of(template(), device_class(), old) == [("DRA009", "Pod team/pod")]
    flat = claim({"name": "gpu", "deviceClassName": "gpu"})
    assert [code for code, _ in of(device_class(), flat)] == ["DRA014"]
