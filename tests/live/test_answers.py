"""Each thing that was once answered wrongly on dumps of a real cluster has its right answer."""

from __future__ import annotations

import json
import re

from dra_plan import Cluster
from dra_plan.claims.owners import ended
from tests.cli.running import in_process

from . import clusters


def written(path, objects: list[dict]) -> str:
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    return str(path)


def test_the_pending_pod_of_a_replica_set_can_be_named():
    plan = Cluster.of(clusters.objects("5-mid-after")).explain("infer-7c9df9cf86-9j6bw")
    [told] = plan.to_dict()["claimSets"]
    assert told["owner"] == {"kind": "Pod", "namespace": "team-a", "name": "infer-7c9df9cf86-9j6bw"}
    assert [each["name"] for each in told["claims"]] == ["infer-7c9df9cf86-9j6bw-gpu-ffshs"]
    assert told["outcome"] == "DoesNotFit"


def test_a_missing_kind_is_no_confident_no(tmp_path):
    """Nothing can be allocated, and the reason is said before."""
    path = written(tmp_path / "in.json", clusters.objects("4-mid-pending", without=("ResourceSlice",)))
    ran = in_process("allocate", path)
    assert re.search(
        r"pod/team-a/urgent-1 +Unknown +0/2 +- +the input lacks the objects needed to decide this", ran.out
    )
    assert ran.status == 3
    assert "warning: the input has no ResourceSlice, so no devices are known: " in ran.err


def test_a_full_but_healthy_cluster_does_not_fail_a_gate(tmp_path):
    """Its claim that nobody uses can't be allocated for other reasons."""
    objects = [obj for obj in clusters.objects("3-running") if obj["metadata"]["name"] != "lonely"]
    whole = ("--ignore-warning", "one-namespace")  # its control plane runs outside of it, and so no pods in kube-system
    ran = in_process("allocate", "--allow-empty", *whole, written(tmp_path / "in.json", objects))
    assert (ran.status, ran.err) == (0, "")
    scheduled = in_process("schedule", *whole, written(tmp_path / "in.json", objects))
    assert (scheduled.status, scheduled.err) == (0, "")


def test_each_error_names_the_pods_own_claim():
    index = "device.attributes['d.example.com'].index == 1"
    request = {
        "name": "r",
        "exactly": {"deviceClassName": "gpu.example.com", "selectors": [{"cel": {"expression": index}}]},
    }
    objects = clusters.objects("preempt-1gpu", without=("Pod", "ResourceClaim"))
    [template] = [obj for obj in objects if obj["kind"] == "ResourceClaimTemplate"]
    template["spec"]["spec"]["devices"]["requests"] = [request]
    uses = {"name": "t0", "resourceClaimTemplateName": template["metadata"]["name"]}
    for name in ("a", "b"):
        spec = {"containers": [{"name": "c", "image": "i"}], "resourceClaims": [uses]}
        objects.append({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "x"}, "spec": spec})
    messages = {pod["name"]: pod["message"] for pod in clusters.schedule(objects)["pods"]}
    assert {name: f"claim x/{name}-t0:" in message for name, message in messages.items()} == {"a": True, "b": True}


def test_finished_pods_are_left_alone_and_count_nowhere():
    cluster = Cluster.of(clusters.objects("4-mid-pending"))
    finished = {pod.key for pod in cluster.inventory.pods if ended(pod)}
    assert finished == {"team-a/train-5mp6w"}
    document = cluster.schedule().to_dict()
    assert not any(each["code"] == "finished-pods-count" for each in document["warnings"])
    assert document["apiServer"] == "real"


def test_options_that_speak_of_recordings_are_hidden():
    """They work all the same."""
    assert "--api-server" not in in_process("schedule", "--help").out
    ran = in_process("schedule", "--api-server", "recorded", "-o", "json", "fixtures/quickstart")
    assert json.loads(ran.out)["apiServer"] == "recorded"
