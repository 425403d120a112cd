"""Pod templates in objects of kinds that planning does not know (JobSet, MPIJob, RayCluster), found by their shape.

A pod template is a map whose `spec` has a list of `containers`, or such a spec under a name that ends in `podSpec`, as
in a PodCliqueSet. How many pods are made of it is told by fields that
say so plainly wherever they occur on the way to it; what else a kind's controller does is not known here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from dra_plan.api.core import PodTemplateSpec
from dra_plan.api.meta import FieldPath, ObjectMeta
from dra_plan.api.workloads import CustomWorkload, CustomWorkloadSpec, JobCondition, JobStatus

from .objects import NOT_DECODED
from .paths import render
from .quantities import are_readable

_DEEPEST = 12
"""Steps below `spec` at which a pod template is looked for."""
_TIMES = ("replicas", "numOfHosts")
"""Fields that say how many there are of what the map describes: of most kinds, and of the hosts of Ray's groups."""
_POD_SPEC = "podspec"
_SHADOWS = ("kueue.x-k8s.io/",)
"""API groups whose objects repeat the pod templates of others."""
_OVER = ("Complete", "Completed", "Succeeded", "Failed")


class FoundTemplate(NamedTuple):
    """A pod template, where it stands, and how many pods are to be made of it."""

    path: FieldPath
    value: dict[str, Any]
    number: int


class NotPlannedError(ValueError):
    """A pod template can't be decoded; `path` is where it stands."""

    def __init__(self, path: FieldPath, why: str) -> None:
        super().__init__(why)
        self.path = path


def workloads(value: dict[str, Any]) -> list[CustomWorkload]:
    """A workload for each pod template of the object, in their order. Raises `NotPlannedError`."""
    found = list(find(value))
    if not found:
        return []
    metadata = _metadata(value)
    parts = [_part(each.path) if len(found) > 1 else "" for each in found]
    return [
        CustomWorkload(
            api_version=value["apiVersion"],
            kind=value["kind"],
            metadata=metadata,
            spec=CustomWorkloadSpec(replicas=each.number, template=_template(each)),
            status=_status(value),
            part=part,
        )
        for each, part in zip(found, parts, strict=True)
    ]


def find(value: Mapping[str, Any]) -> Iterator[FoundTemplate]:
    """The pod templates below the object's `spec`."""
    spec = value.get("spec")
    if isinstance(spec, dict) and not str(value.get("apiVersion")).startswith(_SHADOWS):
        yield from _below(spec, ("spec",), 1)


def _below(value: dict[str, Any], path: FieldPath, count: int) -> Iterator[FoundTemplate]:
    spec = value.get("spec")
    if isinstance(spec, dict) and _is_pod_spec(spec):
        yield FoundTemplate(path, value, count)
        return
    if len(path) > _DEEPEST:
        return
    count *= _number(value)
    groups = _groups_of_cliques(value)
    for key, inner in value.items():
        below = count * _group_size(key, value)
        if isinstance(inner, dict) and str(key).lower().endswith(_POD_SPEC) and _is_pod_spec(inner):
            yield FoundTemplate((*path, key), {"spec": inner}, below)
        elif isinstance(inner, dict):
            yield from _below(inner, (*path, key), below)
        elif isinstance(inner, list):
            for index, item in enumerate(inner):
                if isinstance(item, dict):
                    times = groups.get(str(item.get("name")), 1) if key == "cliques" else 1
                    yield from _below(item, (*path, key, index), below * times)


def _is_pod_spec(spec: Mapping[str, Any]) -> bool:
    containers = spec.get("containers")
    return isinstance(containers, list) and bool(containers) and all(isinstance(each, dict) for each in containers)


def _number(value: Mapping[str, Any]) -> int:
    """How many of it a map asks for: none while it is suspended."""
    if value.get("suspend") is True:
        return 0
    number = 1
    for field in _TIMES:
        number *= _count(value.get(field))
    if "parallelism" in value:
        parallel = _count(value["parallelism"])
        completions = value.get("completions")
        number *= parallel if completions is None else min(parallel, _count(completions))
    return number


def _count(value: object) -> int:
    return max(0, value) if isinstance(value, int) and not isinstance(value, bool) else 1


def _group_size(key: str, value: Mapping[str, Any]) -> int:
    """Of a LeaderWorkerSet's group: `size` pods, one of which is the leader if that has a template of its own."""
    if key != "workerTemplate" or "size" not in value:
        return 1
    return max(0, _count(value["size"]) - ("leaderTemplate" in value))


def _groups_of_cliques(value: Mapping[str, Any]) -> dict[str, int]:
    """How many times the cliques of a PodCliqueSet are wanted that stand in scaling groups, by name."""
    groups = value.get("podCliqueScalingGroups")
    found: dict[str, int] = {}
    for group in groups if isinstance(groups, list) else ():
        names = group.get("cliqueNames") if isinstance(group, dict) else None
        for name in names if isinstance(names, list) else ():
            if isinstance(name, str):
                found[name] = found.get(name, 1) * _count(group.get("replicas"))
    return found


def _part(path: FieldPath) -> str:
    """The way to the template, without what all ways have in common."""
    steps = list(path[1:])
    while len(steps) > 1 and steps[-1] in ("template", "spec", "podSpec"):
        steps.pop()
    return render(tuple(steps))


def _metadata(value: Mapping[str, Any]) -> ObjectMeta:
    try:
        return msgspec.convert(value.get("metadata") or {}, ObjectMeta)
    except NOT_DECODED as error:
        raise NotPlannedError(("metadata",), str(error)) from None


def _template(found: FoundTemplate) -> PodTemplateSpec:
    try:
        template = msgspec.convert(found.value, PodTemplateSpec)
    except NOT_DECODED as error:
        raise NotPlannedError(found.path, str(error)) from None
    if not are_readable(CustomWorkload(spec=CustomWorkloadSpec(template=template))):
        raise NotPlannedError(found.path, "a quantity can't be read")
    return template


def _status(value: Mapping[str, Any]) -> JobStatus:
    """The condition that a job is over, in the words of batch/v1."""
    status = value.get("status")
    conditions = status.get("conditions") if isinstance(status, dict) else None
    for condition in conditions if isinstance(conditions, list) else ():
        if isinstance(condition, dict) and condition.get("type") in _OVER and condition.get("status") == "True":
            return JobStatus(conditions=[JobCondition(type="Complete", status="True")])
    return JobStatus()
