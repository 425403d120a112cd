"""Suggested changes, and JSON patches (RFC 6902) that apply them to the objects in the input.

Patches contain exactly what was tried, because they are created by comparing the original objects with the changed
ones. Paths refer to the API version in `object`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from dra_plan.allocator import PoolID
from dra_plan.allocator.requests import Want
from dra_plan.api.core import Node, Toleration
from dra_plan.api.inventory import Inventory, ObjectKey
from dra_plan.api.quantity import parse
from dra_plan.api.resource import DeviceClass, ResourceClaimSpec
from dra_plan.documents.base import ObjectName
from dra_plan.documents.claim_changes import (
    CapacityChanged,
    ClassChanged,
    CountLowered,
    PoolAwaited,
    SelectorChanged,
    TaintRuleDeleted,
    TaintTolerated,
)
from dra_plan.documents.cluster_changes import (
    ClaimDropped,
    ClaimReleased,
    GateEnabled,
    NodeLabelled,
    NodeRequirementDropped,
    PodsGone,
    PriorityRaised,
    ResourceDropped,
    ResourceLowered,
)
from dra_plan.documents.suggestions import CHANGES, ObjectPatch, PatchedObject, PatchOperation, SuggestedChange
from dra_plan.explanation import edits
from dra_plan.explanation.names import CLAIM, TEMPLATE
from dra_plan.explanation.placement import Placement

# -- changes -----------------------------------------------------------------------------------------------------------
# The description of a change in documents, and the creation of the placement in which it is applied.

RANKS = tuple(CHANGES)
"""The codes of changes in the order of suggestions, the smallest change first."""


def rank(told: SuggestedChange) -> int:
    """Return the position of a change in the order of suggestions.

    - A change that leaves less than half of the devices, or makes an alternative accept devices meant for others, has
      the rank of dropping the request. Requesting less cpu or memory does not, because it only makes the pod slower or
      smaller.
    - A change that leaves half of the amount or less comes after other changes of the amount.
    - Tolerating a taint that evicts pods comes after taking devices from other claims, because the device is hardly
      usable.
    - Releasing a claim that no pod uses comes before requesting less.
    - Adding a missing node label comes before no longer requiring it.
    - Taking the place of a pod whose replacement then has no node comes last, because it leaves a pod pending.
    """
    if isinstance(told, ClaimReleased | PodsGone) and told.stays == "WithoutPlace":
        return len(RANKS)
    if isinstance(told, PriorityRaised) and told.without_place:
        return len(RANKS)
    if isinstance(told, ClaimReleased) and not told.pods:
        return RANKS.index("use-claim-template")
    if isinstance(told, TaintTolerated) and told.toleration.effect == "NoExecute":
        return RANKS.index("tolerate-taint")
    if isinstance(told, NodeLabelled) and told.runtime_class:
        return RANKS.index("await-node")
    if isinstance(told, ResourceDropped | ClaimDropped) and not _is_asked_twice(told):
        return RANKS.index("drop-request")
    if gives_up_alternative(told) or (isinstance(told, NodeRequirementDropped) and not told.has):
        return RANKS.index("drop-request")
    share = _share(told)
    if isinstance(told, SelectorChanged) and share is not None and NEARLY <= share < 1 / NEARLY:
        return RANKS.index("use-claim-template")
    if isinstance(told, ResourceLowered) and "/" in told.resource and share is not None and share > HALF:
        share = HALF  # few programs can do with fewer devices
    if share is None or share > HALF:
        return RANKS.index(told.code)
    is_of_pod = isinstance(told, ResourceLowered) and "/" not in told.resource
    return RANKS.index("change-value") if share == HALF or is_of_pod else RANKS.index("drop-request")


def _is_asked_twice(told: ResourceDropped | ClaimDropped) -> bool:
    """Return whether containers ask for the same devices both by a claim and by an extended resource."""
    return told.uses_claim if isinstance(told, ResourceDropped) else bool(told.beside)


HALF, NEARLY = Fraction(1, 2), Fraction(9, 10)
"""Two shares of the requested amount: half of it, and a share so large that it was probably meant."""


def _share(told: SuggestedChange) -> Fraction | None:
    """Return the part of a request that a change leaves, if that can be said."""
    if isinstance(told, CountLowered) and told.from_:
        return Fraction(told.to, told.from_)
    if isinstance(told, ResourceLowered):
        return Fraction(parse(told.to).nano, parse(told.from_).nano or 1)
    if isinstance(told, CapacityChanged) and told.code == "lower-capacity":
        return Fraction(parse(told.to).nano, parse(told.from_).nano or 1)
    if isinstance(told, SelectorChanged | ClassChanged) and told.amount is not None:
        return Fraction(parse(told.amount.to).nano, parse(told.amount.from_).nano or 1)
    return _share_of_bound(told) if isinstance(told, SelectorChanged) and told.code == "change-value" else None


def _share_of_bound(told: SelectorChanged) -> Fraction | None:
    """Return the share of the only amount in which a selector differs, such as 79Gi of 80Gi."""
    from dra_plan.cel.parts import strings  # only selectors need it, and start-up time matters

    before, after = strings(told.expression), strings(told.replacement or "")
    if len(before - after) != 1 or len(after - before) != 1:
        return None
    try:
        [had], [has] = ((parse(text).nano for text in texts) for texts in (before - after, after - before))
    except ValueError:
        return None
    return Fraction(has, had) if had > 0 else None


def gives_up_alternative(told: SuggestedChange) -> bool:
    """Return whether the change makes an alternative accept devices that it was not listed for."""
    if not isinstance(told, SelectorChanged):
        return False
    return "/" in told.request and told.code in ("change-value", "loosen-selector", "drop-selector")


Held = tuple[int, int, int, int]
"""Whether pods use the claim, whether it equals the claims to be placed, and the number and memory of its devices."""


class Change(Struct, frozen=True):
    """A change that can be tried.

    `told` describes the change in documents. `size` is the amount that is still requested, if this is a number. Of
    changes that differ only in size, the one with the larger size changes less. `holds` describes what a released claim
    holds; releases are suggested in its ascending order.
    """

    told: SuggestedChange
    apply: Callable[[Placement], Placement]
    size: int | None = None
    holds: Held = (0, 0, 0, 0)

    @property
    def code(self) -> str:
        """The code of the change."""
        return self.told.code

    @property
    def rank(self) -> int:
        """The position of the change in the order of suggestions."""
        return rank(self.told)

    @property
    def key(self) -> tuple[str, ...]:
        """A key that is equal for changes that differ only in the amounts that they leave.

        Such changes are treated as one change.
        """
        told = asdict(self.told).items()
        amounts = {"to", "replacement", "amount", *(["from_"] if self.code == "count-instead-of-all" else ())}
        return tuple(f"{name}={value}" for name, value in told if name not in amounts)


def edit_want(want: Want, edit: edits.Edit) -> Callable[[Placement], Placement]:
    """Return a function that edits the request or alternative in a placement."""
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
    """Return one patch for each object that the changes in `made` affect.

    `first` and `changed` are the placements before and after the changes. `sources` are the objects that the claims
    come from. If a claim is generated, its entry in `templates` is patched too. `gates` returns the changes to feature
    gates.
    """
    found = [*_of_claims(first, changed, sources, templates), *_of_classes(first, changed), *_of_node(first, changed)]
    for change in made:
        if isinstance(change.told, ClaimReleased):
            found.append(_gone(change.told))
        elif isinstance(change.told, TaintRuleDeleted):
            found += _of_rule(first, change.told)
        elif isinstance(change.told, PoolAwaited):
            found += _of_slices(first, change.told)
    return found


def gates(made: Sequence[Change]) -> dict[str, bool]:
    """Return the feature gates that the changes enable."""
    return {change.told.gate: True for change in made if isinstance(change.told, GateEnabled)}


def _of_claims(
    first: Placement, changed: Placement, sources: Sequence[ObjectKey], templates: Sequence[ObjectKey | None]
) -> Iterator[ObjectPatch]:
    """Yield the patches of claims; claims of one template give one patch, of the template."""
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
    """Return a patch that replaces the node's spec with the spec in `after`."""
    operations = list(_differences(_plain(before.spec), _plain(after.spec), "/spec"))
    return _patch(CORE_API, ("Node", "", before.metadata.name), operations)


def of_object(
    key: ObjectKey, version: str, operations: Iterable[PatchOperation], *, recreate: bool = False
) -> ObjectPatch:
    """Return a patch that applies these operations to an object."""
    return _patch(version, key, list(operations), recreate=recreate)


def pointer(*parts: str) -> str:
    """Return the path of a field as a JSON pointer (RFC 6901)."""
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
    """Return a patch that changes the tolerations at a path of the object.

    The tolerations of an existing pod can only be extended: to correct one, the pod is created again.
    """
    operations = list(_differences(_plain(list(before)), _plain(list(after)), path))
    return _patch(version, key, operations, recreate=recreate)


def _of_slices(first: Placement, told: PoolAwaited) -> Iterator[ObjectPatch]:
    """Yield the existing slices as if they were all, as a substitute for waiting."""
    for slice_ in first.view.gatherer.slices[PoolID(told.pool.driver, told.pool.pool)]:
        if slice_.object.spec.pool.generation == told.generation:
            path = "/spec/pool/resourceSliceCount"
            yield _patch(
                RESOURCE_API,
                ("ResourceSlice", "", slice_.object.metadata.name),
                [PatchOperation(op="add", path=path, value=told.seen)],
            )


def _of_rule(first: Placement, told: TaintRuleDeleted) -> Iterator[ObjectPatch]:
    """Yield the deletion of the device taint rule."""
    for rule in first.view.given_rules:
        if rule.metadata.name == told.rule:
            key = (rule.kind, "", told.rule)
            yield _patch(rule.api_version, key, [PatchOperation(op="remove", path="")])


def _gone(told: ClaimReleased) -> ObjectPatch:
    """Return the deletion of the claim, with everything that it holds."""
    [made] = claim_deletions([(told.release.namespace, told.release.name)])
    return made


def _patch(version: str, key: ObjectKey, operations: list[PatchOperation], *, recreate: bool = False) -> ObjectPatch:
    kind, namespace, name = key
    about = PatchedObject(api_version=version, kind=kind, namespace=namespace, name=name)
    return ObjectPatch(object=about, patch=operations, recreate=recreate)


# -- differences between two objects -----------------------------------------------------------------------------------


def _plain(part: Any) -> Any:
    plain: Any = msgspec.to_builtins(part)
    return plain


def _differences(before: Any, after: Any, path: str) -> Iterator[PatchOperation]:
    """Yield the operations that turn `before` into `after`.

    A value is added and not replaced, because manifests may leave out defaults; for the same reason an empty list or
    object is added whole.
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
    """Yield the removal of entries, starting with the last, then changed entries, then those added at the end."""
    gone = _left_out(before, after)
    for at in reversed(gone):
        yield PatchOperation(op="remove", path=f"{path}/{at}")
    kept = [item for at, item in enumerate(before) if at not in gone]
    for at, (old, new) in enumerate(zip(kept, after, strict=False)):
        yield from _differences(old, new, f"{path}/{at}")
    for item in after[len(kept) :]:
        yield PatchOperation(op="add", path=f"{path}/-", value=item)


def _left_out(before: list[Any], after: list[Any]) -> list[int]:
    """Return the positions of the removed entries, by name if entries have one; otherwise as many as are missing.

    Entries that no longer occur anywhere come first; equal entries are removed from the end.
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
    """Return the claims and templates in the input that request devices of the class, except those in `except_`."""
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


def deletions(pods: Iterable[str]) -> tuple[ObjectPatch, ...]:
    """Return the patches that delete these pods, which are given as NAMESPACE/NAME."""
    keys = [("Pod", *pod.split("/", 1)) for pod in pods]
    gone = [PatchOperation(op="remove", path="")]
    return tuple(of_object((kind, namespace, name), "v1", gone) for kind, namespace, name in keys)


def claim_deletions(claims: Iterable[tuple[str, str]]) -> tuple[ObjectPatch, ...]:
    """Return the patches that delete these claims, which are given by namespace and name."""
    gone = [PatchOperation(op="remove", path="")]
    return tuple(of_object((CLAIM, namespace, name), RESOURCE_API, gone) for namespace, name in claims)
