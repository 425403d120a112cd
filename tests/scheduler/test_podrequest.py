"""What a pod asks for: containers, init containers, sidecars, overhead, pod-level resources and resizes."""

from __future__ import annotations

from typing import Any

import pytest

from dra_plan.manifests.decode import from_dicts
from dra_plan.scheduler.cluster.pod_requests import is_extended, is_scalar, pod_requests


def container(cpu: str | None = None, memory: str | None = None, **more: Any) -> dict:
    requests = {name: value for name, value in (("cpu", cpu), ("memory", memory)) if value is not None}
    return {
        "name": more.pop("name", "c"),
        "image": "app",
        "resources": {"requests": {**requests, **more.pop("extra", {})}},
        **more,
    }


def requests(
    *containers: dict, init: tuple[dict, ...] = (), status: dict | None = None, options: dict | None = None, **spec
):
    body = {"containers": list(containers), "initContainers": list(init), **spec}
    made = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": body, "status": status or {}}
    [pod] = from_dicts([made]).pods
    return pod_requests(pod, **(options or {}))


SIDECAR = {"restartPolicy": "Always"}


def test_containers_add_up():
    assert requests(container("1", "1Gi"), container("500m")) == {"cpu": 1500, "memory": 2**30}


def test_the_larger_of_running_and_starting():
    assert requests(container("1"), init=(container("3"), container("2")))["cpu"] == 3000
    assert requests(container("4"), init=(container("3"),))["cpu"] == 4000


def test_sidecars_count_from_their_position_on():
    assert requests(container("1"), init=(container("3"), container("2", **SIDECAR)))["cpu"] == 3000
    assert requests(container("1"), init=(container("2", **SIDECAR), container("3")))["cpu"] == 5000
    assert requests(container("4"), init=(container("2", **SIDECAR), container("3")))["cpu"] == 6000


def test_pod_level_requests_replace_and_overhead_adds():
    level = {"resources": {"requests": {"cpu": "1", "memory": "1Gi"}}, "overhead": {"cpu": "250m"}}
    assert requests(container("4", "4Gi"), **level) == {"cpu": 1250, "memory": 2**30}
    assert requests(container("4", "4Gi"), options={"pod_level": False}, **level) == {"cpu": 4250, "memory": 2**32}


def test_fractions_are_rounded_up_after_adding():
    assert requests(container("1500u"), container("1500u"))["cpu"] == 3
    assert requests(container(memory="1500m"), container(memory="1500m"))["memory"] == 3


def test_defaults_fill_in_what_scoring_assumes():
    found = requests(container(), container("0", "0"), options={"defaults": True})
    assert found == {"cpu": 100, "memory": 200 * 2**20}
    assert requests(container("1"), init=(container(),), options={"defaults": True})["memory"] == 200 * 2**20


@pytest.mark.parametrize(
    ("allocated", "running", "conditions", "cpu"),
    [
        ("2", "1", [], 3000),
        ("5", "1", [], 5000),
        ("1", "4", [], 4000),
        ("1", "1", [{"type": "PodResizePending", "status": "True", "reason": "Infeasible"}], 1000),
    ],
)
def test_a_resize_counts_with_the_largest(allocated, running, conditions, cpu):
    statuses = [{"name": "c", "allocatedResources": {"cpu": allocated}, "resources": {"requests": {"cpu": running}}}]
    found = requests(container("3"), status={"containerStatuses": statuses, "conditions": conditions})
    assert found["cpu"] == cpu


@pytest.mark.parametrize(
    ("name", "extended", "scalar"),
    [
        ("cpu", False, False),
        ("example.com/gpu", True, True),
        ("requests.example.com/gpu", False, False),
        ("hugepages-2Mi", False, True),
        ("attachable-volumes-csi", False, True),
        ("deviceclass.resource.kubernetes.io/x", False, True),
        ("pods", False, False),
    ],
)
def test_kinds_of_resource_names(name, extended, scalar):
    assert (is_extended(name), is_scalar(name)) == (extended, scalar)


def test_unknown_names_are_not_compared():
    assert requests(container("1", extra={"odd": "1", "example.com/x": "2"})) == {"cpu": 1000, "example.com/x": 2}
