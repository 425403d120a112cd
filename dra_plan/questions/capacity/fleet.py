"""The idle devices of the cluster for `capacity`, including those that none of the owners can use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from dra_plan.allocator import Pool, PoolDevice, SelectorError, View
from dra_plan.allocator.identity import DeviceID, PoolID
from dra_plan.allocator.ledger import AllocatedState
from dra_plan.allocator.pools import device_is_on
from dra_plan.allocator.reasons import AllocationError
from dra_plan.allocator.requests import Want
from dra_plan.api.core import Node
from dra_plan.planner import pools
from dra_plan.planner.obstacles import ResourceHolder
from dra_plan.planner.pools import DeviceKind, PoolRemainder
from dra_plan.questions.capacity.document import FleetFigures, IdleDevices, OwnerDevices, StrandedFor, WithheldDevices
from dra_plan.scheduler.framework.status import NoDevices, Reason, ResourceShort
from dra_plan.scheduler.refusals import Refusals

_Cause = tuple[str, str]
"""The reason why a device is unusable: a code, and for `node` the scheduler's message."""

_Unit = tuple[DeviceKind, int, PoolDevice]
"""A kind, a number of devices or partitions of this kind, and the first of them."""


_NEARNESS = ("not-wanted", "node", "not-enough")
"""The order of causes: for several owners, the one closest to a use counts."""


@dataclass
class _SeenPool:
    """A pool as seen by its first node, its idle devices, and the nodes that reach each device."""

    pool: Pool
    idle: dict[DeviceID, PoolDevice] = field(default_factory=dict)
    nodes: dict[DeviceID, list[str]] = field(default_factory=dict)
    parts: bool = False

    def fit(self, view: View, devices: Sequence[PoolDevice]) -> dict[str, int]:
        """Return the number of partitions that fit together, by profile.

        For a pool without partitions, the result is empty.
        """
        if not self.parts:
            return {}
        left = PoolRemainder(view, self.pool)
        return {one.profile: one.fit for one in pools.profiles(left.counters, self.pool, left.devices, devices)}


@dataclass
class _OwnerCount:
    """The devices that one owner's copies use, and those that they could not use, by kind."""

    used: Counter[DeviceKind] = field(default_factory=Counter)
    stranded: Counter[DeviceKind] = field(default_factory=Counter)

    def devices(self) -> list[OwnerDevices]:
        """Return the devices of each driver and model that copies use or could not use."""
        return [
            OwnerDevices(
                driver=kind.driver,
                model=kind.model,
                profile=kind.profile,
                used=self.used[kind],
                stranded=self.stranded[kind],
            )
            for kind in sorted(self.used)
            if self.used[kind] or self.stranded[kind]
        ]


@dataclass
class _Stranded:
    """The number of devices that are idle for one cause, and by node, how many of them it reaches."""

    devices: int = 0
    nodes: Counter[str] = field(default_factory=Counter)


_PLENTY = ResourceHolder("", "", "")
"""The answer for a node that lacks no resource."""


class Fleet:
    """The devices that the nodes can access, and those that remain idle after all counts."""

    def __init__(self, view: View, nodes: Iterable[Node]) -> None:
        self._view = view
        self._pools: dict[PoolID, _SeenPool] = {}
        self._kinds: dict[tuple[str, int], DeviceKind] = {}
        self._totals: Counter[DeviceKind] = Counter()
        self._withheld: dict[DeviceKind, Counter[str]] = {}
        """Devices that are neither idle nor used up, by their obstacle; "" for shared devices with free capacity."""
        self._left: dict[PoolID, dict[DeviceID, _Cause]] | None = None
        """The devices left over by all finished counts, and the reasons; None before the first one."""
        self._fits: dict[PoolID, dict[str, int]] = {}
        self._idle: dict[PoolID, list[_Unit]] = {}
        self._short: dict[tuple[str, str], ResourceHolder] = {}
        """What the last count found left of the resource that a node lacks, by node and message."""
        self._known = True
        for node in nodes:
            self._see(node)
        for seen in self._pools.values():
            self._find_idle(seen)

    def _see(self, node: Node) -> None:
        try:
            pools = self._view.gatherer.gather(node)
        except AllocationError:
            return
        for pool in pools:
            seen = self._pools.setdefault(pool.id, _SeenPool(pool))
            for device in (device for slice_ in pool.slices for device in slice_.devices):
                if device_is_on(device, node):
                    seen.nodes.setdefault(device.id, []).append(node.metadata.name)

    def _find_idle(self, seen: _SeenPool) -> None:
        left = PoolRemainder(self._view, seen.pool)
        for device in left.devices:
            if device.id in seen.nodes:
                kind = self._kind(device)
                self._totals[kind] += 1
                state, _ = left.state(device)
                withheld = left.withheld(device) if state not in ("Available", "Allocated") else ""
                if state == "Available":
                    seen.idle[device.id] = device
                    seen.parts = seen.parts or bool(device.consumption)
                elif state == "Shared" or withheld:
                    self._withheld.setdefault(kind, Counter())[withheld] += 1

    def _kind(self, device: PoolDevice) -> DeviceKind:
        """Return the device's kind, computed once for all devices of a driver that are one object in the input."""
        key = device.id.driver, id(device.device)
        if key not in self._kinds:
            self._kinds[key] = pools.kind(device)
        return self._kinds[key]

    # -- how counts end ------------------------------------------------------------------------------------------------

    def cut_short(self) -> None:
        """Record that a count ended before a copy was rejected, so the devices that it leaves idle are unknown."""
        self._known = False

    def ended(
        self,
        state: AllocatedState,
        refusals: Refusals,
        holder: Callable[[str, ResourceShort], ResourceHolder],
    ) -> list[OwnerDevices]:
        """Record that a count ended: the devices in use, and why one more copy was rejected.

        `holder` returns how much of a resource is left on a node, and which pod uses most of it. Returns the devices
        that this count used, and those that it left idle.
        """
        view = self._view.with_state(state)
        wants = [want for ready in view.requests(refusals.claims) for wants in ready.requests for want in wants]
        besides = {name: _besides_devices(refusals, name) for name in refusals.of_nodes}
        in_the_way = {name: reason.text if reason is not None else "" for name, reason in besides.items()}
        for name, reason in besides.items():
            if reason is not None and isinstance(reason.about, ResourceShort):
                self._short[name, reason.text] = holder(name, reason.about)
        left: dict[PoolID, dict[DeviceID, _Cause]] = {}
        own = _OwnerCount()
        for pool_id, seen in self._pools.items():
            causes = {
                device.id: _cause(device, wants, [in_the_way.get(name, "") for name in seen.nodes[device.id]])
                for device in _still_idle(view, seen)
            }
            self._count(own, view, seen, causes)
            before = None if self._left is None else self._left[pool_id]
            now = left[pool_id] = {
                name: cause if before is None else _nearer(cause, before[name])
                for name, cause in causes.items()
                if before is None or name in before
            }
            if seen.parts:
                fits = seen.fit(view, [seen.idle[device] for device in now])
                known = self._fits.get(pool_id, fits)
                self._fits[pool_id] = {profile: min(fit, known.get(profile, 0)) for profile, fit in fits.items()}
        self._left = left
        return own.devices()

    def _count(self, own: _OwnerCount, view: View, seen: _SeenPool, causes: Mapping[DeviceID, _Cause]) -> None:
        """Count the devices of a pool that an owner's copies used, and those that are idle for these causes."""
        still = [seen.idle[name] for name in causes]
        for kind, number, _ in self._idle_units(seen):
            own.used[kind] += number
        for kind, number, device in self._units(still, seen.fit(view, still)):
            own.used[kind] -= number
            if causes[device.id][0] != "not-wanted":
                own.stranded[kind] += number

    # -- figures -------------------------------------------------------------------------------------------------------

    def figures(self) -> FleetFigures:
        """Return the number of devices of each kind, including idle devices that no owner can use."""
        idle: Counter[DeviceKind] = Counter()
        on_nodes: dict[DeviceKind, Counter[str]] = {}
        stranded: dict[DeviceKind, dict[_Cause, _Stranded]] = {}
        for pool_id, seen in self._pools.items():
            for kind, number, device in self._idle_units(seen):
                idle[kind] += number
                numbers = on_nodes.setdefault(kind, Counter())
                for node in seen.nodes[device.id]:
                    numbers[node] += number
            left = self._left[pool_id] if self._left is not None else {}
            for kind, number, device in self._units([seen.idle[name] for name in left], self._fits.get(pool_id, {})):
                there = stranded.setdefault(kind, {}).setdefault(left[device.id], _Stranded())
                there.devices += number
                there.nodes.update(dict.fromkeys(seen.nodes[device.id], number))
        known = self._known and self._left is not None
        return FleetFigures(
            kinds=[
                _figures(
                    kind,
                    self._totals[kind],
                    idle[kind],
                    self._withheld.get(kind, {}),
                    self._reasons(stranded.get(kind, {})) if known else None,
                    on_nodes.get(kind, {}),
                )
                for kind in sorted(self._totals)
            ]
        )

    def _reasons(self, of: Mapping[_Cause, _Stranded]) -> list[StrandedFor]:
        """Return the reasons, that of most devices first; each names the node that reaches most of them."""
        found = []
        for (code, message), there in sorted(of.items(), key=lambda pair: (-pair[1].devices, pair[0])):
            if not there.devices:
                continue
            if code == "not-wanted":
                found.append(StrandedFor(code=code, devices=there.devices))
                continue
            node = next(name for name, number in there.nodes.items() if number == max(there.nodes.values()))
            short = self._short.get((node, message), _PLENTY)
            found.append(
                StrandedFor(
                    code=code,
                    message=message,
                    devices=there.devices,
                    node=node,
                    other_nodes=len(there.nodes) - 1,
                    resource=short.resource,
                    left=short.left,
                    pod=short.pod,
                    used=short.used,
                )
            )
        return found

    def _idle_units(self, seen: _SeenPool) -> Sequence[_Unit]:
        """Return the pool's devices that are idle before any count, computed once for all of them."""
        if seen.pool.id not in self._idle:
            devices = list(seen.idle.values())
            self._idle[seen.pool.id] = self._units(devices, seen.fit(self._view, devices))
        return self._idle[seen.pool.id]

    def _units(self, devices: Iterable[PoolDevice], fits: Mapping[str, int]) -> list[_Unit]:
        """Return devices by kind, each once; partitions by profile, as many as fit together, with the first of them."""
        found: list[_Unit] = []
        profiles: set[str] = set()
        for device in devices:
            kind = self._kind(device)
            if not device.consumption:
                found.append((kind, 1, device))
            elif kind.profile not in profiles:
                profiles.add(kind.profile)
                found.append((kind, fits.get(kind.profile, 0), device))
        return found


def _figures(
    kind: DeviceKind,
    devices: int,
    idle: int,
    withheld: Mapping[str, int],
    reasons: list[StrandedFor] | None,
    on_nodes: Mapping[str, int],
) -> IdleDevices:
    most = max(on_nodes.values(), default=0)
    return IdleDevices(
        driver=kind.driver,
        model=kind.model,
        profile=kind.profile,
        devices=devices,
        idle=idle,
        withheld=[
            WithheldDevices(code="withheld" if message else "shared", message=message, devices=number)
            for message, number in sorted(withheld.items(), key=lambda pair: (-pair[1], pair[0]))
        ],
        stranded=None if reasons is None else sum(each.devices for each in reasons if each.code != "not-wanted"),
        reasons=reasons or [],
        most_on_one_node=most,
        node=next((node for node, number in on_nodes.items() if number == most), ""),
    )


def _still_idle(view: View, seen: _SeenPool) -> list[PoolDevice]:
    if seen.parts:
        left = PoolRemainder(view, seen.pool)
        return [device for device in seen.idle.values() if left.state(device)[0] == "Available"]
    state = view.state
    return [device for name, device in seen.idle.items() if name not in state.dedicated and name not in state.shared]


def _besides_devices(refusals: Refusals, node: str) -> Reason | None:
    """Return the first obstacle on a node other than devices, if there is any."""
    reasons = (reason for status in refusals.of_nodes[node] for reason in status.reasons)
    return next((reason for reason in reasons if not isinstance(reason.about, NoDevices)), None)


def _cause(device: PoolDevice, wants: Sequence[Want], in_the_way: Sequence[str]) -> _Cause:
    """Return why no copy uses an idle device; `in_the_way` has the obstacles by node."""
    if not any(_passes(want, device) for want in wants):
        return "not-wanted", ""
    if all(in_the_way):
        return "node", Counter(in_the_way).most_common(1)[0][0]
    return "not-enough", ""


def _passes(want: Want, device: PoolDevice) -> bool:
    try:
        return want.device_class is not None and want.selector_refusal(device) is None
    except SelectorError:
        return False


def _nearer(one: _Cause, other: _Cause) -> _Cause:
    return max(one, other, key=lambda cause: _NEARNESS.index(cause[0]))
