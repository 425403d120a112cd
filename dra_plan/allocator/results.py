"""Create the AllocationResults for the devices that a search has taken."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

from msgspec.structs import replace

from dra_plan.api.core import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from dra_plan.api.meta import QuantityText
from dra_plan.api.resource import (
    AllocationResult,
    DeviceAllocationConfiguration,
    DeviceAllocationResult,
    DeviceRequestAllocationResult,
)
from dra_plan.releases import Quirk, Target

from .capacity import Portion
from .pools import PoolDevice, PoolSlice
from .reasons import AllocationError, Cause
from .requests import ClaimRequests, Want

_NOTHING: list[Any] = []
"""One empty list shared by all results, because there are too many for a list each; frozen objects never change it."""

MOST_SELECTORS = 8192
"""The maximum number of node selectors in the cache."""


class Take(NamedTuple):
    """A device taken for a request or one of its alternatives.

    `share` is the capacity consumed if the device is allocated in shares, and None otherwise.
    """

    want: Want
    device: PoolDevice
    share: tuple[Portion, ...] | None


class ResultMaker:
    """Creates the AllocationResults of one search."""

    def __init__(self, node: str, target: Target) -> None:
        self._node = node
        self._features, self._rules, self._quirks = target.features, target.rules, target.quirks
        self._shares = 0
        self.sighted: set[Quirk] = set()

    def result(self, ready: ClaimRequests, takes: list[Take], chosen: dict[int, int]) -> AllocationResult:
        """Return the AllocationResult of a claim. `chosen` is the index of the alternative taken for each request."""
        wants = [options[chosen.get(index, 0)] for index, options in enumerate(ready.requests)]
        return AllocationResult(
            devices=DeviceAllocationResult(
                results=[self._device(take) for take in takes],
                config=[
                    self._named(config, wants)
                    for config in [*_class_configs(wants), *self._claim_configs(ready, wants)]
                ],
            ),
            node_selector=self._node_selector(ready, takes),
        )

    def _device(self, take: Take) -> DeviceRequestAllocationResult:
        want, device = take.want, take.device.device
        bound = self._features.binding_conditions
        share_id: str | None = None
        consumed: dict[str, QuantityText] | None = None
        if take.share is not None:
            self._shares += 1
            share_id = f"00000000-0000-4000-8000-{self._shares:012x}"
            consumed = {portion.name: portion.text for portion in take.share} or None
        return DeviceRequestAllocationResult(
            request=want.full_name,
            driver=take.device.id.driver,
            pool=take.device.id.pool,
            device=take.device.id.device,
            admin_access=True if want.admin else None,
            tolerations=want.tolerations if self._rules.tolerations_in_result else _NOTHING,
            binding_conditions=device.binding_conditions if bound else _NOTHING,
            binding_failure_conditions=device.binding_failure_conditions if bound else _NOTHING,
            share_id=share_id,
            consumed_capacity=consumed,
            skip_node_operations=_NOTHING,
        )

    def _claim_configs(self, ready: ClaimRequests, wants: list[Want]) -> list[DeviceAllocationConfiguration]:
        """Return the claim's own configuration; upstream repeats an entry for each request it lists (Q6)."""
        configs = []
        for config in ready.claim.spec.devices.config:
            entry = DeviceAllocationConfiguration(source="FromClaim", requests=config.requests, opaque=config.opaque)
            times = 1 if not config.requests else sum(_is_listed(want, config.requests) for want in wants)
            if times > 1:
                self.sighted.add("duplicate_claim_config")
                times = times if self._quirks.duplicate_claim_config else 1
            configs += [entry] * times
        return configs

    def _named(self, config: DeviceAllocationConfiguration, wants: list[Want]) -> DeviceAllocationConfiguration:
        """Return the configuration without its request names if they are all the requests of the claim."""
        if not self._rules.leaves_out_all_requests or not all(_is_listed(want, config.requests) for want in wants):
            return config
        return replace(config, requests=[])

    def _node_selector(self, ready: ClaimRequests, takes: list[Take]) -> NodeSelector | None:
        """Return the node selector that covers all devices together; None if they can be used everywhere."""
        alternatives = [NodeSelectorTerm()]
        for take in takes:
            name, selector = _node_fields(take.device)
            if name is not None or (self._rules.binds_to_node and take.device.device.binds_to_node):
                return _selector_of(self._node)
            terms = selector.node_selector_terms if selector is not None else []
            if len(terms) > 1:
                self.sighted.add("one_term_selectors_only")
                if self._quirks.one_term_selectors_only:
                    claim = ready.claim
                    text = (
                        f"create NodeSelector for claim {claim.metadata.name}: "
                        f"unsupported ResourceSlice.NodeSelector with {len(terms)} terms"
                    )
                    raise AllocationError(Cause("node-selector-terms", text, claim=claim.key))
            if terms:
                alternatives = [_merged(base, term) for base, term in product(alternatives, terms)]
        filled = [term for term in alternatives if term.match_fields or term.match_expressions]
        return NodeSelector(node_selector_terms=filled) if filled else None


class LateResults(Sequence[AllocationResult]):
    """The AllocationResults of one node, created when they are first read. Use them only if `can_be_late` is true."""

    def __init__(
        self,
        node: str,
        target: Target,
        claims: Sequence[ClaimRequests],
        takes: Callable[[], Sequence[list[Take]]],
        chosen: Sequence[dict[int, int]],
    ) -> None:
        self._parts = node, target, claims, takes, chosen
        self._written: list[AllocationResult] | None = None

    def _read(self) -> list[AllocationResult]:
        if self._written is None:
            node, target, claims, takes, chosen = self._parts
            maker = ResultMaker(node, target)
            self._written = [maker.result(*each) for each in zip(claims, takes(), chosen, strict=True)]
        return self._written

    def __getitem__(self, index: Any) -> Any:
        return self._read()[index]

    def __len__(self) -> int:
        return len(self._parts[2])

    def __eq__(self, other: object) -> bool:
        """Return whether the other sequence has equal results."""
        return isinstance(other, Sequence) and self._read() == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the results as a plain list, for pickle and copy."""
        return list, (self._read(),)

    def __repr__(self) -> str:
        return repr(self._read())


def can_be_late(claims: Sequence[ClaimRequests], slices: Iterable[PoolSlice]) -> bool:
    """Return whether the results can be created after the search without a different outcome.

    The claims must have no configuration, and each slice must belong to a single node. Creating the results then cannot
    fail, and no quirk affects them.
    """
    if any(ready.claim.spec.devices.config for ready in claims):
        return False
    return all(slice_.object.spec.node_name for slice_ in slices)


@lru_cache(maxsize=MOST_SELECTORS)
def _selector_of(node: str) -> NodeSelector:
    own = NodeSelectorRequirement(key="metadata.name", operator="In", values=[node])
    return NodeSelector(node_selector_terms=[NodeSelectorTerm(match_fields=[own])])


def _class_configs(wants: list[Want]) -> list[DeviceAllocationConfiguration]:
    """Return the configuration of each class once, in request order, with the names of all its requests."""
    names: dict[str, list[str]] = {}
    for want in wants:
        if want.device_class is not None:
            names.setdefault(want.device_class.metadata.name, []).append(want.full_name)
    classes = {want.device_class.metadata.name: want.device_class for want in wants if want.device_class is not None}
    return [
        DeviceAllocationConfiguration(source="FromClass", requests=requests, opaque=config.opaque)
        for name, requests in names.items()
        for config in classes[name].spec.config
    ]


def _is_listed(want: Want, requests: list[str]) -> bool:
    return want.request_name in requests or (bool(want.parent) and want.full_name in requests)


def _node_fields(device: PoolDevice) -> tuple[str | None, NodeSelector | None]:
    spec = device.slice.object.spec
    fields = device.device if spec.per_device_node_selection else spec
    return fields.node_name, fields.node_selector


def _merged(base: NodeSelectorTerm, term: NodeSelectorTerm) -> NodeSelectorTerm:
    return NodeSelectorTerm(
        match_expressions=_union(base.match_expressions, term.match_expressions),
        match_fields=_union(base.match_fields, term.match_fields),
    )


def _union(
    present: list[NodeSelectorRequirement], more: list[NodeSelectorRequirement]
) -> list[NodeSelectorRequirement]:
    """Return the requirements without duplicates: equal key, operator and set of values."""
    known = {(r.key, r.operator, frozenset(r.values)) for r in present}
    merged = list(present)
    for requirement in more:
        identity = (requirement.key, requirement.operator, frozenset(requirement.values))
        if identity not in known:
            known.add(identity)
            merged.append(requirement)
    return merged
