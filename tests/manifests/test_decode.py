"""Plain dicts to typed objects: conversion, defaults, nulls, unknown fields, namespaces."""

from __future__ import annotations

import copy
import json
from typing import Any

import msgspec
import pytest

from dra_plan.manifests.decode import from_dicts
from dra_plan.manifests.faults import ManifestErrors

from .objects import claim, dra, pod, template, workload


def plain(obj):
    """A decoded object as dict, without the fields that have their default; the usual allocation mode is one."""
    return json.loads(msgspec.json.encode(obj), object_hook=without_usual_mode)


def without_usual_mode(fields):
    return {key: value for key, value in fields.items() if (key, value) != ("allocationMode", "ExactCount")}


def the(objects, holder):
    (found,) = getattr(from_dicts(objects), holder)
    return found


def request_of(*requests, version="v1"):
    return [plain(r) for r in the([claim("c", *requests, version=version)], "claims").spec.devices.requests]


def slice_spec(version, **spec):
    return plain(the([dra("ResourceSlice", "s", version, spec=spec)], "slices"))["spec"]


# Conversion

V1 = {"name": "r", "exactly": {"deviceClassName": "gpu", "count": 1}}
BETA = ("v1beta1", "v1alpha3")


@pytest.mark.parametrize("version", ["v1", "v1beta2"])
def test_structured_versions_are_v1(version):
    assert request_of({"name": "r", "exactly": {"deviceClassName": "gpu"}}, version=version) == [V1]
    found = the([claim("c", version=version)], "claims")
    assert found.api_version == "resource.k8s.io/v1"


@pytest.mark.parametrize("version", BETA)
@pytest.mark.parametrize(
    ("flat", "structured"),
    [
        ({"name": "r"}, {"name": "r", "exactly": {"count": 1}}),
        ({"name": "r", "deviceClassName": "gpu"}, V1),
        ({"name": "r", "count": 3}, {"name": "r", "exactly": {"count": 3}}),
        ({"name": "r", "allocationMode": "All"}, {"name": "r", "exactly": {"allocationMode": "All"}}),
        ({"name": "r", "selectors": []}, {"name": "r", "exactly": {"count": 1}}),
        (
            {"name": "r", "deviceClassName": "gpu", "adminAccess": True, "tolerations": [{"key": "a"}],
             "capacity": {"requests": {"mem": "1Gi"}}, "selectors": [{"cel": {"expression": "true"}}]},
            {"name": "r", "exactly": {
                "deviceClassName": "gpu", "count": 1, "adminAccess": True,
                "tolerations": [{"key": "a", "operator": "Equal"}], "capacity": {"requests": {"mem": "1Gi"}},
                "selectors": [{"cel": {"expression": "true"}}]}},
        ),
        (
            {"name": "r", "firstAvailable": [{"name": "a", "deviceClassName": "gpu"}]},
            {"name": "r", "firstAvailable": [{"name": "a", "deviceClassName": "gpu", "count": 1}]},
        ),
        (
            {"name": "r", "deviceClassName": "gpu", "firstAvailable": [{"name": "a", "allocationMode": "All"}]},
            {"name": "r", "exactly": {"deviceClassName": "gpu", "count": 1},
             "firstAvailable": [{"name": "a", "allocationMode": "All"}]},
        ),
        (
            {"name": "r", "selectors": [], "firstAvailable": [{"name": "a"}]},
            {"name": "r", "exactly": {"count": 1}, "firstAvailable": [{"name": "a", "count": 1}]},
        ),
        ({"name": "r", "firstAvailable": []}, {"name": "r", "exactly": {"count": 1}}),
    ],
)  # fmt: skip
def test_flat_requests(version, flat, structured):
    assert request_of(flat, version=version) == [structured]
    found = the([template("t", flat, version=version)], "templates")
    assert [plain(r) for r in found.spec.spec.devices.requests] == [structured]


def test_admin_access_false():
    """In 1.31 it was a plain value whose false meant that it was not set."""
    flat = {"name": "r", "adminAccess": False}
    assert request_of(flat, version="v1alpha3") == [{"name": "r", "exactly": {"count": 1}}]
    assert request_of(flat, version="v1beta1") == [{"name": "r", "exactly": {"count": 1, "adminAccess": False}}]


@pytest.mark.parametrize("version", BETA)
def test_fields_of_another_version_are_dropped(version):
    """`exactly` does not exist before v1beta2."""
    inventory = from_dicts([claim("c", {"name": "r", "exactly": {"deviceClassName": "gpu"}}, version=version)])
    assert [plain(r) for r in inventory.claims[0].spec.devices.requests] == [{"name": "r", "exactly": {"count": 1}}]
    unknown = [notice for notice in inventory.notices if notice.code == "unknown-field"]
    assert [notice.message for notice in unknown] == [
        f"resource.k8s.io/{version} has no spec.devices.requests[*].exactly: dropped, as the API server does"
    ]


def test_v1beta1_devices():
    payload = {
        "attributes": {"model": {"string": "a"}, "empty": {}},
        "capacity": {"mem": {"value": "8Gi"}},
        "consumesCounters": [{"counterSet": "s", "counters": {"c": {"value": 1}}}],
        "nodeName": "n",
        "taints": [{"key": "k", "effect": "NoSchedule"}],
        "allowMultipleAllocations": True,
    }
    devices = [{"name": "a", "basic": payload}, {"name": "b", "basic": {}}, {"name": "c"}, {"name": "d", "basic": None}]
    assert slice_spec("v1beta1", driver="d", devices=devices) == {
        "driver": "d",
        "devices": [{"name": "a", **payload}, {"name": "b"}, {"name": "c"}, {"name": "d"}],
    }


def test_v1alpha3_devices():
    devices = [{"name": "a", "basic": {"capacity": {"mem": "8Gi", "cores": 4}}}]
    assert slice_spec("v1alpha3", devices=devices) == {
        "devices": [{"name": "a", "capacity": {"mem": {"value": "8Gi"}, "cores": {"value": 4}}}]
    }


@pytest.mark.parametrize("version", BETA)
def test_unset_node_fields(version):
    assert slice_spec(version, driver="d", nodeName="", allNodes=False) == {"driver": "d"}
    assert slice_spec(version, nodeName="n", allNodes=True) == {"nodeName": "n", "allNodes": True}
    assert slice_spec("v1", nodeName="", allNodes=False) == {"nodeName": "", "allNodes": False}
    device = {"name": "a", "basic": {"nodeName": "", "allNodes": False}}
    assert slice_spec(version, devices=[device])["devices"] == [{"name": "a", "nodeName": "", "allNodes": False}]


def test_classic_fields_of_v1alpha3_are_dropped_silently():
    old = claim("c", version="v1alpha3")
    old["spec"]["controller"] = "x"
    old["status"] = {"deallocationRequested": True, "allocation": {"controller": "x", "devices": {"results": []}}}
    device_class = dra("DeviceClass", "g", "v1alpha3", spec={"suitableNodes": {"nodeSelectorTerms": []}})
    inventory = from_dicts([old, device_class])
    assert plain(inventory.claims[0].status) == {"allocation": {"devices": {}}}
    assert [notice.code for notice in inventory.notices] == ["deprecated-api"]


def test_taint_rules():
    spec = {"deviceSelector": {"driver": "d"}, "taint": {"key": "k", "effect": "NoSchedule"}}
    for version in ("v1alpha3", "v1beta2"):
        rule = the([dra("DeviceTaintRule", "r", version, spec=spec)], "taint_rules")
        assert plain(rule)["spec"] == spec
        assert rule.api_version == "resource.k8s.io/v1beta2"


@pytest.mark.parametrize("version", ["v1alpha3", "v1beta2"])
def test_withdrawn_filters_of_taint_rules_are_told(version):
    spec = {"deviceSelector": {"pool": "p", "deviceClassName": "gpu"}, "taint": {"key": "k"}}
    inventory = from_dicts([dra("DeviceTaintRule", "r", version, spec=spec)])
    assert plain(inventory.taint_rules[0])["spec"] == {"deviceSelector": {"pool": "p"}, "taint": {"key": "k"}}
    assert [n.message for n in inventory.notices if n.code == "unknown-field"] == [
        f"resource.k8s.io/{version} has no spec.deviceSelector.deviceClassName: dropped, as the API server does"
    ]


def test_deprecated_versions_are_told_once():
    objects = [claim(f"c{i}", version=version) for version in ("v1", "v1beta1", "v1beta2") for i in range(3)]
    notices = [(n.message, n.source) for n in from_dicts(objects).notices]
    assert notices == [
        ("resource.k8s.io/v1beta1 is deprecated; converted to resource.k8s.io/v1", "objects[3]"),
        ("resource.k8s.io/v1beta2 is deprecated; converted to resource.k8s.io/v1", "objects[6]"),
    ]


# Defaults


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ({}, {"count": 1}),
        ({"allocationMode": ""}, {"count": 1}),
        ({"allocationMode": "ExactCount"}, {"count": 1}),
        ({"count": 0}, {"count": 1}),
        ({"count": 4}, {"count": 4}),
        ({"count": -1}, {"count": -1}),
        ({"allocationMode": "All"}, {"allocationMode": "All"}),
        ({"allocationMode": "All", "count": 2}, {"allocationMode": "All", "count": 2}),
        ({"allocationMode": "Other"}, {"allocationMode": "Other"}),
        ({"tolerations": [{}]}, {"count": 1, "tolerations": [{"operator": "Equal"}]}),
        ({"tolerations": [{"operator": "Exists"}]}, {"count": 1, "tolerations": [{"operator": "Exists"}]}),
    ],
)
def test_request_defaults(given, stored):
    assert request_of({"name": "r", "exactly": given}) == [{"name": "r", "exactly": stored}]
    mode = the([claim("c", {"name": "r", "exactly": given})], "claims").spec.devices.requests[0].exactly.allocation_mode
    assert mode == (given.get("allocationMode") or "ExactCount")
    assert request_of({"name": "r", "firstAvailable": [{"name": "a", **given}]}) == [
        {"name": "r", "firstAvailable": [{"name": "a", **stored}]}
    ]


def test_a_request_without_either_form_stays_so():
    assert request_of({"name": "r"}) == [{"name": "r"}]


def resources(**containers):
    return [{"name": name, "resources": value} for name, value in containers.items()]


@pytest.mark.parametrize("kind", ["Pod", "Deployment", "Job", "CronJob", "ReplicationController"])
def test_limits_are_requests(kind):
    spec = {
        "containers": resources(a={"limits": {"cpu": 1, "memory": "1Gi"}, "requests": {"cpu": "500m"}}),
        "initContainers": resources(b={"limits": {"example.com/gpu": "2"}}),
    }
    if kind == "Pod":
        found = the([pod("p", **spec)], "pods").spec
    else:
        found = the([workload(kind, "w", **spec)], "workloads").spec
        found = (found.job_template.spec if kind == "CronJob" else found).template.spec
    assert found.containers[0].resources.requests == {"cpu": "500m", "memory": "1Gi"}
    assert found.init_containers[0].resources.requests == {"example.com/gpu": "2"}


def test_pod_level_limits_are_requests_unless_a_container_asks():
    spec = {
        "containers": resources(a={"requests": {"cpu": "1"}}),
        "resources": {"limits": {"cpu": "4", "memory": "8Gi", "hugepages-2Mi": "4Mi", "example.com/gpu": 1}},
    }
    found = the([pod("p", **spec)], "pods").spec.resources
    assert found.requests == {"memory": "8Gi", "hugepages-2Mi": "4Mi"}


def test_host_network_ports_are_host_ports():
    containers = [{"name": "a", "ports": [{"containerPort": 80}, {"containerPort": 81, "hostPort": 8081}]}]
    on_host = the([pod("p", containers=containers, hostNetwork=True)], "pods")
    assert [port.host_port for port in on_host.spec.containers[0].ports] == [80, 8081]
    off_host = the([pod("p", containers=containers)], "pods")
    assert [port.host_port for port in off_host.spec.containers[0].ports] == [0, 8081]


# Nulls, numbers, unknown fields


def test_null_is_not_set():
    value = claim("c", {"name": "r", "exactly": {"deviceClassName": "gpu", "count": None, "selectors": None}})
    value["metadata"] |= {"labels": None, "creationTimestamp": None}
    value["status"] = None
    value["spec"]["devices"] |= {"constraints": None, "config": [{"requests": None, "opaque": None}]}
    found = the([value], "claims")
    assert plain(found.spec) == {"devices": {"requests": [V1], "config": [{}]}}
    assert found.status is None
    assert found.metadata.labels is None


def test_null_in_lists_and_maps_is_zero():
    value = dra("ResourceSlice", "s", metadata={"labels": {"a": None}})
    capacity = {"mem": {"value": None}, "none": None}
    value["spec"] = {"devices": [None, {"name": "b", "attributes": {"x": None}, "capacity": capacity}]}
    found = the([value], "slices")
    assert found.metadata.labels == {"a": ""}
    assert plain(found.spec) == {
        "devices": [{}, {"name": "b", "attributes": {"x": {}}, "capacity": {"mem": {}, "none": {}}}]
    }


def test_null_in_opaque_parameters_stays():
    parameters = {"a": None, "b": [None, 1.0], "unknown": {"c": None}}
    config = [{"opaque": {"driver": "d", "parameters": parameters}}]
    value = dra("DeviceClass", "g", metadata={"labels": None}, spec={"config": config})
    assert the([value], "classes").spec.config[0].opaque.parameters == parameters


def test_whole_floats_are_integers():
    value = claim("c", {"name": "r", "exactly": {"deviceClassName": "gpu", "count": 2.0}})
    assert the([value], "claims").spec.devices.requests[0].exactly.count == 2


def test_unknown_fields_of_core_objects_are_ignored():
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "x": 1}, "spec": {"y": 2}, "z": 3}
    inventory = from_dicts([node])
    assert inventory.nodes[0].metadata.name == "n"
    assert inventory.notices == []


def test_v1_slice_with_wrapped_devices():
    devices = [{"name": "a", "basic": {"attributes": {"m": {"string": "x"}}}}, {"name": "b", "basic": {}, "extra": 1}]
    slices = [dra("ResourceSlice", f"s{i}", spec={"driver": "d", "devices": devices}) for i in range(3)]
    inventory = from_dicts(slices)
    assert plain(inventory.slices[0].spec) == {"driver": "d", "devices": [{"name": "a"}, {"name": "b"}]}
    (notice,) = inventory.notices
    assert notice.code == "unknown-field"
    assert notice.object == "ResourceSlice s0"
    assert notice.message == (
        "resource.k8s.io/v1 has no spec.devices[*].basic, spec.devices[*].extra: dropped, as the API server does; "
        "only v1beta1 has `basic`, so the devices are left with only their names (and in 2 more ResourceSlices)"
    )


def test_dropped_fields_of_metadata_are_told_only_with_others():
    """Metadata has many fields that planning does not read."""
    value = dra("DeviceClass", "g", metadata={"managedFields": [{"manager": "m"}], "resourceVersion": "7"})
    assert from_dicts([value]).notices == []


# Pods before 1.31


@pytest.mark.parametrize("kind", ["Pod", "Deployment", "CronJob"])
def test_claim_sources_are_lifted(kind):
    entries = ({"name": "a", "source": {"resourceClaimName": "x"}}, {"name": "b", "resourceClaimTemplateName": "t"})
    value = pod("p", *entries) if kind == "Pod" else workload(kind, "p", *entries)
    inventory = from_dicts([value])
    if kind == "Pod":
        spec = inventory.pods[0].spec
    else:
        spec = inventory.workloads[0].spec
        spec = (spec.job_template.spec if kind == "CronJob" else spec).template.spec
    assert [plain(entry) for entry in spec.resource_claims] == [
        {"name": "a", "resourceClaimName": "x"},
        {"name": "b", "resourceClaimTemplateName": "t"},
    ]
    assert [(notice.code, notice.object) for notice in inventory.notices] == [("deprecated-api", f"{kind} default/p")]


def test_an_entry_with_nothing_stays_so():
    inventory = from_dicts([pod("p", {"name": "a"})])
    assert plain(inventory.pods[0].spec.resource_claims[0]) == {"name": "a"}
    assert inventory.notices == []


def test_wrong_type_in_a_lifted_source():
    with pytest.raises(
        ManifestErrors, match=r"resourceClaims\[0\]\.resourceClaimName: expected a string, got the numb"
    ):
        from_dicts([pod("p", {"name": "a", "source": {"resourceClaimName": 7}})])


# Pod groups

GROUP = {"schedulingPolicy": {"gang": {"minCount": 2}}, "priority": 7}


def scheduling(kind: str, version: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": f"scheduling.k8s.io/{version}", "kind": kind, "metadata": {"name": "g"}, "spec": spec}


def test_a_pod_group_and_the_pod_that_names_it():
    member = pod("p", schedulingGroup={"podGroupName": "g"})
    constrained = {**GROUP, "schedulingConstraints": {"topology": [{"key": "zone"}]}}
    inventory = from_dicts([scheduling("PodGroup", "v1alpha2", constrained), member])
    [group] = inventory.pod_groups
    assert (group.key, group.min_count, group.topology_key, group.spec.priority) == ("default/g", 2, "zone", 7)
    assert inventory.pods[0].spec.scheduling_group is not None
    assert inventory.pods[0].spec.scheduling_group.pod_group_name == "g"


@pytest.mark.parametrize(("mode", "wanted"), [({"podGroup": {}}, "PodGroup"), ({"pod": {}}, "Pod"), ("Pod", "Pod")])
def test_disruption_mode_of_later_versions(mode: Any, wanted: str):
    inventory = from_dicts([scheduling("PodGroup", "v1beta1", {**GROUP, "disruptionMode": mode})])
    assert [group.spec.disruption_mode for group in inventory.pod_groups] == [wanted]


def test_workloads_of_scheduling_are_not_those_of_apps():
    templates = [{"name": "t", **GROUP}]
    old = [{"name": "t", "policy": {"gang": {"minCount": 2}}}]
    for version, spec in (("v1alpha2", {"podGroupTemplates": templates}), ("v1alpha1", {"podGroups": old})):
        inventory = from_dicts([scheduling("Workload", version, spec)])
        assert inventory.workloads == []
        [found] = inventory.group_workloads[0].spec.pod_group_templates
        assert (found.name, found.scheduling_policy.gang.min_count) == ("t", 2)


# Inventory


def test_kinds_land_where_they_belong():
    objects = [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}},
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}},
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}, "spec": {"selector": {"app": "a"}}},
        {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "a"}, "value": 7},
        {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "a"}},
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}},
        {"apiVersion": "serving.knative.dev/v1", "kind": "Service", "metadata": {"name": "a"}},
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}},
        {"apiVersion": "resource.k8s.io/v1alpha3", "kind": "PodSchedulingContext", "metadata": {"name": "a"}},
        *(workload(kind, "a") for kind in ("Deployment", "StatefulSet", "ReplicaSet", "DaemonSet", "Job", "CronJob")),
        workload("ReplicationController", "a"),
    ]
    inventory = from_dicts(objects)
    assert [len(held) for held in (inventory.nodes, inventory.namespaces, inventory.services)] == [1, 1, 1]
    assert inventory.priority_classes[0].value == 7
    assert len(inventory.disruption_budgets) == 1
    assert [found.kind for found in inventory.workloads] == [
        "Deployment", "StatefulSet", "ReplicaSet", "DaemonSet", "Job", "CronJob", "ReplicationController",
    ]  # fmt: skip
    assert inventory.skipped == {
        "ConfigMap": 2,
        "Service.serving.knative.dev": 1,
        "PodSchedulingContext.resource.k8s.io": 1,
    }


def test_namespaces():
    objects = [claim("a"), claim("b", namespace="x"), dra("DeviceClass", "c"), dra("DeviceClass", "d", namespace="x")]
    inventory = from_dicts(objects, namespace="mine")
    assert [found.metadata.namespace for found in inventory.claims] == ["mine", "x"]
    assert [found.metadata.namespace for found in inventory.classes] == ["", ""]
    assert list(inventory.origins) == [
        ("ResourceClaim", "mine", "a"), ("ResourceClaim", "x", "b"), ("DeviceClass", "", "c"), ("DeviceClass", "", "d"),
    ]  # fmt: skip


def test_generated_names():
    value = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"generateName": "train-"}}
    assert [found.metadata.name for found in from_dicts([value] * 3).workloads] == [
        "train-xxxxx", "train-xxxx2", "train-xxxx3",
    ]  # fmt: skip


def test_repeated_objects_and_missing_names_are_kept():
    assert len(from_dicts([claim("a"), claim("a"), claim("")]).claims) == 3


def test_typed_lists_give_their_kind_to_items():
    value = {
        "apiVersion": "resource.k8s.io/v1beta1",
        "kind": "ResourceClaimList",
        "items": [{"metadata": {"name": "a"}}, {"metadata": {"name": "b"}, "kind": "ResourceClaim"}],
    }
    assert [found.metadata.name for found in from_dicts([value]).claims] == ["a", "b"]


def test_a_kind_that_merely_ends_in_list_is_an_object():
    assert from_dicts([{"apiVersion": "example.com/v1", "kind": "AllowList", "spec": {}}]).skipped == {
        "AllowList.example.com": 1
    }


def test_inputs_are_left_alone():
    objects = [
        claim("a", {"name": "r", "deviceClassName": "gpu"}, version="v1beta1"),
        claim("b", {"name": "r", "deviceClassName": None, "adminAccess": False}, version="v1alpha3"),
        dra("ResourceSlice", "s", "v1alpha3", spec={"devices": [{"name": "a", "basic": {"capacity": {"m": 1}}}]}),
        dra("ResourceSlice", "t", spec={"devices": [{"name": "a", "basic": {}}, None]}),
        pod("p", {"name": "a", "source": {"resourceClaimName": "x"}}, containers=resources(a={"limits": {"cpu": 1}})),
    ]
    before = copy.deepcopy(objects)
    from_dicts(objects)
    assert objects == before
