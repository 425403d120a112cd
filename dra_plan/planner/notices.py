"""What is to be said beside an answer: about the target, about device taint rules, and whose claim set it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from dra_plan.api.core import Node
from dra_plan.api.inventory import Inventory, Notice
from dra_plan.claims.sets import ClaimSet
from dra_plan.releases import MINORS, Target

from .release_choice import kubelet_minor

OTHER_KUBELETS = "kubelet-version"
"""The code of the warning that nodes run a kubelet of another release than the answer is for."""


def about(claim_set: ClaimSet) -> tuple[str, str]:
    """The object and the source of a notice about a claim set."""
    source = str(claim_set.origin) if claim_set.origin is not None else ""
    if claim_set.owner is not None:
        return str(claim_set.owner), source
    return (f"ResourceClaim {claim_set.claims[0].key}" if claim_set.claims else ""), source


def concerning(notices: Iterable[Notice], sets: Iterable[ClaimSet]) -> tuple[Notice, ...]:
    """The notices without those that are about other pods, workloads, claims and templates than these sets'."""
    related = {name for claim_set in sets for name in _objects(claim_set)}
    return tuple(each for each in notices if "/" not in each.object or each.object in related)


def _objects(claim_set: ClaimSet) -> Iterator[str]:
    if claim_set.owner is not None:
        yield str(claim_set.owner)
    for claim in (*claim_set.claims, *claim_set.allocated):
        yield f"ResourceClaim {claim.key}"
    for pod in claim_set.pods:
        for entry in pod.spec.resource_claims:
            yield f"ResourceClaimTemplate {pod.metadata.namespace}/{entry.resource_claim_template_name}"


def of_target(target: Target, nodes: Sequence[Node]) -> list[Notice]:
    """What to know about the target itself: random order upstream, kubelets of another release."""
    found = list(target.notices)
    if not target.ordered:
        order = "name" if target.rules.sorted else "input"
        found.append(
            Notice(
                "order-random-upstream",
                f"{target.version} ({target.variant}) takes pools in random order; they are taken in {order} order"
                " here, so each allocation is one of several possible",
            )
        )
    found += _of_kubelets(target, nodes)
    return found


def _of_kubelets(target: Target, nodes: Sequence[Node]) -> list[Notice]:
    others: dict[str, list[str]] = {}
    for node in nodes:
        minor = kubelet_minor(node.status.node_info.kubelet_version)
        if minor and minor != target.version:
            others.setdefault(minor, []).append(node.metadata.name)
    return [
        Notice(
            OTHER_KUBELETS,
            f"{_some(names)} {'runs' if len(names) == 1 else 'run'} kubelet {minor}, the answer is for {target.version}"
            + (f" (--kubernetes-version {minor})" if minor in MINORS else ""),
            f"Node {names[0]}",
        )
        for minor, names in sorted(others.items())
    ]


def _some(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"


def of_lost_rules(target: Target, rules: Sequence[str]) -> list[Notice]:
    """The defect that strikes when device taint rules of these names are made while the scheduler runs (E3)."""
    if not rules or not target.quirks.taint_rule_crashes or not target.features.device_taint_rules:
        return []
    text = (
        f"E3 (kubernetes#139651): kube-scheduler {target.release} ignores taint rules that are made while it runs, and"
        " crashes at the next change of slices or classes"
    )
    return [Notice("upstream-defect", text, f"DeviceTaintRule {rule}", defects=("E3",)) for rule in rules]


def of_taint_rules(inventory: Inventory, target: Target) -> list[Notice]:
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
                f"E3 (kubernetes#139651): kube-scheduler {target.release} crashes when it starts with a taint rule;"
                " the rules are applied here as they are meant",
                first,
                defects=("E3",),
            )
        )
    found += [
        Notice(
            "upstream-defect",
            "E1 (kubernetes#141620): a taint rule without device selector taints every device, where the API says none",
            f"DeviceTaintRule {rule.metadata.name}",
            defects=("E1",),
        )
        for rule in rules
        if rule.spec.device_selector is None and target.quirks.absent_device_selector_matches_all
    ]
    return found
