"""An input that lacks something: one command brings all of it, and what it decides is Unknown, never a confident no."""

import json
from pathlib import Path

import pytest

from dra_plan import Cluster
from dra_plan.planner import nodes
from tests.build import Object, allocated, claim, device_class, gpus, node, placed, pod, template
from tests.cli.running import in_process
from tests.live import clusters

BARE = [node("a"), node("b"), template("t"), pod("p", templates={"x": "t"})]
"""Neither classes nor slices; no running pod."""
WITH_CLASS = [*BARE, device_class()]
SNAPSHOT = {"apiVersion": "dra-plan/v1alpha1", "kind": "ClusterInfo", "serverVersion": "v1.36.2"}


def unlisted(*resources: str) -> Object:
    """What a snapshot says of its cluster whose user may not list these."""
    return {**SNAPSHOT, "notListed": [{"resource": name, "reason": "Forbidden", "message": "no"} for name in resources]}


def test_one_command_brings_all_that_is_missing() -> None:
    running = placed("r", "a", claims={"x": "gone"})
    warnings = Cluster.of([*BARE, running]).allocate().document.warnings
    lacking = [one for one in warnings if one.brings]
    assert {one.code for one in lacking} == {"claims-missing", "slices-missing", "classes-missing"}
    [whole] = [one for one in warnings if one.code == "input-incomplete"]
    command = "kubectl get resourceclaims,resourceslices,deviceclasses -A -o yaml"
    assert whole.message == f"`{command}` brings all that is missing"
    assert warnings[-1] == whole


def test_what_alone_is_missing_has_its_own_command_only() -> None:
    warnings = Cluster.of(WITH_CLASS).allocate().document.warnings
    assert [one.code for one in warnings if one.brings] == ["slices-missing"]
    assert "input-incomplete" not in {one.code for one in warnings}


def test_without_nodes_the_error_has_the_command_for_everything(tmp_path: Path) -> None:
    path = tmp_path / "in.json"
    path.write_text(json.dumps(BARE[2:]))
    ran = in_process("explain", str(path))
    assert ran.status == 2
    assert "`kubectl get nodes,resourceslices,deviceclasses -o yaml`" in ran.err


@pytest.mark.parametrize("objects", [BARE, WITH_CLASS], ids=["neither classes nor slices", "no slices"])
def test_what_the_lack_decides_is_unknown(objects: list[Object], tmp_path: Path) -> None:
    """That a class does not exist, or that no device is left, is said of what was given."""
    cluster = Cluster.of(objects)
    assert cluster.allocate().document.claim_sets[0].outcome.value == "Unknown"
    assert [one.outcome for one in cluster.schedule()] == ["Unknown"]
    path = tmp_path / "in.json"
    path.write_text(json.dumps(objects))
    for command in ("allocate", "schedule"):
        assert in_process(command, str(path)).status == 3
        assert in_process(command, str(path), "--require-fit").status == 1
    assert "unknown whether a node can take it, because the input has no " in in_process("explain", str(path)).out


def test_what_fits_and_what_a_whole_cluster_refuses_is_known() -> None:
    assert [one.outcome for one in Cluster.of([*gpus("a"), *BARE[1:]]).schedule()] == ["Bound"]
    no_slices = Cluster.of([SNAPSHOT, *WITH_CLASS])
    assert no_slices.allocate().document.claim_sets[0].outcome.value == "DoesNotFit"
    assert [one.outcome for one in no_slices.schedule()] == ["Unschedulable"]


def test_a_snapshot_misses_nothing_that_it_listed() -> None:
    running = placed("r", "a", claims={"x": "gone"}, priorityClassName="high")
    for info, missing in (
        (SNAPSHOT, set()),
        (unlisted("resourceclaims.resource.k8s.io"), {"claims-missing"}),
        (unlisted("resourceslices.resource.k8s.io", "nodes"), {"slices-missing"}),
    ):
        warnings = Cluster.of([info, *BARE, running]).schedule().document.warnings
        assert {one.code for one in warnings if one.brings} == missing


def test_budgets_are_not_missed_by_a_snapshot_without_any() -> None:
    """It was listed: nobody's pod is protected."""
    low, high = pod("low", nodeName="a", priority=1, cpu="3"), pod("high", priority=9, cpu="3")
    objects = [node("a", cpu="4"), {**low, "status": {"phase": "Running"}}, high]
    for info, told in ((None, True), (SNAPSHOT, False)):
        plan = Cluster.of([*([info] if info else []), *objects]).schedule()
        assert plan.document.evictions
        assert ("disruption-budgets-missing" in {one.code for one in plan.document.warnings}) is told


@pytest.mark.parametrize(
    "command",
    [("allocate",), ("explain",), ("explain", "pod/nobody"), ("schedule",), ("place",), ("capacity",), ("pools",)],
)
def test_a_viewers_snapshot_says_what_it_could_not_list_also_when_planning_stops(
    command: tuple[str, ...], tmp_path: Path
) -> None:
    info = unlisted("nodes", "resourceslices.resource.k8s.io", "deviceclasses.resource.k8s.io")
    objects = [info, *clusters.objects("4-mid-pending", without=("Node", "ResourceSlice", "DeviceClass"))]
    path = tmp_path / "in.json"
    path.write_text(json.dumps(objects))
    ran = in_process(command[0], str(path), *command[1:])
    assert ran.status == 2
    first, second, *_, last = ran.err.splitlines()
    assert first.startswith("warning: nodes: you may not list them")
    assert '{apiGroups: [""], resources: [nodes], verbs: [list]}' in first
    assert "resources: [resourceslices, deviceclasses], verbs: [list]" in second
    assert last.startswith("error: ")


def test_pods_that_have_a_node_and_no_devices_are_named() -> None:
    """The scheduler has done with them, and kubelet can't start them: no pass of it would say so."""
    stuck = placed("stuck", "a", phase="Pending", claims={"x": "mine"})
    rest = [*gpus("a"), pod("other", templates={"x": "t"}), template("t")]
    for answer in (
        Cluster.of([*rest, claim("mine"), stuck]).schedule(),
        Cluster.of([*rest, claim("mine"), stuck]).allocate(),
    ):
        [found] = [one for one in answer.document.warnings if one.code == "bound-without-devices"]
        assert found.message.startswith("1 pod has a node, but claims without devices (default/stuck)")
    going = {**stuck, "metadata": {**stuck["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}}
    runs = placed("stuck", "a", claims={"x": "mine"})
    for others in ([allocated("mine", "a", "gpu-0"), stuck], [claim("mine"), going], [claim("mine"), runs]):
        answer = Cluster.of([*rest, *others]).schedule()
        assert "bound-without-devices" not in {one.code for one in answer.document.warnings}


@pytest.mark.parametrize("made", ["claim", "template"])
def test_admin_access_needs_a_namespace_whose_labels_are_known(made: str) -> None:
    spec = {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "c", "adminAccess": True}}]}}
    asking = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim" if made == "claim" else "ResourceClaimTemplate",
        "metadata": {"name": "x", "namespace": "ops"},
        "spec": spec if made == "claim" else {"spec": spec},
    }
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ops"}}

    def told(objects: list[dict]) -> list[str]:
        notices = nodes.of_devices(Cluster.of(objects).inventory)
        return [each.message for each in notices if each.code == "namespaces-missing"]

    [said] = told([*BARE, asking])
    assert said.startswith("claims ask for admin access in ops")
    assert "kubectl get namespaces -o yaml" in said
    assert not told([*BARE, asking, namespace])
    del (spec["devices"]["requests"][0]["exactly"])["adminAccess"]
    assert not told([*BARE, asking])
