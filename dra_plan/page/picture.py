"""The nodes, pools and devices in a picture: their states, the users of devices, and frames around devices.

`dra_plan.planner.pools` computes which devices are free.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from dra_plan.allocator import View
from dra_plan.allocator.constraints import look_up
from dra_plan.allocator.pools import PoolDevice
from dra_plan.api.core import Node, PodSpec
from dra_plan.api.inventory import Inventory
from dra_plan.api.resource import DeviceSelector, ResourceClaim, ResourceClaimSpec
from dra_plan.api.well_known import NODE_NOT_READY, UNREACHABLE, UNSCHEDULABLE
from dra_plan.claims.owners import pod_spec
from dra_plan.documents.devices import ClaimHolder
from dra_plan.documents.pools import CounterSetLeft, DeviceState
from dra_plan.planner import pools
from dra_plan.planner.nodes import choose_nodes, with_nodes
from dra_plan.planner.pools import PoolRemainder, SeenPool, seen_pools
from dra_plan.text import words

PCIE_ROOT = "resource.kubernetes.io/pcieRoot"
"""The attribute whose values frame devices if no claim in the input compares an attribute."""


@dataclass(frozen=True, slots=True)
class DrawnDevice:
    """A device in a picture.

    `reason` says why it is not available. `frame` is the value that it shares with the devices in the same frame, or
    "".
    """

    name: str
    state: DeviceState
    reason: str = ""
    model: str = ""
    profile: str = ""
    """The kind of partition, if the device consumes counters."""
    frame: str = ""
    taint: str = ""
    """A taint that requests need to tolerate."""
    holders: tuple[ClaimHolder, ...] = ()
    capacity: Mapping[str, tuple[str, str]] | None = None
    """The free and the total capacity by name, if the device allows multiple allocations."""
    note: str = ""
    """A note on the pods that use the device."""
    ids: tuple[str, ...] = ()
    """The values of attributes that name the device, such as a UUID."""
    draws: Mapping[str, Mapping[str, int]] | None = None
    """How much the device consumes of each counter, by counter set and counter, in nano-units."""


@dataclass(frozen=True, slots=True)
class DrawnPool:
    """A pool in a picture, and the nodes that see it in the same state."""

    driver: str
    name: str
    state: str
    problem: str
    nodes: tuple[str, ...]
    framed_by: str
    """The attribute whose values frame the devices, or ""."""
    devices: tuple[DrawnDevice, ...]
    counter_sets: tuple[CounterSetLeft, ...]
    seen: SeenPool
    home: str = ""
    """The node that the devices belong to, or the only node that sees them; "" if several nodes do."""

    def at(self, view: View, claims: Iterable[ResourceClaim]) -> DrawnPool:
        """Return the pool as it would be if only these claims had devices.

        `view` must be a view of the same cluster.
        """
        then = view.with_claims(tuple(claims))
        return _pool(self.seen, then, [self.framed_by] if self.framed_by else [], _DeviceUsers(then))


@dataclass(frozen=True, slots=True)
class DrawnNode:
    """A node in a picture, with its labels, and texts about taints that keep other pods away."""

    name: str
    away: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ClusterPicture:
    """The nodes in input order, and the pools in the order of `dra-plan pools`."""

    nodes: tuple[DrawnNode, ...]
    pools: tuple[DrawnPool, ...]
    selected: frozenset[str] = frozenset()
    """The node labels that pods select by."""


def draw(inventory: Inventory, view: View, *, infer_nodes: bool = False) -> ClusterPicture:
    """Return a picture of the cluster.

    `view` must be the view of the inventory. Raises InputError if the input has no nodes, and AllocationError for
    invalid pools.
    """
    inventory, _ = with_nodes(inventory, infer=infer_nodes)
    seen_by = seen_pools(view, choose_nodes(inventory.nodes, ()), everywhere=True)
    frames = list(_frames(inventory, view))
    users, naming = _DeviceUsers(view), _naming(seen_by)
    return ClusterPicture(
        tuple(
            DrawnNode(node.metadata.name, tuple(_away(node)), node.metadata.labels or {}) for node in inventory.nodes
        ),
        tuple(_pool(seen, view, frames, users, naming) for seen in seen_by),
        frozenset(label for spec in _pod_specs(inventory) for label in _selected(spec)),
    )


def _pod_specs(inventory: Inventory) -> Iterator[PodSpec]:
    yield from (pod.spec for pod in inventory.pods)
    yield from map(pod_spec, inventory.workloads)


def _selected(spec: PodSpec) -> Iterator[str]:
    """Return the node labels by which a pod selects, or that it prefers."""
    yield from spec.node_selector
    of = spec.affinity.node_affinity if spec.affinity is not None else None
    if of is None:
        return
    required = of.required_during_scheduling_ignored_during_execution
    terms = list(required.node_selector_terms) if required is not None else []
    terms += [each.preference for each in of.preferred_during_scheduling_ignored_during_execution]
    yield from (each.key for term in terms for each in term.match_expressions)


CORDONED = "cordoned"
"""The text for a cordoned node."""


_SAID_BY_TAINTS = {UNSCHEDULABLE.key: CORDONED, NODE_NOT_READY: "not ready", UNREACHABLE: "unreachable"}
"""Taints that Kubernetes sets for a state that is described in one word."""


def _away(node: Node) -> Iterator[str]:
    """Yield whether the node is cordoned or not ready, and the taints that prevent pods from being scheduled."""
    taints = [taint for taint in node.spec.taints if taint.effect in ("NoSchedule", "NoExecute")]
    said = {_SAID_BY_TAINTS[taint.key] for taint in taints if taint.key in _SAID_BY_TAINTS}
    ready = [each.status for each in node.status.conditions if each.type == "Ready"]
    if node.spec.unschedulable or CORDONED in said:
        yield CORDONED
    if "unreachable" in said or ready[:1] == ["Unknown"]:
        yield "not ready (unreachable)"
    elif "not ready" in said or ready[:1] == ["False"]:
        yield "not ready"
    for taint in taints:
        if taint.key not in _SAID_BY_TAINTS:
            yield f"taint {words.taint(taint)}"


class _DeviceUsers:
    """The claims that hold a device, with their pods."""

    def __init__(self, view: View) -> None:
        self._claims: dict[str, ResourceClaim] = {claim.key: claim for claim in view.claims if claim.allocation}
        self._state = view.state

    def of(self, device: PoolDevice) -> Iterator[ClaimHolder]:
        keys = [self._state.dedicated[device.id]] if device.id in self._state.dedicated else []
        for key in dict.fromkeys([*keys, *self._state.shared.get(device.id, ())]):
            claim = self._claims.get(key)
            reserved = claim.reserved_for if claim is not None else []
            namespace, _, name = key.partition("/")
            yield ClaimHolder(namespace=namespace, name=name, pods=[user.name for user in reserved])


def _pool(
    seen: SeenPool, view: View, frames: Sequence[str], users: _DeviceUsers, naming: Collection[_Attribute] = ()
) -> DrawnPool:
    left = PoolRemainder(view, seen.pool)
    names = [name for driver, name in naming if driver == seen.pool.id.driver]
    framed_by = next((name for name in frames if _tells(name, left.devices)), "")
    return DrawnPool(
        driver=seen.pool.id.driver,
        name=seen.pool.id.pool,
        state=seen.pool.state.value,
        problem=str(seen.pool.problem or ""),
        nodes=tuple(node.metadata.name for node in seen.nodes),
        framed_by=framed_by,
        devices=tuple(_device(device, left, framed_by, users, names) for device in left.devices),
        counter_sets=tuple(left.counter_sets()),
        seen=seen,
        home=_home(seen),
    )


def _home(seen: SeenPool) -> str:
    """Return the home node; other nodes may see a pool only because of its counters."""
    nodes = [node.metadata.name for node in seen.nodes]
    slices = [each.object.spec for each in (*seen.pool.slices, *seen.pool.elsewhere)]
    names = {spec.node_name for spec in slices if spec.devices}
    if len(nodes) > 1 and len(names) == 1:
        [name] = names
        return name if name in nodes else ""
    return nodes[0] if len(nodes) == 1 else ""


def _device(
    device: PoolDevice, left: PoolRemainder, framed_by: str, users: _DeviceUsers, names: Sequence[str]
) -> DrawnDevice:
    state, reason = left.state(device)
    draws: dict[str, dict[str, int]] = {}
    for counter_set, name, amount in device.consumption:
        if amount:
            draws.setdefault(counter_set, {})[name] = amount
    capacity = None
    if device.device.allow_multiple_allocations:
        capacity = {
            name: (text, str(device.device.capacity[name].value)) for name, text in left.capacity_texts(device).items()
        }
    return DrawnDevice(
        name=device.id.device,
        state=state,
        reason=reason,
        model=pools.model(device),
        profile=pools.profile(device) if draws else "",
        frame=_value(device, framed_by) if framed_by else "",
        taint=left.taint(device),
        holders=tuple(users.of(device)),
        capacity=capacity,
        ids=tuple(value for name in names if (value := _text(device, name))),
        draws=draws or None,
    )


# -- what names devices ------------------------------------------------------------------------------------------------


_Attribute = tuple[str, str]
"""A driver, and the name of an attribute on its devices."""


def _naming(seen_by: Iterable[SeenPool]) -> list[_Attribute]:
    """Return the attributes whose text is different for each device in a pool.

    If no pool has two devices with the attribute, its text must be different for all devices.
    """
    values: dict[_Attribute, set[str]] = {}
    devices: Counter[_Attribute] = Counter()
    repeated: set[_Attribute] = set()
    tells: set[_Attribute] = set()
    for pool in {seen.pool.id: seen.pool for seen in seen_by}.values():
        own: dict[_Attribute, list[str]] = {}
        for device in (device for slice_ in pool.slices for device in slice_.devices):
            for name in device.device.attributes:
                if text := _text(device, name):
                    own.setdefault((pool.id.driver, name), []).append(text)
        for key, found in own.items():
            values.setdefault(key, set()).update(found)
            devices[key] += len(found)
            if len(set(found)) < len(found):
                repeated.add(key)
            elif len(found) > 1:
                tells.add(key)
    return [key for key in sorted(values.keys() - repeated) if key in tells or 1 < devices[key] == len(values[key])]


def _text(device: PoolDevice, name: str) -> str:
    found = device.device.attributes.get(name)
    return found.string_value or "" if found is not None else ""


# -- what frames devices -------------------------------------------------------------------------------------------


def _frames(inventory: Inventory, view: View) -> Iterator[str]:
    """Yield attributes that may frame devices, from constraints, the PCIe root, and from selectors."""
    specs = [claim.spec for claim in inventory.claims] + [template.spec.spec for template in inventory.templates]
    compared = (
        name
        for spec in specs
        for constraint in spec.devices.constraints
        for name in (constraint.match_attribute, constraint.distinct_attribute)
        if name
    )
    yield from dict.fromkeys([*compared, PCIE_ROOT, *_read(inventory, specs, view)])


def _read(inventory: Inventory, specs: Sequence[ResourceClaimSpec], view: View) -> Iterator[str]:
    selectors = [selector for each in inventory.classes for selector in each.spec.selectors]
    selectors += [selector for spec in specs for selector in _selectors(spec)]
    for expression in dict.fromkeys(each.cel.expression for each in selectors if each.cel is not None):
        try:
            reads = view.compile(expression).reads or ()
        except ValueError:
            continue  # shown elsewhere
        yield from (f"{domain}/{name}" for kind, domain, name in sorted(reads) if kind == "attributes" and name)


def _selectors(spec: ResourceClaimSpec) -> Iterator[DeviceSelector]:
    for request in spec.devices.requests:
        for each in (request.exactly, *request.first_available):
            yield from each.selectors if each is not None else ()


def _tells(name: str, devices: Sequence[PoolDevice]) -> bool:
    """Return whether the attribute groups devices.

    It must be the PCIe root, or agree on two devices and differ on two.
    """
    values = [value for device in devices if (value := _value(device, name))]
    return bool(values) and (name == PCIE_ROOT or 1 < len(set(values)) < len(values))


def _value(device: PoolDevice, name: str) -> str:
    found = look_up(device, name)
    if found is None:
        return ""
    for value in (found.string_value, found.version_value, found.int_value, found.bool_value):
        if value is not None:
            return str(value).lower() if isinstance(value, bool) else str(value)
    return ""
