"""`autoscale`: one loop of the Cluster Autoscaler, and how kube-scheduler uses the new nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from dra_plan import shown
from dra_plan.api.inventory import Inventory, Notice
from dra_plan.documents.base import answer_target, warnings
from dra_plan.errors import UsageError
from dra_plan.planner.answer import PrintedAnswer, counted
from dra_plan.planner.question import Question
from dra_plan.questions.autoscale.defects import notices
from dra_plan.questions.autoscale.document import (
    AutoscaleDocument,
    GroupOption,
    GroupResize,
    KarpenterDocument,
    KnownGroup,
    NodeClaimDocument,
    NodeUtilization,
    ScaleDownDocument,
    ScaleUpDocument,
)
from dra_plan.questions.autoscale.groups import GroupsFile, ScalingGroup
from dra_plan.questions.autoscale.growing import nodes_needed
from dra_plan.questions.autoscale.karpenter import KarpenterRun, provision
from dra_plan.questions.autoscale.loop import LoopResult, new_nodes, run_loop
from dra_plan.questions.autoscale.scale_up import ScaleUp
from dra_plan.questions.schedule.answer import schedule_pods
from dra_plan.releases import AUTOSCALER, FIXED_AUTOSCALER, AutoscalerQuirks, Target
from dra_plan.scheduler.simulate import SimulationResult


@dataclass(frozen=True, slots=True)
class ThenBound:
    """The pods that kube-scheduler binds once the new nodes exist."""

    bound: Mapping[str, str] = field(default_factory=dict)
    """The outcome of each pod in the plan, by the pod's key."""
    others: int = 0
    """The number of other pods that are bound to new nodes."""
    grown: Inventory | None = None
    """The cluster with the new nodes."""
    added: Mapping[str, str] = field(default_factory=dict)
    """The group of each new node."""
    result: SimulationResult | None = None
    """kube-scheduler's result with the new nodes."""

    @property
    def missing(self) -> list[str]:
        """Return the pods in the plan that get no node, or nothing if at least as many others run on the new nodes."""
        left = sorted(name for name, outcome in self.bound.items() if outcome != "Bound")
        return left if len(left) > self.others else []


@dataclass(frozen=True, repr=False)
class AutoscalePlan(PrintedAnswer[AutoscaleDocument]):
    """The result of `autoscale`."""

    target: Target
    groups: Sequence[ScalingGroup]
    loop: LoopResult
    then: ThenBound
    expander: str
    needed: int | None
    """How many nodes of the chosen group kube-scheduler needs for all pods that such nodes can help; None if
    unknown."""
    notices: tuple[Notice, ...]

    def __repr__(self) -> str:
        return f"<AutoscalePlan for {self.target.version}: {self.loop.up.result or 'no loop'}>"

    def _document(self) -> AutoscaleDocument:
        down = self.loop.down
        return AutoscaleDocument(
            target=answer_target(self.target),
            groups=[_known(group) for group in self.groups],
            scale_up=_scale_up(self.loop.up, self),
            scale_down=ScaleDownDocument(
                error=down.error, removable=down.removable, unremovable=down.unremovable, moves=down.moves
            ),
            utilization={
                name: NodeUtilization(utilization=each.share, resource=each.resource)
                for name, each in down.utilization.items()
            },
            warnings=warnings(self.notices),
        )


def _known(group: ScalingGroup) -> KnownGroup:
    return KnownGroup(
        group=group.name,
        min=None if "min" in group.unknown else group.least,
        max=None if "max" in group.unknown else group.most,
        current=group.current,
        nodes=len(group.nodes),
        told_by=group.told_by,
    )


@dataclass(frozen=True, repr=False)
class KarpenterPlan(PrintedAnswer[AutoscaleDocument]):
    """The result of `autoscale` with `--engine karpenter`."""

    target: Target
    groups: Sequence[ScalingGroup]
    found: KarpenterRun
    notices: tuple[Notice, ...]

    def __repr__(self) -> str:
        return f"<KarpenterPlan for {self.target.version}: {counted(len(self.found.claims), 'NodeClaim')}>"

    def _document(self) -> AutoscaleDocument:
        found = self.found
        return AutoscaleDocument(
            target=answer_target(self.target),
            groups=[_known(group) for group in self.groups],
            karpenter=KarpenterDocument(
                node_claims=[
                    NodeClaimDocument(node_pool=one.pool, instance_types=list(one.types), pods=one.pods)
                    for one in found.claims
                ],
                on_nodes=found.on_nodes,
                errors=found.errors,
                ignored=found.ignored,
                unknown=found.unknown,
            ),
            scale_up=ScaleUpDocument(result=""),
            scale_down=ScaleDownDocument(),
            warnings=warnings(self.notices),
        )


def provision_cluster(inventory: Inventory, target: Target, file: GroupsFile) -> KarpenterPlan:
    """Return what Karpenter would provision. Each group is an instance type of a NodePool.

    Raises UsageError for a group without a template, because its nodes are unknown.
    """
    without = next((group.name for group in file.groups if group.template is None), None)
    if without is not None:
        raise UsageError(f"--engine karpenter: group {shown.value(without)} has no template (docs/autoscale.md)")
    return KarpenterPlan(target, file.groups, provision(inventory, target, file), tuple(inventory.notices))


def _scale_up(up: ScaleUp, plan: AutoscalePlan) -> ScaleUpDocument:
    then = plan.then
    return ScaleUpDocument(
        result=up.result,  # type: ignore[arg-type]
        error=up.error,
        unready=up.unready,
        fit_existing=up.fit_existing,
        considered=up.considered,
        fits=up.fits,
        options=[
            GroupOption(
                group=one.group.name,
                nodes=one.nodes,
                pods=[pod.key for pod in one.pods],
                similar=[other.name for other in one.similar],
            )
            for one in up.options
        ],
        chosen=up.chosen.group.name if up.chosen is not None else "",
        expander=plan.expander,
        needed=plan.needed,
        least_waste=up.least_waste,
        most_pods=up.most_pods,
        least_nodes=up.least_nodes,
        plan=[GroupResize(group=one.group, from_=one.before, to=one.after) for one in up.plan],
        triggered=up.triggered,
        awaiting=up.awaiting,
        not_triggered=up.not_triggered,
        then_bound=dict(then.bound),
        others_bound=then.others,
    )


def autoscale_cluster(inventory: Inventory, target: Target, file: GroupsFile, question: Question) -> AutoscalePlan:
    """Return the result of one loop of the Cluster Autoscaler, and the pods that kube-scheduler then binds."""
    quirks = AUTOSCALER if target.quirk_mode == "upstream" else FIXED_AUTOSCALER
    loop = run_loop(inventory, target, file, quirks)
    then = _then(inventory, target, file, loop, quirks, question) if loop.up.plan else ThenBound()
    told = notices(inventory, target, file, loop) if target.quirk_mode == "upstream" else ()
    needed = nodes_needed(inventory, target, loop, question) if loop.up.plan else None
    return AutoscalePlan(
        target, file.groups, loop, then, file.options.expander, needed, (*inventory.notices, *told, *_disagreeing(then))
    )


def _then(
    inventory: Inventory,
    target: Target,
    file: GroupsFile,
    loop: LoopResult,
    quirks: AutoscalerQuirks,
    question: Question,
) -> ThenBound:
    """Return the result of `schedule` for the triggering pods, on the cluster with the new nodes."""
    added = new_nodes(inventory, file, loop.up, quirks)
    changed = replace(
        inventory,
        nodes=[*inventory.nodes, *(one.node for one in added)],
        slices=[*inventory.slices, *(piece for one in added for piece in one.slices)],
        pods=[*inventory.pods, *(pod for one in added for pod in (*one.pods, *one.starting))],
        claims=[*inventory.claims, *(claim for one in added for claim in one.claims)],
    )
    outcome = schedule_pods(changed, target, question).outcome
    wanted, new = set(loop.up.triggered), {one.node.metadata.name for one in added}
    others = sum(record.node in new and record.pod.key not in wanted for record in outcome.pods)
    bound = {record.pod.key: record.outcome for record in outcome.pods if record.pod.key in wanted}
    grown_by = (one.group for one in loop.up.plan for _ in range(one.after - one.before))
    names = dict(zip((one.node.metadata.name for one in added), grown_by, strict=False))
    return ThenBound(bound, others, changed, names, outcome)


def _disagreeing(then: ThenBound) -> list[Notice]:
    left = then.missing
    if not left:
        return []
    number = len(left) - then.others
    pods = "1 pod" if number == 1 else f"{number} pods"
    return [
        Notice(
            "scale-up-not-enough",
            (
                f"kube-scheduler does not bind {pods} of the plan on the new nodes: the autoscaler "
                "counts cpu and memory, and kube-scheduler then chooses nodes by its own rules"
            ),
            f"Pod {left[0]}",
        )
    ]
