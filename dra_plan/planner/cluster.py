"""A cluster made ready for questions: what the allocator needs, made once and shared by all claim sets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from dra_plan.allocator import AllocatedState, Allocator, PoolGatherer
from dra_plan.allocator.allocator import DEFAULT_MAX_STEPS
from dra_plan.allocator.requests import Selector
from dra_plan.api.core import Node
from dra_plan.api.inventory import Inventory
from dra_plan.api.notice import Notice
from dra_plan.api.resource import DeviceTaintRule, ResourceClaim
from dra_plan.errors import InputError, UsageError
from dra_plan.releases import Quirk, Target


class Cluster:
    """An inventory as one target sees it. `repaired` gives the same cluster without some of the target's defects."""

    def __init__(self, inventory: Inventory, target: Target) -> None:
        self.inventory, self.target = inventory, target
        self.classes = {device_class.metadata.name: device_class for device_class in inventory.classes}
        consumable = target.features.consumable_capacity
        self.state = AllocatedState.of(inventory.claims, consumable_capacity=consumable)
        self.taint_rules = _taint_rules(inventory, target)
        self.gatherer = PoolGatherer(inventory.slices, target.features, target.rules, target.quirks, self.taint_rules)
        self._repaired: dict[tuple[Quirk, ...], Cluster] = {}

    def allocator(
        self, claims: Iterable[ResourceClaim], *, max_steps: int | None = None, deadline: float | None = None
    ) -> Allocator:
        """An allocator for one set of claims."""
        return Allocator(
            claims,
            self.gatherer,
            self.classes,
            self.state,
            self.target,
            self.compile,
            max_steps=DEFAULT_MAX_STEPS if max_steps is None else max_steps,
            deadline=deadline,
        )

    def compile(self, expression: str) -> Selector:
        """The selector as the scheduler compiles it: by the rules for stored expressions."""
        from dra_plan.cel import compile_selector

        return compile_selector(
            expression, kubernetes_version=self.target.version, feature_gates=self.target.gates, rules="stored"
        )

    def retargeted(self, target: Target) -> Cluster:
        """The same input as another target sees it."""
        return Cluster(self.inventory, target)

    def repaired(self, *quirks: Quirk) -> Cluster:
        """The cluster as the target would see it without the named defects; without any name, without all."""
        if quirks not in self._repaired:
            self._repaired[quirks] = Cluster(self.inventory, self.target.repaired(*quirks))
        return self._repaired[quirks]


NO_NODES = (
    "the input has no Node objects, and without them nobody knows where devices are: add the output of"
    " `kubectl get nodes -o yaml`, or use --infer-nodes to take the node names from the slices"
)


def with_nodes(inventory: Inventory, *, infer: bool) -> tuple[Inventory, list[Notice]]:
    """The inventory, with nodes made from the slices' node names if it has none and `infer` is set.

    Raises InputError when it has none otherwise.
    """
    if inventory.nodes:
        return inventory, []
    if not infer:
        raise InputError(NO_NODES)
    from dra_plan.manifests.infer import infer_nodes

    nodes, notices = infer_nodes(inventory)
    if not nodes:
        raise InputError("the input has no Node objects, and its slices name no node")
    return replace(inventory, nodes=nodes), notices


def choose_nodes(nodes: Sequence[Node], names: Sequence[str] | None) -> list[Node]:
    """The named nodes, in input order; all of them without names. Raises UsageError for an unknown name."""
    if not names:
        return list(nodes)
    known = {node.metadata.name for node in nodes}
    unknown = [name for name in names if name not in known]
    if unknown:
        import difflib

        near = difflib.get_close_matches(unknown[0], sorted(known), n=1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise UsageError(f"unknown node {unknown[0]!r}{hint}: the input has {len(known)} nodes")
    wanted = set(names)
    return [node for node in nodes if node.metadata.name in wanted]


def _taint_rules(inventory: Inventory, target: Target) -> list[DeviceTaintRule]:
    """The rules that count. One without a selector taints everything upstream, and nothing once repaired (E1)."""
    if not target.features.device_taint_rules:
        return []
    if target.quirks.absent_device_selector_matches_all:
        return inventory.taint_rules
    return [rule for rule in inventory.taint_rules if rule.spec.device_selector is not None]


def taint_rule_notices(inventory: Inventory, target: Target) -> list[Notice]:
    """Defects that strike as soon as a device taint rule exists (E1, E3), and rules that the gates ignore."""
    rules = inventory.taint_rules
    if not rules:
        return []
    first = f"DeviceTaintRule {rules[0].metadata.name}"
    if not target.features.device_taint_rules:
        return [Notice("taint-rules-ignored", "device taint rules are ignored: DRADeviceTaintRules is off", first)]
    found = []
    if target.quirks.taint_rule_crashes:
        found.append(
            Notice(
                "upstream-defect",
                f"E3: kube-scheduler {target.release} crashes on the first device taint rule;"
                " the rules are applied here as they are meant",
                first,
            )
        )
    found += [
        Notice(
            "upstream-defect",
            "E1 (kubernetes#141620): a taint rule without device selector taints every device, where the API says none",
            f"DeviceTaintRule {rule.metadata.name}",
        )
        for rule in rules
        if rule.spec.device_selector is None and target.quirks.absent_device_selector_matches_all
    ]
    return found
