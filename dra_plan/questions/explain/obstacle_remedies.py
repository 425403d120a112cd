"""`explain`: changes to the pod, its workload, a node or a device class that would remove an obstacle on nodes.

A taint is tolerated, another label value is selected, a label is no longer required, or a workload gets fewer pods.
Changes to nodes are in `node_changes`, to requests in `resource_remedies`, and to rules about other pods in
`rule_remedies`. `remedies` tries them with the whole scheduler.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

from msgspec import structs

from dra_plan.api.core import Node, Pod, Toleration
from dra_plan.api.inventory import Inventory
from dra_plan.api.selectors import is_int64
from dra_plan.api.well_known import (
    CONTROL_PLANE,
    HOSTNAME,
    NODE_ROLE,
    REGION,
    WINDOWS_BUILD,
    ZONE,
)
from dra_plan.api.workloads import CronJob, CustomWorkload, Job
from dra_plan.claims.index import owner_of
from dra_plan.claims.owners import wanted
from dra_plan.claims.sets import Owner
from dra_plan.documents.cluster_changes import (
    NodeBoundMoved,
    NodeRequirementDropped,
    NodeRequirementsMerged,
    NodeSelectorChanged,
    NodeTaintMet,
    ReplicasLowered,
)
from dra_plan.documents.devices import TaintName
from dra_plan.documents.node_obstacles import NodeObstacle, RefusingNodes
from dra_plan.documents.verdict_parts import LabelConflict
from dra_plan.documents.verdicts import OwnerVerdict
from dra_plan.explanation.suggest.admissions import is_of_condition, may_recover
from dra_plan.explanation.suggest.tolerations import correction
from dra_plan.questions.explain.editing import OwnedPods, Remedy, edited
from dra_plan.questions.explain.node_changes import (
    added,
    labelled,
    recovered,
    repaired,
    uncordoned,
    without_taint,
)
from dra_plan.questions.explain.resource_remedies import ResourceRemedies
from dra_plan.questions.explain.rule_remedies import RuleRemedies
from dra_plan.questions.explain.spec_edits import (
    asking_for_label,
    asking_for_other_label,
    merging_requirements,
    requiring,
    with_bound,
    without_requirement,
)
from dra_plan.scheduler.plugins.node_affinity import required_terms

_PLACES = (ZONE, REGION)
"""Labels for the location of a node, which nobody can change."""


_OF_SYSTEM = ("kubernetes.io/arch", "kubernetes.io/os", WINDOWS_BUILD, HOSTNAME, "metadata.name")
"""Labels whose value a program depends on, and names of nodes."""


_PLATFORMS = ("amd64", "arm", "arm64", "linux", "ppc64le", "riscv64", "s390x", "windows")
"""Values of the labels for a node's architecture and system. None of them is a misspelt other one."""


_OF_PROVIDERS = (
    "cloud.google.com/",
    "eks.amazonaws.com/",
    "kubernetes.azure.com/",
    "karpenter.sh/",
    "node.cluster.x-k8s.io/",
    "node.kubernetes.io/",
    "kubernetes.io/",
    NODE_ROLE,
    "feature.node.kubernetes.io/",
    "nvidia.com/",
)
"""Labels that node providers, kubelets and drivers set themselves: manual changes are overwritten."""


def may_be_new(one: NodeObstacle) -> bool:
    """Return whether a new node might not have this obstacle, because other pods cause it."""
    return one.is_of_room or (one.devices is not None and not one.never)


_OF_SANDBOXES = ("sandbox.gke.io/runtime",)
"""Taints of nodes that only run pods in a sandbox, whose RuntimeClass brings the toleration."""


class ObstacleRemedies:
    """A search for changes that would help one owner, obstacle by obstacle."""

    def __init__(self, inventory: Inventory, owner: Owner, pods: OwnedPods) -> None:
        self._inventory, self._owner, self._pods = inventory, owner, pods
        self._resources, self._rules = ResourceRemedies(inventory, pods), RuleRemedies(inventory, owner, pods)
        self._nodes = {node.metadata.name: node for node in inventory.nodes}

    def of(self, one: NodeObstacle, group: RefusingNodes) -> Iterator[Remedy]:
        """Yield changes that would remove this obstacle on the nodes of the group."""
        node = self._nodes[group.nodes[0]]
        match one.kind:
            case "Taint":
                yield from self._taint(one, node)
            case "Cordoned":
                yield uncordoned(node)
            case "Label":
                changed = list(self._label(one, node))
                yield from changed
                yield from self._bound(one)
                if not any(isinstance(told, NodeSelectorChanged) for each in changed for told in each.told):
                    yield from self._not_required(one, node)
            case "Resource":
                if (healthy := repaired(one, node)) is not None:
                    yield healthy
                yield from self._resources.of(one)
            case "Spread" | "Port" | "Affinity":
                yield from self._rules.of(one, node, group.nodes)

    def _taint(self, one: NodeObstacle, node: Node) -> Iterator[Remedy]:
        taint = one.taint
        if taint is not None and may_recover(taint.key):
            yield recovered(self._inventory, node)
        if taint is None or is_of_condition(taint.key) or taint.key in _OF_SANDBOXES:
            return
        if taint.key in CONTROL_PLANE and not self._is_for_control_plane:
            return
        name = node.metadata.name
        yield from self._tolerated(taint, name)
        if taint.key not in CONTROL_PLANE:
            yield without_taint(name, taint)

    def _tolerated(self, taint: TaintName, node: str) -> Iterator[Remedy]:
        """Yield the toleration that is meant for the taint, corrected, or else one more toleration."""
        met = NodeTaintMet(code="tolerate-node-taint", tainted=node, taint=taint, cron_job=self._pods.cron_job)
        spec = self._pods.spec
        found = correction(spec.tolerations, taint, self._inventory.nodes) if spec is not None else None
        if found is not None:
            from_, to = found.values
            told = structs.replace(met, code="correct-toleration", field=found.field, from_=from_, to=to)
            yield from self._pods.changed(
                told, lambda of: structs.replace(of, tolerations=found.made(of.tolerations)), fixed=True
            )
            return
        toleration = Toleration(
            key=taint.key, operator="Equal" if taint.value else "Exists", value=taint.value, effect=taint.effect
        )
        yield from self._pods.changed(
            met, lambda spec: structs.replace(spec, tolerations=[*spec.tolerations, toleration])
        )

    @cached_property
    def _is_for_control_plane(self) -> bool:
        """Whether the pod requires the label of the nodes that are reserved for the control plane."""
        spec = self._pods.spec
        required = required_terms(Pod(spec=spec)) if spec is not None else None
        terms = required.node_selector_terms if required is not None else ()
        keys = {one.key for term in terms for one in term.match_expressions if one.operator in ("In", "Exists")}
        return not (keys | {*(spec.node_selector if spec is not None else ())}).isdisjoint(CONTROL_PLANE)

    def one_more(self, group: RefusingNodes) -> Remedy | None:
        """Return a change that adds a node like these, or None if a new node would not be enough.

        A new node can be enough only if other pods leave too little room on these nodes.
        """
        about = group.about
        return added(group.nodes[0]) if any(map(may_be_new, about)) and not any(one.never for one in about) else None

    def _label(self, one: NodeObstacle, node: Node) -> Iterator[Remedy]:
        if one.operator != "In" or one.label == "metadata.name" or (one.label == HOSTNAME and not one.near):
            return
        wanted_value, near = one.values[0], one.near
        if one.label == WINDOWS_BUILD or (one.label in _OF_SYSTEM and wanted_value in _PLATFORMS):
            return
        if one.label in _PLACES:
            yield from self._in_other_place(
                one, (near if one.found else "") or (node.metadata.labels or {}).get(one.label, "")
            )
            return
        if near:  # do not label nodes for a misspelt selector
            if not one.found and any(near in (each.metadata.labels or {}) for each in self._inventory.nodes):
                yield from self._relabelled(one.label, near, wanted_value)
            elif any(each.value == near for each in one.found):
                yield from self._pods.changed(
                    NodeSelectorChanged(code="change-node-selector", label=one.label, from_=wanted_value, to=near),
                    lambda spec: asking_for_label(spec, one.label, wanted_value, near),
                    fixed=True,
                )
            return
        there = (node.metadata.labels or {}).get(one.label)
        if there is None and one.origin is not None and one.origin.runtime_class and self._has_any(one):
            yield labelled(node.metadata.name, one.label, wanted_value, one.origin.runtime_class)
        if one.label.startswith(_OF_PROVIDERS):
            return
        if self._pods.spec is None or self._pods.spec.runtime_class_name:
            return  # the label may be the RuntimeClass's own, and say that its runtime is installed
        if there is None:  # another value says what the node is
            yield labelled(node.metadata.name, one.label, wanted_value)
        elif self._has_any(one):
            yield from self._pods.changed(
                NodeSelectorChanged(code="use-other-nodes", label=one.label, from_=wanted_value, to=there),
                lambda spec: asking_for_label(spec, one.label, wanted_value, there),
                fixed=True,
            )

    def _has_any(self, one: NodeObstacle) -> bool:
        """Return whether any node has one of the values of the label that the pod requires."""
        return any((each.metadata.labels or {}).get(one.label) in one.values for each in self._inventory.nodes)

    def _bound(self, one: NodeObstacle) -> Iterator[Remedy]:
        """Yield a bound that includes the value of the nodes, if it is exactly the one that Gt or Lt excludes."""
        if one.operator not in ("Gt", "Lt") or not any([found.value] == one.values for found in one.found):
            return
        before = one.values[0]
        if not is_int64(before):
            return
        after = str(int(before) + (-1 if one.operator == "Gt" else 1))
        told = NodeBoundMoved(code="include-bound", label=one.label, operator=one.operator, from_=before, to=after)
        yield from self._pods.changed(
            told, lambda spec: with_bound(spec, one.label, one.operator, before, after), fixed=True
        )

    def _not_required(self, one: NodeObstacle, node: Node) -> Iterator[Remedy]:
        """Yield the pod without what it requires of a label, unless a program needs it or it names the pod's node."""
        spec = self._pods.spec
        kept = one.label in (*_OF_SYSTEM, *CONTROL_PLANE) or (one.near and one.found)
        if spec is None or spec.runtime_class_name or kept:
            return
        if not (places := requiring(spec, one.label, one.operator, one.values)):
            return  # the configuration of the scheduler requires it
        told = NodeRequirementDropped(
            code="drop-node-requirement",
            label=one.label,
            operator=one.operator,
            values=one.values,
            has=(node.metadata.labels or {}).get(one.label, ""),
            places=places,
        )
        edit = partial(without_requirement, label=one.label, operator=one.operator, values=one.values)
        yield from self._pods.changed(told, edit, fixed=True)

    def at_last(self, one: NodeObstacle, group: RefusingNodes) -> Iterator[Remedy]:
        """Yield a change to a label value that the nodes have, if no node has the required value.

        The nodes may not be the intended ones, so this should be tried only if nothing else helps.
        """
        labels = self._nodes[group.nodes[0]].metadata.labels or {}
        if one.kind != "Label" or one.operator != "In" or one.label in _OF_SYSTEM or one.label not in labels:
            return
        if self._has_any(one):
            return
        before, there = one.values[0], labels[one.label]
        yield from self._pods.changed(
            NodeSelectorChanged(code="change-node-selector", label=one.label, from_=before, to=there),
            lambda spec: asking_for_label(spec, one.label, before, there),
            fixed=True,
        )

    def merged(self, conflict: LabelConflict) -> Iterator[Remedy]:
        """Yield a change that merges requirements that exclude each other into one.

        The merged requirement accepts every value that any of them lists.
        """
        spec, label = self._pods.spec, conflict.label
        required = required_terms(Pod(spec=spec)) if spec is not None else None
        if spec is None or required is None:
            return
        listed = [spec.node_selector[label]] if label in spec.node_selector else []
        for term in required.node_selector_terms:
            own = [one.values for one in term.match_expressions if (one.key, one.operator) == (label, "In")]
            listed += [value for values in own for value in values]
        told = NodeRequirementsMerged(code="merge-node-requirements", label=label, values=list(dict.fromkeys(listed)))
        yield from self._pods.changed(told, lambda of: merging_requirements(of, label), fixed=True)

    def _in_other_place(self, one: NodeObstacle, place: str) -> Iterator[Remedy]:
        """Yield another zone or region; nodes cannot change theirs."""
        before = one.values[0]
        if place and place not in one.values:
            yield from self._pods.changed(
                NodeSelectorChanged(code="change-node-selector", label=one.label, from_=before, to=place),
                lambda spec: asking_for_label(spec, one.label, before, place),
                fixed=True,
            )

    def _relabelled(self, label: str, near: str, value: str) -> Iterator[Remedy]:
        """Yield the same value of a label that nodes have, unless the pod already requires a value of that."""
        spec = self._pods.spec
        if spec is None or near in spec.node_selector:
            return
        told = NodeSelectorChanged(code="change-node-selector", label=label, from_=value, to=value, to_label=near)
        yield from self._pods.changed(told, lambda of: asking_for_other_label(of, label, near), fixed=True)

    def fewer(self, verdict: OwnerVerdict) -> Remedy | None:
        """Return a change that lowers the workload's replicas to the number of pods that find nodes.

        Returns None if this is impossible, for example for a gang, or if no pod finds a node.
        """
        workload = self._pods.object
        if workload is None or isinstance(workload, Pod | CustomWorkload | CronJob) or workload.kind == "DaemonSet":
            return None
        if self._pods.spec is not None and self._pods.spec.scheduling_group is not None:
            return None  # a gang may need all of its pods
        now = wanted(workload, ()).number
        to = now - (verdict.pods - verdict.would_bind)
        if to < 1:
            return None
        field = "parallelism" if isinstance(workload, Job) else "replicas"
        told = ReplicasLowered(code="lower-replicas", from_=now, to=to)

        def wanting(of: Any) -> Any:
            return structs.replace(of, spec=structs.replace(of.spec, **{field: to}))

        waiting = self._pods.waiting
        surplus = set(waiting[len(waiting) - (now - to) :])  # its controller deletes these first

        def fewer(of: Inventory) -> Inventory:
            made = edited(of, {self._owner}, wanting)
            return replace(made, pods=[pod for pod in made.pods if owner_of(pod) not in surplus])

        return Remedy((told,), fewer)
