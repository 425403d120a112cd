"""A cluster made ready for questions: what the allocator needs, made once and shared by all claim sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dra_plan.allocator import AllocatedState, PoolGatherer, View
from dra_plan.api.core import Node
from dra_plan.api.inventory import Inventory
from dra_plan.api.notice import Notice
from dra_plan.api.resource import DeviceTaintRule
from dra_plan.errors import InputError, UsageError
from dra_plan.releases import Quirk, Target


class Cluster:
    """An inventory and its view under one target, for explanations, which also read what no allocator looks at."""

    def __init__(self, inventory: Inventory, target: Target, view: View | None = None) -> None:
        self.inventory, self.target = inventory, target
        self.view = View.of(inventory, target) if view is None else view

    @property
    def state(self) -> AllocatedState:
        """The devices in use."""
        return self.view.state

    @property
    def taint_rules(self) -> Sequence[DeviceTaintRule]:
        """The device taint rules that count."""
        return self.view.taint_rules

    @property
    def gatherer(self) -> PoolGatherer:
        """Finds the pools of nodes."""
        return self.view.gatherer

    def retargeted(self, target: Target) -> Cluster:
        """The same input as another target sees it."""
        return Cluster(self.inventory, target, self.view.at(target))

    def repaired(self, *quirks: Quirk) -> Cluster:
        """The cluster as the target would see it without the named defects; without any name, without all."""
        return self.retargeted(self.target.repaired(*quirks))


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
