"""Edits to a cluster, and the actions of controllers when pods leave their nodes.

`Edit` is the interface. `Cordon`, `Drain`, `Evict`, `Bind` and `Without` are defined here, and `AddNodes` in
`node_copy`. Edits do not check whether anything fits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from msgspec import structs

from dra_plan.api.core import Namespace, Node, Pod, PodStatus
from dra_plan.api.inventory import Inventory, Notice
from dra_plan.api.meta import ObjectMeta
from dra_plan.api.resource import (
    ResourceClaim,
    ResourceClaimConsumerReference,
    ResourceClaimStatus,
    ResourceClaimTemplate,
    ResourceClaimTemplateSpec,
)
from dra_plan.api.well_known import UNSCHEDULABLE
from dra_plan.claims.budgets import holds
from dra_plan.claims.index import Index
from dra_plan.claims.owners import Dependents, Kinded, counts_for, ended
from dra_plan.claims.pod_claims import make_claim
from dra_plan.documents.base import AppliedEdit, ClaimName, HeldDrain, ObjectName
from dra_plan.errors import UsageError
from dra_plan.manifests import kinds
from dra_plan.manifests.kinds import Kind
from dra_plan.near import nearest


@dataclass(frozen=True)
class Edited:
    """The cluster after an edit, and what the edit did.

    Unchanged lists are shared with the inventory before the edit.
    """

    inventory: Inventory
    entry: AppliedEdit
    notices: list[Notice] = field(default_factory=list)


class Edit(Protocol):
    """A change to a cluster."""

    def apply(self, inventory: Inventory) -> Edited:
        """Return the cluster after the change, without modifying `inventory`.

        Raises UsageError if the edit can't be made.
        """


def node_named(inventory: Inventory, name: str) -> Node:
    """Return the node with this name. Raises UsageError for an unknown name, with a suggestion if a name is similar."""
    for node in inventory.nodes:
        if node.metadata.name == name:
            return node
    raise unknown("node", name, (node.metadata.name for node in inventory.nodes))


def unknown(what: str, name: str, known: Iterable[str]) -> UsageError:
    """Return an error for an unknown name, with a suggestion if a known name is similar."""
    near = nearest(name, known)
    return UsageError(f"unknown {what} {name!r}" + (f" (did you mean {near!r}?)" if near else ""))


def with_node(inventory: Inventory, changed: Node) -> list[Node]:
    """Return all nodes, after replacing the node that has the name of the changed node."""
    name = changed.metadata.name
    return [changed if node.metadata.name == name else node for node in inventory.nodes]


# -- Cordon ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cordon:
    """An edit that makes a node unschedulable, as `kubectl cordon` does."""

    node: str

    def apply(self, inventory: Inventory) -> Edited:
        """Return the cluster with the node cordoned and tainted as unschedulable.

        Raises UsageError for an unknown node.
        """
        nodes = with_node(inventory, cordoned(node_named(inventory, self.node)))
        return Edited(replace(inventory, nodes=nodes), AppliedEdit(edit="Cordon", node=self.node))


def cordoned(node: Node) -> Node:
    """Return the node, marked as unschedulable and with the taint that the node controller adds."""
    taints = [taint for taint in node.spec.taints if (taint.key, taint.effect) != (UNSCHEDULABLE.key, "NoSchedule")]
    return structs.replace(node, spec=structs.replace(node.spec, unschedulable=True, taints=[*taints, UNSCHEDULABLE]))


# -- when pods leave ---------------------------------------------------------------------------------------------------
# When pods leave, generated claims are deleted, other claims are freed, and successors wait for a node, as by the
# garbage collector, the resource claim controller and workload controllers. The edits decide which pods leave, and why.

_LEFT_TO_NODES = ("DaemonSet", "Node")
"""The kinds that control pods which belong to their node, namely DaemonSet pods and static pods."""


@dataclass(frozen=True)
class Departed:
    """The cluster after some pods have left, with the effects on their claims."""

    inventory: Inventory
    claims_gone: list[ObjectName]
    deallocated: list[ClaimName]


def belongs_to_node(pod: Pod) -> bool:
    """Return whether the pod stays on its node during a drain because it is a DaemonSet pod or a static pod."""
    controller = pod.metadata.controller
    return controller is not None and controller.kind in _LEFT_TO_NODES


def depart(inventory: Inventory, pods: Sequence[Pod], index: Index | None = None) -> Departed:
    """Return the cluster after these pods have left. `index`, if given, is the index of the inventory.

    Claims that the pods control are deleted. Other claims are no longer reserved for the pods, and lose their devices
    if they are not reserved for any other pod (KEP-4381: the claim controller deallocates a claim when
    `status.reservedFor` becomes empty).
    """
    if not pods:
        return Departed(inventory, [], [])
    leaving = {(pod.metadata.namespace, pod.metadata.name) for pod in pods}
    mine = generated_claims(Index(inventory) if index is None else index, pods)
    kept: list[ResourceClaim] = []
    gone: list[ObjectName] = []
    deallocated: list[ClaimName] = []
    users = _Users(pods)
    for claim in inventory.claims:
        name = (claim.metadata.namespace, claim.metadata.name)
        if name in mine:
            gone.append(ObjectName(kind="ResourceClaim", namespace=name[0], name=name[1]))
            continue
        freed = users.freed(claim)
        if freed.allocation is None and claim.allocation is not None:
            deallocated.append(ClaimName(namespace=name[0], name=name[1]))
        kept.append(freed)
    staying = [pod for pod in inventory.pods if (pod.metadata.namespace, pod.metadata.name) not in leaving]
    same = len(kept) == len(inventory.claims) and all(a is b for a, b in zip(kept, inventory.claims, strict=True))
    after = replace(inventory, pods=staying, claims=inventory.claims if same else kept)
    return Departed(after, gone, deallocated)


def replaced(inventory: Inventory, pods: Sequence[Pod], index: Index, *, recreates: bool = False) -> Departed:
    """Return the cluster after these pods have left and their replacements, if any, have been created.

    Replacements come last in the list of pods. They are recorded as `returning`, because they may not exist
    immediately: a StatefulSet, for example, may create its pods in order. If `recreates` is set, pods without a
    controller also get replacements. `index` is the index of the inventory.
    """
    departed = depart(inventory, pods, index)
    returning = [pod for pod in pods if comes_back(pod) or (recreates and is_bare(pod))]
    after = departed.inventory
    names = {(pod.metadata.namespace, pod.metadata.name) for pod in returning}
    time, version = newest(inventory)
    heirs = [successor(pod, time, version) for pod in returning]
    after = replace(after, pods=[*after.pods, *heirs], returning=after.returning | names)
    rewritten = [claim for pod in returning for claim in claims_without_template(pod, index, successor(pod, None))]
    if rewritten:
        after = replace(after, claims=[*after.claims, *rewritten])
    return replace(departed, inventory=after)


def newest(inventory: Inventory) -> tuple[str | None, str]:
    """Return the newest creation time and the newest resource version of a pod, which a pod that is created now has."""
    time = max((pod.metadata.creation_timestamp or "" for pod in inventory.pods), default="") or None
    versions = (pod.metadata.resource_version for pod in inventory.pods)
    return time, max(versions, key=lambda one: (len(one), one), default="")


def comes_back(pod: Pod) -> bool:
    """Return whether a controller will recreate the pod if it leaves."""
    controller = pod.metadata.controller
    return controller is not None and counts_for(pod, controller.kind)


def generated_claims(index: Index, pods: Sequence[Pod]) -> set[tuple[str, str]]:
    """Return the namespaces and names of the claims that are deleted together with these pods."""
    controlled, generated = index.dependent_claims, index.generated_claims
    found = {(c.metadata.namespace, c.metadata.name) for pod in pods for c in controlled.of(pod)}
    for pod in pods:
        for entry in pod.spec.resource_claims:
            if entry.resource_claim_name is None:
                claim = generated.of(pod, entry.name)
                if claim is not None:
                    found.add((claim.metadata.namespace, claim.metadata.name))
    return found


class _Users:
    """The pods that leave, as users of claims."""

    def __init__(self, pods: Sequence[Pod]) -> None:
        self._uids = {pod.metadata.uid for pod in pods if pod.metadata.uid}
        self._names = {(pod.metadata.namespace, pod.metadata.name) for pod in pods}
        self._short = {pod.metadata.name for pod in pods}

    def freed(self, claim: ResourceClaim) -> ResourceClaim:
        """Return the claim without the pods that left. If none of these pods uses the claim, return the same object."""
        status = claim.status
        if status is None or not status.reserved_for:
            return claim
        for user in status.reserved_for:
            if user.uid in self._uids or user.name in self._short:
                break
        else:
            return claim
        users = [user for user in status.reserved_for if not self._is_leaving(user, claim.metadata.namespace)]
        if len(users) == len(status.reserved_for):
            return claim
        left = structs.replace(status, reserved_for=users) if users else ResourceClaimStatus()
        return structs.replace(claim, status=left)

    def _is_leaving(self, user: ResourceClaimConsumerReference, namespace: str) -> bool:
        if user.resource != "pods":
            return False
        return user.uid in self._uids if user.uid and self._uids else (namespace, user.name) in self._names


def successor(pod: Pod, time: str | None, version: str = "") -> Pod:
    """Return the pod that a controller creates to replace the given pod. The new pod has no node and no claims.

    The new pod keeps the old name, so that results can be compared. `time` is the creation time, and `version` the
    resource version.
    """
    metadata = structs.replace(
        pod.metadata,
        uid=f"{pod.metadata.uid}-again" if pod.metadata.uid else "",
        creation_timestamp=time,
        resource_version=version,
        deletion_timestamp=None,
    )
    spec = structs.replace(pod.spec, node_name="")
    return structs.replace(pod, metadata=metadata, spec=spec, status=PodStatus(phase="Pending"))


def claims_without_template(pod: Pod, index: Index, heir: Pod) -> list[ResourceClaim]:
    """Return the claims of the pod's replacement (`heir`) that come from templates missing from the input.

    Each has the spec of the corresponding old claim, which is the same as that of the template, because the spec of a
    claim cannot change.
    """
    made = []
    for entry in pod.spec.resource_claims:
        template = entry.resource_claim_template_name
        if template is None or index.template(pod.metadata.namespace, template) is not None:
            continue
        claim = index.generated_claims.of(pod, entry.name)
        if claim is not None:
            spec = ResourceClaimTemplateSpec(metadata=ObjectMeta(labels=claim.metadata.labels), spec=claim.spec)
            made.append(make_claim(ResourceClaimTemplate(spec=spec), heir, entry.name))
    return made


def pod_name(pod: Pod) -> ObjectName:
    """Return the pod's name as an `ObjectName`."""
    return ObjectName(kind="Pod", namespace=pod.metadata.namespace, name=pod.metadata.name)


# -- pods that only claims know ----------------------------------------------------------------------------------------
# These pods have to leave, and are known only because claims are reserved for them.

MOST_NAMED = 3
"""The maximum number of pods that a warning about missing pods names."""


def absent_pods_notice(pods: Sequence[str], event: str, node: str = "") -> Notice:
    """Return a warning that an event may affect pods that are missing from the input.

    The pods are given as NAMESPACE/NAME. The warning says how to add them to the input.
    """
    them, are, whose = ("it", "a pod", "its") if len(pods) == 1 else ("them", "pods", "their")
    rest = len(pods) - MOST_NAMED
    named = ", ".join(pods[:MOST_NAMED]) + (f" and {rest} more" if rest > 0 else "")
    return Notice(
        "pods-missing",
        (
            f"claims are reserved for {are} not in the input ({named}): the effect of {event} on "
            f"{them} is not known, and {whose} devices are treated as in use: add the output of "
            "`kubectl get pods -A -o yaml`"
        ),
        f"Node {node}" if node else "",
        brings=("pods",),
    )


# -- Drain -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Drain:
    """An edit that drains a node, as `kubectl drain --ignore-daemonsets --force` does.

    Pods with a controller are recreated as pending pods, with new claims from their templates. Pods without a
    controller are deleted. DaemonSet pods and static pods stay. Claims that are reserved for pods missing from the
    input keep their devices. The drain does not wait for disruption budgets, but the result lists those for which
    kubectl would wait.
    """

    node: str
    index: Index | None = field(default=None, repr=False, compare=False)
    """The index of the inventory to be edited, if it already exists."""

    def apply(self, inventory: Inventory) -> Edited:
        """Return the cluster after the drain. Raises UsageError for an unknown node."""
        cordoned = Cordon(self.node).apply(inventory).inventory
        leaving = [pod for pod in inventory.pods if pod.spec.node_name == self.node and not belongs_to_node(pod)]
        bare = [pod for pod in leaving if not comes_back(pod)]
        index = self.index if self.index is not None and self.index.inventory is inventory else Index(inventory)
        departed = replaced(cordoned, leaving, index)
        entry = AppliedEdit(
            edit="Drain",
            node=self.node,
            pending=[pod_name(pod) for pod in leaving if comes_back(pod)],
            gone=[*map(pod_name, bare), *departed.claims_gone],
            deallocated=departed.deallocated,
            held_by=held_by(index, leaving),
        )
        node = node_named(inventory, self.node)
        return Edited(departed.inventory, entry, _notices(node, bare, index, ("drained", "the drain")))


def _notices(node: Node, ending: Iterable[Pod], index: Index, event: tuple[str, str]) -> list[Notice]:
    """Return the warnings about bare pods that end with the node, and about pods that are known only from claims."""
    done, name = event
    notices = [bare_pod_notice(pod, f"{node.metadata.name} is {done}") for pod in ending if is_bare(pod)]
    absent = index.absent_pods.on(node)
    return [*notices, absent_pods_notice(absent, name, node.metadata.name)] if absent else notices


def held_by(index: Index, leaving: Sequence[Pod]) -> list[HeldDrain]:
    """Return the disruption budgets that make `kubectl drain` wait before it evicts these pods."""
    return [
        HeldDrain(
            namespace=hold.namespace,
            budgets=list(hold.budgets),
            allowed=hold.allowed,
            pods=[pod.metadata.name for pod in hold.pods],
        )
        for hold in holds(index, leaving)
    ]


def is_bare(pod: Pod) -> bool:
    """Return whether deleting the pod would be permanent because no controller recreates it.

    The result is False for pods that have finished or are already being deleted.
    """
    return pod.metadata.controller is None and pod.metadata.deletion_timestamp is None and not ended(pod)


def bare_pod_notice(pod: Pod, event: str) -> Notice:
    """Return a warning that an event deletes the pod permanently. `event` is a clause such as "NODE is drained"."""
    message = f"no controller recreates this pod: it is gone when {event}"
    return Notice("bare-pod-gone", message, f"Pod {pod.key}")


# -- Evict -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Evict:
    """An edit that evicts a pod. If a controller owns the pod, a pending pod with the same name replaces it.

    The eviction does not wait for disruption budgets.
    """

    namespace: str
    name: str
    index: Index | None = field(default=None, repr=False, compare=False)
    """The index of the inventory to be edited, if it already exists."""

    def apply(self, inventory: Inventory) -> Edited:
        """Return the cluster after the eviction. Raises UsageError for an unknown pod."""
        pod = pod_of(inventory, self.namespace, self.name)
        index = self.index if self.index is not None and self.index.inventory is inventory else Index(inventory)
        departed = replaced(inventory, [pod], index)
        returns = comes_back(pod)
        entry = AppliedEdit(
            edit="Evict",
            object=pod_name(pod),
            pending=[pod_name(pod)] if returns else [],
            gone=[*([] if returns else [pod_name(pod)]), *departed.claims_gone],
            deallocated=departed.deallocated,
        )
        return Edited(departed.inventory, entry)


def pod_of(inventory: Inventory, namespace: str, name: str) -> Pod:
    """Return the pod with this name. Raises UsageError if there is none."""
    for pod in inventory.pods:
        if (pod.metadata.namespace, pod.metadata.name) == (namespace, name):
            return pod
    raise unknown("Pod", name, (pod.metadata.name for pod in inventory.pods if pod.metadata.namespace == namespace))


# -- Bind --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bind:
    """An edit that binds a pod to a node and reserves the pod's claims for it. Whether the pod fits is not checked.

    `claims` contains all of the pod's claims with their allocations. They are added to the input, or replace claims of
    the same name. The status of `pod` names the pod's generated claims.
    """

    pod: Pod
    node: str
    claims: Sequence[ResourceClaim] = ()

    def apply(self, inventory: Inventory) -> Edited:
        """Return the cluster with the pod on the node. Raises UsageError for an unknown node."""
        node_named(inventory, self.node)
        key = (self.pod.metadata.namespace, self.pod.metadata.name)
        pods = [pod for pod in inventory.pods if (pod.metadata.namespace, pod.metadata.name) != key]
        spec = structs.replace(self.pod.spec, node_name=self.node)
        pods.append(structs.replace(self.pod, spec=spec, status=structs.replace(self.pod.status, phase="Running")))
        reserved = {(claim.metadata.namespace, claim.metadata.name): self._reserved(claim) for claim in self.claims}
        claims = [reserved.pop((c.metadata.namespace, c.metadata.name), c) for c in inventory.claims]
        after = replace(inventory, pods=pods, claims=[*claims, *reserved.values()])
        return Edited(after, AppliedEdit(edit="Bind", object=pod_name(self.pod), node=self.node))

    def _reserved(self, claim: ResourceClaim) -> ResourceClaim:
        status = claim.status or ResourceClaimStatus()
        metadata = self.pod.metadata
        user = ResourceClaimConsumerReference(resource="pods", name=metadata.name, uid=metadata.uid)
        if any((each.resource, each.name, each.uid) == ("pods", user.name, user.uid) for each in status.reserved_for):
            return claim
        return structs.replace(claim, status=structs.replace(status, reserved_for=[*status.reserved_for, user]))


# -- Without -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Without:
    """An edit that removes an object and everything that the garbage collector deletes with it.

    - For a pod: the claims that the pod controls
    - For a workload: the objects that the workload controls
    - For a namespace: all objects in it, even if the input has no Namespace object
    - For a node: its node-local slices and its pods, most of which controllers recreate, but not DaemonSet pods and
      static pods

    `kind` is any name that kubectl accepts for the kind. If no namespace is given, all namespaces are searched.
    """

    kind: str
    name: str
    namespace: str | None = None

    @classmethod
    def parse(cls, text: str) -> Without:
        """Parse KIND/NAME or KIND/NAMESPACE/NAME. Raises UsageError for other forms."""
        kind, *rest = text.split("/")
        if not 1 <= len(rest) <= 2 or not all((kind, *rest)):
            raise UsageError(f"{text!r} is not KIND/NAME or KIND/NAMESPACE/NAME")
        return cls(kind, rest[-1], rest[0] if len(rest) == 2 else None)

    def apply(self, inventory: Inventory) -> Edited:
        """Return the cluster without the object.

        Raises UsageError if the kind or the object is unknown, or if several namespaces have an object of this name.
        """
        target = self.target(inventory)
        doomed = [target, *_dependents(target, inventory)]
        if isinstance(target, Node):
            return self._without_node(target, doomed, inventory)
        departed = depart(inventory, [obj for obj in doomed if isinstance(obj, Pod)])
        entry = AppliedEdit(
            edit="Without",
            object=_name(target),
            gone=list(dict.fromkeys([*map(_name, doomed[1:]), *departed.claims_gone])),
            deallocated=departed.deallocated,
        )
        return Edited(_dropped(departed.inventory, doomed), entry)

    def _without_node(self, node: Node, doomed: Sequence[Kinded], inventory: Inventory) -> Edited:
        """Return the cluster after the node is lost, where its pods are deleted and recreated by their controllers."""
        returning: list[Pod] = []
        ending: list[Pod] = []
        for obj in doomed:
            if isinstance(obj, Pod):
                (returning if comes_back(obj) and not belongs_to_node(obj) else ending).append(obj)
        index = Index(inventory)
        without = depart(inventory, ending, index)
        departed = replaced(without.inventory, returning, index)
        others = [_name(obj) for obj in doomed[1:] if not isinstance(obj, Pod)]
        entry = AppliedEdit(
            edit="Without",
            object=_name(node),
            pending=[pod_name(pod) for pod in returning],
            gone=list(dict.fromkeys([*map(pod_name, ending), *others, *without.claims_gone, *departed.claims_gone])),
            deallocated=[*without.deallocated, *departed.deallocated],
        )
        notices = _notices(node, ending, index, ("removed", "the removal"))
        return Edited(_dropped(departed.inventory, doomed), entry, notices)

    def target(self, inventory: Inventory) -> Kinded:
        """Return the object to remove. Raises UsageError in the same cases as `apply`."""
        kind = kinds.named(self.kind)
        if kind is None:
            raise unknown("kind", self.kind, (known.name for known in kinds.every()))
        return self._target(kind, self._known(kind, inventory))

    def _known(self, kind: Kind, inventory: Inventory) -> Sequence[Kinded]:
        """Return the objects in the input; for namespaces, also those that only other objects name."""
        listed: Sequence[Kinded] = getattr(inventory, kind.holder)
        if kind.name != "Namespace":
            return listed
        names = {obj.metadata.name for obj in listed}
        named = {obj.metadata.namespace for obj in _namespaced(inventory)} - names
        return [*listed, *(Namespace(metadata=ObjectMeta(name=name)) for name in sorted(named) if name)]

    def _target(self, kind: Kind, objects: Sequence[Kinded]) -> Kinded:
        named = [obj for obj in objects if obj.kind == kind.name and obj.metadata.name == self.name]
        wanted = self.namespace if kind.namespaced else None
        found = [obj for obj in named if wanted in (None, obj.metadata.namespace)]
        if not found:
            known = (obj.metadata.name for obj in objects if obj.kind == kind.name)
            elsewhere = f": it is in namespace {named[0].metadata.namespace}" if named else ""
            raise UsageError(f"{unknown(kind.name, self.name, known)}{elsewhere}")
        namespaces = sorted({obj.metadata.namespace for obj in found})
        if len(namespaces) > 1:
            choice = ", ".join(f"{self.kind}/{namespace}/{self.name}" for namespace in namespaces)
            raise UsageError(f"{kind.name} {self.name!r} is in several namespaces: {choice}")
        return found[0]


def _dependents(target: Kinded, inventory: Inventory) -> Iterator[Kinded]:
    """Yield the objects deleted with the object, except pods' claims."""
    if isinstance(target, Namespace):
        yield from (obj for obj in _namespaced(inventory) if obj.metadata.namespace == target.metadata.name)
    elif isinstance(target, Node):
        name = target.metadata.name
        yield from (pod for pod in inventory.pods if pod.spec.node_name == name)
        yield from (slice_ for slice_ in inventory.slices if slice_.spec.node_name == name)
    elif not isinstance(target, Pod):
        workloads: Dependents[Kinded] = Dependents(inventory.workloads)
        pods: Dependents[Kinded] = Dependents(inventory.pods)
        waiting = [target]
        while waiting:
            controller = waiting.pop()
            yield from pods.of(controller)
            found = list(workloads.of(controller))
            yield from found
            waiting += found


def _namespaced(inventory: Inventory) -> Iterator[Kinded]:
    """Yield the objects that are in a namespace."""
    for holder in dict.fromkeys(kind.holder for kind in kinds.every() if kind.namespaced):
        yield from getattr(inventory, holder)


def _dropped(inventory: Inventory, doomed: Sequence[Kinded]) -> Inventory:
    """Return the inventory without exactly these objects; lists that had none of them are the same objects."""
    gone = {id(obj) for obj in doomed}
    holders = {kind.holder for kind in kinds.every() if any(obj.kind == kind.name for obj in doomed)}
    changed: dict[str, Any] = {
        holder: [obj for obj in getattr(inventory, holder) if id(obj) not in gone] for holder in holders
    }
    return replace(inventory, **changed)


def _name(obj: Kinded) -> ObjectName:
    return ObjectName(kind=obj.kind, namespace=obj.metadata.namespace, name=obj.metadata.name)
