"""What people pasted when they asked why, rebuilt: the cause that was found stands in the first ten lines.

Each is typed as its author would type it: the files alone.
"""

from __future__ import annotations

from typing import Any

import pytest

from dra_plan import explain
from tests.build import Object, bare_pod, claim, device, device_class, manifest, node, request, slice_, taint, template

LINES = 10
GPU_PLUGIN: dict[str, Any] = {"nvidia.com/gpu": "1"}
MIG_PLUGIN: dict[str, Any] = {"nvidia.com/mig-7g.80gb": "1"}


def gpu_pod(name: str = "p", **spec: Any) -> Object:
    return bare_pod(name, templates={"gpu": "t"}, uid=None, **spec)


def world(*objects: Object, **request_fields: Any) -> list[Object]:
    asked = template("t", request("gpu", **request_fields))
    return [node("n1"), device_class(), asked, *objects]


def old_source() -> list[Object]:
    owner = bare_pod("p", uid=None)
    owner["spec"]["resourceClaims"] = [{"name": "gpu", "source": {"resourceClaimTemplateName": "t"}}]
    return world(slice_("n1", device("gpu-0")), owner)


def flat_request() -> list[Object]:
    objects = world(slice_("n1", device("gpu-0")), gpu_pod())
    objects[2]["spec"]["spec"]["devices"]["requests"] = [{"name": "gpu", "deviceClassName": "gpu.example.com"}]
    return objects


def incomplete_generation() -> list[Object]:
    old = slice_("n1", device("gpu-0"), device("gpu-1"), generation=1)
    new = slice_("n1", device("gpu-0"), generation=2, number=1, of=2)
    return world(old, new, gpu_pod(), count=2)


def misplaced_tolerations() -> list[Object]:
    objects = world(slice_("n1", device("gpu-0", taints=[taint("broken", effect="NoExecute")])), gpu_pod())
    objects[2]["spec"]["spec"]["tolerations"] = [{"key": "broken", "operator": "Exists"}]
    return objects


def without_tolerations() -> list[Object]:
    return world(slice_("n1", device("gpu-0", taints=[taint("broken", effect="NoExecute")])), gpu_pod())


def count_of_zero_slices() -> list[Object]:
    made = slice_("n1", device("gpu-0"))
    made["spec"]["pool"]["resourceSliceCount"] = 0
    return world(made, gpu_pod())


def bound_without_devices() -> list[Object]:
    owner = bare_pod("p", claims={"gpu": "c"}, nodeName="n1", uid=None)
    return [node("n1"), device_class(), slice_("n1", device("gpu-0")), claim("c", request("gpu")), owner]


def a_gpu_for_each_container() -> list[Object]:
    amounts = {"limits": {"nvidia.com/gpu": "1"}}
    containers = [{"name": name, "image": "x", "resources": amounts} for name in ("a", "b")]
    return [node("n1", **GPU_PLUGIN), bare_pod("p", uid=None, containers=containers)]


def a_resource_misspelt() -> list[Object]:
    amounts = {"limits": {"nvidia.com/mig-7g.79gb": "1"}}
    spec = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "x", "resources": amounts}]}
    work = manifest("Job", "work", namespace="default", spec={"template": {"spec": spec}})
    return [node("n1", **MIG_PLUGIN), work]


def no_slices() -> list[Object]:
    return world(gpu_pod())


def old_kubelet() -> list[Object]:
    objects = world(slice_("n1", device("gpu-0")), gpu_pod())
    objects[0]["status"]["nodeInfo"] = {"kubeletVersion": "v1.33.1"}
    return objects


def attribute_on_some_devices() -> list[Object]:
    sharing = 'device.attributes["gpu.example.com"].sharing == "yes"'
    objects = world(slice_("n1", device("gpu-0"), device("gpu-1", sharing="yes")), gpu_pod())
    objects[2] = template("t", request("gpu", sharing))
    return objects


def admin_access_without_the_label() -> list[Object]:
    namespace = manifest("Namespace", "default")
    return [namespace, *world(slice_("n1", device("gpu-0")), gpu_pod(), adminAccess=True)]


def a_label_that_no_node_has() -> list[Object]:
    slow = node("n1", labels={"disk-type": "hdd"})
    return [slow, bare_pod("p", uid=None, nodeSelector={"disk-type": "ssd-high-iops"})]


THREADS: list[tuple[Any, list[str]]] = [
    (old_source, ["the API server rejects it", "`source` was removed"]),
    (flat_request, ["the API server rejects it", "`exactly`"]),
    (incomplete_generation, ["is Pending", "incomplete: the input has 1 of 2 slices of generation 2"]),
    (misplaced_tolerations, ["the API server rejects it", "spec.spec.tolerations"]),
    (without_tolerations, ["is Pending", "taint broken:NoExecute not tolerated"]),
    (count_of_zero_slices, ["is Pending", "never complete: resourceSliceCount is 0"]),
    (bound_without_devices, ["is stuck on n1", "nothing will allocate any"]),
    (a_gpu_for_each_container, ["it requests 2 nvidia.com/gpu, and no node has more than 1"]),
    (a_resource_misspelt, ["nvidia.com/mig-7g.79gb: needs 1", "there is nvidia.com/mig-7g.80gb"]),
    (no_slices, ["the cluster has no nodes with such devices yet"]),
    (old_kubelet, ["The kubelet of n1 is 1.33"]),
    (attribute_on_some_devices, ["fails on device gpu.example.com/n1/gpu-0", '"sharing" in device.attributes']),
    (admin_access_without_the_label, ["the API server rejects it", "resource.kubernetes.io/admin-access"]),
    (a_label_that_no_node_has, ["wants disk-type=ssd-high-iops, has disk-type=hdd"]),
]


@pytest.mark.parametrize(("make", "cause"), THREADS, ids=lambda value: getattr(value, "__name__", ""))
def test_the_cause_stands_in_the_first_lines(make: Any, cause: list[str]) -> None:
    first = "\n".join(str(explain(make())).splitlines()[:LINES])
    assert [text for text in cause if text not in first] == [], first


def test_nothing_absurd_is_advised() -> None:
    for make in (incomplete_generation, count_of_zero_slices):
        assert "Changes that would make it fit" not in str(explain(make()))
