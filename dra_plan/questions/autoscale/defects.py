"""Which defects of the autoscaler affect the result, found by repeating the loop with each defect fixed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory, Notice
from dra_plan.api.resource import ResourceClaim
from dra_plan.api.well_known import IMPLICIT_PREFIX
from dra_plan.api.workloads import pod_template
from dra_plan.questions.autoscale.groups import GroupsFile
from dra_plan.questions.autoscale.loop import LoopResult, run_loop
from dra_plan.questions.autoscale.scale_up import is_unschedulable
from dra_plan.questions.autoscale.snapshot import missing_claims
from dra_plan.releases import AUTOSCALER, AUTOSCALER_DEFECTS, AutoscalerDefect, AutoscalerQuirk, Target
from dra_plan.scheduler.dra.binding import MOST_CONSUMERS

MOST_COMPARED = 500_000
"""The loop is repeated only if the product of pending pods and nodes is at most this limit."""
MOST_NAMED = 3
"""The maximum number of nodes named in a sentence."""


def defects_that_decide(
    inventory: Inventory, target: Target, file: GroupsFile, found: LoopResult
) -> Iterator[tuple[AutoscalerDefect, str]]:
    """Yield the defects that affect the result, each with the effect of fixing only this defect."""
    candidates = set(_possible(inventory, file))
    if not candidates or _alike(found, _without(inventory, target, file, *candidates)):
        return
    for defect in AUTOSCALER_DEFECTS:
        if defect.quirk in candidates:
            other = _without(inventory, target, file, defect.quirk)
            if not _alike(found, other):
                yield defect, _difference(found, other)


def notices(inventory: Inventory, target: Target, file: GroupsFile, found: LoopResult) -> Iterator[Notice]:
    """Yield a warning for each defect that affects the result.

    If the cluster is too large to find out, yields a warning that says so.
    """
    pending = sum(map(is_unschedulable, inventory.pods))
    if pending * len(inventory.nodes) > MOST_COMPARED:
        yield Notice(
            "defects-not-compared",
            (
                "the effect of the autoscaler's known bugs is not checked for more than "
                f"{MOST_COMPARED:,} pod-node pairs; use --quirks fixed to get the result without these bugs"
            ),
        )
        return
    for defect, difference in defects_that_decide(inventory, target, file, found):
        told = f" ({defect.issue})" if defect.issue else ""
        yield Notice("autoscaler-defect", f"{defect.id}: {defect.title}{told}; without this defect {difference}")


def _without(inventory: Inventory, target: Target, file: GroupsFile, *quirks: AutoscalerQuirk) -> LoopResult:
    return run_loop(inventory, target, file, AUTOSCALER.without(*quirks))


def _possible(inventory: Inventory, file: GroupsFile) -> Iterator[AutoscalerQuirk]:
    """Yield the defects that this input can trigger."""
    pending = [pod for pod in inventory.pods if is_unschedulable(pod)]
    asked = Counter((pod.metadata.namespace, name) for pod in pending for name in _names(pod))
    if any(_asks_for_class(pod, inventory) for pod in pending):
        yield "extended_devices_free"
    if any(_is_idle(claim) and (claim.metadata.namespace, claim.metadata.name) in asked for claim in inventory.claims):
        yield "idle_claims_stay"
    if any(
        _users(claim) + asked[claim.metadata.namespace, claim.metadata.name] > MOST_CONSUMERS
        for claim in inventory.claims
    ):
        yield "full_claim_ends_loop"
    daemons = [each for each in inventory.workloads if each.kind == "DaemonSet"]
    if any(pod_template(each).spec.resource_claims for each in daemons):
        yield "daemon_devices_free"
    if any(
        pod.spec.resource_claims and (owner := pod.metadata.controller) and owner.kind == "DaemonSet"
        for pod in inventory.pods
    ):
        yield "daemon_claim_ends_loop"
    if missing_claims(inventory):
        yield "missing_claim_ends_loop"
    if inventory.taint_rules:
        yield "taint_rules_unread"
    own = {name for group in file.groups for name in group.nodes}
    if any(piece.spec.node_name in own for piece in inventory.slices):
        yield from ("any_full_pool_is_full_node", "devices_hide_requests")
    if len({pod.metadata.controller.uid if pod.metadata.controller else pod.key for pod in pending if _names(pod)}) > 1:
        yield "packs_without_devices"
    if file.options.balance:
        yield "similar_without_devices"


def _names(pod: Pod) -> list[str]:
    made = {status.name: status.resource_claim_name for status in pod.status.resource_claim_statuses}
    names = (entry.resource_claim_name or made.get(entry.name) for entry in pod.spec.resource_claims)
    return [name for name in names if name]


def _users(claim: ResourceClaim) -> int:
    return len(claim.status.reserved_for) if claim.status is not None else 0


def _is_idle(claim: ResourceClaim) -> bool:
    return claim.allocation is not None and not _users(claim)


def _asks_for_class(pod: Pod, inventory: Inventory) -> bool:
    classes = {each.spec.extended_resource_name for each in inventory.classes}
    asked = {name for container in pod.spec.containers for name in container.resources.requests}
    return any(name in classes or name.startswith(IMPLICIT_PREFIX) for name in asked)


# -- what differs ------------------------------------------------------------------------------------------------------


def _alike(one: LoopResult, other: LoopResult) -> bool:
    return _told(one) == _told(other)


def _told(of: LoopResult) -> object:
    up = of.up
    return (
        up.error,
        up.plan,
        len(up.triggered),
        sorted(up.fit_existing),
        set(up.not_triggered),
        set(of.down.removable),
    )


def _difference(found: LoopResult, other: LoopResult) -> str:
    up, without = found.up, other.up
    if up.plan != without.plan:
        grown = [f"group {one.group} grows from {one.before} to {one.after}" for one in without.plan]
        return " and ".join(grown) or "no group grows"
    if len(up.triggered) != len(without.triggered):
        return f"the plan is for {_pods(len(without.triggered))} instead of {len(up.triggered)}"
    if sorted(up.fit_existing) != sorted(without.fit_existing):
        return f"{_pods(len(without.fit_existing))} instead of {len(up.fit_existing)} fit on existing nodes"
    if set(up.not_triggered) != set(without.not_triggered):
        return f"no group helps {_pods(len(without.not_triggered))} instead of {len(up.not_triggered)}"
    if up.error != without.error:
        return "the loop continues" if not without.error else "the loop ends with another error"
    more = [name for name in other.down.removable if name not in found.down.removable]
    fewer = [name for name in found.down.removable if name not in other.down.removable]
    said = [*([f"{_nodes(more)} could go"] if more else []), *([f"{_nodes(fewer)} would be kept"] if fewer else [])]
    return " and ".join(said)


def _pods(number: int) -> str:
    return "1 pod" if number == 1 else f"{number:,} pods"


def _nodes(names: list[str]) -> str:
    kept = names[:MOST_NAMED]
    more = f" and {len(names) - len(kept)} more" if len(names) > len(kept) else ""
    return f"{', '.join(kept)}{more}"
