"""`explain`: the nodes that reject a pod, grouped by equal obstacles, each reason with its subject.

The module first finds the obstacles of the claims, node by node; then the groups. The run of the scheduler (`reasons`)
supplies the rejecting nodes and their reasons; `text/node_obstacles.py` supplies the wording.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct, field, structs

from dra_plan.allocator import NodeOutcome, Outcome
from dra_plan.api.core import Node
from dra_plan.api.inventory import Inventory
from dra_plan.api.well_known import CONTROL_PLANE, UNSCHEDULABLE
from dra_plan.claims.sets import ClaimSet, asked
from dra_plan.documents.base import PoolName
from dra_plan.documents.devices import ClaimHolder, DecidingClause, RemovedDevices
from dra_plan.documents.node_obstacles import (
    NodeObstacle,
    NodeRefusalReason,
    NodeShare,
    RefusingNodes,
    ShortAlternative,
)
from dra_plan.documents.reasons import LeadingReason, NotTogether, UnreadyPod
from dra_plan.documents.stories import AbsentName, MissingDriver, PoolElsewhere
from dra_plan.explanation.suggest.admissions import is_of_condition
from dra_plan.planner.claim_sets import ClaimSetPlan
from dra_plan.questions.explain.domains import with_useless_domains
from dra_plan.questions.explain.obstacle_details import MOST_EACH, OnNodes, blocking_pod, differing, obstacle_on
from dra_plan.questions.explain.reasons import DeviceAttempt, RunQuestion, VerdictRun
from dra_plan.scheduler.framework import plugin_names
from dra_plan.scheduler.framework.status import (
    AffinityUnmet,
    LabelUnmet,
    Obstacle,
    PortTaken,
    ResourceShort,
    SpreadUneven,
    VolumeInUse,
    VolumesFull,
    VolumeUnfit,
)
from dra_plan.scheduler.node_refusals import NodeRefusal, NodeRefusals

if TYPE_CHECKING:
    from dra_plan.explanation.driver_pods import DriverPods
    from dra_plan.explanation.funnel import Funnel, NodeOffer
    from dra_plan.explanation.groups import NodeGroup


MANY = 1_000_000
"""A placeholder for an unknown number of devices."""


MOST_NODES = 50
"""The number of nodes of one attempt that are examined closely."""

MOST_POOLS = 4
"""The number of invalid or incomplete pools that are named."""

ABOUT_POOLS = ("invalid-pools", "invalid-pool", "all-and-broken-pool", "pool-unusable")
"""The obstacles that invalid or incomplete pools cause."""

MOST_NEAREST = 10
"""The number of nodes of a group, nearest first, on which devices that are in use are looked for."""

_KINDS = ("selector", "pool")
"""Checks that remove devices of another kind, or devices that are unknown."""


class DeviceReason(NamedTuple):
    """The reason why a pod's claims do not fit on a node.

    `taken_before` means that the claims would fit, but pods before this pod take the devices. `request` is the name of
    the failing request, and `most` is the maximum number of devices for this request if nothing were allocated. `offer`
    contains the devices of the node.
    """

    leading: LeadingReason
    taken_before: bool
    most: int
    request: str = ""
    offer: NodeOffer | None = None
    group: NodeGroup | None = None
    """The node and others with the same findings."""
    attempt: DeviceAttempt | None = None
    """The attempt that the reason is about, if it is known."""

    def together(self) -> NotTogether | None:
        """Return the requirements that cannot be met together on the node, with the values for each requirement.

        If there are no such requirements, return None.
        """
        from dra_plan.explanation.collisions import not_together

        blocking = self.group.blocking if self.group is not None else None
        if self.offer is None or blocking is None or not blocking.elements:
            return None
        made = not_together(self.offer, blocking)
        return made if self.attempt is None else self.attempt.with_served(made)

    def deciding(self, offers: Sequence[NodeOffer]) -> DecidingClause | None:
        """Return the part of a selector that is false for the most devices of `offers`.

        The offers are those of this node and of other nodes with the same leading reason. Devices in use count too.
        Return None if the part reads several values, or if no part is false.
        """
        from dra_plan.explanation.absent import decisive_parts_of
        from dra_plan.explanation.hints import clause

        if self.group is None or self.offer is None or self.leading.code != "selector-false" or self.leading.class_:
            return None
        is_group = {id(one) for one in offers} == {id(one) for one in self.group.offers}
        steps = {removal.step for offer in offers for funnel in offer.funnels for removal in funnel.removals}
        is_known = is_group and "in-use" not in steps
        parts = self.group.decisive_parts if is_known else decisive_parts_of(offers, in_use=True)
        names = [each.want.full_name for each in self.offer.funnels]
        found = [part for (at, _), each in parts.items() if names[at] == self.request for part in each]
        most = max(found, key=lambda part: part.count, default=None)
        return clause(most) if most is not None and len(most.found) == 1 and not most.error else None

    def missing_drivers(self) -> list[MissingDriver]:
        """Return the drivers whose devices the claims request, but which publish devices only for other nodes."""
        from dra_plan.explanation.driver_pods import missing_drivers

        return missing_drivers(self.offer) if self.offer is not None else []

    def pools_elsewhere(self) -> list[PoolElsewhere]:
        """Return the pools whose devices are for nodes with other labels, if this node has no devices."""
        from dra_plan.explanation.driver_pods import texts_in
        from dra_plan.explanation.suggest.node_labels import pools_elsewhere

        if self.offer is None or self.leading.code != "no-devices":
            return []
        texts = {text for funnel in self.offer.funnels for text in texts_in(funnel.want)}
        return pools_elsewhere(self.offer.placement, texts)

    def bad_pools(self) -> list[PoolName]:
        """Return the pools that end the scheduling attempt, if these pools are the reason why the claims do not fit."""
        from dra_plan.explanation.parts import pool

        if self.offer is None or self.leading.code not in ABOUT_POOLS:
            return []
        told = map(pool, self.offer.unusable)
        return [one.pool for one in told if one.code in ("pool-invalid", "pool-incomplete")][:MOST_POOLS]

    def alternatives(self) -> list[ShortAlternative]:
        """Return the other alternatives of the failing request."""
        if self.offer is None:
            return []
        requests = [each for each in self.offer.failing() if any(f.want.full_name == self.request for f in each)]
        others = [each for funnels in requests for each in funnels if each.want.full_name != self.request]
        return [
            ShortAlternative(
                request=each.want.full_name,
                need=each.need,
                left=len(each.left),
                matches=_not_rejected(each) > _of_other_kinds(self.offer, each),
            )
            for each in others
        ]

    def removed(self) -> list[RemovedDevices]:
        """Return the devices that the failing request cannot get only because they are in use.

        Such a device is allocated, or too little of it is left.
        """
        from dra_plan.explanation.parts import removal

        offer, request = self.offer, self.request
        if offer is None or self.leading.need is None:
            return []
        found = (each for each in offer.funnels if each.want.full_name == request)
        made = [removal(offer, funnel, each) for funnel in found for each in funnel.removals if each.step not in _KINDS]
        return [each for each in made if each.wanted != 0]


class DeviceReasons:
    """A look-up that says, node by node, why the claims of a pod do not fit.

    If there are many nodes, only some of them are examined, spread over all nodes. If nodes are `chosen`, only chosen
    nodes are examined.
    """

    def __init__(
        self,
        plan: ClaimSetPlan | None,
        attempt: DeviceAttempt | None,
        inventory: Inventory,
        drivers: DriverPods,
        about: RunQuestion,
        chosen: Collection[str] = (),
    ) -> None:
        self._inventory, self._drivers, self._about, self._chosen = inventory, drivers, about, chosen
        self._found: dict[str, DeviceReason] = {}
        self._plan, self._attempt = plan, attempt
        self.absent: list[AbsentName] = []
        """The values that no device has, of nodes that the claims' own explanation does not examine."""
        if plan is not None and plan.explanation is not None and not (attempt is not None and attempt.has_more):
            self._add(plan.explanation.groups, frozenset())
        self._tells_absent = plan is None or plan.explanation is None or not plan.explanation.absent
        if attempt is not None:
            self._look_at(attempt, _fitting(plan) if not attempt.has_more else frozenset())

    def of(self, node: str) -> DeviceReason | None:
        """Return the reason why the claims do not fit on the node, or None if no reason was found."""
        found = self._found.get(node)
        if found is None or self._attempt is None or found.leading.request is None:
            return found
        name = self._attempt.resource_of(found.leading.request)
        leading = structs.replace(found.leading, request=name)
        return found._replace(leading=leading, request=found.leading.request, attempt=self._attempt)

    @property
    def are_elsewhere(self) -> bool:
        """Return whether any claim has devices that a node cannot reach."""
        return any(found.leading.code == "claim-elsewhere" for found in self._found.values())

    def not_ready(self, node: Node) -> tuple[str, UnreadyPod] | None:
        """Return a DaemonSet's pod that is not ready on the node, and the driver to which the pod belongs, or None.

        The driver is "" if the pod's claims do not need the driver.
        """
        found = self._found.get(node.metadata.name)
        return self._drivers.unready_on(found.offer if found is not None else None, node)

    def _add(self, groups: Iterable[NodeGroup], fitting: frozenset[str]) -> None:
        from dra_plan.explanation.document import leading_reasons

        for group in groups:
            most = _most(group)
            for reason in leading_reasons([group]):
                for node, offer in zip(group.nodes, group.offers, strict=True):
                    name = node.metadata.name
                    at_most = most.get(reason.request, MANY)
                    taken = name in fitting
                    found = DeviceReason(_there(reason, offer), taken, at_most, reason.request, offer, group)
                    self._found.setdefault(name, found)

    def _look_at(self, attempt: DeviceAttempt, fitting: frozenset[str]) -> None:
        unknown = [node for node in attempt.nodes if node.metadata.name not in self._found]
        nodes = [node for node in unknown if not self._chosen or node.metadata.name in self._chosen]
        step = -(-len(nodes) // MOST_NODES) or 1
        if nodes:
            self._add(self._explained(attempt, nodes[::step]), fitting)

    def _explained(self, attempt: DeviceAttempt, nodes: Sequence[Node]) -> list[NodeGroup]:
        from dra_plan.explanation import explainer
        from dra_plan.explanation.document import absent

        claim_set = ClaimSet(claims=attempt.claims, allocated=attempt.allocated)
        told = explainer.explain_refusing(
            attempt.view,
            self._inventory,
            claim_set,
            nodes,
            max_steps=self._about.max_steps,
            known=self._about.findings.of(attempt.view, claim_set),
            answered=_answered(self._plan, attempt, nodes, self._about) if self._plan is not None else {},
        ).told
        if self._tells_absent:
            self.absent = absent(told)
        return told.groups


def _there(reason: LeadingReason, offer: NodeOffer | None) -> LeadingReason:
    """Return the reason of several nodes with the number of devices left on one of them."""
    if offer is None or reason.left is None:
        return reason
    own = next((len(each.left) for each in offer.funnels if each.want.full_name == reason.request), None)
    return reason if own is None else structs.replace(reason, left=own, left_from=None)


def _most(group: NodeGroup) -> dict[str, int]:
    """Return the maximum number of devices of a node that pass the selectors of each failing request, if known."""
    if group.offer is None or group.error is not None:
        return {}
    found: dict[str, int] = {}
    for position, funnel in enumerate(group.offer.funnels):
        most = 0
        for offer in filter(None, group.offers):
            there = offer.funnels[position]
            if (at_most := _not_rejected(there)) > most:  # others need no selector
                most = max(most, at_most - _of_other_kinds(offer, there))
        found[funnel.want.full_name] = most
    return found


def _not_rejected(funnel: Funnel) -> int:
    """Return the number of devices of a node that no selector has rejected; those in use were not checked."""
    if any(removal.step == "pool" for removal in funnel.removals):
        return MANY
    return funnel.devices - sum(len(one.devices) for one in funnel.removals if one.step == "selector")


def _of_other_kinds(offer: NodeOffer, funnel: Funnel) -> int:
    """Return the number of devices in use that would not pass the selectors."""
    from dra_plan.explanation.funnel import wanted

    in_use = [device for one in funnel.removals if one.step == "in-use" for device in one.devices]
    return len(in_use) - len(wanted(offer, funnel.want, in_use))


def _answered(
    plan: ClaimSetPlan, attempt: DeviceAttempt, nodes: Sequence[Node], about: RunQuestion
) -> dict[str, NodeOutcome]:
    """Return the plan's results on these nodes, if the attempt has the same requests in the same cluster.

    Results whose text may name a claim, and those that a deadline may have cut short, are not included.
    """
    claim_set = ClaimSet(claims=attempt.claims, allocated=attempt.allocated)
    if attempt.view is not about.view or attempt.allocated or asked(claim_set) != asked(plan.claim_set):
        return {}
    asked_for = {node.metadata.name: node for node in nodes}
    same = {name for node in about.inventory.nodes if asked_for.get(name := node.metadata.name) is node}
    plain = (Outcome.FITS, Outcome.DOES_NOT_FIT)
    return {one.node: one for one in plan.nodes if one.node in same and one.outcome in plain}


def _fitting(plan: ClaimSetPlan | None) -> frozenset[str]:
    answers = plan.nodes if plan is not None else ()
    return frozenset(answer.node for answer in answers if answer.outcome is Outcome.FITS)


class _AlikeNodes(Struct):
    nodes: list[str] = field(default_factory=list)
    refusals: list[tuple[NodeRefusal, ...]] = field(default_factory=list)


def refusing_nodes(found: NodeRefusals, of_devices: DeviceReasons, there: OnNodes) -> list[RefusingNodes]:
    """Return groups of the nodes that reject the pod. The nodes that are closest to fitting come first.

    Groups with fewer reasons come first, then groups whose devices fit, those in which devices may become free, and
    then larger groups. Nodes without any devices come after these, then nodes that are reserved for the control plane,
    or that are not ready. Nodes that the pod can never use come last.
    """
    groups: dict[Any, _AlikeNodes] = {}
    causes: dict[int, Any] = {}
    """The keys of rejections, by the rejections' identity: many nodes share them, unless a key depends on the node."""
    nodes = there.nodes
    place = {name: at for at, name in enumerate(nodes)}
    for name in sorted(found.of_nodes, key=place.__getitem__):
        refusals = found.of_nodes[name]
        if id(refusals) not in causes or _differs_by_node(refusals):
            causes[id(refusals)] = tuple(
                (each.plugin, _texts(each), _keys(each.obstacles, name, there)) for each in refusals
            )
        leading = _leading(refusals, name, of_devices)
        key = causes[id(refusals)], _key_of(leading), of_devices.not_ready(nodes[name]) if _has_none(leading) else None
        group = groups.setdefault(key, _AlikeNodes())
        group.nodes.append(name)
        group.refusals.append(refusals)
    told = [
        RefusingNodes(nodes=group.nodes, reasons=list(_reasons(group, of_devices, there))) for group in groups.values()
    ]
    told = with_useless_domains(told, nodes)
    asks = any(one.devices is not None for each in told for one in each.about)
    return sorted(told, key=lambda one: _farness(one, asks=asks))


def _farness(of: RefusingNodes, *, asks: bool) -> tuple[int, ...]:
    """Return a key that is smaller for nodes that are closer to accepting the pod; `asks` is about devices.

    Where only a volume keeps the pod from devices that fit, the volume may be what has to change.
    """
    lack, is_out = _lack(of), _is_out(of)
    fits = asks and is_out and not any(one.devices is not None or one.is_of_other_node for one in of.about)
    distance = _distance(of) + fits
    return is_out and not fits, _is_kept_free(of), lack == _NO_DEVICES, distance, lack, -len(of.nodes)


def with_priorities(of: RefusingNodes, run: VerdictRun, priority: int) -> RefusingNodes:
    """Return the nodes. If other pods leave too little room, the result says how many pods have a lower priority.

    `priority` is the priority of the rejected pod.
    """
    if not any(one.is_of_room for one in of.about):
        return of
    there = [run.priority(pod) for node in of.nodes for pod in run.pods_on(node)]
    lower = sum(each < priority for each in there)
    return structs.replace(of, lower_priority=lower, priority=None if lower else min(there, default=None))


def _distance(of: RefusingNodes) -> int:
    """Return the number of reasons; a cordon and its taint are one."""
    is_cordoned = any(one.kind == "Cordoned" for one in of.about)
    return sum(not (is_cordoned and any(one.is_of_cordon for one in reason.about)) for reason in of.reasons)


def _lack(of: RefusingNodes) -> int:
    """Return how far the nodes are: -1 if nominated pods have the room; more if devices are in use or do not match."""
    if of.about and all(one.promised for one in of.about):
        return -1
    about = [one for one in of.about if one.devices is not None]
    if any(one.devices is not None and one.devices.code == "no-devices" for one in about):
        return _NO_DEVICES
    return bool(about) + any(one.never for one in about)


_NO_DEVICES = 3
"""How far nodes are that have no devices at all."""


def _is_out(of: RefusingNodes) -> bool:
    """Return whether the pod is for other nodes: by its name, its volume, or the DaemonSet that created it."""
    return any(one.is_of_volume or one.is_of_other_node for one in of.about)


def _is_kept_free(of: RefusingNodes) -> bool:
    taints = [one.taint.key for reason in of.reasons for one in reason.about if one.taint is not None]
    return any(key in CONTROL_PLANE or (is_of_condition(key) and key != UNSCHEDULABLE.key) for key in taints)


def _texts(refusal: NodeRefusal) -> tuple[str, ...]:
    return tuple(reason.text for reason in refusal.reasons)


def _leading(refusals: Iterable[NodeRefusal], node: str, of_devices: DeviceReasons) -> DeviceReason | None:
    is_about_devices = any(each.plugin == plugin_names.DYNAMIC_RESOURCES for each in refusals)
    return of_devices.of(node) if is_about_devices else None


def _key_of(found: DeviceReason | None) -> Any:
    if found is None:
        return None
    leading = found.leading
    return leading.code, leading.class_, leading.name, leading.request, leading.need, found.taken_before


def _differs_by_node(refusals: Iterable[NodeRefusal]) -> bool:
    """Return whether the causes depend on the node too: whether its room is promised to another pod."""
    return any(isinstance(one, ResourceShort) for each in refusals for one in each.obstacles)


def _keys(obstacles: Iterable[Obstacle], node: str, there: OnNodes) -> tuple[Any, ...]:
    return tuple((_key(one, node, there), there.state_of(blocking_pod(one))) for one in obstacles)


def _key(of: Obstacle, node: str, there: OnNodes) -> Any:
    """Return the parts of an obstacle that are equal on the nodes of a group."""
    match of:
        case ResourceShort(resource, asked, _, room):
            return resource, asked, room < asked, room == 0, there.is_promised(of, node)
        case LabelUnmet(key, operator, values):
            return key, operator, values
        case PortTaken(protocol, port):
            return protocol, port
        case AffinityUnmet():
            return of.kind, of.topology_key, of.selector
        case SpreadUneven(topology_key, domain):
            return topology_key, domain is None
        case VolumeInUse(claim, disk):
            return claim, disk
        case VolumeUnfit(claim, volume, asked):
            return claim, volume, asked
        case VolumesFull(driver, asked):
            return driver, asked
    return of


# -- one group ---------------------------------------------------------------------------------------------------------


def _reasons(group: _AlikeNodes, of_devices: DeviceReasons, there: OnNodes) -> Iterator[NodeRefusalReason]:
    for place, refusal in enumerate(group.refusals[0]):
        same = [refusals[place] for refusals in group.refusals]
        own = [reason for reason in refusal.reasons if reason.about is not None]
        others = [*_of_plugin(group.nodes, refusal, same, len(own), there)]
        if refusal.plugin == plugin_names.DYNAMIC_RESOURCES:
            others += _devices(group.nodes, of_devices, there)
        for number, reason in enumerate(refusal.reasons):
            about = []
            if reason.about is not None:
                at = own.index(reason)
                made = obstacle_on([each.obstacles[at] for each in same], group.nodes, there)
                about = [] if made is None else [made]
            about += others if number == 0 else []
            yield NodeRefusalReason(plugin=refusal.plugin, message=reason.text, counted=place == 0, about=about)


def _of_plugin(
    names: Sequence[str], refusal: NodeRefusal, same: Sequence[NodeRefusal], own: int, there: OnNodes
) -> Iterator[NodeObstacle]:
    """Yield the plugin's details besides its reasons."""
    for at in range(own, len(refusal.obstacles)):
        made = obstacle_on([each.obstacles[at] for each in same], names, there)
        if made is not None:
            yield made


def _has_none(found: DeviceReason | None) -> bool:
    return found is not None and found.leading.code == "no-devices"


def _nearest(known: Sequence[DeviceReason]) -> tuple[DeviceReason, list[RemovedDevices]]:
    """Return the reason of the node with the most devices left of those where any are removed, and these devices."""
    by_left = sorted(known, key=lambda reason: -(reason.leading.left or 0))  # stable: the first node of equal ones
    for reason in by_left[:MOST_NEAREST]:
        if removed := reason.removed():
            return reason, removed
    return known[0], known[0].removed()


def _alternatives(known: Sequence[DeviceReason]) -> list[ShortAlternative]:
    """Return the other alternatives of the request that fails on all nodes, with the most that any node has."""
    best: dict[str, ShortAlternative] = {}
    for each in (each for reason in known for each in reason.alternatives()):
        other = best.setdefault(each.request, each)
        most, matches = max(other.left, each.left), other.matches or each.matches
        best[each.request] = structs.replace(other, left=most, matches=matches)
    return list(best.values())


def _shares(known: Mapping[str, DeviceReason], there: OnNodes) -> list[NodeShare]:
    """Return what each of a few nodes has left for the failing request, if they differ; the most first."""
    lefts = [reason.leading.left for reason in known.values()]
    if len(known) > MOST_EACH or None in lefts:
        return []
    nearest = sorted(known.items(), key=lambda each: -(each[1].leading.left or 0))
    return differing(
        NodeShare(node=name, left=str(reason.leading.left), removed=_with_states(reason.removed(), there))
        for name, reason in nearest
    )


def _with_states(removed: Iterable[RemovedDevices], there: OnNodes) -> list[RemovedDevices]:
    """Return the devices, whose holders name no finished pods, and say which pods are being deleted."""

    def told(one: ClaimHolder) -> ClaimHolder:
        keys = {pod: f"{one.namespace}/{pod}" for pod in one.pods}
        pods = [pod for pod, key in keys.items() if not there.has_finished(key)]
        leaving = [pod for pod in pods if keys[pod] in there.leaving]
        return structs.replace(one, pods=pods, leaving=leaving, finished=bool(one.pods) and not pods)

    return [structs.replace(one, holders=list(map(told, one.holders))) for one in removed]


def _devices(names: Sequence[str], of_devices: DeviceReasons, there: OnNodes) -> Iterator[NodeObstacle]:
    """Yield the obstacles of the claims, with the range of numbers over the nodes."""
    by_name = {name: reason for name in names if (reason := of_devices.of(name)) is not None}
    known = list(by_name.values())
    found = [reason.leading for reason in known]
    if not found:
        return
    best = max(found, key=lambda reason: reason.left or 0)
    lefts = [left for reason in found for left in (reason.left, reason.left_from) if left is not None]
    least = min(lefts, default=None)
    spread = least if least != best.left else None
    told = structs.replace(best, nodes=len(names), left_from=spread)
    most = max(reason.most for reason in known)
    short = best.need is not None and most < best.need
    drivers = known[0].missing_drivers()
    never = not known[0].taken_before and not drivers and (short or best.code == "no-devices")
    example, removed = (known[0], []) if never else _nearest(known)
    offers = [reason.offer for reason in (known if len(known) == len(names) else known[:1]) if reason.offer is not None]
    deciding = known[0].deciding(offers) if short and never and not most else None
    at = next(name for name, reason in by_name.items() if reason is example)
    together = example.together() if best.code == example.leading.code else None
    is_example = len(names) > 1 and (deciding is None or len(offers) < len(names))
    is_without = _has_none(known[0]) or bool(drivers)
    are_alike = never or together is not None or [one.code for one in removed] == ["attribute-missing"]
    driver, unready = (of_devices.not_ready(there.nodes[names[0]]) if is_without else None) or ("", None)
    yield NodeObstacle(
        kind="Devices",
        devices=told,
        taken_before=known[0].taken_before,
        removed=_with_states(removed, there),
        each=[] if are_alike or len(known) < len(names) else _shares(by_name, there),
        alternatives=_alternatives(known),
        deciding=deciding,
        on=at if is_example else "",
        together=together,
        room=str(most) if short and never else "",
        never=never,
        pools=known[0].bad_pools(),
        pools_elsewhere=known[0].pools_elsewhere(),
        missing_drivers=drivers,
        not_ready=f"{unready.pod}{f' ({unready.reason})' if unready.reason else ''}" if unready is not None else "",
        driver=driver,
    )
