"""Changes that would admit pods to excluded nodes with enough devices, tried with the scheduler's rules.

The allocator has already found that all claims fit on these nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from dra_plan.api.core import Node, Pod, Taint, Toleration
from dra_plan.api.inventory import ObjectKey
from dra_plan.api.selectors import BLOCKING, tolerates
from dra_plan.api.well_known import CONTROL_PLANE, LEAVING_TAINTS, NOT_READY, OUT_OF_SERVICE, UNSCHEDULABLE
from dra_plan.documents.cluster_changes import NodeTaintMet, NodeUncordoned
from dra_plan.documents.devices import TaintName
from dra_plan.documents.suggestions import SuggestedChange, TriedChanges

from . import patches
from .tolerations import correction

Rules = Callable[[Sequence[Node], Sequence[Pod]], Mapping[str, object]]
"""A function that returns the nodes from which the pods are excluded, by name."""

MOST_NODES = 4
"""The maximum number of nodes on which changes are tried. Each one represents all nodes with the same taints."""

MOST_CHANGES = 2

_NOT_BY_ITSELF = (UNSCHEDULABLE.key, OUT_OF_SERVICE)
"""The taints of a cordon, and of a node that an administrator gave up."""

_CONDITIONS = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/")


def is_of_condition(key: str) -> bool:
    """Return whether controllers or node agents set this taint because of the node's condition.

    They do so if the node has a problem, is starting, or is being removed. Tolerating or removing the taint would not
    help.
    """
    return key.startswith(_CONDITIONS) or key in LEAVING_TAINTS or key.endswith(NOT_READY)


def may_recover(key: str) -> bool:
    """Return whether this taint is removed when the node works again, so that it helps to repair the node."""
    return is_of_condition(key) and key not in (*LEAVING_TAINTS, *_NOT_BY_ITSELF)


def suggestion_rank(changes: Sequence[SuggestedChange]) -> tuple[object, ...]:
    """Return a key for sorting suggestions.

    Single changes come first, and other suggestions are sorted by their least plausible change. Suggestions with
    tolerations for control plane nodes come last.
    """
    reserved = any(isinstance(change, NodeTaintMet) and change.taint.key in CONTROL_PLANE for change in changes)
    return reserved, len(changes), sorted((patches.rank(change) for change in changes), reverse=True)


class Tolerating(Struct, frozen=True):
    """Where the pods' tolerations are defined: the object, its API version, and the path in the object."""

    key: ObjectKey
    version: str
    path: str
    tolerations: tuple[Toleration, ...]
    recreate: bool = False
    """Whether the API server rejects all changes to the tolerations."""


class NodeOpening(Struct, frozen=True):
    """Changes that were tried and that admit the pods to the node."""

    told: TriedChanges

    @property
    def rank(self) -> tuple[object, ...]:
        """The rank of the changes among all suggestions."""
        return suggestion_rank(self.told.changes)


class _Change(Struct, frozen=True):
    told: SuggestedChange
    node: Callable[[Node], Node] | None = None
    tolerating: Callable[[Sequence[Toleration]], list[Toleration]] | None = None


class AdmissionSearch:
    """Tries changes on nodes that exclude pods. If a cordon is removed, the taint of the cordon is removed too.

    `failing` are excluded nodes on which the allocator would end the whole scheduling attempt with an error. A change
    that opens one of these nodes to the pods is not suggested. `every` are all nodes, whose taints show which
    tolerations are in use.
    """

    def __init__(
        self, rules: Rules, cordon: Taint, pods: Sequence[Pod], failing: Sequence[Node], every: Sequence[Node]
    ) -> None:
        self._rules, self._cordon, self._pods, self._failing = rules, cordon, list(pods), list(failing)
        self._every = every
        self.tried = 0

    def found(self, nodes: Sequence[Node], tolerating: Sequence[Tolerating]) -> Iterator[NodeOpening]:
        """Yield the changes that admit the pods to the nodes.

        Tolerations are tried only if `tolerating` says where they are defined.
        """
        seen: set[tuple[object, ...]] = set()
        for node in nodes:
            taints = self._untolerated(node)
            kind = (node.spec.unschedulable, *((taint.key, taint.value, taint.effect) for taint in taints))
            if kind in seen or len(seen) == MOST_NODES:
                continue
            seen.add(kind)
            for changes in self._changes(node, taints, tolerating):
                if self._helps(node, changes):
                    yield self._admission(node, changes, tolerating, self._others(node, nodes, changes))

    def _others(self, first: Node, nodes: Sequence[Node], changes: Sequence[_Change]) -> list[str]:
        """Return a few further nodes that a correction of a toleration opens: it is meant for all of them."""
        if any(change.told.code != "correct-toleration" for change in changes):
            return []
        others = (node for node in nodes if node is not first and self._helps(node, changes))
        return [node.metadata.name for node in islice(others, MOST_CHANGES)]

    def _untolerated(self, node: Node) -> list[Taint]:
        """Return the taints that keep one of the pods away, except that of the cordon."""
        blocking = [
            taint for taint in node.spec.taints if taint.effect in BLOCKING and not self._is_cordons(node, taint)
        ]
        return [taint for taint in blocking if not all(_tolerated(taint, pod) for pod in self._pods)]

    def _is_cordons(self, node: Node, taint: Taint) -> bool:
        return node.spec.unschedulable and (taint.key, taint.effect) == (self._cordon.key, self._cordon.effect)

    def _changes(self, node: Node, taints: list[Taint], tolerating: Sequence[Tolerating]) -> Iterator[list[_Change]]:
        first = [self._uncordon(node)] if node.spec.unschedulable else []
        needed = len(first) + len(taints)
        if not 1 <= needed <= MOST_CHANGES or any(is_of_condition(taint.key) for taint in taints):
            return
        if tolerating and taints:
            yield [*first, *(self._tolerate(node, taint, tolerating) for taint in taints)]
        yield [*first, *(_remove(node, taint) for taint in taints)]

    def _tolerate(self, node: Node, taint: Taint, tolerating: Sequence[Tolerating]) -> _Change:
        """Return the correction of the pods' only toleration that is meant for the taint, or else one more."""
        found = correction(tolerating[0].tolerations, taint, self._every) if len(tolerating) == 1 else None
        if found is None:
            return _tolerate(node, taint)
        from_, to = found.values
        met = replace(_met("correct-toleration", node, taint), field=found.field, from_=from_, to=to)
        return _Change(met, tolerating=found.made)

    def _uncordon(self, node: Node) -> _Change:
        def apply(old: Node) -> Node:
            kept = [taint for taint in old.spec.taints if not self._is_cordons(node, taint)]
            return replace(old, spec=replace(old.spec, unschedulable=False, taints=kept))

        return _Change(uncordoning(node), node=apply)

    def _helps(self, node: Node, changes: Sequence[_Change]) -> bool:
        """Return whether the changes admit the pods to the node, and to no node that fails."""
        self.tried += 1
        is_edited = any(change.tolerating is not None for change in changes)
        pods = [
            replace(pod, spec=replace(pod.spec, tolerations=_edited(pod.spec.tolerations, changes)))
            for pod in self._pods
        ]
        if self._rules([_applied(node, changes)], pods):
            return False
        return not is_edited or len(self._rules(self._failing, pods)) == len(self._failing)

    def _admission(
        self, node: Node, changes: Sequence[_Change], tolerating: Sequence[Tolerating], others: list[str]
    ) -> NodeOpening:
        made, changed = [], _applied(node, changes)
        if changed is not node:
            made.append(patches.of_node_spec(node, changed))
        for at in tolerating:
            after = _edited(at.tolerations, changes)
            recreate = at.recreate or (at.key[0] == "Pod" and after[: len(at.tolerations)] != [*at.tolerations])
            if after != [*at.tolerations]:
                made.append(
                    patches.of_tolerations(at.key, at.version, at.path, at.tolerations, after, recreate=recreate)
                )
        told = [change.told for change in changes]
        return NodeOpening(TriedChanges(changes=told, node=node.metadata.name, also_on=others, patches=made))


def uncordoning(node: Node) -> NodeUncordoned:
    """Return the change that uncordons a node."""
    return NodeUncordoned(code="uncordon-node", uncordon=node.metadata.name, upgrade=_upgrade(node))


def _upgrade(node: Node) -> str:
    """Return the label with which an operator says how far the upgrade of a driver is, unless it is done."""
    states = [(key, value) for key, value in sorted((node.metadata.labels or {}).items()) if key.endswith(_UPGRADE)]
    return next((f"{key}={value}" for key, value in states if value and value != _UPGRADED), "")


_UPGRADE, _UPGRADED = "-driver-upgrade-state", "upgrade-done"
"""The end of the label of operators that cordon nodes for a new driver, and its value when they are done."""


def _tolerated(taint: Taint, pod: Pod) -> bool:
    return any(tolerates(toleration, taint) for toleration in pod.spec.tolerations)


def _tolerate(node: Node, taint: Taint) -> _Change:
    toleration = Toleration(
        key=taint.key, operator="Equal" if taint.value else "Exists", value=taint.value, effect=taint.effect
    )
    return _Change(_met("tolerate-node-taint", node, taint), tolerating=lambda before: [*before, toleration])


def _edited(tolerations: Sequence[Toleration], changes: Sequence[_Change]) -> list[Toleration]:
    """Return the tolerations after the changes."""
    found = list(tolerations)
    for change in changes:
        if change.tolerating is not None:
            found = change.tolerating(found)
    return found


def _remove(node: Node, taint: Taint) -> _Change:
    def apply(old: Node) -> Node:
        return replace(old, spec=replace(old.spec, taints=[each for each in old.spec.taints if each != taint]))

    return _Change(_met("remove-node-taint", node, taint), node=apply)


def _met(code: str, node: Node, taint: Taint) -> NodeTaintMet:
    name = TaintName(key=taint.key, value=taint.value, effect=taint.effect)
    return NodeTaintMet(code=code, tainted=node.metadata.name, taint=name)


def _applied(node: Node, changes: Sequence[_Change]) -> Node:
    for change in changes:
        if change.node is not None:
            node = change.node(node)
    return node
