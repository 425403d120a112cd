"""The defaults that the API server sets when it stores an object, except `timeAdded` in taints.

Each function returns its argument itself if there is nothing to set.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from msgspec.structs import replace

from dra_plan.api.core import Container, ContainerPort, Pod, PodSpec, PodTemplateSpec, ResourceRequirements
from dra_plan.api.meta import Object, QuantityText
from dra_plan.api.resource import (
    DeviceClaim,
    DeviceRequest,
    DeviceSubRequest,
    DeviceToleration,
    ExactDeviceRequest,
    ResourceClaim,
    ResourceClaimSpec,
    ResourceClaimTemplate,
)
from dra_plan.api.storage import PersistentVolume, PersistentVolumeClaim, StorageClass
from dra_plan.api.workloads import CronJob, CustomWorkload, Job, ReplicationController, Workload

_T = TypeVar("_T")
_Known = TypeVar("_Known", bound=Object)


def apply(obj: _Known) -> _Known:
    """Return the object with its defaults set."""
    default = _DEFAULTS.get(type(obj))
    return default(obj) if default else obj


def _each(values: list[_T], default: Callable[[_T], _T]) -> list[_T]:
    """Return the list with `default` applied, or the same list if that changes nothing."""
    for value in values:
        if default(value) is not value:
            return [default(each) for each in values]
    return values


# Claims


def _claim(claim: ResourceClaim) -> ResourceClaim:
    spec = _claim_spec(claim.spec)
    return claim if spec is claim.spec else replace(claim, spec=spec)


def _claim_template(template: ResourceClaimTemplate) -> ResourceClaimTemplate:
    spec = _claim_spec(template.spec.spec)
    return template if spec is template.spec.spec else replace(template, spec=replace(template.spec, spec=spec))


def _claim_spec(spec: ResourceClaimSpec) -> ResourceClaimSpec:
    requests = _each(spec.devices.requests, _request)
    if requests is spec.devices.requests:
        return spec
    devices: DeviceClaim = replace(spec.devices, requests=requests)
    return replace(spec, devices=devices)


def _request(request: DeviceRequest) -> DeviceRequest:
    exactly = request.exactly and _wanted(request.exactly)
    alternatives = _each(request.first_available, _wanted)
    if exactly is request.exactly and alternatives is request.first_available:
        return request
    return replace(request, exactly=exactly, first_available=alternatives)


_Wanted = TypeVar("_Wanted", ExactDeviceRequest, DeviceSubRequest)


def _wanted(request: _Wanted) -> _Wanted:
    mode = request.allocation_mode or "ExactCount"
    count = 1 if mode == "ExactCount" and request.count == 0 else request.count
    tolerations = _each(request.tolerations, _toleration)
    if mode == request.allocation_mode and count == request.count and tolerations is request.tolerations:
        return request
    return replace(request, allocation_mode=mode, count=count, tolerations=tolerations)


def _toleration(toleration: DeviceToleration) -> DeviceToleration:
    return toleration if toleration.operator else replace(toleration, operator="Equal")


# Pods and their templates


def _pod(pod: Pod) -> Pod:
    spec = _pod_spec(pod.spec)
    return pod if spec is pod.spec else replace(pod, spec=spec)


def _templated(owner: Any) -> Any:
    """Set the defaults of a workload: any object with `spec.template.spec`."""
    template: PodTemplateSpec = owner.spec.template
    spec = _pod_spec(template.spec)
    if spec is template.spec:
        return owner
    return replace(owner, spec=replace(owner.spec, template=replace(template, spec=spec)))


def _cron_job(cron_job: CronJob) -> CronJob:
    job = _templated(cron_job.spec.job_template)
    if job is cron_job.spec.job_template:
        return cron_job
    return replace(cron_job, spec=replace(cron_job.spec, job_template=job))


def _pod_spec(spec: PodSpec) -> PodSpec:
    def container(value: Container) -> Container:
        return _container(value, host_network=spec.host_network)

    containers = _each(spec.containers, container)
    init_containers = _each(spec.init_containers, container)
    resources = spec.resources and _pod_resources(spec.resources, [*containers, *init_containers])
    if containers is spec.containers and init_containers is spec.init_containers and resources is spec.resources:
        return spec
    return replace(spec, containers=containers, init_containers=init_containers, resources=resources)


def _container(container: Container, *, host_network: bool) -> Container:
    resources = _limits_as_requests(container.resources, container.resources.limits)
    ports = _each(container.ports, _host_port) if host_network else container.ports
    if resources is container.resources and ports is container.ports:
        return container
    return replace(container, resources=resources, ports=ports)


def _host_port(port: ContainerPort) -> ContainerPort:
    """Set the host port; on the host network, every port is a host port."""
    return port if port.host_port else replace(port, host_port=port.container_port)


def _limits_as_requests(resources: ResourceRequirements, limits: dict[str, QuantityText]) -> ResourceRequirements:
    """Use a limit without a request also as the request."""
    missing = {name: value for name, value in limits.items() if name not in resources.requests}
    return replace(resources, requests={**resources.requests, **missing}) if missing else resources


def _pod_resources(resources: ResourceRequirements, containers: list[Container]) -> ResourceRequirements:
    """Use a pod-level limit also as the pod's request, unless a container requests that resource.

    If a container requests it, the API server writes the containers' total, which is what the pod requests anyway.
    """
    requested = {name for container in containers for name in container.resources.requests}
    limits = {
        name: value
        for name, value in resources.limits.items()
        if name not in requested and (name in ("cpu", "memory") or name.startswith("hugepages-"))
    }
    return _limits_as_requests(resources, limits)


# Storage


def _volume(volume: Any) -> Any:
    """Set the defaults of a volume, or of a volume claim."""
    return volume if volume.spec.volume_mode else replace(volume, spec=replace(volume.spec, volume_mode="Filesystem"))


def _storage_class(storage_class: StorageClass) -> StorageClass:
    return (
        storage_class if storage_class.volume_binding_mode else replace(storage_class, volume_binding_mode="Immediate")
    )


_DEFAULTS: dict[type[Object], Callable[[Any], Any]] = {
    ResourceClaim: _claim,
    ResourceClaimTemplate: _claim_template,
    Pod: _pod,
    Workload: _templated,
    ReplicationController: _templated,
    Job: _templated,
    CronJob: _cron_job,
    CustomWorkload: _templated,
    PersistentVolume: _volume,
    PersistentVolumeClaim: _volume,
    StorageClass: _storage_class,
}
