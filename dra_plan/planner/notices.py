"""Warnings about a result: about the release, device taint rules, unknown fields and time."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Sequence

from dra_plan.allocator import Allocator, NodeOutcome, Outcome, View
from dra_plan.allocator.pruning_rules import ESCALATE_AFTER
from dra_plan.api.core import Node
from dra_plan.api.inventory import Inventory, Notice
from dra_plan.api.resource import ResourceClaimSpec, ResourceSlice
from dra_plan.claims.sets import ClaimSet
from dra_plan.planner.counter_slices import of_counter_slices
from dra_plan.planner.question import kubelet_minor
from dra_plan.releases import DEFECTS, FIELDS, MINORS, Defect, Quirk, Target, unused

OTHER_KUBELETS = "kubelet-version"
"""The code of the warning that kubelets have a different release than the one planned for."""


def about(claim_set: ClaimSet) -> tuple[str, str]:
    """Return the name of the object that a notice about the claim set is about, and its file."""
    source = str(claim_set.origin) if claim_set.origin is not None else ""
    if claim_set.owner is not None:
        return str(claim_set.owner), source
    return (f"ResourceClaim {claim_set.claims[0].key}" if claim_set.claims else ""), source


def concerning(notices: Iterable[Notice], sets: Iterable[ClaimSet]) -> tuple[Notice, ...]:
    """Return the notices about these claim sets, and the notices about no particular pod, workload or claim."""
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


def of_target(target: Target, inventory: Inventory) -> list[Notice]:
    """Return notices about the target, for example that kube-scheduler's order is random or that kubelets are older."""
    found = list(target.notices)
    if not target.ordered and _has_choice(inventory):
        order = "the order of their names" if target.rules.sorted else "input order"
        found.append(
            Notice(
                "order-random-upstream",
                (
                    f"kube-scheduler {target.version} searches the pools of a node in random order; dra-plan uses "
                    f"{order}, so other devices are also possible"
                ),
            )
        )
    found += _of_kubelets(target, inventory.nodes)
    return found


def _has_choice(inventory: Inventory) -> bool:
    """Return whether a node may access several slices with devices, so that their order matters."""
    local: set[str] = set()
    others = 0
    for slice_ in inventory.slices:
        if not slice_.spec.devices:
            continue
        name = slice_.spec.node_name
        if name and name in local:
            return True
        if name:
            local.add(name)
        else:
            others += 1
    return others > 1 or (others == 1 and bool(local))


def _of_kubelets(target: Target, nodes: Sequence[Node]) -> list[Notice]:
    others: dict[str, list[str]] = {}
    for node in nodes:
        minor = kubelet_minor(node.status.node_info.kubelet_version)
        if minor and minor != target.version:
            others.setdefault(minor, []).append(node.metadata.name)
    return [
        Notice(
            OTHER_KUBELETS,
            f"{_some(names)} {'runs' if len(names) == 1 else 'run'} kubelet {minor}, the result is for {target.version}"
            + (f" (--kubernetes-version {minor})" if minor in MINORS else ""),
            f"Node {names[0]}",
        )
        for minor, names in sorted(others.items())
    ]


def _some(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"


def of_lost_rules(target: Target, rules: Sequence[str]) -> list[Notice]:
    """Return warnings not to create these device taint rules while the scheduler is running (defect E3)."""
    if not rules or not target.quirks.taint_rule_crashes or not target.features.device_taint_rules:
        return []
    text = (
        f"E3 (kubernetes#139651): kube-scheduler {target.release} ignores taint rules that are "
        "created while it runs, and crashes at the next change of slices or classes"
    )
    return [Notice("upstream-defect", text, f"DeviceTaintRule {rule}", defects=("E3",)) for rule in rules]


def of_assumed_rules(target: Target) -> Notice:
    """Return a note that the release is assumed to have device taint rules, because a change creates one."""
    text = (
        f"Kubernetes {target.release} ignores device taint rules by default; dra-plan assumes that their API and "
        "feature gate are enabled"
    )
    return Notice("taint-rules-taken-as-on", text)


def of_taint_rules(inventory: Inventory, target: Target) -> list[Notice]:
    """Return notices about the defects of device taint rules (E1, E3), and about rules that feature gates turn off."""
    rules = inventory.taint_rules
    if not rules:
        return []
    first = f"DeviceTaintRule {rules[0].metadata.name}"
    if not target.features.device_taint_rules:
        text = (
            "device taint rules are ignored: DRADeviceTaintRules is off (if the cluster has it on, add "
            "--feature-gates DRADeviceTaintRules=true)"
        )
        return [Notice("taint-rules-ignored", text, first)]
    found = []
    if target.quirks.taint_rule_crashes:
        found.append(
            Notice(
                "upstream-defect",
                (
                    f"E3 (kubernetes#139651): kube-scheduler {target.release} crashes when it starts "
                    "with a taint rule; dra-plan applies the rules"
                ),
                first,
                defects=("E3",),
            )
        )
    found += [
        Notice(
            "upstream-defect",
            (
                "E1 (kubernetes#141620): a taint rule without a device selector taints every device; "
                "according to the API, the rule should taint no device"
            ),
            f"DeviceTaintRule {rule.metadata.name}",
            defects=("E1",),
        )
        for rule in rules
        if rule.spec.device_selector is None and target.quirks.absent_device_selector_matches_all
    ]
    return found


def of_new_fields(inventory: Inventory, target: Target) -> list[Notice]:
    """Return notices about fields that the release drops, and about fields whose rules are unknown.

    A notice names the first object with the field. There is also a notice about slices whose form the release does not
    accept.
    """
    users: dict[str, list[str]] = {}
    for name, user in _uses(inventory):
        users.setdefault(name, []).append(user)
    found = []
    for field in FIELDS:
        code, told = unused(field, target.version, target.gates)
        if code and field.name in users:
            first, *others = users[field.name]
            more = f" (and in {len(others)} more)" if others else ""
            found.append(Notice(code, f"{field.name}{more}: {told}", first))
    return [*found, *of_counter_slices(inventory, target)]


def _uses(inventory: Inventory) -> Iterator[tuple[str, str]]:
    """Yield the fields in `FIELDS` that the input has, each with the objects that have it."""
    for slice_ in inventory.slices:
        for name in _of_slice(slice_):
            yield name, f"ResourceSlice {slice_.metadata.name}"
    specs = {id(claim.spec): claim.spec for claim in inventory.claims}  # many claims share one
    deriving = {key for key, spec in specs.items() if _derives(spec)}
    for claim in inventory.claims if deriving else ():
        if id(claim.spec) in deriving:
            yield "derivedAttributes", f"ResourceClaim {claim.key}"
    for template in inventory.templates:
        if _derives(template.spec.spec):
            owner = f"{template.metadata.namespace}/{template.metadata.name}"
            yield "derivedAttributes", f"ResourceClaimTemplate {owner}"


def _of_slice(slice_: ResourceSlice) -> set[str]:
    found = set()
    if slice_.spec.skip_node_operations:
        found.add("skipNodeOperations")
    if slice_.spec.partition_type_attribute:
        found.add("partitionTypeAttribute")
    for device in slice_.spec.devices:
        mappings, resources = device.node_allocatable_resource_mappings, device.node_allocatable_resources
        if not (mappings or resources or device.consumes_counters):
            continue
        if mappings:
            found.add("nodeAllocatableResourceMappings")
        if resources:
            found.add("nodeAllocatableResources")
        if any(taken.compatibility_groups for taken in device.consumes_counters):
            found.add("compatibilityGroups")
    return found


def _derives(spec: ResourceClaimSpec) -> bool:
    for request in spec.devices.requests:
        if request.exactly is not None and request.exactly.derived_attributes:
            return True
        if request.first_available and any(each.derived_attributes for each in request.first_available):
            return True
    return False


FILTER_SECONDS = 10
"""kube-scheduler's default time limit for filtering one node, in seconds."""


STEPS_PER_SECOND = 100_000
"""The speed of the real allocator. Recorded searches that timed out had done 16,000 to 410,000 steps per second."""


NODES_JUDGED = 16
"""The maximum number of searches per claim set whose length is estimated. Each estimate takes about 0.1 s."""


_NAMED = 3


_MOST_STEPS = 10**15
"""The number of steps (300 years for the real allocator) beyond which larger numbers make no difference."""


class TimeoutWatch:
    """An estimate of how long the release would search for a claim set."""

    def __init__(self, target: Target, claim_set: ClaimSet, allocator: Allocator, deadline: float | None) -> None:
        self._target, self._claim_set, self._allocator = target, claim_set, allocator
        self._deadline = deadline
        self._judged = self._passed_over = 0
        self._late: dict[str, float] = {}

    def saw(self, node: Node, answer: NodeOutcome) -> None:
        """Estimate how long the release would search on this node, if the search here was long."""
        if not self._target.features.filter_timeout or not _was_long(answer):
            return
        late = self._deadline is not None and time.monotonic() > self._deadline
        if late or self._judged == NODES_JUDGED:
            self._passed_over += 1
            return
        self._judged += 1
        steps = self._allocator.effort(node, answer)
        if steps > FILTER_SECONDS * STEPS_PER_SECOND:
            self._late[answer.node] = steps

    def notices(self) -> list[Notice]:
        """Return a warning if the release would probably reach its time limit."""
        if not self._late:
            return []
        names = list(self._late)
        named = ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
        follows = "the pod's scheduling attempt" if self._target.rules.timeout_ends_attempt else "the search there"
        rest = f"; {self._passed_over} more nodes with long searches were not checked" if self._passed_over else ""
        message = (
            f"kube-scheduler {self._target.release} would probably exceed its limit of {FILTER_SECONDS} s for a node "
            f"on {named} ({_about(max(self._late.values()))} search steps), which ends {follows} without an answer"
            f"{rest}"
        )
        return [Notice("upstream-may-time-out", message, *about(self._claim_set))]


def _was_long(answer: NodeOutcome) -> bool:
    """Return whether the plain search was abandoned; an error may have occurred at any step."""
    return answer.steps > ESCALATE_AFTER and answer.outcome is not Outcome.ERROR


def _about(steps: float) -> str:
    """Return the number rounded to one digit, which is the precision of the estimate. An estimate can be infinite."""
    if steps > _MOST_STEPS:
        return "more than 10^15"
    power = 10 ** math.floor(math.log10(steps))
    rounded = round(steps / power) * power
    return f"about {rounded // 10**6} million" if rounded < 10**9 else f"about {rounded:.0e}".replace("e+", "e")


STEPS_EACH, STEPS_IN_ALL = 1_500, 30_000
"""The maximum number of steps of a search with the defect fixed, and of all such searches for a claim set.

The limits keep a warning from costing more than the plan.
"""


_FEW_STEPS = 200
"""The length up to which searches are free, so that defects are checked on all nodes in a large cluster."""


class Watch:
    """A check whether known defects changed the results for a claim set."""

    def __init__(self, view: View, claim_set: ClaimSet, max_steps: int | None, deadline: float | None) -> None:
        self._view, self._claim_set, self._max_steps, self._deadline = view, claim_set, max_steps, deadline
        self._allocators: dict[tuple[Quirk, ...], Allocator] = {}
        self._proven: dict[tuple[Quirk, ...], tuple[NodeOutcome, NodeOutcome]] = {}
        self._left = STEPS_IN_ALL

    def saw(self, node: Node, answer: NodeOutcome) -> None:
        """Check whether the defects that appeared in the search on a node changed its result.

        Each defect is checked until it has changed one result of the claim set. If the search with the defect fixed is
        not finished within a few steps, the result counts as unchanged.
        """
        active = self._view.target.quirks.among(answer.sighted)
        if not active or all((name,) in self._proven for name in active):
            return
        alone = [(name,) for name in active]
        found = [names for names in alone if names not in self._proven and self._differs(names, node, answer)]
        if not found and len(active) > 1 and not any(names in self._proven for names in alone):
            self._differs(active, node, answer)

    def _differs(self, names: tuple[Quirk, ...], node: Node, answer: NodeOutcome) -> bool:
        if self._left <= 0:
            return False
        if names not in self._allocators:
            steps = STEPS_EACH if self._max_steps is None else min(STEPS_EACH, self._max_steps)
            self._allocators[names] = Allocator(
                self._claim_set.claims,
                self._view.repaired(*names),
                max_steps=steps,
                deadline=self._deadline,
            )
        other = self._allocators[names].allocate(node)
        if other.steps > _FEW_STEPS:
            self._left -= other.steps
        if Outcome.UNDECIDED in (answer.outcome, other.outcome):
            return False
        differs = (other.outcome, other.message, other.allocations) != (
            answer.outcome,
            answer.message,
            answer.allocations,
        )
        if differs:
            self._proven[names] = (answer, other)
        return differs

    def notices(self) -> list[Notice]:
        """Return a warning for each defect that changed a result."""
        return [
            Notice(
                "upstream-defect",
                f"{describe(names)}: {_change(*answers)}",
                *about(self._claim_set),
                defects=tuple(defect.id for defect in DEFECTS if defect.quirk in names),
            )
            for names, answers in self._proven.items()
        ]


def describe(names: tuple[Quirk, ...]) -> str:
    """Return the quirks with their issues and descriptions, such as `Q4 (kubernetes#140436), a device ...`."""
    return "; ".join(_describe(defect) for defect in DEFECTS if defect.quirk in names)


def _describe(defect: Defect) -> str:
    issue = f" (kubernetes#{defect.issue})" if defect.issue else ""
    return f"{defect.id}{issue}, {defect.title}"


def _change(answer: NodeOutcome, other: NodeOutcome) -> str:
    if answer.outcome is other.outcome:
        what = "another error" if answer.message != other.message else "another allocation"
        return f"on {answer.node} the scheduler gives {what} than the API promises"
    return f"on {answer.node} the scheduler says {answer.outcome.value}, the API promises {other.outcome.value}"
