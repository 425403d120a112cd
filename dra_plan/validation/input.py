"""All objects in the input with their places, for rules that need more than one object.

`view` is the cluster of these objects as the allocator sees it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from dra_plan.allocator import Pool, PoolDevice, View
from dra_plan.allocator.pools import PoolSlice
from dra_plan.allocator.requests import ClaimRequests, Want
from dra_plan.api.core import PodSpec
from dra_plan.api.meta import FieldPath, Object
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
from dra_plan.manifests.collect import made_template
from dra_plan.manifests.objects import pod_spec_of
from dra_plan.releases import Target

from .matches import Matches
from .subject import Subject

_Object = TypeVar("_Object")


@dataclass(frozen=True, slots=True, eq=False)
class PlacedRequest:
    """A request or an alternative of a request, and its place in the input."""

    subject: Subject
    path: FieldPath
    want: Want

    @property
    def written(self) -> ExactDeviceRequest | DeviceSubRequest | None:
        """The request or alternative as written in the manifest, or None if its form is unknown."""
        request = self.want.claim.spec.devices.requests[self.want.request_index]
        return request.first_available[self.want.option_index] if request.first_available else request.exactly


@dataclass(frozen=True, slots=True, eq=False)
class PlacedClaim:
    """A claim template, or a claim without devices, with its requests.

    Each inner list contains the alternatives of one request.
    """

    subject: Subject
    path: FieldPath
    spec: ResourceClaimSpec
    requests: list[list[PlacedRequest]]


@dataclass(frozen=True, slots=True, eq=False)
class PlacedSlice:
    """A slice and its place in the input."""

    subject: Subject
    slice: PoolSlice


@dataclass(frozen=True, slots=True, eq=False)
class PlacedPool:
    """A pool's slices, in input order: those of the newest generation, and those of older generations."""

    pool: Pool
    newest: list[PlacedSlice]
    older: list[PlacedSlice]


def _hides_devices(subject: Subject) -> bool:
    """Return whether the object is a slice that cannot be read, so that its devices are unknown."""
    return subject.lost and subject.kind is not None and subject.kind.name == "ResourceSlice"


class Input:
    """The objects in the input that can be decoded. `view` is the cluster of these objects for one target.

    `knows_all_devices` is False if a slice was left out because its contents are unknown.
    """

    def __init__(self, subjects: Sequence[Subject], target: Target) -> None:
        self.target = target
        self.knows_all_devices = not any(map(_hides_devices, subjects))
        self._objects = [
            (subject, subject.obj) for subject in subjects if subject.obj is not None and not _hides_devices(subject)
        ]
        self._skipped = [subject for subject in subjects if subject.kind is None]
        self._of_type: dict[type[Any], list[tuple[Subject, Any]]] = {}
        for subject, obj in self._objects:
            self._of_type.setdefault(type(obj), []).append((subject, obj))
        self.view = View(
            target,
            classes={subject.name: device_class for subject, device_class in self.of(DeviceClass)},
            slices=[slice_ for _, slice_ in self.of(ResourceSlice)],
            claims=[claim for _, claim in self.of(ResourceClaim)],
            given_rules=[rule for _, rule in self.of(DeviceTaintRule)],
        )

    def of(self, kind: type[_Object]) -> Sequence[tuple[Subject, _Object]]:
        """Return the objects of exactly this type with their subjects, in input order."""
        return self._of_type.get(kind, ())

    def objects(self) -> Sequence[tuple[Subject, Object]]:
        """Return all objects with their subjects, in input order."""
        return self._objects

    def skipped(self, api_version: str, kind: str) -> Iterator[Subject]:
        """Yield the subjects of a kind that is not decoded."""
        wanted = (api_version, kind)
        return (one for one in self._skipped if (one.value.get("apiVersion"), one.value.get("kind")) == wanted)

    def template_makers(self) -> Iterator[tuple[str, tuple[str, str]]]:
        """Yield the objects whose controllers create claim templates, and the namespace and name of each template."""
        for subject in self._skipped:
            value, metadata = subject.value, subject.value.get("metadata")
            name = made_template(value.get("apiVersion"), value.get("kind"), value)
            if name and isinstance(metadata, dict):
                space = metadata.get("namespace")
                yield subject.label, (space if isinstance(space, str) and space else "default", name)

    def pods(self) -> Iterator[tuple[Subject, FieldPath, PodSpec]]:
        """Yield the pod specs of all pods and workloads, each with the subject and the path in the object."""
        for subject, obj in self._objects:
            if subject.kind is not None and subject.kind.pod_spec:
                yield subject, subject.kind.pod_spec, pod_spec_of(obj)

    # Published devices

    @cached_property
    def pools(self) -> list[PlacedPool]:
        """All pools, in the order of their first slices."""
        gatherer, pools = self.view.gatherer, []
        subjects = [subject for subject, _ in self.of(ResourceSlice)]
        for pool_id, slices in gatherer.slices.items():
            newest = gatherer.newest(pool_id).newest
            placed = [PlacedSlice(subjects[slice_.position], slice_) for slice_ in slices]
            pools.append(
                PlacedPool(
                    gatherer.whole(pool_id, newest),
                    [one for one in placed if one.slice.generation == newest],
                    [one for one in placed if one.slice.generation < newest],
                )
            )
        return pools

    @cached_property
    def devices(self) -> Sequence[PoolDevice]:
        """The devices in the newest generations of all pools."""
        return [device for pool in self.pools for one in pool.newest for device in one.slice.devices]

    @cached_property
    def matches(self) -> Matches:
        """The results of evaluating selectors on the devices in the input."""
        return Matches(self.devices, self.target)

    # Requests

    @cached_property
    def claims(self) -> list[PlacedClaim]:
        """The claim templates, and the claims that have no devices yet."""
        entries = list(self._waiting())
        requests = self.view.requests(claim for _, _, claim in entries)
        return [
            PlacedClaim(subject, path, claim.spec, _placed_requests(subject, path, ready))
            for (subject, path, claim), ready in zip(entries, requests, strict=True)
        ]

    def _waiting(self) -> Iterator[tuple[Subject, FieldPath, ResourceClaim]]:
        for subject, obj in self._objects:
            if isinstance(obj, ResourceClaim) and (obj.status is None or obj.status.allocation is None):
                yield subject, ("spec", "devices"), obj
            elif isinstance(obj, ResourceClaimTemplate):
                made = ResourceClaim(metadata=obj.metadata, spec=obj.spec.spec)
                yield subject, ("spec", "spec", "devices"), made

    def requests(self) -> Iterator[PlacedRequest]:
        """Yield all requests and all alternatives of requests."""
        return (request for claim in self.claims for options in claim.requests for request in options)


def _placed_requests(subject: Subject, path: FieldPath, ready: ClaimRequests) -> list[list[PlacedRequest]]:
    return [
        [PlacedRequest(subject, _path_of(path, want, alternatives), want) for want in wants]
        for wants, alternatives in zip(ready.requests, ready.alternatives, strict=True)
    ]


def _path_of(path: FieldPath, want: Want, alternatives: bool) -> FieldPath:
    path = (*path, "requests", want.request_index)
    return (*path, "firstAvailable", want.option_index) if alternatives else (*path, "exactly")
