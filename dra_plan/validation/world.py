"""All objects of the input as one cluster: what is published, what is asked for, and which device serves which request.

For the rules that need more than one object. The allocator's own functions decide what matches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from dra_plan.allocator import PoolDevice, PoolID, SelectorError
from dra_plan.allocator.pools import PoolSlice
from dra_plan.allocator.requests import Condition, RequestReader, Selector, Want
from dra_plan.api.core import PodSpec
from dra_plan.api.resource import (
    DeviceClass,
    DeviceSubRequest,
    DeviceTaintRule,
    ExactDeviceRequest,
    ResourceClaim,
    ResourceClaimSpec,
    ResourceClaimTemplate,
    ResourceSlice,
)
from dra_plan.manifests.paths import FieldPath
from dra_plan.releases import Target

from .subject import Subject


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """A request, or one alternative of a request, with its place."""

    subject: Subject
    path: FieldPath
    want: Want

    @property
    def wanted(self) -> ExactDeviceRequest | DeviceSubRequest | None:
        """The request or alternative as written; None if it has neither form."""
        request = self.want.claim.spec.devices.requests[self.want.request_index]
        return request.first_available[self.want.option_index] if request.first_available else request.exactly


@dataclass(frozen=True, slots=True, eq=False)
class AskedClaim:
    """A claim that waits for devices, or a template, with its requests; each inner list holds the alternatives."""

    subject: Subject
    path: FieldPath
    spec: ResourceClaimSpec
    requests: list[list[Asked]]


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """A slice with its place."""

    subject: Subject
    slice: PoolSlice


class World:
    """The input as one cluster, for one target."""

    def __init__(self, subjects: Sequence[Subject], target: Target) -> None:
        self.target = target
        self._subjects = [subject for subject in subjects if subject.obj is not None]
        self._outcomes: dict[tuple[str, ...], _Outcome] = {}

    def of(self, kind: type[Any]) -> Iterator[tuple[Subject, Any]]:
        """The objects of a type with their subjects, in input order."""
        return ((subject, subject.obj) for subject in self._subjects if isinstance(subject.obj, kind))

    @cached_property
    def classes(self) -> dict[str, DeviceClass]:
        """The classes by name."""
        return {subject.name: device_class for subject, device_class in self.of(DeviceClass)}

    def pods(self) -> Iterator[tuple[Subject, FieldPath, PodSpec]]:
        """The pod specs of pods and workloads, with their paths."""
        for subject in self._subjects:
            if subject.kind is not None and subject.kind.pod_spec:
                yield subject, subject.kind.pod_spec, pod_spec_of(subject.obj)

    # What is published

    @cached_property
    def pools(self) -> dict[PoolID, list[Piece]]:
        """All slices by pool."""
        rules = [rule for _, rule in self.of(DeviceTaintRule)] if self.target.features.device_taint_rules else []
        pools: dict[PoolID, list[Piece]] = {}
        for position, (subject, obj) in enumerate(self.of(ResourceSlice)):
            piece = Piece(subject, PoolSlice(obj, position, rules))
            pools.setdefault(piece.slice.pool_id, []).append(piece)
        return pools

    def newest(self, pool: PoolID) -> list[Piece]:
        """The slices of a pool's newest generation; older ones offer nothing."""
        pieces = self.pools[pool]
        generation = max(piece.slice.generation for piece in pieces)
        return [piece for piece in pieces if piece.slice.generation == generation]

    @cached_property
    def devices(self) -> tuple[PoolDevice, ...]:
        """The devices of all newest generations."""
        return tuple(device for pool in self.pools for piece in self.newest(pool) for device in piece.slice.devices)

    # What is asked for

    @cached_property
    def claims(self) -> list[AskedClaim]:
        """Templates, and claims that have no devices yet."""
        features, rules, quirks = self.target.features, self.target.rules, self.target.quirks
        reader = RequestReader(self.classes, features, rules, quirks, self.compile)
        return [_asked(reader, *entry) for entry in self._claim_specs()]

    def _claim_specs(self) -> Iterator[tuple[Subject, FieldPath, ResourceClaim]]:
        for subject in self._subjects:
            obj = subject.obj
            if isinstance(obj, ResourceClaim) and (obj.status is None or obj.status.allocation is None):
                yield subject, ("spec", "devices"), obj
            elif isinstance(obj, ResourceClaimTemplate):
                made = ResourceClaim(metadata=obj.metadata, spec=obj.spec.spec)
                yield subject, ("spec", "spec", "devices"), made

    def asked(self) -> Iterator[Asked]:
        """All requests and alternatives."""
        return (asked for claim in self.claims for options in claim.requests for asked in options)

    # Which device serves what

    def compile(self, expression: str) -> Selector:
        """The selector as the scheduler compiles it; raises ValueError with the compiler's text."""
        from dra_plan.cel import compile_selector

        return compile_selector(expression, kubernetes_version=self.target.version, feature_gates=self.target.gates)

    def matching(self, conditions: Sequence[Condition]) -> Sequence[PoolDevice]:
        """The devices for which all conditions hold."""
        return self._outcome(conditions).holds if conditions else self.devices

    def failing(self, conditions: Sequence[Condition]) -> Sequence[tuple[PoolDevice, str]]:
        """The devices on which the last condition fails, of those for which the others hold, and the errors."""
        return self._outcome(conditions).fails

    def fails(self, conditions: Sequence[Condition]) -> bool:
        """Whether one of the conditions ends in an error on a device that the ones before it let through."""
        return any(self.failing(conditions[: index + 1]) for index in range(len(conditions)))

    def _outcome(self, conditions: Sequence[Condition]) -> _Outcome:
        key = tuple(condition.expression for condition in conditions)
        if key not in self._outcomes:
            made = _Outcome([], [])
            for device in self.matching(conditions[:-1]):
                try:
                    if conditions[-1].holds(device):
                        made.holds.append(device)
                except SelectorError as failure:
                    made.fails.append((device, failure.detail))
            self._outcomes[key] = made
        return self._outcomes[key]


class _Outcome(NamedTuple):
    """What a condition gives on devices."""

    holds: list[PoolDevice]
    fails: list[tuple[PoolDevice, str]]


def _asked(reader: RequestReader, subject: Subject, path: FieldPath, claim: ResourceClaim) -> AskedClaim:
    ready = reader.read(0, claim)
    requests = [
        [Asked(subject, _path_of(path, want, alternatives), want) for want in wants]
        for wants, alternatives in zip(ready.requests, ready.alternatives, strict=True)
    ]
    return AskedClaim(subject, path, claim.spec, requests)


def _path_of(path: FieldPath, want: Want, alternatives: bool) -> FieldPath:
    path = (*path, "requests", want.request_index)
    return (*path, "firstAvailable", want.option_index) if alternatives else (*path, "exactly")


def pod_spec_of(obj: Any) -> PodSpec:
    """The pod spec of a pod, workload, job or cron job."""
    spec = obj.spec
    while not isinstance(spec, PodSpec):
        spec = (spec.template if hasattr(spec, "template") else spec.job_template).spec
    return spec


def most_on_one_node(devices: Iterable[PoolDevice]) -> int:
    """The most of the devices that any one node can reach, as far as node names tell."""
    everywhere, local = 0, {"": 0}
    for device in devices:
        name = device.slice.object.spec.node_name or device.device.node_name
        if name:
            local[name] = local.get(name, 0) + 1
        else:
            everywhere += 1
    return everywhere + max(local.values())
