"""Suggested changes, and the JSON patches (RFC 6902) that make them in the objects of the input.

First what a change is; then patches, made by comparing the objects of the input with those that were tried, so they say
what was tried whatever it is called; then the comparison itself, and who else uses a class that a change is about.
Paths are those of the object in the version that `object` names. Which changes to try is decided in `candidates`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec.structs import asdict

from dra_plan.allocator import PoolID
from dra_plan.allocator.requests import Want
from dra_plan.api.core import Node, Toleration
from dra_plan.api.inventory import Inventory, ObjectKey
from dra_plan.api.quantity import parse
from dra_plan.api.resource import DeviceClass, ResourceClaimSpec
from dra_plan.documents.base import ObjectName
from dra_plan.documents.suggestions import (
    CHANGES,
    CapacityChanged,
    ClaimReleased,
    CountLowered,
    GateEnabled,
    ObjectPatch,
    PatchedObject,
    PatchOperation,
    PoolAwaited,
    SuggestedChange,
    TaintTolerated,
)
from dra_plan.explanation import edits
from dra_plan.explanation.names import CLAIM, TEMPLATE
from dra_plan.explanation.placement import Placement

# -- changes -----------------------------------------------------------------------------------------------------------
# What documents say of a change, and how to make the placement in which it is applied.

RANKS = tuple(CHANGES)
"""All codes, from what changes least: the order of suggestions."""


def rank(told: SuggestedChange) -> int:
    """The place of a change in the order of suggestions.

    What leaves less than half of what was asked for stands where nothing is left of a request. A device with a taint
    that evicts is hardly one to use: less, or what others hold, comes before it.
    """
    if isinstance(told, TaintTolerated) and told.toleration.effect == "NoExecute":
        return RANKS.index("change-class")
    return RANKS.index("drop-request" if _leaves_little(told) else told.code)


def _leaves_little(told: SuggestedChange) -> bool:
    if isinstance(told, CountLowered):
        return told.from_ is not None and 2 * told.to < told.from_
    if isinstance(told, CapacityChanged) and told.code == "lower-capacity":
        return 2 * parse(told.to).nano < parse(told.from_).nano
    return False


@dataclass(slots=True, frozen=True)
class Change:
    """One change. `told` is what documents say of it.

    `size` is what is still asked for, where that is a number: of two changes that differ in it alone the larger one
    changes less.
    """

    told: SuggestedChange
    apply: Callable[[Placement], Placement]
    size: int | None = None

    @property
    def code(self) -> str:
        """Its kind."""
        return self.told.code

    @property
    def rank(self) -> int:
        """Its place in the order of suggestions."""
        return rank(self.told)

    @property
    def key(self) -> tuple[str, ...]:
        """What changes must agree on to be one, however much of it each leaves."""
        told = asdict(self.told).items()
        return tuple(f"{name}={value}" for name, value in told if name not in ("to", "replacement"))


def edit_want(want: Want, edit: edits.Edit) -> Callable[[Placement], Placement]:
    """How to make a placement in which the want's request, or alternative, is edited."""
    return lambda placement: edits.edit_request(placement, want.claim_index, want.full_name, edit)


# -- patches -----------------------------------------------------------------------------------------------------------

RESOURCE_API = "resource.k8s.io/v1"
CORE_API = "v1"


def patches(
    first: Placement,
    changed: Placement,
    made: Sequence[Change],
    sources: Sequence[ObjectKey],
    templates: Sequence[ObjectKey | None],
) -> list[ObjectPatch]:
    """One patch for each object that `changed`, with all changes `made`, has otherwise than `first`.

    `sources` are the objects that the claims come from; of claims that were generated `templates` are changed, too.
    Feature gates are no objects: see `gates`.
    """
    found = [*_of_claims(first, changed, sources, templates), *_of_classes(first, changed), *_of_node(first, changed)]
    for change in made:
        if isinstance(change.told, ClaimReleased):
            found.append(_gone(change.told))
        elif isinstance(change.told, PoolAwaited):
            found += _of_slices(first, change.told)
    return found


def gates(made: Sequence[Change]) -> dict[str, bool]:
    """The feature gates that the changes switch on."""
    return {change.told.gate: True for change in made if isinstance(change.told, GateEnabled)}


def _of_claims(
    first: Placement, changed: Placement, sources: Sequence[ObjectKey], templates: Sequence[ObjectKey | None]
) -> Iterator[ObjectPatch]:
    """Claims of one template give one patch, of the template."""
    told: set[ObjectKey] = set()
    for before, after, *objects in zip(first.claims, changed.claims, sources, templates, strict=True):
        for key in objects:
            if key is None or key in told:
                continue
            path = "/spec/spec" if key[0] == TEMPLATE else "/spec"
            operations = list(_differences(_plain(before.spec), _plain(after.spec), path))
            if operations:
                told.add(key)
                yield _patch(RESOURCE_API, key, operations, recreate=True)


def _of_classes(first: Placement, changed: Placement) -> Iterator[ObjectPatch]:
    for name, after in changed.view.classes.items():
        before = first.view.classes.get(name)
        if before is not None and before is not after:
            operations = list(_differences(_plain(before.spec), _plain(after.spec), "/spec"))
            yield _patch(RESOURCE_API, (DeviceClass.__name__, "", name), operations)


def _of_node(first: Placement, changed: Placement) -> Iterator[ObjectPatch]:
    before, after = first.node.metadata.labels or {}, changed.node.metadata.labels or {}
    if before != after:
        name = first.node.metadata.name
        yield _patch(CORE_API, ("Node", "", name), list(_differences(before, after, "/metadata/labels")))


def of_node_spec(before: Node, after: Node) -> ObjectPatch:
    """The patch of a node that has another spec."""
    operations = list(_differences(_plain(before.spec), _plain(after.spec), "/spec"))
    return _patch(CORE_API, ("Node", "", before.metadata.name), operations)


def of_object(
    key: ObjectKey, version: str, operations: Iterable[PatchOperation], *, recreate: bool = False
) -> ObjectPatch:
    """The patch of an object with these operations."""
    return _patch(version, key, list(operations), recreate=recreate)


def pointer(*parts: str) -> str:
    """The path of a field (RFC 6901)."""
    return "".join(f"/{_escaped(part)}" for part in parts)


def of_tolerations(
    key: ObjectKey,
    version: str,
    path: str,
    before: Sequence[Toleration],
    after: Sequence[Toleration],
    *,
    recreate: bool,
) -> ObjectPatch:
    """The patch of an object with tolerations of pods at a path; those of an existing pod can only be added to."""
    operations = list(_differences(_plain(list(before)), _plain(list(after)), path))
    return _patch(version, key, operations, recreate=recreate)


def _of_slices(first: Placement, told: PoolAwaited) -> Iterator[ObjectPatch]:
    """The slices that are there, as if they were all: what stands in for waiting."""
    for slice_ in first.view.gatherer.slices[PoolID(told.pool.driver, told.pool.pool)]:
        if slice_.object.spec.pool.generation == told.generation:
            path = "/spec/pool/resourceSliceCount"
            yield _patch(
                RESOURCE_API,
                ("ResourceSlice", "", slice_.object.metadata.name),
                [PatchOperation(op="add", path=path, value=told.seen)],
            )


def _gone(told: ClaimReleased) -> ObjectPatch:
    """The claim leaves, with all that it holds."""
    return _patch(
        RESOURCE_API, (CLAIM, told.release.namespace, told.release.name), [PatchOperation(op="remove", path="")]
    )


def _patch(version: str, key: ObjectKey, operations: list[PatchOperation], *, recreate: bool = False) -> ObjectPatch:
    kind, namespace, name = key
    about = PatchedObject(api_version=version, kind=kind, namespace=namespace, name=name)
    return ObjectPatch(object=about, patch=operations, recreate=recreate)


# -- differences between two objects -----------------------------------------------------------------------------------


def _plain(part: Any) -> Any:
    plain: Any = msgspec.to_builtins(part)
    return plain


def _differences(before: Any, after: Any, path: str) -> Iterator[PatchOperation]:
    """The operations that make `after` of `before`.

    What is set is added and not replaced, as manifests may leave out what has a default; for the same reason a list or
    an object that was empty is added whole.
    """
    if before == after:
        return
    if isinstance(before, dict) and isinstance(after, dict) and before:
        for name in sorted(before.keys() - after.keys()):
            yield PatchOperation(op="remove", path=f"{path}/{_escaped(name)}")
        for name, value in after.items():
            inside = f"{path}/{_escaped(name)}"
            if name in before:
                yield from _differences(before[name], value, inside)
            else:
                yield PatchOperation(op="add", path=inside, value=value)
    elif isinstance(before, list) and isinstance(after, list) and before:
        yield from _list_differences(before, after, path)
    else:
        yield PatchOperation(op="replace" if path.rpartition("/")[2].isdigit() else "add", path=path, value=after)


def _list_differences(before: list[Any], after: list[Any], path: str) -> Iterator[PatchOperation]:
    """Entries taken out from the end on, then those changed, then those added at the end."""
    gone = _left_out(before, after)
    for at in reversed(gone):
        yield PatchOperation(op="remove", path=f"{path}/{at}")
    kept = [item for at, item in enumerate(before) if at not in gone]
    for at, (old, new) in enumerate(zip(kept, after, strict=False)):
        yield from _differences(old, new, f"{path}/{at}")
    for item in after[len(kept) :]:
        yield PatchOperation(op="add", path=f"{path}/-", value=item)


def _left_out(before: list[Any], after: list[Any]) -> list[int]:
    """The places of the entries that are gone, by name where entries have one; else of as many as are missing.

    Those that are nowhere any more come first; entries that are alike are gone from the end.
    """
    if all(isinstance(item, dict) and "name" in item for item in (*before, *after)):
        names = {item["name"] for item in after}
        return [at for at, item in enumerate(before) if item["name"] not in names]
    missing = max(0, len(before) - len(after))
    found = [at for at, item in enumerate(before) if item not in after][:missing]
    last = [at for at in reversed(range(len(before))) if at not in found]
    return sorted([*found, *last[: missing - len(found)]])


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


# -- users of a class --------------------------------------------------------------------------------------------------


def of_class(inventory: Inventory, name: str, *, except_: Collection[ObjectKey]) -> list[ObjectName]:
    """The claims and templates of the input that ask for devices of the class, without those in `except_`."""
    specs = [
        *((CLAIM, claim.metadata, claim.spec) for claim in inventory.claims),
        *((TEMPLATE, template.metadata, template.spec.spec) for template in inventory.templates),
    ]
    return [
        ObjectName(kind=kind, namespace=metadata.namespace, name=metadata.name)
        for kind, metadata, spec in specs
        if name in set(_classes(spec)) and (kind, metadata.namespace, metadata.name) not in except_
    ]


def _classes(spec: ResourceClaimSpec) -> Iterator[str]:
    for request in spec.devices.requests:
        if request.exactly is not None:
            yield request.exactly.device_class_name
        yield from (alternative.device_class_name for alternative in request.first_available)
