"""Who controls whom: the one rule for controller references, and the look-ups by it.

Owners other than the controller play no part in planning.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Generic, Protocol, TypeVar

from dra_plan.api.meta import ObjectMeta, OwnerReference


class Kinded(Protocol):
    """An object that can control others, or be controlled."""

    @property
    def kind(self) -> str:
        """The kind, as manifests name it."""

    @property
    def metadata(self) -> ObjectMeta:
        """Name, namespace, uid and owners."""


T = TypeVar("T", bound=Kinded)

DEPLOYMENT = "Deployment"
MOST_OWNERS = 32
"""How far up controllers are followed: a Pod has a ReplicaSet and a Deployment, and custom kinds add a few."""


def refers_to(reference: OwnerReference, controller: Kinded) -> bool:
    """Whether the reference means the object: by uid where both are known, as upstream, else by kind and name.

    Manifests written by hand have no uids. That both are in one namespace is for the caller to know.
    """
    uid = controller.metadata.uid
    if reference.uid and uid:
        return reference.uid == uid
    return (reference.kind, reference.name) == (controller.kind, controller.metadata.name)


def controls(controller: Kinded, metadata: ObjectMeta) -> bool:
    """Whether the object controls the one with this metadata."""
    reference = metadata.controller
    return (
        reference is not None
        and metadata.namespace == controller.metadata.namespace
        and refers_to(reference, controller)
    )


def deployment_of(metadata: ObjectMeta) -> str:
    """The name of the Deployment whose ReplicaSet controls the pod, told from the ReplicaSet's name; "" without one.

    A Deployment names its ReplicaSets DEPLOYMENT-HASH, and gives their pods the hash as a label.
    """
    reference, hashed = metadata.controller, (metadata.labels or {}).get("pod-template-hash")
    if reference is None or reference.kind != "ReplicaSet" or not hashed:
        return ""
    end = f"-{hashed}"
    return reference.name.removesuffix(end) if reference.name.endswith(end) else ""


def controller_names(metadata: ObjectMeta) -> list[tuple[str, str]]:
    """Kind and name of what controls the object, as it says itself; through a ReplicaSet the Deployment, too."""
    reference, deployment = metadata.controller, deployment_of(metadata)
    named = [(reference.kind, reference.name)] if reference is not None else []
    return [*named, (DEPLOYMENT, deployment)] if deployment else named


class Controllers(Generic[T]):
    """Objects looked up by those that they control."""

    def __init__(self, objects: Iterable[T]) -> None:
        self._by_uid: dict[tuple[str, str], T] = {}
        self._by_name: dict[tuple[str, str, str], T] = {}
        for obj in objects:
            metadata = obj.metadata
            self._by_name.setdefault((metadata.namespace, obj.kind, metadata.name), obj)
            if metadata.uid:
                self._by_uid.setdefault((metadata.namespace, metadata.uid), obj)

    def of(self, metadata: ObjectMeta) -> T | None:
        """The object that controls the one with this metadata, or None; a uid of another kind's object is nobody's."""
        reference = metadata.controller
        if reference is None:
            return None
        found = self._by_uid.get((metadata.namespace, reference.uid)) if reference.uid else None
        if found is None or found.kind != reference.kind:
            found = self._by_name.get((metadata.namespace, reference.kind, reference.name))
        return found if found is not None and refers_to(reference, found) else None

    def above(self, metadata: ObjectMeta) -> Iterator[T]:
        """What controls the object with this metadata, what controls that, and so on; at most `MOST_OWNERS`."""
        found = self.of(metadata)
        for _ in range(MOST_OWNERS):
            if found is None:
                return
            yield found
            found = self.of(found.metadata)


class Dependents(Generic[T]):
    """Objects looked up by what controls them."""

    def __init__(self, objects: Iterable[T]) -> None:
        self._by_uid: dict[tuple[str, str], list[T]] = defaultdict(list)
        self._by_name: dict[tuple[str, str, str], list[T]] = defaultdict(list)
        for obj in objects:
            reference, namespace = obj.metadata.controller, obj.metadata.namespace
            if reference is not None:
                self._by_name[namespace, reference.kind, reference.name].append(obj)
                if reference.uid:
                    self._by_uid[namespace, reference.uid].append(obj)

    def of(self, controller: Kinded) -> Iterator[T]:
        """The objects that it controls: by uid first, then those known by name, each in the order given."""
        metadata = controller.metadata
        for obj in self._by_uid.get((metadata.namespace, metadata.uid), ()) if metadata.uid else ():
            reference = obj.metadata.controller
            if reference is not None and reference.kind == controller.kind:
                yield obj
        for obj in self._by_name.get((metadata.namespace, controller.kind, metadata.name), ()):
            reference = obj.metadata.controller
            if reference is not None and not (reference.uid and metadata.uid):
                yield obj
