"""What is more than a quota has, even where nothing is used of it (DRA228, DRA229, DRA226)."""

from __future__ import annotations

from typing import Any

import pytest

from dra_plan import Cluster
from tests.build import claim, device_class, manifest, pod, request, template, workload

Plain = dict[str, Any]
DEVICES = "gpu.example.com.deviceclass.resource.k8s.io/devices"


def found(*objects: Plain, **spec: Any) -> list[tuple[str, str, str]]:
    quota = manifest("ResourceQuota", "q", namespace="default", spec=spec)
    report = Cluster.of([device_class(), quota, *objects]).validate(select=["DRA226", "DRA228", "DRA229"])
    return [(each.code, each.field, each.message) for each in report.findings]


def fresh(made: Plain) -> Plain:
    """The object as nobody has created it yet."""
    return {**made, "metadata": {key: value for key, value in made["metadata"].items() if key != "uid"}}


GPU = fresh(pod(templates={"gpu": "t"}))


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet", "ReplicaSet"])
def test_replicas_together(kind: str) -> None:
    made = fresh(workload(kind, "w", GPU, replicas=5))
    said = f"quota q allows 4 of {DEVICES}, but 5 pods and their claims need 5"
    assert found(template(), made, hard={DEVICES: "4"}) == [("DRA229", "spec.replicas", said)]
    assert not found(template(), made, hard={DEVICES: "5"})


def test_a_job_runs_as_many_as_complete() -> None:
    job = fresh(workload("Job", "j", GPU, parallelism=8, completions=3, suspend=True))
    [(code, field, said)] = found(template(), job, hard={DEVICES: "2"})
    assert (code, field) == ("DRA229", "spec.parallelism")
    assert said.endswith("but 3 pods and their claims need 3")


def test_one_claim_of_each_pod() -> None:
    made = fresh(workload("Deployment", "w", GPU, replicas=1))
    [(code, field, said)] = found(template("t", request(count=8)), made, hard={DEVICES: "4"})
    assert (code, field) == ("DRA229", "spec.template.spec.resourceClaims[0]")
    assert said == f"quota q allows 4 of {DEVICES}, but the claim that is created for each pod needs 8"


def test_all_claims_of_a_pod() -> None:
    alone = fresh(pod("p", templates={"a": "t", "b": "t"}))
    [(code, field, said)] = found(template("t", request(count=3)), alone, hard={DEVICES: "4"})
    assert (code, field) == ("DRA229", "spec.resourceClaims")
    assert said.endswith("but one pod and its claims need 6")


def test_a_claim_and_a_pod_by_themselves() -> None:
    [(code, field, _)] = found(fresh(claim("c", request(count=8))), hard={DEVICES: "4"})
    assert (code, field) == ("DRA228", "spec.devices.requests")
    [(code, field, said)] = found(fresh(pod("p", cpu="4")), hard={"requests.cpu": "2"})
    assert (code, field, said) == ("DRA228", "spec", "quota q allows 2 of requests.cpu, but a pod needs 4")


def test_what_pods_do_not_state() -> None:
    silent = fresh(workload("Deployment", "w", fresh(pod(cpu=None, memory=None))))
    [(code, field, said)] = found(silent, hard={"requests.cpu": "2"})
    assert (code, field) == ("DRA226", "spec.template.spec.containers")
    assert said == "quota q requires requests.cpu for: c to be set"
    limits = {"limits": [{"type": "Container", "defaultRequest": {"cpu": "100m"}}]}
    assert not found(silent, manifest("LimitRange", "l", namespace="default", spec=limits), hard={"requests.cpu": "2"})


def test_what_is_not_judged() -> None:
    """What a cluster has; other namespaces; quotas with a scope; sets whose number nodes decide."""
    there = claim("c", request(count=8))
    there["metadata"] |= {"uid": "u", "resourceVersion": "1", "creationTimestamp": "2026-01-01T00:00:00Z"}
    assert not found(there, hard={DEVICES: "4"})
    elsewhere = fresh(claim("c", request(count=8), namespace="other"))
    assert not found(elsewhere, hard={DEVICES: "4"})
    new = fresh(claim("c", request(count=8)))
    assert not found(new, hard={DEVICES: "4"}, scopes=["BestEffort"])
    assert not found(template(), fresh(workload("DaemonSet", "d", GPU)), hard={DEVICES: "4"})
