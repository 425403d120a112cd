"""Why there is no room for another pod, which resource runs out first, and which changes would make room."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from msgspec import structs

from dra_plan.allocator.identity import DeviceID
from dra_plan.api.core import Node, Pod
from dra_plan.api.resource import AllocationResult, ResourceClaim
from dra_plan.api.well_known import POD_CLAIM_ANNOTATION
from dra_plan.claims.sets import ClaimSet, Owner
from dra_plan.documents.base import ClaimName
from dra_plan.documents.obstacles import CopyObstacle, DevicesInUse, NextCopy, NodeShortage, ShortResource
from dra_plan.documents.reasons import LeadingReason
from dra_plan.documents.suggestions import SuggestedChange, TriedChanges
from dra_plan.planner import pools
from dra_plan.scheduler.attempts import PodRecord
from dra_plan.scheduler.cluster.keys import pod_uid
from dra_plan.scheduler.cluster.pod_requests import PODS, amount_text
from dra_plan.scheduler.framework import plugin_names
from dra_plan.scheduler.framework.status import NoDevices, Obstacle, ResourceShort, Status
from dra_plan.scheduler.refusals import Refusals
from dra_plan.scheduler.simulation import Simulation

if TYPE_CHECKING:
    from dra_plan.explanation.explainer import SetExplanation


MOST_NODES = 50
"""The maximum number of nodes that are examined closely."""


def next_copy(
    simulation: Simulation,
    refused: PodRecord,
    found: Refusals,
    copies: Mapping[str, int],
    max_steps: int | None,
    own: Set[str] = frozenset(),
) -> NextCopy:
    """Explain why the next copy of a pod was rejected. `copies` is the number of copies on each node.

    The simulation is not changed. No suggestion releases the devices of a copy or edits the copied pods' own claims,
    whose keys are in `own`.
    """
    obstacles = _obstacles(simulation, found, copies)
    closely = _to_look_at(simulation, found, copies)
    if not closely or not (found.claims or found.allocated):
        return NextCopy(
            obstacles=obstacles,
            by_node=_shortages(simulation, found, copies, {}),
            looked_at=0,
            nodes=len(found.of_nodes),
            ran_out=[],
            leading=[],
            in_use=[],
            suggestions=[],
        )
    return _explained(simulation, refused, found, copies, obstacles, closely, max_steps, own)


# -- the filters' answers ----------------------------------------------------------------------------------------------


@dataclass
class _Nodes:
    """The nodes that share one reason, and the subject of the reason on each node."""

    nodes: dict[str, Obstacle | None] = field(default_factory=dict)
    alone: list[str] = field(default_factory=list)


class ResourceHolder(NamedTuple):
    """How much of a resource is left on a node, and which pod would have to leave so that another copy fits.

    `pod` and `used` are "" if there is no such pod.
    """

    node: str
    resource: str
    left: str
    pod: str = ""
    used: str = ""


def holder_on(simulation: Simulation, node: str, short: ResourceShort) -> ResourceHolder:
    """Return how much of the resource is left on the node, and the pod that uses most of it.

    Only pods in the input are considered, not copies. The pod is named only if its removal makes room for another copy.
    """
    there = set(map(pod_uid, simulation.inventory.pods))
    resource, left = short.resource, amount_text(short.resource, short.left)
    pods = [each for each in simulation.cluster.nodes[node].pods.values() if each.uid in there]
    largest = max(pods, key=lambda each: each.placed_requests.get(resource, 0), default=None)
    used = largest.placed_requests.get(resource, 0) if largest is not None else 0
    if largest is None or resource == PODS or short.left + used < short.asked:
        return ResourceHolder(node, resource, left)
    return ResourceHolder(node, resource, left, largest.pod.key, amount_text(resource, used))


def _obstacles(simulation: Simulation, found: Refusals, copies: Mapping[str, int]) -> list[CopyObstacle]:
    seen: dict[tuple[str, str], _Nodes] = {}
    for node, statuses in found.of_nodes.items():
        reasons = [(status.plugin, reason) for status in statuses for reason in status.reasons]
        for plugin, reason in reasons:
            known = seen.setdefault((plugin, reason.text), _Nodes())
            known.nodes[node] = reason.about
            if len(reasons) == 1:
                known.alone.append(node)
    made = [_obstacle(simulation, plugin, message, where, copies) for (plugin, message), where in seen.items()]
    return sorted(made, key=lambda one: (-one.nodes_with_copies, -one.other_nodes))


def _obstacle(
    simulation: Simulation, plugin: str, message: str, where: _Nodes, copies: Mapping[str, int]
) -> CopyObstacle:
    holding = sum(node in copies for node in where.nodes)
    kind, need, holder = "Other", "", ResourceHolder("", "", "")
    match next(iter(where.nodes.values())):
        case ResourceShort(resource, asked):
            node = max(where.alone or where.nodes, key=lambda name: _left(where.nodes[name]))
            kind, need = "Resource", amount_text(resource, asked)
            holder = holder_on(simulation, node, ResourceShort(resource, asked, _left(where.nodes[node])))
        case NoDevices():
            kind = "Devices"
    return CopyObstacle(
        plugin=plugin,
        kind=kind,
        resource=holder.resource,
        message=message,
        nodes_with_copies=holding,
        other_nodes=len(where.nodes) - holding,
        alone=len(where.alone),
        need=need,
        left=holder.left,
        node=holder.node,
        pod=holder.pod,
        used=holder.used,
    )


def _left(obstacle: Obstacle | None) -> int:
    return obstacle.left if isinstance(obstacle, ResourceShort) else 0


def _shortages(
    simulation: Simulation, found: Refusals, copies: Mapping[str, int], reasons: Mapping[str, LeadingReason]
) -> list[NodeShortage]:
    """Return what each node lacks. `reasons` are those about devices, for the nodes that were examined."""
    alike: dict[_Lack, list[str]] = {}
    for at, node in enumerate(sorted(found.of_nodes, key=lambda name: -copies.get(name, 0))):
        closely = at < MOST_NODES
        lack = _lack(simulation, node, found.of_nodes[node], copies.get(node, 0), reasons.get(node), closely=closely)
        alike.setdefault(lack, []).append(node)
    made = [
        NodeShortage(
            nodes=nodes,
            copies=copied,
            devices=structs.replace(devices, nodes=len(nodes)) if devices is not None else None,
            resources=list(resources),
            messages=list(messages),
        )
        for (copied, devices, resources, messages), nodes in alike.items()
    ]
    return sorted(made, key=lambda one: one.devices is not None and one.devices.code == "no-devices")


_Lack = tuple[int, LeadingReason | None, tuple[ShortResource, ...], tuple[str, ...]]
"""The number of copies on a node, the reason about devices, the resources that are short, and other messages."""


def _lack(
    simulation: Simulation,
    node: str,
    statuses: Sequence[Status],
    copies: int,
    devices: LeadingReason | None,
    *,
    closely: bool,
) -> _Lack:
    resources: list[ShortResource] = []
    messages: list[str] = []
    lacks_devices = False
    for reason in (reason for status in statuses for reason in status.reasons):
        match reason.about:
            case ResourceShort(resource, asked) as short if closely:
                on = holder_on(simulation, node, short)
                need = amount_text(resource, asked)
                resources.append(ShortResource(resource=resource, need=need, left=on.left, pod=on.pod, used=on.used))
            case NoDevices() if devices is not None:
                lacks_devices = True
            case _:
                messages.append(reason.text)
    return copies, devices if lacks_devices else None, tuple(resources), tuple(messages)


# -- devices -----------------------------------------------------------------------------------------------------------


def _to_look_at(simulation: Simulation, found: Refusals, copies: Mapping[str, int]) -> list[Node]:
    """Return some nodes with device obstacles, if possible nodes without any other obstacles.

    Nodes with copies come first, and nodes without devices of their own last.
    """
    refusing = {name: statuses for name, statuses in found.of_nodes.items() if _is_about_devices(statuses)}
    alone = [name for name, statuses in refusing.items() if len(statuses) == 1]
    chosen = alone or list(refusing)
    local = simulation.cluster.view.gatherer.local_slices
    nodes = simulation.cluster.nodes
    equipped = [name for name in chosen if name not in copies and local(name)]
    bare = [name for name in chosen if name not in copies and not local(name)]
    holding = [name for name in chosen if name in copies]
    some = _spread(holding, MOST_NODES)
    some += _spread(equipped, MOST_NODES - len(some))
    some += _spread(bare, MOST_NODES - len(some))
    return [nodes[name].node for name in some]


def _is_about_devices(statuses: Sequence[Status]) -> bool:
    return any(status.plugin == plugin_names.DYNAMIC_RESOURCES for status in statuses)


def _spread(names: list[str], most: int) -> list[str]:
    """Return at most this many of the names, spread evenly."""
    if most <= 0:
        return []
    step = -(-len(names) // most) or 1
    return names[::step]


def _explained(
    simulation: Simulation,
    refused: PodRecord,
    found: Refusals,
    copies: Mapping[str, int],
    obstacles: list[CopyObstacle],
    nodes: Sequence[Node],
    max_steps: int | None,
    own: Set[str],
) -> NextCopy:
    from dra_plan.explanation import document, explainer
    from dra_plan.explanation.document import leading_by_node, leading_reasons, of_nodes

    cluster = simulation.cluster
    claims = tuple(cluster.claims.seen())
    others = {claim.key for claim in simulation.inventory.claims} - own
    view = cluster.view.with_claims(claims)
    metadata = refused.pod.metadata
    claim_set = ClaimSet(
        owner=Owner("Pod", metadata.namespace, metadata.name), claims=found.claims, allocated=found.allocated
    )
    suggests = len(found.of_nodes[nodes[0].metadata.name]) == 1
    asked = explainer.explain_refusing(
        view,
        simulation.inventory,
        claim_set,
        nodes,
        max_steps=max_steps,
        suggests=suggests,
        kept=[claim for claim in claims if claim.key not in others],
    )
    told, refusing = asked.told, asked.answers
    holding = [(node, answer) for node, answer in refusing if node.metadata.name in copies]
    given = {claim.key for claim in simulation.inventory.claims}
    made = [claim for claim in found.claims if claim.key not in given]
    return NextCopy(
        obstacles=obstacles,
        by_node=_shortages(simulation, found, copies, dict(leading_by_node(told.groups))),
        looked_at=len(refusing),
        nodes=len(found.of_nodes),
        ran_out=of_nodes(view, claim_set, [node for node, _ in holding], [answer for _, answer in holding]),
        leading=leading_reasons(told.groups),
        in_use=_in_use(told, copies, _held(simulation.inventory.claims, claims)),
        suggestions=[_of_templates(document.suggestion(one), refused.pod, made) for one in told.suggestions],
        sought=suggests,
        own_claims=len(own),
    )


def _of_templates(tried: TriedChanges, pod: Pod, claims: Iterable[ResourceClaim]) -> TriedChanges:
    """Return the changes, with the templates of the pod's generated claims that are not in the input."""
    templates = {entry.name: entry.resource_claim_template_name for entry in pod.spec.resource_claims}
    made_from = {
        claim.key: template
        for claim in claims
        if (template := templates.get((claim.metadata.annotations or {}).get(POD_CLAIM_ANNOTATION, "")))
    }
    return structs.replace(tried, changes=[_of_template(change, made_from) for change in tried.changes])


def _of_template(change: SuggestedChange, made: Mapping[str, str]) -> SuggestedChange:
    claim: ClaimName | None = getattr(change, "claim", None)
    template = made.get(f"{claim.namespace}/{claim.name}") if claim is not None else None
    if claim is None or template is None:
        return change
    return structs.replace(change, claim=structs.replace(claim, template=template))


def _held(before: Iterable[ResourceClaim], after: Iterable[ResourceClaim]) -> set[DeviceID]:
    """Return the devices of the claims that were allocated before the count and still are."""
    kept = {claim.key for claim in after if _allocation(claim) is not None}
    allocations = (_allocation(claim) for claim in before if claim.key in kept)
    return {
        DeviceID(result.driver, result.pool, result.device)
        for allocation in allocations
        if allocation is not None
        for result in allocation.devices.results
        if not result.admin_access
    }


def _allocation(claim: ResourceClaim) -> AllocationResult | None:
    return claim.status.allocation if claim.status is not None else None


def _in_use(told: SetExplanation, copies: Container[str], held: Set[DeviceID]) -> list[DevicesInUse]:
    """Return the devices in use for which the requests' selectors are true, most common first.

    Those that are not `held` since before the count are in use by copies only.
    """
    from dra_plan.explanation.funnel import wanted

    found: dict[DeviceID, pools.DeviceKind] = {}
    holding: set[DeviceID] = set()
    for offer in (offer for group in told.groups for offer in group.offers if offer is not None):
        for funnel in offer.funnels:
            for removal in (removal for removal in funnel.removals if removal.step == "in-use"):
                devices = {device.id: pools.kind(device) for device in wanted(offer, funnel.want, removal.devices)}
                found |= devices
                if offer.placement.node.metadata.name in copies:
                    holding |= devices.keys()
    numbers, with_copies = Counter(found.values()), Counter(found[device] for device in holding)
    by_copies = Counter(kind for device, kind in found.items() if device not in held)
    return [
        DevicesInUse(
            driver=kind.driver,
            model=kind.model,
            profile=kind.profile,
            devices=devices,
            on_nodes_with_copies=with_copies[kind],
            by_copies=by_copies[kind],
        )
        for kind, devices in sorted(numbers.items(), key=lambda pair: (-pair[1], pair[0]))
    ]
