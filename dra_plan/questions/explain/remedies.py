"""`explain`: changes that help a pod rejected for reasons other than devices, tried with the whole scheduler.

Changes come from the obstacles on the nodes closest to fitting: a taint tolerated or removed, a node uncordoned or
labelled, another value in the node selector, less of a resource; fewer pods for a workload whose pods only partly find
nodes. `explanation.suggest` finds the changes for claims.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from typing import Any, NamedTuple

from msgspec import structs

from dra_plan.api.core import Container, Node, NodeSelectorRequirement, Pod, PodSpec, Toleration
from dra_plan.api.inventory import Inventory
from dra_plan.api.resource import DeviceClass
from dra_plan.api.well_known import CONTROL_PLANE, HOSTNAME, REGION, UNSCHEDULABLE, ZONE
from dra_plan.api.workloads import CronJob, CustomWorkload, Job
from dra_plan.claims.index import Index, owner_of
from dra_plan.claims.owners import wanted
from dra_plan.claims.sets import Owner
from dra_plan.documents.devices import TaintName
from dra_plan.documents.suggestions import (
    NodeLabelled,
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
    TriedChanges,
)
from dra_plan.documents.verdicts import NodeObstacle, OwnerVerdict, RefusingNodes
from dra_plan.explanation.suggest import patches
from dra_plan.explanation.suggest.admissions import is_of_condition, suggestion_rank
from dra_plan.manifests import kinds
from dra_plan.near import misspelt
from dra_plan.planner.carried_out import carried_out
from dra_plan.questions.explain.claim_changes import ClaimChanges
from dra_plan.questions.explain.editing import (
    CONTAINER_LISTS,
    EditSpec,
    OwnedPods,
    edited,
    found,
    spec_of,
    with_containers,
)
from dra_plan.questions.explain.peaks import asked_of, overhead_of, peak
from dra_plan.questions.explain.rules import (
    honoring_taints,
    of_rules,
    preferring_distance,
    spreading_anyway,
    without_port,
)
from dra_plan.scheduler.cluster.pod_requests import amount_text, amounts
from dra_plan.scheduler.plugins.node_affinity import required_terms

MOST_GROUPS = 4
"""The number of node kinds for which changes are tried."""


MOST_TRIALS = 8
"""The number of changes, or pairs of them, that are tried for one owner."""


MOST_NODE_TRIALS = 10_000
"""The maximum number of nodes in the clusters of all trials together."""


MOST_CLASSES = 2
"""The number of device classes that might serve a resource."""


MOST_CHANGES = 2
"""The number of changes that are tried together."""

_ROUND = 1 << 20
"""A mebibyte: the smallest unit for memory requests."""


_PLACES = (ZONE, REGION)
"""Labels for the location of a node, which nobody can change."""


_OF_PROVIDERS = (
    "cloud.google.com/",
    "eks.amazonaws.com/",
    "kubernetes.azure.com/",
    "karpenter.sh/",
    "node.cluster.x-k8s.io/",
    "node.kubernetes.io/",
    "kubernetes.io/",
    "feature.node.kubernetes.io/",
    "nvidia.com/",
)
"""Labels that node providers, kubelets and drivers set themselves: manual changes are overwritten."""


class Trial(NamedTuple):
    """The result for the owner's pods in a changed input: the node of the first that fits, and the number."""

    node: str
    bound: int
    is_whole: bool


Tries = Callable[[Inventory], Trial | None]
"""Returns the result of a changed input for the owner's pods; None if it is useless."""


@dataclass(frozen=True, slots=True)
class _Remedy:
    """A change, or several found together, and the function that applies it to an input; None if unknown.

    `fixed`: an existing pod cannot be changed in this way. `patches` are those of a change found elsewhere.
    """

    told: tuple[SuggestedChange, ...]
    apply: Callable[[Inventory], Inventory | None]
    fixed: bool = False
    patches: tuple[ObjectPatch, ...] = ()


class Remedies:
    """Finds changes that help one owner; `claims` are the changes of its claims."""

    def __init__(self, index: Index, owner: Owner, tries: Tries, claims: ClaimChanges) -> None:
        self._inventory, self._owner, self._tries, self._claims = index.inventory, owner, tries, claims
        self._pods = OwnedPods(index, owner)
        self._object = self._pods.object
        self._nodes = {node.metadata.name: node for node in self._inventory.nodes}
        self._most = min(MOST_TRIALS, MOST_NODE_TRIALS // max(1, len(self._nodes)))
        self._tried: set[tuple[str, ...]] = set()

    def found(self, verdict: OwnerVerdict) -> list[TriedChanges]:
        """Return the changes that helped; if nothing helps all of its pods, those that help some of them."""
        known = self._helping([(_carrying_out(one),) for one in self._claims.known if not one.feature_gates], verdict)
        others = self._helping(sorted(self._combinations(verdict), key=_order), verdict)
        helped = [*known, *others]
        if all(isinstance(change, ReplicasLowered) for one in helped for change in one.changes):
            helped += self._helping(sorted(self._with_claims(verdict), key=_order), verdict)
        helped += [one for one in self._claims.known if _key(one.changes) not in self._tried and verdict.is_met_by(one)]
        helped = _different([one for one in helped if not one.would_bind] or helped)
        return [one for one in helped if not any(_asks_less(one, other) for other in helped)]

    def _helping(self, combinations: Iterable[tuple[_Remedy, ...]], verdict: OwnerVerdict) -> list[TriedChanges]:
        """Return the helpful ones of these combinations, within the limit on trials."""
        helped: list[TriedChanges] = []
        left = self._most
        for remedies in combinations:
            changes = [change for one in remedies for change in one.told]
            key = _key(changes)
            if key in self._tried or left <= 0 or any({*_key(known.changes)} <= {*key} for known in helped):
                continue  # if a part of it helps, the rest is unnecessary
            before = _applied(self._inventory, [one for one in remedies if one.patches])
            changed = _applied(before, [one for one in remedies if not one.patches])
            if before is None or changed is None:
                continue
            left -= 1
            self._tried.add(key)
            trial = self._tries(changed)
            if trial is not None and (trial.is_whole or trial.bound > verdict.would_bind):
                made = [patch for one in remedies for patch in one.patches]
                made += self._of_owner(changed, fixed=any(one.fixed for one in remedies))
                made += [*_of_nodes(before, changed), *_of_classes(before, changed)]
                some = 0 if trial.is_whole else trial.bound
                helped.append(TriedChanges(changes=changes, node=trial.node, patches=made, would_bind=some))
        return helped

    def _combinations(self, verdict: OwnerVerdict) -> Iterator[tuple[_Remedy, ...]]:
        if 0 < verdict.would_bind < verdict.pods and (fewer := self._fewer(verdict)) is not None:
            yield (fewer,)
        kinds = 0
        for group, obstacles in self._groups(verdict):
            options = [list(self._of(one, group)) for one in obstacles] if len(obstacles) <= MOST_CHANGES else []
            if options and all(options) and kinds < MOST_GROUPS:
                kinds += 1
                yield from product(*options)

    def _with_claims(self, verdict: OwnerVerdict) -> Iterator[tuple[_Remedy, ...]]:
        """Yield changes of claims, found on nodes of one kind, with the other changes needed there."""
        for group, obstacles in islice(self._groups(verdict), MOST_GROUPS):
            rest = [one for one in obstacles if one.kind != "Devices"]
            options = [list(self._of(one, group)) for one in rest]
            if len(rest) < len(obstacles) and len(rest) < MOST_CHANGES and all(options):
                nodes = [self._nodes[name] for name in group.nodes]
                yield from product([_carrying_out(one) for one in self._claims.on(nodes)], *options)

    def _groups(self, verdict: OwnerVerdict) -> Iterator[tuple[RefusingNodes, list[NodeObstacle]]]:
        """Yield the node kinds whose obstacles are all known."""
        for group in verdict.nodes:
            obstacles = [one for reason in group.reasons for one in reason.about]
            if all(reason.about for reason in group.reasons):
                yield group, [one for one in obstacles if not self._goes_with(one, obstacles)]

    @staticmethod
    def _goes_with(one: NodeObstacle, others: Sequence[NodeObstacle]) -> bool:
        """Return whether it is the taint of a cordon, which is removed together with it."""
        return one.is_of_cordon and any(other.kind == "Cordoned" for other in others)

    def _of(self, one: NodeObstacle, group: RefusingNodes) -> Iterator[_Remedy]:
        node = self._nodes[group.nodes[0]]
        match one.kind:
            case "Taint":
                yield from self._taint(one, node)
            case "Cordoned":
                yield _uncordon(node.metadata.name)
            case "Label":
                yield from self._label(one, node)
            case "Resource":
                yield from self._resource(one)
            case "Spread" | "Port" | "Affinity":
                yield from self._rule(one)

    # The changes

    def _taint(self, one: NodeObstacle, node: Node) -> Iterator[_Remedy]:
        taint = one.taint
        if taint is None or is_of_condition(taint.key) or taint.key in CONTROL_PLANE:
            return
        name = node.metadata.name
        toleration = Toleration(
            key=taint.key, operator="Equal" if taint.value else "Exists", value=taint.value, effect=taint.effect
        )
        yield from self._of_pod(
            NodeTaintMet(code="tolerate-node-taint", tainted=name, taint=taint),
            lambda spec: structs.replace(spec, tolerations=[*spec.tolerations, toleration]),
        )
        yield _without_taint(name, taint)

    def _label(self, one: NodeObstacle, node: Node) -> Iterator[_Remedy]:
        if one.operator != "In" or one.label in ("metadata.name", HOSTNAME):
            return
        wanted_value, near = one.values[0], one.near
        if one.label in _PLACES:
            yield from self._in_other_place(one, near or (node.metadata.labels or {}).get(one.label, ""))
            return
        if near:  # do not label nodes for a misspelt selector
            if not one.found and any(near in (each.metadata.labels or {}) for each in self._inventory.nodes):
                yield from self._relabelled(one.label, near, wanted_value)
            elif any(each.value == near for each in one.found):
                yield from self._of_pod(
                    NodeSelectorChanged(code="change-node-selector", label=one.label, from_=wanted_value, to=near),
                    lambda spec: _asking_for_label(spec, one.label, wanted_value, near),
                    fixed=True,
                )
            return
        if one.label.startswith(_OF_PROVIDERS):
            return
        if self._pods.spec is None or self._pods.spec.runtime_class_name:
            return  # the label may be the RuntimeClass's own, and say that its runtime is installed
        if one.label not in (node.metadata.labels or {}):  # another value says what the node is
            yield _labelled(node.metadata.name, one.label, wanted_value)

    def _in_other_place(self, one: NodeObstacle, place: str) -> Iterator[_Remedy]:
        """Yield another zone or region; nodes cannot change theirs."""
        before = one.values[0]
        if place and place not in one.values:
            yield from self._of_pod(
                NodeSelectorChanged(code="change-node-selector", label=one.label, from_=before, to=place),
                lambda spec: _asking_for_label(spec, one.label, before, place),
                fixed=True,
            )

    def _relabelled(self, label: str, near: str, value: str) -> Iterator[_Remedy]:
        """Yield the same value of a label that nodes have, unless the pod already requires a value of that."""
        spec = self._pods.spec
        if spec is None or near in spec.node_selector:
            return
        told = NodeSelectorChanged(code="change-node-selector", label=label, from_=value, to=value, to_label=near)
        yield from self._of_pod(told, lambda of: _asking_for_other_label(of, label, near), fixed=True)

    def _rule(self, one: NodeObstacle) -> Iterator[_Remedy]:
        """Yield the pod's own rule about other pods as a preference, or the container without its host port."""
        key = one.topology_key
        if one.kind == "Port":
            if self._pods.spec is None or self._pods.spec.host_network:
                return  # in the host's network, every port that the process listens on is the node's
            told = PodRuleRelaxed(code="drop-host-port", port=one.port)
            yield from self._of_pod(told, lambda spec: without_port(spec, one.port, one.protocol), fixed=True)
        elif one.kind == "Spread" and one.domain:
            if one.tainted and self._pods.spec is not None and self._pods.spec.topology_spread_constraints:
                told = PodRuleRelaxed(code="honor-taints", topology_key=key)
                yield from self._of_pod(told, lambda spec: honoring_taints(spec, key), fixed=True)
            told = PodRuleRelaxed(code="relax-spread", topology_key=key)
            yield from self._of_pod(told, lambda spec: spreading_anyway(spec, key), fixed=True)
        elif one.term == "anti-affinity":
            told = PodRuleRelaxed(code="relax-anti-affinity", topology_key=key)
            yield from self._of_pod(told, lambda spec: preferring_distance(spec, key), fixed=True)

    def _resource(self, one: NodeObstacle) -> Iterator[_Remedy]:
        """Yield the request lowered to the free amount, if that is at least a third of the request."""
        if one.room == "0" and "/" in one.resource:
            yield from self._renamed(one.resource)
            yield from self._served(one.resource)
        spec = self._pods.spec
        if spec is None or not one.left:
            return
        need, left = amounts({one.resource: one.need})[one.resource], amounts({one.resource: one.left})[one.resource]
        asking = peak(spec, one.resource)
        own = [asked_of(container, one.resource) for container in asking]
        known = sum(own) + overhead_of(spec, one.resource) == need and spec.resources is None
        if not own or not known or 3 * left < need:
            return
        at = own.index(max(own))
        to = own[at] - (need - left)
        to -= to % (_ROUND if to > _ROUND and one.resource == "memory" else 1)
        if to <= 0:
            return
        container, text = asking[at], amount_text(one.resource, to)
        told = ResourceLowered(
            code="lower-request",
            container=container.name,
            resource=one.resource,
            from_=amount_text(one.resource, own[at]),
            to=text,
        )
        yield from self._of_pod(
            told,
            lambda spec: _lowering(spec, container.name, one.resource, text),
            fixed=True,
        )

    def _renamed(self, resource: str) -> Iterator[_Remedy]:
        """Yield the resource with a similar name that a class serves or a node has."""
        names = {name for node in self._inventory.nodes for name in node.status.allocatable}
        names |= {one.spec.extended_resource_name for one in self._inventory.classes if one.spec.extended_resource_name}
        near = misspelt(resource, names - {resource})
        if near is not None:
            told = ResourceRenamed(code="rename-resource", resource=resource, to=near)
            yield from self._of_pod(told, lambda spec: _asking_for_other(spec, resource, near), fixed=True)

    def _served(self, resource: str) -> Iterator[_Remedy]:
        """Yield device classes that serve no resource yet, those of the same domain first."""
        domain = resource.partition("/")[0]
        free = [one for one in self._inventory.classes if not one.spec.extended_resource_name]
        for one in sorted(free, key=lambda each: domain not in each.metadata.name)[:MOST_CLASSES]:
            told = ResourceServed(code="serve-resource", class_=one.metadata.name, resource=resource)
            yield _Remedy((told,), _serving(one.metadata.name, resource))

    def _fewer(self, verdict: OwnerVerdict) -> _Remedy | None:
        workload = self._object
        if workload is None or isinstance(workload, Pod | CustomWorkload | CronJob) or workload.kind == "DaemonSet":
            return None
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

        return _Remedy((told,), fewer)

    # Objects

    def _of_pod(self, told: SuggestedChange, edit: EditSpec, *, fixed: bool = False) -> Iterator[_Remedy]:
        """Yield a change of the pod spec, if its location is known."""
        if self._pods.spec is not None:
            yield _Remedy((told,), self._pods.editing(edit), fixed=fixed)

    def _of_owner(self, changed: Inventory, *, fixed: bool) -> Iterator[ObjectPatch]:
        """Yield the patch of the owner, if it differs."""
        before, after = self._object, found(changed, self._owner)
        if before is None or after is None or before == after:
            return
        kind = kinds.named(before.kind)
        specs = spec_of(before), spec_of(after)
        made = list(_of_replicas(before, after))
        if kind is not None and specs[0] is not None and specs[1] is not None:
            made += _of_spec(specs[0], specs[1], patches.pointer(*kind.pod_spec))
        recreate = bool(made) and (
            (isinstance(before, Job) and specs[0] != specs[1]) or (fixed and isinstance(before, Pod))
        )
        yield patches.of_object(owner_of(before), before.api_version, made, recreate=recreate)


def _of_nodes(before: Inventory, changed: Inventory) -> Iterator[ObjectPatch]:
    for old, new in zip(before.nodes, changed.nodes, strict=True):
        if old is not new:
            yield from _of_node(old, new)


def _of_classes(before: Inventory, changed: Inventory) -> Iterator[ObjectPatch]:
    for old, new in zip(before.classes, changed.classes, strict=True):
        if old is not new:
            path, name = "/spec/extendedResourceName", new.spec.extended_resource_name
            made = [PatchOperation(op="add", path=path, value=name)]
            yield patches.of_object(("DeviceClass", "", new.metadata.name), new.api_version, made)


def _serving(name: str, resource: str) -> Callable[[Inventory], Inventory]:
    def edited(of: DeviceClass) -> DeviceClass:
        return structs.replace(of, spec=structs.replace(of.spec, extended_resource_name=resource))

    return lambda of: replace(of, classes=[edited(one) if one.metadata.name == name else one for one in of.classes])


def _of_spec(before: PodSpec, after: PodSpec, path: str) -> Iterator[PatchOperation]:
    """Yield the differences of pods changed here; members that may contain defaults are written as a whole."""
    for label, value in after.node_selector.items():
        if before.node_selector.get(label) != value:
            op = "replace" if label in before.node_selector else "add"
            yield PatchOperation(op=op, path=path + patches.pointer("nodeSelector", label), value=value)
    for label in sorted(before.node_selector.keys() - after.node_selector.keys()):
        yield PatchOperation(op="remove", path=path + patches.pointer("nodeSelector", label))
    yield from _of_terms(before, after, path)
    yield from of_rules(before, after, path)
    new = [_plain(each) for each in after.tolerations[len(before.tolerations) :]]
    if new and not before.tolerations:
        yield PatchOperation(op="add", path=f"{path}/tolerations", value=new)
    else:
        yield from (PatchOperation(op="add", path=f"{path}/tolerations/-", value=each) for each in new)
    for field, name in CONTAINER_LISTS.items():
        lists = [getattr(spec, name) for spec in (before, after)]
        for at, (had, has) in enumerate(zip(*lists, strict=True)):
            for member in ("requests", "limits"):
                asked = getattr(has.resources, member)
                if asked != getattr(had.resources, member):
                    yield PatchOperation(op="add", path=f"{path}/{field}/{at}/resources/{member}", value=dict(asked))


def _asking_for_label(spec: PodSpec, label: str, before: str, after: str) -> PodSpec:
    """Return the spec with another value of a label, in its node selector and its required terms."""
    if spec.node_selector.get(label) == before:
        spec = structs.replace(spec, node_selector={**spec.node_selector, label: after})

    def asks(one: NodeSelectorRequirement) -> NodeSelectorRequirement:
        values = [after if value == before else value for value in one.values]
        return structs.replace(one, values=values) if (one.key, one.operator) == (label, "In") else one

    return _with_requirements(spec, asks)


def _asking_for_other_label(spec: PodSpec, label: str, other: str) -> PodSpec:
    """Return the spec with another label instead of this one, in its node selector and its required terms."""
    selector = {other if key == label else key: value for key, value in spec.node_selector.items()}

    def asks(one: NodeSelectorRequirement) -> NodeSelectorRequirement:
        return structs.replace(one, key=other) if one.key == label else one

    return _with_requirements(structs.replace(spec, node_selector=selector), asks)


def _with_requirements(spec: PodSpec, asks: Callable[[NodeSelectorRequirement], NodeSelectorRequirement]) -> PodSpec:
    """Return the spec with each requirement of its required terms edited."""
    required = required_terms(Pod(spec=spec))
    if required is None or spec.affinity is None or spec.affinity.node_affinity is None:
        return spec
    terms = [
        structs.replace(term, match_expressions=list(map(asks, term.match_expressions)))
        for term in required.node_selector_terms
    ]
    near = structs.replace(
        spec.affinity.node_affinity,
        required_during_scheduling_ignored_during_execution=structs.replace(required, node_selector_terms=terms),
    )
    return structs.replace(spec, affinity=structs.replace(spec.affinity, node_affinity=near))


def _of_terms(before: PodSpec, after: PodSpec, path: str) -> Iterator[PatchOperation]:
    """Yield the differences of the required node terms, whose number of expressions is unchanged."""
    pair = required_terms(Pod(spec=before)), required_terms(Pod(spec=after))
    if pair[0] is None or pair[1] is None:
        return
    at = f"{path}/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms"
    for number, (had, has) in enumerate(
        zip(pair[0].node_selector_terms, pair[1].node_selector_terms, strict=True),
    ):
        for place, (old, new) in enumerate(zip(had.match_expressions, has.match_expressions, strict=True)):
            there = f"{at}/{number}/matchExpressions/{place}"
            if old.key != new.key:
                yield PatchOperation(op="replace", path=f"{there}/key", value=new.key)
            if old.values != new.values:
                yield PatchOperation(op="replace", path=f"{there}/values", value=list(new.values))


def _plain(of: Toleration) -> dict[str, Any]:
    return {key: value for key, value in structs.asdict(of).items() if key != "toleration_seconds" and value}


def _of_replicas(before: Any, after: Any) -> Iterator[PatchOperation]:
    for field in ("replicas", "parallelism"):
        number = getattr(after.spec, field, None)
        if number != getattr(before.spec, field, None):
            yield PatchOperation(op="add", path=f"/spec/{field}", value=number)


def _lowering(spec: PodSpec, name: str, resource: str, to: str) -> PodSpec:
    """Return the spec in which a container, or init container, requests this amount of a resource."""
    return with_containers(spec, lambda one: _asking(one, name, resource, to))


def _asking_for_other(spec: PodSpec, resource: str, other: str) -> PodSpec:
    """Return the spec whose containers request another resource instead of this one."""

    def renamed(amounts: Mapping[str, Any]) -> dict[str, Any]:
        return {other if name == resource else name: amount for name, amount in amounts.items()}

    def asking(one: Container) -> Container:
        asked = one.resources
        if resource not in asked.requests and resource not in asked.limits:
            return one
        changed = structs.replace(asked, requests=renamed(asked.requests), limits=renamed(asked.limits))
        return structs.replace(one, resources=changed)

    return with_containers(spec, asking)


def _asking(container: Container, name: str, resource: str, to: str) -> Container:
    """Return the container of that name with another request; its limit follows where both must be equal."""
    if container.name != name:
        return container
    asked = container.resources
    limits = {**asked.limits, resource: to} if "/" in resource and resource in asked.limits else asked.limits
    return structs.replace(
        container, resources=structs.replace(asked, requests={**asked.requests, resource: to}, limits=limits)
    )


def _uncordon(name: str) -> _Remedy:
    def edited(node: Node) -> Node:
        taints = [taint for taint in node.spec.taints if taint.key != UNSCHEDULABLE.key]
        return structs.replace(node, spec=structs.replace(node.spec, unschedulable=False, taints=taints))

    return _Remedy((NodeUncordoned(code="uncordon-node", uncordon=name),), _on_node(name, edited))


def _without_taint(name: str, taint: TaintName) -> _Remedy:
    def edited(node: Node) -> Node:
        kept = [each for each in node.spec.taints if (each.key, each.effect) != (taint.key, taint.effect)]
        return structs.replace(node, spec=structs.replace(node.spec, taints=kept))

    return _Remedy((NodeTaintMet(code="remove-node-taint", tainted=name, taint=taint),), _on_node(name, edited))


def _labelled(name: str, label: str, value: str) -> _Remedy:
    def edited(node: Node) -> Node:
        labels = {**(node.metadata.labels or {}), label: value}
        return structs.replace(node, metadata=structs.replace(node.metadata, labels=labels))

    return _Remedy((NodeLabelled(code="label-node", labels={label: value}),), _on_node(name, edited))


def _on_node(name: str, edit: Callable[[Node], Node]) -> Callable[[Inventory], Inventory]:
    return lambda of: replace(of, nodes=[edit(each) if each.metadata.name == name else each for each in of.nodes])


def _of_node(before: Node, after: Node) -> Iterator[ObjectPatch]:
    """Yield the patch of a node that differs."""
    if before.spec != after.spec:
        yield patches.of_node_spec(before, after)
    if before.metadata.labels != after.metadata.labels:
        had = before.metadata.labels or {}
        new = {key: value for key, value in (after.metadata.labels or {}).items() if had.get(key) != value}
        places = [(f"/metadata/labels{patches.pointer(key)}", value) for key, value in new.items()]
        made = [PatchOperation(op="add", path=path, value=value) for path, value in places]
        if before.metadata.labels is None:
            made = [PatchOperation(op="add", path="/metadata/labels", value=new)]
        yield patches.of_object(("Node", "", before.metadata.name), "v1", made)


def _carrying_out(tried: TriedChanges) -> _Remedy:
    """Return the remedy for changes found elsewhere, with their patches."""
    made = tuple(tried.patches)
    return _Remedy(tuple(tried.changes), lambda of: carried_out(of, made), patches=made)


def _different(helped: Iterable[TriedChanges]) -> list[TriedChanges]:
    """Return the changes without those that edit the same objects in the same way as an earlier one."""
    found: dict[str, TriedChanges] = {}
    for one in helped:
        found.setdefault(repr(one.patches) if one.patches else repr(one.changes), one)
    return list(found.values())


def _asks_less(one: TriedChanges, other: TriedChanges) -> bool:
    """Return whether it only lowers a request that another suggestion lowers less."""
    if len(one.changes) > 1 or len(other.changes) > 1:
        return False
    less, more = one.changes[0], other.changes[0]
    if not isinstance(less, ResourceLowered) or not isinstance(more, ResourceLowered):
        return False
    amount = [amounts({each.resource: each.to})[each.resource] for each in (less, more)]
    return (less.container, less.resource) == (more.container, more.resource) and amount[0] < amount[1]


def _key(changes: Iterable[SuggestedChange]) -> tuple[str, ...]:
    return tuple(map(repr, changes))


def _applied(inventory: Inventory | None, remedies: Iterable[_Remedy]) -> Inventory | None:
    for remedy in remedies:
        inventory = remedy.apply(inventory) if inventory is not None else None
    return inventory


def _order(remedies: Sequence[_Remedy]) -> tuple[object, ...]:
    return suggestion_rank([change for one in remedies for change in one.told])
