"""`Without`: an object is not there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dra_plan.api.core import Node, Pod
from dra_plan.api.inventory import Inventory
from dra_plan.claims.owners import Dependents, Kinded
from dra_plan.documents.base import AppliedEdit, ObjectName
from dra_plan.errors import UsageError
from dra_plan.manifests import kinds
from dra_plan.manifests.kinds import Kind

from .departure import depart
from .edit import Edited, unknown


@dataclass(frozen=True)
class Without:
    """The object does not exist, nor what the garbage collector takes along.

    With a pod go the claims that it controls, with a workload what it controls, with a node its pods and its node-local
    slices. `kind` is any name that kubectl knows the kind by; without a namespace the object is sought in all of them.
    """

    kind: str
    name: str
    namespace: str | None = None

    @classmethod
    def parse(cls, text: str) -> Without:
        """From KIND/NAME or KIND/NAMESPACE/NAME. Raises UsageError for other forms."""
        kind, *rest = text.split("/")
        if not 1 <= len(rest) <= 2 or not all((kind, *rest)):
            raise UsageError(f"{text!r} is not KIND/NAME or KIND/NAMESPACE/NAME")
        return cls(kind, rest[-1], rest[0] if len(rest) == 2 else None)

    def apply(self, inventory: Inventory) -> Edited:
        """The cluster without it. UsageError for an unknown kind or object, and for a name in several namespaces."""
        kind = kinds.named(self.kind)
        if kind is None:
            raise unknown("kind", self.kind, (known.name for known in kinds.every()))
        target = self._target(kind, getattr(inventory, kind.holder))
        doomed = [target, *_dependents(target, inventory)]
        departed = depart(inventory, [obj for obj in doomed if isinstance(obj, Pod)])
        entry = AppliedEdit(
            edit="Without",
            object=_name(target),
            gone=[*map(_name, doomed[1:]), *departed.claims_gone],
            deallocated=departed.deallocated,
        )
        return Edited(_dropped(departed.inventory, doomed), entry)

    def _target(self, kind: Kind, objects: Sequence[Kinded]) -> Kinded:
        named = [obj for obj in objects if obj.kind == kind.name and obj.metadata.name == self.name]
        wanted = self.namespace if kind.namespaced else None
        found = [obj for obj in named if wanted in (None, obj.metadata.namespace)]
        if not found:
            known = (obj.metadata.name for obj in objects if obj.kind == kind.name)
            elsewhere = f": it is in namespace {named[0].metadata.namespace}" if named else ""
            raise UsageError(f"{unknown(kind.name, self.name, known)}{elsewhere}")
        namespaces = sorted({obj.metadata.namespace for obj in found})
        if len(namespaces) > 1:
            choice = ", ".join(f"{self.kind}/{namespace}/{self.name}" for namespace in namespaces)
            raise UsageError(f"{kind.name} {self.name!r} is in several namespaces: {choice}")
        return found[0]


def _dependents(target: Kinded, inventory: Inventory) -> Iterator[Kinded]:
    """What goes with the object, but for the claims of pods."""
    if isinstance(target, Node):
        name = target.metadata.name
        yield from (pod for pod in inventory.pods if pod.spec.node_name == name)
        yield from (slice_ for slice_ in inventory.slices if slice_.spec.node_name == name)
    elif not isinstance(target, Pod):
        workloads: Dependents[Kinded] = Dependents(inventory.workloads)
        pods: Dependents[Kinded] = Dependents(inventory.pods)
        waiting = [target]
        while waiting:
            controller = waiting.pop()
            yield from pods.of(controller)
            found = list(workloads.of(controller))
            yield from found
            waiting += found


def _dropped(inventory: Inventory, doomed: Sequence[Kinded]) -> Inventory:
    """The inventory without these very objects; lists that had none of them stay as they are."""
    gone = {id(obj) for obj in doomed}
    holders = {kind.holder for kind in kinds.every() if any(obj.kind == kind.name for obj in doomed)}
    changed: dict[str, Any] = {
        holder: [obj for obj in getattr(inventory, holder) if id(obj) not in gone] for holder in holders
    }
    return replace(inventory, **changed)


def _name(obj: Kinded) -> ObjectName:
    return ObjectName(kind=obj.kind, namespace=obj.metadata.namespace, name=obj.metadata.name)
