"""`explain`: the changes that would remove an obstacle on nodes: of the pod, its workload, a node or a device class.

A taint is tolerated or removed, a node uncordoned or labelled, a label selected differently or not required, an
affinity term given more namespaces, less of a resource requested; a workload whose pods only partly find nodes gets
fewer pods. `remedies` tries them with the whole scheduler.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

from msgspec import Struct, structs

from dra_plan.api.core import Node, Pod, Toleration
from dra_plan.api.inventory import Inventory
from dra_plan.api.resource import DeviceClass
from dra_plan.api.selectors import selector_text
from dra_plan.api.well_known import (
    CONTROL_PLANE,
    HOSTNAME,
    IMPLICIT_PREFIX,
    INSTANCE_TYPE,
    NODE_ROLE,
    REGION,
    UNSCHEDULABLE,
    WINDOWS_BUILD,
    ZONE,
)
from dra_plan.api.workloads import CronJob, CustomWorkload, Job
from dra_plan.cel.parts import strings
from dra_plan.claims.index import owner_of
from dra_plan.claims.owners import ended, wanted
from dra_plan.claims.sets import Owner
from dra_plan.documents.devices import TaintName
from dra_plan.documents.node_obstacles import NodeObstacle, RefusingNodes
from dra_plan.documents.suggestions import (
    AffinityNamespacesAdded,
    DevicesRepaired,
    NodeAdded,
    NodeAwaited,
    NodeLabelled,
    NodeRequirementDropped,
    NodeRequirementsMerged,
    NodeSelectorChanged,
    NodeTaintMet,
    NodeUncordoned,
    ObjectPatch,
    PatchOperation,
    PodRuleRelaxed,
    ReplicasLowered,
    ResourceLowered,
    ResourceRenamed,
    ResourceServed,
    SuggestedChange,
)
from dra_plan.documents.verdicts import LabelConflict, OwnerVerdict
from dra_plan.errors import UsageError
from dra_plan.explanation.suggest import patches
from dra_plan.explanation.suggest.admissions import is_of_condition, may_recover
from dra_plan.near import misspelt
from dra_plan.questions.explain.editing import EditSpec, OwnedPods, edited
from dra_plan.questions.explain.peaks import asked_of, containers_ask, overhead_of, peak, pod_level
from dra_plan.questions.explain.spec_edits import (
    asking_for_label,
    asking_for_other,
    asking_for_other_label,
    honoring_taints,
    lowering,
    merging_requirements,
    near_pods_in,
    preferring_distance,
    requiring,
    spreading_anyway,
    with_domains,
    without_port,
    without_requirement,
)
from dra_plan.questions.explain.vendors import same_family, vendor_of
from dra_plan.scheduler.cluster.pod_requests import amount_text, amounts
from dra_plan.scheduler.plugins.node_affinity import required_terms

MOST_RENAMED = 2
"""The number of other resources of one family that might be requested."""


MOST_CLASSES = 2
"""The number of device classes that might serve a resource."""


_WORDS = re.compile(r"[^\W_]+")


_LEAST_CPU, _LEAST = Fraction(1, 4), Fraction(1, 3)
"""The shares to which requests for cpu, and for anything else, may be lowered: a pod with less cpu is only slower."""


_ROUND = 1 << 20
"""A mebibyte: the smallest unit for memory requests."""


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


class Remedy(Struct, frozen=True):
    """One or more changes that were found together, and the function that applies them to an input.

    If it is unknown how to apply the changes, the function returns None. `fixed` means that the changes are not
    possible on an existing pod. `patches` are the patches of a change that was found elsewhere.
    """

    told: tuple[SuggestedChange, ...]
    apply: Callable[[Inventory], Inventory | None]
    fixed: bool = False
    patches: tuple[ObjectPatch, ...] = ()


def may_be_new(one: NodeObstacle) -> bool:
    """Return whether a new node may not have this obstacle, which other pods cause."""
    return one.is_of_room or (one.devices is not None and not one.never)


def departed(inventory: Inventory, pods: Collection[str]) -> Inventory:
    """Return the input without these pods and without what they held.

    Pods are given as NAMESPACE/NAME.
    """
    if not pods:
        return inventory
    from dra_plan.whatif.edits import depart  # most inputs have no such pods, and start-up time matters

    return depart(inventory, [pod for pod in inventory.pods if pod.key in pods]).inventory


_OF_SANDBOXES = ("sandbox.gke.io/runtime",)
"""Taints of nodes that only run pods in a sandbox, whose RuntimeClass brings the toleration."""


class ObstacleRemedies:
    """A search for changes that would help one owner, obstacle by obstacle."""

    def __init__(self, inventory: Inventory, owner: Owner, pods: OwnedPods) -> None:
        self._inventory, self._owner, self._pods = inventory, owner, pods
        self._nodes = {node.metadata.name: node for node in inventory.nodes}

    def of(self, one: NodeObstacle, group: RefusingNodes) -> Iterator[Remedy]:
        """Yield the changes that would remove this obstacle on the nodes of the group."""
        node = self._nodes[group.nodes[0]]
        match one.kind:
            case "Taint":
                yield from self._taint(one, node)
            case "Cordoned":
                yield _uncordon(node.metadata.name)
            case "Label":
                changed = list(self._label(one, node))
                yield from changed
                if not any(isinstance(told, NodeSelectorChanged) for each in changed for told in each.told):
                    yield from self._not_required(one, node)
            case "Resource":
                yield from self._repaired(one, node)
                yield from self._resource(one)
            case "Spread" | "Port" | "Affinity":
                yield from self._rule(one, node)

    def _taint(self, one: NodeObstacle, node: Node) -> Iterator[Remedy]:
        taint = one.taint
        if taint is not None and may_recover(taint.key):
            yield self._recovered(node)
        if taint is None or is_of_condition(taint.key) or taint.key in _OF_SANDBOXES:
            return
        if taint.key in CONTROL_PLANE and not self._is_for_control_plane:
            return
        name = node.metadata.name
        toleration = Toleration(
            key=taint.key, operator="Equal" if taint.value else "Exists", value=taint.value, effect=taint.effect
        )
        yield from self._of_pod(
            NodeTaintMet(code="tolerate-node-taint", tainted=name, taint=taint, cron_job=self._pods.cron_job),
            lambda spec: structs.replace(spec, tolerations=[*spec.tolerations, toleration]),
        )
        if taint.key not in CONTROL_PLANE:
            yield _without_taint(name, taint)

    @cached_property
    def _is_for_control_plane(self) -> bool:
        """Whether the pod requires the label of the nodes that are reserved for the control plane."""
        spec = self._pods.spec
        required = required_terms(Pod(spec=spec)) if spec is not None else None
        terms = required.node_selector_terms if required is not None else ()
        keys = {one.key for term in terms for one in term.match_expressions if one.operator in ("In", "Exists")}
        return not (keys | {*(spec.node_selector if spec is not None else ())}).isdisjoint(CONTROL_PLANE)

    def _recovered(self, node: Node) -> Remedy:
        """Return the node without the taints that say what is wrong, and without pods that are being deleted."""
        gone = [taint for taint in node.spec.taints if may_recover(taint.key)]
        name = node.metadata.name
        kept = [each for each in node.spec.taints if each not in gone]
        after = structs.replace(node, spec=structs.replace(node.spec, taints=kept))
        leaving = [
            pod.key
            for pod in self._inventory.pods
            if pod.spec.node_name == name and pod.metadata.deletion_timestamp and not ended(pod)
        ]
        told = NodeAwaited(
            code="await-node",
            awaited=name,
            taints=[TaintName(key=each.key, value=each.value, effect=each.effect) for each in gone],
            since=min((each.time_added for each in gone if each.time_added), default=""),
            ends=leaving,
        )

        def apply(of: Inventory) -> Inventory:
            without = departed(of, leaving)
            return replace(without, nodes=[after if each is node else each for each in without.nodes])

        return Remedy((told,), apply, patches=(patches.of_node_spec(node, after), *patches.deletions(leaving)))

    def one_more(self, group: RefusingNodes) -> Remedy | None:
        """Return the addition of a node like these, if other pods leave them too little room, and it would do alone."""
        about = group.about
        return _added(group.nodes[0]) if any(map(may_be_new, about)) and not any(one.never for one in about) else None

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
                yield from self._of_pod(
                    NodeSelectorChanged(code="change-node-selector", label=one.label, from_=wanted_value, to=near),
                    lambda spec: asking_for_label(spec, one.label, wanted_value, near),
                    fixed=True,
                )
            return
        if one.label.startswith(_OF_PROVIDERS):
            return
        if self._pods.spec is None or self._pods.spec.runtime_class_name:
            return  # the label may be the RuntimeClass's own, and say that its runtime is installed
        there = (node.metadata.labels or {}).get(one.label)
        if there is None:  # another value says what the node is
            yield _labelled(node.metadata.name, one.label, wanted_value)
        elif any((each.metadata.labels or {}).get(one.label) in one.values for each in self._inventory.nodes):
            yield from self._of_pod(
                NodeSelectorChanged(code="use-other-nodes", label=one.label, from_=wanted_value, to=there),
                lambda spec: asking_for_label(spec, one.label, wanted_value, there),
                fixed=True,
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
        yield from self._of_pod(told, edit, fixed=True)

    def at_last(self, one: NodeObstacle, group: RefusingNodes) -> Iterator[Remedy]:
        """Yield a change to the value that the nodes have for a label, if no node has the value that the pod requires.

        The nodes may be quite different from the intended ones. The change is therefore worth trying only if nothing
        else helps.
        """
        labels = self._nodes[group.nodes[0]].metadata.labels or {}
        if one.kind != "Label" or one.operator != "In" or one.label in _OF_SYSTEM or one.label not in labels:
            return
        if any((each.metadata.labels or {}).get(one.label) in one.values for each in self._inventory.nodes):
            return
        before, there = one.values[0], labels[one.label]
        yield from self._of_pod(
            NodeSelectorChanged(code="change-node-selector", label=one.label, from_=before, to=there),
            lambda spec: asking_for_label(spec, one.label, before, there),
            fixed=True,
        )

    def merged(self, conflict: LabelConflict) -> Iterator[Remedy]:
        """Yield the change that merges requirements that exclude each other.

        The merged requirement is met by each of the values that the original requirements list.
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
        yield from self._of_pod(told, lambda of: merging_requirements(of, label), fixed=True)

    def _in_other_place(self, one: NodeObstacle, place: str) -> Iterator[Remedy]:
        """Yield another zone or region; nodes cannot change theirs."""
        before = one.values[0]
        if place and place not in one.values:
            yield from self._of_pod(
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
        yield from self._of_pod(told, lambda of: asking_for_other_label(of, label, near), fixed=True)

    def _rule(self, one: NodeObstacle, node: Node) -> Iterator[Remedy]:
        """Yield one more node, the pod's own rule about other pods as a preference, or no host port."""
        key = one.topology_key
        yield from self._one_more(one, node)
        if one.kind == "Port":
            if self._pods.spec is None or self._pods.spec.host_network:
                return  # in the host's network, every port that the process listens on is the node's
            told = PodRuleRelaxed(code="drop-host-port", port=one.port)
            yield from self._of_pod(told, lambda spec: without_port(spec, one.port, one.protocol), fixed=True)
        elif one.kind == "Spread" and (one.domain or one.nowhere):
            if one.tainted and self._pods.spec is not None and self._pods.spec.topology_spread_constraints:
                told = PodRuleRelaxed(code="honor-taints", topology_key=key)
                yield from self._of_pod(told, lambda spec: honoring_taints(spec, key), fixed=True)
            if one.domains:
                least = one.domains
                told = PodRuleRelaxed(code="lower-min-domains", topology_key=key, from_=one.min_domains, to=least)
                yield from self._of_pod(told, lambda spec: with_domains(spec, key, least), fixed=True)
            told = PodRuleRelaxed(code="relax-spread", topology_key=key)
            yield from self._of_pod(told, lambda spec: spreading_anyway(spec, key), fixed=True)
        elif one.term == "affinity" and one.elsewhere:
            yield from self._in_more_namespaces(one)
        elif one.term == "anti-affinity":
            told = PodRuleRelaxed(code="relax-anti-affinity", topology_key=key)
            yield from self._of_pod(told, lambda spec: preferring_distance(spec, key), fixed=True)

    def _in_more_namespaces(self, one: NodeObstacle) -> Iterator[Remedy]:
        """Yield the affinity term with the other namespaces that have such pods, and those that it already selects."""
        spec = self._pods.spec
        near = spec.affinity.pod_affinity if spec is not None and spec.affinity is not None else None
        terms = near.required_during_scheduling_ignored_during_execution if near is not None else ()
        for term in terms:
            if (term.topology_key, selector_text(term.label_selector)) == (one.topology_key, one.selector):
                every = sorted({*(term.namespaces or [self._owner.namespace]), *one.elsewhere})
                told = AffinityNamespacesAdded(
                    code="add-affinity-namespaces",
                    selector=one.selector,
                    topology_key=one.topology_key,
                    namespaces=every,
                )
                edit = partial(near_pods_in, key=one.topology_key, selector=one.selector, namespaces=every)
                yield from self._of_pod(told, edit, fixed=True)
                return

    def _one_more(self, one: NodeObstacle, node: Node) -> Iterator[Remedy]:
        """Yield one more node, if no pod there would be in the way: a new domain, or one more node of the emptiest."""
        if one.topology_key not in ("", HOSTNAME):
            every = self._inventory.nodes if one.emptiest else ()
            inside = (each for each in every if (each.metadata.labels or {}).get(one.topology_key) == one.emptiest)
            ready = next((each for each in inside if not (each.spec.unschedulable or each.spec.taints)), None)
            if ready is None:
                return
            node = ready
        elif one.term == "affinity":
            return
        yield _added(self._working(node).metadata.name)

    def _working(self, node: Node) -> Node:
        """Return a node like this one that works, if this one does not and there is one."""
        if not any(may_recover(taint.key) for taint in node.spec.taints):
            return node
        shape = _shape(node)
        alike = (each for each in self._inventory.nodes if _shape(each) == shape)
        return next((each for each in alike if not (each.spec.unschedulable or each.spec.taints)), node)

    def _resource(self, one: NodeObstacle) -> Iterator[Remedy]:
        """Yield the request lowered to the free amount, if that is not too little of the request."""
        if one.room == "0" and one.resource.startswith(IMPLICIT_PREFIX):
            yield from self._of_other_class(one.resource)  # only the class with this name serves it
        elif one.room == "0" and "/" in one.resource:
            yield from self._renamed(one.resource)
            yield from self._served(one.resource)
        spec, own = self._pods.spec_as_created, self._pods.spec
        if spec is None or own is None or not one.left:
            return
        need, left = amounts({one.resource: one.need})[one.resource], amounts({one.resource: one.left})[one.resource]
        whole = pod_level(spec, one.resource)
        asking = (
            [("", whole)]
            if whole is not None
            else [(container.name, asked_of(container, one.resource)) for container in peak(spec, one.resource)]
        )
        known = sum(each for _, each in asking) + overhead_of(spec, one.resource) == need
        if not asking or not known or left < (_LEAST_CPU if one.resource == "cpu" else _LEAST) * need:
            return
        name, most = max(asking, key=lambda each: each[1])
        to = most - (need - left)
        to -= to % (_ROUND if to > _ROUND and one.resource == "memory" else 1)
        if to <= 0 or (whole is not None and to < containers_ask(spec, one.resource)):
            return
        text = amount_text(one.resource, to)
        if lowering(own, name, one.resource, text) == own:
            return  # a webhook added the container to the pod
        told = ResourceLowered(
            code="lower-request", container=name, resource=one.resource, from_=amount_text(one.resource, most), to=text
        )
        yield from self._of_pod(told, lambda spec: lowering(spec, name, one.resource, text), fixed=True)

    def _repaired(self, one: NodeObstacle, node: Node) -> Iterator[Remedy]:
        """Yield all that the node has of an extended resource, if its device plugin offers less."""
        has = (node.status.capacity or {}).get(one.resource, "")
        if not one.unhealthy or not has:
            return
        name, offered = node.metadata.name, (node.status.allocatable or {}).get(one.resource, "0")
        told = DevicesRepaired(code="repair-devices", resource=one.resource, on=name, from_=str(offered), to=str(has))

        def edited(of: Node) -> Node:
            allocatable = {**(of.status.allocatable or {}), one.resource: has}
            return structs.replace(of, status=structs.replace(of.status, allocatable=allocatable))

        path = patches.pointer("status", "allocatable", one.resource)
        made = patches.of_object(("Node", "", name), "v1", [PatchOperation(op="add", path=path, value=str(has))])
        yield Remedy((told,), _on_node(name, edited), patches=(made,))

    def _renamed(self, resource: str) -> Iterator[Remedy]:
        """Yield resources that a class serves or a node has: one with a similar name, or else others of its family."""
        names = {name for node in self._inventory.nodes for name, has in node.status.allocatable.items() if has != "0"}
        there = resource in names
        names |= {one.spec.extended_resource_name for one in self._inventory.classes if one.spec.extended_resource_name}
        near = misspelt(resource, names - {resource})
        others = [near] if near is not None else [] if there else same_family(resource, names)
        for other in others[:MOST_RENAMED]:
            told = ResourceRenamed(code="rename-resource", resource=resource, to=other)
            yield from self._of_pod(told, partial(asking_for_other, resource=resource, other=other), fixed=True)

    def _of_other_class(self, resource: str) -> Iterator[Remedy]:
        """Yield the resources of existing classes whose names share words with that of a class that does not exist."""
        words = {*_WORDS.findall(resource.removeprefix(IMPLICIT_PREFIX))}
        names = sorted(one.metadata.name for one in self._inventory.classes)
        alike = {name: len(words.intersection(_WORDS.findall(name))) for name in names}
        for name in sorted(filter(alike.__getitem__, names), key=lambda each: -alike[each])[:MOST_CLASSES]:
            other = f"{IMPLICIT_PREFIX}{name}"
            told = ResourceRenamed(code="rename-resource", resource=resource, to=other)
            yield from self._of_pod(told, partial(asking_for_other, resource=resource, other=other), fixed=True)

    def _served(self, resource: str) -> Iterator[Remedy]:
        """Yield device classes that serve no resource yet, and that are about devices of the same vendor."""
        vendor = vendor_of(resource)
        free = [one for one in self._inventory.classes if not one.spec.extended_resource_name]
        for one in [one for one in free if vendor in _vendors(one)][:MOST_CLASSES]:
            told = ResourceServed(code="serve-resource", class_=one.metadata.name, resource=resource)
            yield Remedy((told,), _serving(one.metadata.name, resource))

    def fewer(self, verdict: OwnerVerdict) -> Remedy | None:
        """Return the change that lowers the workload's replicas to the number of pods that find nodes.

        Return None if there is no such change, for example for a gang, or if no pod finds a node.
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

    def _of_pod(self, told: SuggestedChange, edit: EditSpec, *, fixed: bool = False) -> Iterator[Remedy]:
        """Yield a change of the pod spec, if its location is known."""
        if self._pods.spec is not None:
            yield Remedy((told,), self._pods.editing(edit), fixed=fixed)


def _vendors(of: DeviceClass) -> set[str]:
    """Return the domains of vendors in the name and in the selectors of a class."""
    expressions = [one.cel.expression for one in of.spec.selectors if one.cel is not None]
    texts = [of.metadata.name, *(text for one in expressions for text in strings(one))]
    return {vendor for vendor in map(vendor_of, texts) if vendor}


def _serving(name: str, resource: str) -> Callable[[Inventory], Inventory]:
    def edited(of: DeviceClass) -> DeviceClass:
        return structs.replace(of, spec=structs.replace(of.spec, extended_resource_name=resource))

    return lambda of: replace(of, classes=[edited(one) if one.metadata.name == name else one for one in of.classes])


def _uncordon(name: str) -> Remedy:
    def edited(node: Node) -> Node:
        taints = [taint for taint in node.spec.taints if taint.key != UNSCHEDULABLE.key]
        return structs.replace(node, spec=structs.replace(node.spec, unschedulable=False, taints=taints))

    return Remedy((NodeUncordoned(code="uncordon-node", uncordon=name),), _on_node(name, edited))


def _shape(node: Node) -> object:
    """Return the properties in which nodes of one kind agree."""
    labels = node.metadata.labels or {}
    return node.status.allocatable, labels.get(INSTANCE_TYPE), labels.get(ZONE)


def _added(like: str) -> Remedy:
    return Remedy((NodeAdded(code="add-node", like=like),), lambda of: _with_copy(of, like))


def _with_copy(of: Inventory, like: str) -> Inventory | None:
    """Return the input with one more node like this; None if it cannot be copied."""
    from dra_plan.whatif import AddNodes  # only taken host ports need it, and start-up time matters

    try:
        return AddNodes(1, like).apply(of).inventory
    except UsageError:
        return None


def _without_taint(name: str, taint: TaintName) -> Remedy:
    def edited(node: Node) -> Node:
        kept = [each for each in node.spec.taints if (each.key, each.effect) != (taint.key, taint.effect)]
        return structs.replace(node, spec=structs.replace(node.spec, taints=kept))

    return Remedy((NodeTaintMet(code="remove-node-taint", tainted=name, taint=taint),), _on_node(name, edited))


def _labelled(name: str, label: str, value: str) -> Remedy:
    def edited(node: Node) -> Node:
        labels = {**(node.metadata.labels or {}), label: value}
        return structs.replace(node, metadata=structs.replace(node.metadata, labels=labels))

    return Remedy((NodeLabelled(code="label-node", labels={label: value}),), _on_node(name, edited))


def _on_node(name: str, edit: Callable[[Node], Node]) -> Callable[[Inventory], Inventory]:
    return lambda of: replace(of, nodes=[edit(each) if each.metadata.name == name else each for each in of.nodes])
