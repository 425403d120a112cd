"""The part of a cluster that the allocator reads, as an immutable value for one target."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from dra_plan.api.inventory import Inventory
from dra_plan.api.resource import DeviceClass, DeviceTaintRule, ResourceClaim, ResourceSlice
from dra_plan.releases import Quirk, Target

from .capacity import shared_names
from .identity import PoolID
from .kinds import KnownKinds
from .ledger import AllocatedState
from .pools import KnownPools, PoolGatherer
from .requests import ClaimRequests, RequestReader
from .search import DeviceOrder
from .taints import effective_rules

if TYPE_CHECKING:
    from dra_plan.cel import Selector


class View:
    """The classes, slices, claims and device taint rules of a cluster, for one target.

    Views are immutable. `state` has the devices that allocated claims hold. `given_rules` are all device taint rules,
    and `taint_rules` are those that apply. `device_order` replaces the published order of a node's devices. Pools,
    compiled selectors and other derived values are shared between views with the same objects.
    """

    def __init__(
        self,
        target: Target,
        *,
        classes: Mapping[str, DeviceClass],
        slices: Sequence[ResourceSlice] = (),
        claims: Sequence[ResourceClaim] = (),
        given_rules: Sequence[DeviceTaintRule] = (),
        device_order: DeviceOrder | None = None,
    ) -> None:
        self.target = target
        self.classes = classes
        self.slices = slices
        self.claims = claims
        self.given_rules = given_rules
        self.device_order = device_order
        self._compiled: dict[str, Selector] = {}
        self._retargeted: dict[Hashable, View] = {}

    @classmethod
    def of(cls, inventory: Inventory, target: Target) -> View:
        """Return the view of the input for the target. If several classes have the same name, the last one is used."""
        return cls(
            target,
            classes={device_class.metadata.name: device_class for device_class in inventory.classes},
            slices=inventory.slices,
            claims=inventory.claims,
            given_rules=inventory.taint_rules,
        )

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields that pickle copies. The other process derives everything else again."""
        return {name: getattr(self, name) for name in _PARTS}

    def __setstate__(self, parts: dict[str, Any]) -> None:
        self.__init__(**parts)  # type: ignore[misc]

    # Derived from the objects

    @cached_property
    def taint_rules(self) -> Sequence[DeviceTaintRule]:
        """The device taint rules that apply with the target."""
        return effective_rules(self.given_rules, self.target.features, self.target.quirks)

    @cached_property
    def gatherer(self) -> PoolGatherer:
        """The gatherer, which finds the pools of nodes."""
        return PoolGatherer(self.slices, self.target, self.taint_rules)

    @cached_property
    def known_pools(self) -> KnownPools:
        """The pools of nodes, cached. Views with the same gatherer share the cache."""
        return KnownPools(self.gatherer)

    @cached_property
    def device_kinds(self) -> KnownKinds:
        """The kinds of the devices in the slices."""
        return KnownKinds()

    @cached_property
    def state(self) -> AllocatedState:
        """The devices that the allocated claims hold."""
        return AllocatedState.of(self.claims, consumable_capacity=self.target.features.consumable_capacity)

    @cached_property
    def holders(self) -> Mapping[PoolID, Sequence[ResourceClaim]]:
        """The claims that hold devices of each pool, in the order of `claims`."""
        found: dict[PoolID, list[ResourceClaim]] = {}
        for claim in self.claims:
            allocation = claim.allocation
            for result in allocation.devices.results if allocation is not None else ():
                pool = result.driver, result.pool  # equal to its PoolID, and quicker to make
                held = found[pool] if pool in found else found.setdefault(PoolID(*pool), [])
                if not held or held[-1] is not claim:
                    held.append(claim)
        return found

    @cached_property
    def shared_counter_names(self) -> frozenset[str]:
        """The pool names that several drivers use, so that their pools share counters (Q1)."""
        return shared_names(self.slices) if self.target.quirks.counters_by_pool_name else frozenset()

    # Questions

    def compile(self, expression: str) -> Selector:
        """Return the compiled selector, checked by the rules for stored expressions. Raises ValueError."""
        if expression not in self._compiled:
            from dra_plan.cel import compile_selector

            target = self.target
            self._compiled[expression] = compile_selector(
                expression, kubernetes_version=target.version, feature_gates=target.gates, rules="stored"
            )
        return self._compiled[expression]

    def requests(self, claims: Iterable[ResourceClaim]) -> list[ClaimRequests]:
        """Return the claims, prepared for the search."""
        reader = RequestReader(self.classes, self.target, self.compile)
        return [reader.read(index, claim) for index, claim in enumerate(claims)]

    # Other views

    def at(self, target: Target) -> View:
        """Return the view of the same objects for another target. Equal targets get the same view."""
        if target == self.target:
            return self
        key = (target.version, target.release, tuple(target.gates.items()), target.quirks)
        if key not in self._retargeted:
            self._retargeted[key] = self._edited(target=target)
        return self._retargeted[key]

    def repaired(self, *quirks: Quirk) -> View:
        """Return this view without the named quirks or, if none is named, without any quirks."""
        return self.at(self.target.repaired(*quirks))

    def after(self, inventory: Inventory) -> View:
        """Return the view of a changed input, for the same target.

        A list that is the same Python object as before counts as unchanged. The new view shares everything derived from
        unchanged lists.
        """
        classes = {device_class.metadata.name: device_class for device_class in inventory.classes}
        now = {"slices": inventory.slices, "claims": inventory.claims, "given_rules": inventory.taint_rules}
        parts: dict[str, object] = {name: part for name, part in now.items() if part is not getattr(self, name)}
        if classes != self.classes:
            parts["classes"] = classes
        for made, needs in _DEPENDS.items():
            if not needs & parts.keys():
                getattr(self, made)
        return self._edited(**parts) if parts else self

    def with_slices(self, slices: Sequence[ResourceSlice]) -> View:
        """Return this view with other slices."""
        return self._edited(slices=slices)

    def with_classes(self, classes: Mapping[str, DeviceClass]) -> View:
        """Return this view with other device classes, given by name."""
        return self._edited(classes=classes)

    def with_claims(self, claims: Sequence[ResourceClaim]) -> View:
        """Return this view with other claims. Devices of allocated claims are in use."""
        return self._edited(claims=claims)

    def with_rules(self, rules: Sequence[DeviceTaintRule]) -> View:
        """Return this view with other device taint rules."""
        return self._edited(given_rules=rules)

    def ordered(self, device_order: DeviceOrder | None) -> View:
        """Return this view with the devices of a node in another order."""
        return self if device_order is self.device_order else self._edited(device_order=device_order)

    def with_state(self, state: AllocatedState) -> View:
        """Return this view with the devices in `state` in use, instead of those that its claims hold.

        The new view has no claims and no holders; the caller keeps the state up to date. Its pools are shared with this
        view.
        """
        other = self._edited(claims=())
        other.__dict__.update(state=state, gatherer=self.gatherer, device_kinds=self.device_kinds)
        return other

    def _edited(self, **parts: object) -> View:
        """Return a view with other parts.

        Derived parts that depend only on unchanged parts are carried over if they have been computed.
        """
        whole: dict[str, Any] = {name: parts.get(name, getattr(self, name)) for name in _PARTS}
        other = type(self)(**whole)
        changed = {name for name in parts if name != "target"} | _changes(self.target, other.target)
        for made, needs in _DEPENDS.items():
            if made in self.__dict__ and not needs & changed:
                other.__dict__[made] = self.__dict__[made]
        if "gates" not in changed:
            other._compiled = self._compiled
        return other


def _changes(old: Target, new: Target) -> set[str]:
    """Return the aspects that differ between the targets and that derived parts depend on."""
    found = set()
    if (old.version, old.gates) != (new.version, new.gates):
        found.add("gates")
    if (old.features, old.rules, old.quirks) != (new.features, new.rules, new.quirks):
        found.add("rules")
    if old.features.consumable_capacity != new.features.consumable_capacity:
        found.add("shares")
    return found


_PARTS = ("target", "classes", "slices", "claims", "given_rules", "device_order")

_DEPENDS = {
    "taint_rules": {"rules", "given_rules"},
    "gatherer": {"rules", "given_rules", "slices"},
    "known_pools": {"rules", "given_rules", "slices"},
    "device_kinds": {"rules", "given_rules", "slices"},
    "state": {"shares", "claims"},
    "holders": {"claims"},
    "shared_counter_names": {"rules", "slices"},
}
"""The inputs of each derived part: parts of the view, and the results of `_changes` for the target."""
