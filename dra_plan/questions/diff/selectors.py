"""What the selectors of classes, claims and templates match in two states, and where they are used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec import structs

from dra_plan.allocator import PoolID, View
from dra_plan.api.core import PodSpec
from dra_plan.api.inventory import Inventory
from dra_plan.api.meta import ObjectMeta
from dra_plan.api.resource import DeviceClass, DeviceSelector, ResourceClaim, ResourceClaimSpec
from dra_plan.api.well_known import IMPLICIT_PREFIX
from dra_plan.claims.index import Index, template_spec
from dra_plan.claims.owners import ended
from dra_plan.documents.base import ObjectName
from dra_plan.documents.devices import ChangedSelector

EVERY_DEVICE = "true"
"""The expression of a class without selectors."""


class _Asker(NamedTuple):
    """An object with selectors: a class, or a request of a claim or of a template."""

    user: ObjectName
    request: str


Selectors = Mapping[_Asker, tuple[str, ...]]
"""The expressions of each object. A device must match all of them."""


def changed_selectors(before: tuple[Inventory, View], after: tuple[Inventory, View]) -> Iterator[ChangedSelector]:
    """Yield the expressions that match more or fewer devices than before, followed by edited ones.

    Edited expressions are included only if their number of matches changes. A deleted class matches nothing.
    """
    old, new = (_selectors_of(inventory) for inventory, _ in (before, after))
    used = _used(after[0])
    for expression, users in _expressions(old, new).items():
        counts = [_tried(view, (expression,)) for _, view in (before, after)]
        if counts[0] != counts[1]:
            gone = _reads_gone(expression, before[1], after[1]) if counts[1].matched < counts[0].matched else []
            yield _changed(expression, list(users), counts, used, reads_gone=gone)
    for asker, expressions in old.items():
        now = new.get(asker)
        if now == expressions or (now is None and asker.user not in used):
            continue
        counts = [_tried(before[1], expressions), _tried(after[1], now) if now is not None else Tried()]
        if counts[0] != counts[1]:
            yield _changed(_joined(now or expressions), [asker.user], counts, used, edited_from=_joined(expressions))


def _changed(
    expression: str,
    users: list[ObjectName],
    counts: Sequence[Tried],
    used: frozenset[ObjectName],
    *,
    reads_gone: Sequence[str] = (),
    edited_from: str = "",
) -> ChangedSelector:
    before, after = counts
    is_used = not used.isdisjoint(users)
    return ChangedSelector(
        expression=expression,
        used_by=users,
        reads_gone=list(reads_gone),
        edited_from=edited_from,
        lost=before.matched > 0 and after.matched == 0 and is_used,
        before=before.matched,
        after=after.matched,
        erring=after.erring,
        erring_pools=[str(pool) for pool in after.pools],
        error=after.error,
        stops=after.erring > before.erring and is_used,
    )


def _joined(expressions: Sequence[str]) -> str:
    if len(expressions) < 2:
        return expressions[0] if expressions else EVERY_DEVICE
    return " && ".join(f"({expression})" for expression in expressions)


def _expressions(old: Selectors, new: Selectors) -> dict[str, dict[ObjectName, None]]:
    """Return each expression with the objects that have it; edited ones are omitted."""
    users: dict[str, dict[ObjectName, None]] = {}
    for state, other in ((old, new), (new, old)):
        for asker, expressions in state.items():
            if other.get(asker, expressions) == expressions:
                for expression in expressions:
                    users.setdefault(expression, {})[asker.user] = None
    return users


def _selectors_of(inventory: Inventory) -> Selectors:
    found: dict[_Asker, tuple[str, ...]] = {}
    for device_class in inventory.classes:
        found[_Asker(_name("DeviceClass", device_class.metadata), "")] = _each(device_class.spec.selectors)
    for claim in inventory.claims:
        found.update(_of_claim(claim.spec, _name("ResourceClaim", claim.metadata)))
    for template in inventory.templates:
        found.update(_of_claim(template.spec.spec, _name("ResourceClaimTemplate", template.metadata)))
    return found


def _name(kind: str, metadata: ObjectMeta) -> ObjectName:
    return ObjectName(kind=kind, namespace=metadata.namespace, name=metadata.name)


def _of_claim(spec: ResourceClaimSpec, user: ObjectName) -> Iterator[tuple[_Asker, tuple[str, ...]]]:
    for request in spec.devices.requests:
        if request.exactly is not None and request.exactly.selectors:
            yield _Asker(user, request.name), _each(request.exactly.selectors)
        for option in request.first_available:
            if option.selectors:
                yield _Asker(user, f"{request.name}/{option.name}"), _each(option.selectors)


def _each(selectors: Iterable[DeviceSelector]) -> tuple[str, ...]:
    return tuple(each.cel.expression for each in selectors if each.cel is not None and each.cel.expression)


# -- what is used ------------------------------------------------------------------------------------------------------


def _used(inventory: Inventory) -> frozenset[ObjectName]:
    """Return the claims and templates of unfinished pods and of workloads, and the classes that they request."""
    index = Index(inventory)
    ended_pods = {(pod.metadata.namespace, pod.metadata.name) for pod in inventory.pods if ended(pod)}
    found: set[ObjectName] = set()
    asked: list[ResourceClaimSpec] = []
    for claim in inventory.claims:
        key = (claim.metadata.namespace, claim.metadata.name)
        owners = index.used_claims.get(key, [])
        holders = claim.reserved_for
        if holders or any(each.kind != "Pod" or (each.namespace, each.name) not in ended_pods for each in owners):
            found.add(_name("ResourceClaim", claim.metadata))
            asked.append(claim.spec)
    specs = list(_pod_specs(inventory))
    for namespace, spec in specs:
        for entry in spec.resource_claims:
            template = index.template(namespace, entry.resource_claim_template_name)
            if template is not None:
                found.add(_name("ResourceClaimTemplate", template.metadata))
                asked.append(template.spec.spec)
    classes = {name for spec in asked for name in _classes(spec)}
    resources = {
        name
        for _, spec in specs
        for each in (*spec.containers, *spec.init_containers)
        for name in each.resources.requests
    }
    classes.update(each.metadata.name for each in inventory.classes if _serves(each, resources))
    return frozenset(found | {ObjectName(kind="DeviceClass", namespace="", name=name) for name in classes})


def _pod_specs(inventory: Inventory) -> Iterator[tuple[str, PodSpec]]:
    for pod in inventory.pods:
        if not ended(pod):
            yield pod.metadata.namespace, pod.spec
    for workload in inventory.workloads:
        yield workload.metadata.namespace, template_spec(workload)


def _classes(spec: ResourceClaimSpec) -> Iterator[str]:
    for request in spec.devices.requests:
        for part in [request.exactly] if request.exactly is not None else request.first_available:
            yield part.device_class_name


def _serves(device_class: DeviceClass, resources: set[str]) -> bool:
    """Return whether pods request the class's devices as an extended resource."""
    names = {device_class.spec.extended_resource_name, IMPLICIT_PREFIX + device_class.metadata.name}
    return not resources.isdisjoint(name for name in names if name)


# -- what matches ------------------------------------------------------------------------------------------------------


def _reads_gone(expression: str, before: View, after: View) -> list[str]:
    """Return attributes that the expression reads, and that devices had before and no device has now."""
    reads = before.compile(expression).reads or ()
    wanted = {f"{domain}/{name}" for kind, domain, name in reads if kind == "attributes"}
    return sorted(wanted & _attributes(before) - _attributes(after)) if wanted else []


def _attributes(view: View) -> set[str]:
    """Return the attributes of all devices of newest generations, DOMAIN/NAME; the default domain is the driver."""
    found: set[str] = set()
    for pool in view.gatherer.slices:
        for slice_ in view.gatherer.newest(pool).slices:
            for device in slice_.object.spec.devices:
                found.update(name if "/" in name else f"{pool.driver}/{name}" for name in device.attributes)
    return found


class Tried(NamedTuple):
    """The result of expressions on the devices of a cluster: the number of matches, and the error, if any."""

    matched: int = 0
    erring: int = 0
    pools: tuple[PoolID, ...] = ()
    """The pools of the devices on which an expression fails."""
    error: str = ""
    """The first error, or ""."""


def _tried(view: View, expressions: Sequence[str]) -> Tried:
    """Evaluate on devices of newest generations, in usable pools; nothing if an expression does not compile."""
    try:
        selectors = [view.compile(expression) for expression in expressions]
    except ValueError:
        return Tried()
    number, errors, pools = 0, list[str](), dict[PoolID, None]()
    for pool in view.gatherer.slices:
        newest = view.gatherer.newest(pool)
        if not newest.is_whole:
            continue
        for device in (device for slice_ in newest.slices for device in slice_.object.spec.devices):
            try:
                number += all(each.evaluate(device, driver=pool.driver).match for each in selectors)
            except ValueError as error:
                errors.append(str(error))
                pools[pool] = None
    return Tried(number, len(errors), tuple(pools), errors[0] if errors else "")


def with_usage(changed: Iterable[ChangedSelector], before: Inventory) -> Iterator[ChangedSelector]:
    """Yield the selectors, each with the number of devices that are allocated through its classes."""
    used: Counter[str] | None = None
    for one in changed:
        used = _used_of_classes(before.claims) if used is None else used
        classes = [user.name for user in one.used_by if user.kind == "DeviceClass"]
        yield structs.replace(one, in_use=sum(used[name] for name in classes))


def _used_of_classes(claims: Iterable[ResourceClaim]) -> Counter[str]:
    """Return the number of allocated devices of each class."""
    found: Counter[str] = Counter()
    for claim in claims:
        if claim.allocation is None:
            continue
        classes: dict[str, str] = {}
        for request in claim.spec.devices.requests:
            if request.exactly is not None:
                classes[request.name] = request.exactly.device_class_name
            classes |= {f"{request.name}/{each.name}": each.device_class_name for each in request.first_available}
        found.update(classes.get(one.request, "") for one in claim.allocation.devices.results)
    return found
