"""The kinds that planning reads, with their API versions, their types and their fields in the inventory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dra_plan.api import core, resource, scheduling, storage, workloads
from dra_plan.api.meta import Object

from . import convert
from .convert import Converter


@dataclass(frozen=True, slots=True, eq=False)
class Kind:
    """A kind in an API group.

    `versions` maps each known version to its conversion to v1, or to None if none is needed.
    """

    group: str
    name: str
    type: type[Object]
    versions: Mapping[str, Converter | None]
    holder: str
    """The field of `Inventory` that holds the objects."""
    pod_spec: tuple[str, ...] = ()
    """The path of the pod spec in an object, or () if the kind has none."""
    namespaced: bool = True

    current_versions: tuple[str, ...] = ("v1",)
    """The versions that are not deprecated."""

    api_version: str = field(init=False)
    """The apiVersion after conversion."""

    def __post_init__(self) -> None:
        newest = next(iter(self.versions))
        object.__setattr__(self, "api_version", f"{self.group}/{newest}" if self.group else newest)

    @property
    def plural(self) -> str:
        """The plural name in the API, such as `deviceclasses` for DeviceClass."""
        name = self.name.lower()
        if name.endswith(("ty", "cy")):
            return f"{name[:-1]}ies"
        return f"{name}es" if name.endswith("s") else f"{name}s"

    @property
    def known_versions(self) -> str:
        """All known apiVersions of the kind, for messages."""
        return ", ".join(f"{self.group}/{version}" if self.group else version for version in self.versions)


_DRA = "resource.k8s.io"
_FIRST_DRA = frozenset({f"{_DRA}/v1alpha1", f"{_DRA}/v1alpha2"})
_SCHEDULING = "scheduling.k8s.io"
_TEMPLATE = ("spec", "template", "spec")


def _core(name: str, kind: type[Object], holder: str, *, namespaced: bool = True) -> Kind:
    return Kind("", name, kind, {"v1": None}, holder, (), namespaced)


def _app(name: str) -> Kind:
    return Kind("apps", name, workloads.Workload, {"v1": None}, "workloads", _TEMPLATE)


def _storage(name: str, kind: type[Object], holder: str, *, namespaced: bool = False) -> Kind:
    versions = {"v1": None, "v1beta1": None}
    return Kind("storage.k8s.io", name, kind, versions, holder, (), namespaced)


_KINDS = (
    Kind(
        _DRA,
        "ResourceSlice",
        resource.ResourceSlice,
        {"v1": None, "v1beta2": None, "v1beta1": convert.slice_from_v1beta1, "v1alpha3": convert.slice_from_v1alpha3},
        "slices",
        namespaced=False,
    ),
    Kind(
        _DRA,
        "DeviceClass",
        resource.DeviceClass,
        {"v1": None, "v1beta2": None, "v1beta1": None, "v1alpha3": convert.class_from_v1alpha3},
        "classes",
        namespaced=False,
    ),
    Kind(
        _DRA,
        "ResourceClaim",
        resource.ResourceClaim,
        {"v1": None, "v1beta2": None, "v1beta1": convert.claim_from_v1beta1, "v1alpha3": convert.claim_from_v1alpha3},
        "claims",
    ),
    Kind(
        _DRA,
        "ResourceClaimTemplate",
        resource.ResourceClaimTemplate,
        {
            "v1": None,
            "v1beta2": None,
            "v1beta1": convert.template_from_v1beta1,
            "v1alpha3": convert.template_from_v1alpha3,
        },
        "templates",
    ),
    Kind(
        _DRA,
        "DeviceTaintRule",
        resource.DeviceTaintRule,
        {"v1beta2": convert.taint_rule, "v1": convert.taint_rule, "v1alpha3": convert.taint_rule},
        "taint_rules",
        namespaced=False,
        current_versions=("v1beta2", "v1"),
    ),
    _core("Node", core.Node, "nodes", namespaced=False),
    _core("Namespace", core.Namespace, "namespaces", namespaced=False),
    Kind("", "Pod", core.Pod, {"v1": None}, "pods", ("spec",)),
    _core("Service", core.Service, "services"),
    Kind("", "ReplicationController", workloads.ReplicationController, {"v1": None}, "workloads", _TEMPLATE),
    _app("Deployment"),
    _app("StatefulSet"),
    _app("ReplicaSet"),
    _app("DaemonSet"),
    Kind("batch", "Job", workloads.Job, {"v1": None}, "workloads", _TEMPLATE),
    Kind("batch", "CronJob", workloads.CronJob, {"v1": None}, "workloads", ("spec", "jobTemplate", *_TEMPLATE)),
    Kind(
        _SCHEDULING,
        "PriorityClass",
        core.PriorityClass,
        {"v1": None},
        "priority_classes",
        namespaced=False,
    ),
    Kind(
        _SCHEDULING,
        "PodGroup",
        scheduling.PodGroup,
        {"v1alpha2": None, "v1beta1": convert.pod_group_from_v1beta1, "v1alpha3": convert.pod_group_from_v1beta1},
        "pod_groups",
        current_versions=("v1alpha2", "v1beta1"),
    ),
    Kind(
        _SCHEDULING,
        "Workload",
        scheduling.GroupWorkload,
        dict.fromkeys(("v1alpha2", "v1beta1", "v1alpha3", "v1alpha1"), convert.group_workload),
        "group_workloads",
        current_versions=("v1alpha2", "v1beta1"),
    ),
    Kind(
        "node.k8s.io",
        "RuntimeClass",
        core.RuntimeClass,
        {"v1": None, "v1beta1": None},
        "runtime_classes",
        namespaced=False,
    ),
    Kind("policy", "PodDisruptionBudget", core.PodDisruptionBudget, {"v1": None}, "disruption_budgets"),
    _core("ResourceQuota", core.ResourceQuota, "quotas"),
    _core("LimitRange", core.LimitRange, "limit_ranges"),
    _core("PersistentVolume", storage.PersistentVolume, "volumes", namespaced=False),
    _core("PersistentVolumeClaim", storage.PersistentVolumeClaim, "volume_claims"),
    _storage("StorageClass", storage.StorageClass, "storage_classes"),
    _storage("CSINode", storage.CSINode, "csi_nodes"),
    _storage("CSIDriver", storage.CSIDriver, "csi_drivers"),
    _storage("CSIStorageCapacity", storage.CSIStorageCapacity, "storage_capacities", namespaced=True),
    _storage("VolumeAttachment", storage.VolumeAttachment, "volume_attachments"),
)

_BY_GROUP_AND_NAME = {(kind.group, kind.name): kind for kind in _KINDS}

_SHORT_NAMES = {
    "cj": "CronJob",
    "deploy": "Deployment",
    "ds": "DaemonSet",
    "limits": "LimitRange",
    "no": "Node",
    "ns": "Namespace",
    "pc": "PriorityClass",
    "pdb": "PodDisruptionBudget",
    "po": "Pod",
    "pv": "PersistentVolume",
    "pvc": "PersistentVolumeClaim",
    "rc": "ReplicationController",
    "quota": "ResourceQuota",
    "rs": "ReplicaSet",
    "sc": "StorageClass",
    "sts": "StatefulSet",
    "svc": "Service",
}
"""The kinds' short names in kubectl; kinds in resource.k8s.io have none."""


def removed(api_version: str) -> str:
    """Return a message about an object in the first DRA API, or "" for any other apiVersion.

    Kubernetes 1.26 to 1.30 had this API. Its claims name a class, which belongs to one driver, and a parameters object,
    whose kind the driver defines. Kubernetes 1.31 replaced it with the current API (KEP-4381), without a conversion.
    """
    if api_version not in _FIRST_DRA:
        return ""
    return (
        f"Kubernetes 1.31 removed {api_version}; write it for {_DRA}/v1: a DeviceClass instead of a "
        "ResourceClass, and in the claim, `spec.devices.requests` instead of `resourceClassName` and `parametersRef`"
    )


def every() -> tuple[Kind, ...]:
    """Return all kinds that planning reads."""
    return _KINDS


def split_version(api_version: str) -> tuple[str, str]:
    """Return the group and version in `GROUP/VERSION`. The core group is ""."""
    group, slash, version = api_version.rpartition("/")
    return (group, version) if slash else ("", api_version)


def named(text: str) -> Kind | None:
    """Return the kind with this name, plural or short name, or None if planning does not read it.

    Case is ignored, and `.GROUP` may follow the name.
    """
    name, dot, group = text.lower().partition(".")
    name = _SHORT_NAMES.get(name, name).lower()
    for kind in _KINDS:
        if name in (kind.name.lower(), kind.plural) and (not dot or group == kind.group):
            return kind
    return None


def near(api_version: str, kind: str) -> str | None:
    """Return the known kind that was probably meant, or None.

    Its name differs only in case, or it has the same name in another Kubernetes group.
    """
    group = split_version(api_version)[0]
    if group not in {known.group for known in _KINDS}:
        return None
    names = sorted(
        (known for known in _KINDS if known.name.lower() == kind.lower()), key=lambda known: known.group != group
    )
    return f"{names[0].name} of {names[0].api_version}" if names else None


def find(api_version: str, kind: str) -> Kind | None:
    """Return the kind with this name in the apiVersion's group, or None if planning does not read it.

    The version is ignored.
    """
    return _BY_GROUP_AND_NAME.get((split_version(api_version)[0], kind))
