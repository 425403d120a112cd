"""`autoscale`: one loop of the Cluster Autoscaler, and what kube-scheduler makes of the nodes that it adds."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dra_plan.api.inventory import Inventory, Notice
from dra_plan.documents.base import answer_target, warnings
from dra_plan.planner.answer import PrintedAnswer
from dra_plan.planner.question import Question
from dra_plan.questions.autoscale.document import (
    AutoscaleDocument,
    GroupOption,
    GroupResize,
    NodeUtilization,
    ScaleDownDocument,
    ScaleUpDocument,
)
from dra_plan.questions.autoscale.groups import GroupsFile
from dra_plan.questions.autoscale.loop import LoopResult, new_nodes, run_loop
from dra_plan.questions.autoscale.scale_up import ScaleUp
from dra_plan.questions.schedule.answer import schedule_pods
from dra_plan.releases import Target


@dataclass(frozen=True, repr=False)
class AutoscalePlan(PrintedAnswer[AutoscaleDocument]):
    """The answer of `autoscale`."""

    target: Target
    loop: LoopResult
    then_bound: dict[str, str]
    notices: tuple[Notice, ...]

    def __repr__(self) -> str:
        return f"<AutoscalePlan for {self.target.version}: {self.loop.up.result or 'no loop'}>"

    def _document(self) -> AutoscaleDocument:
        down = self.loop.down
        return AutoscaleDocument(
            target=answer_target(self.target),
            scale_up=_scale_up(self.loop.up, self.then_bound),
            scale_down=ScaleDownDocument(
                error=down.error, removable=down.removable, unremovable=down.unremovable, moves=down.moves
            ),
            utilization={
                name: NodeUtilization(utilization=each.share, resource=each.resource)
                for name, each in down.utilization.items()
            },
            warnings=warnings(self.notices),
        )


def _scale_up(up: ScaleUp, then_bound: dict[str, str]) -> ScaleUpDocument:
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
        chosen=up.options[0].group.name if up.options else "",
        least_waste=up.least_waste,
        most_pods=up.most_pods,
        least_nodes=up.least_nodes,
        plan=[GroupResize(group=one.group, from_=one.before, to=one.after) for one in up.plan],
        triggered=up.triggered,
        awaiting=up.awaiting,
        not_triggered=up.not_triggered,
        then_bound=then_bound,
    )


def autoscale_cluster(inventory: Inventory, target: Target, file: GroupsFile, question: Question) -> AutoscalePlan:
    """What the Cluster Autoscaler does in one loop, and which of the pods that it helps kube-scheduler then binds."""
    loop = run_loop(inventory, target, file)
    bound = _then_bound(inventory, target, file, loop, question) if loop.up.plan else {}
    return AutoscalePlan(target, loop, bound, (*inventory.notices, *_disagreeing(bound)))


def _then_bound(
    inventory: Inventory, target: Target, file: GroupsFile, loop: LoopResult, question: Question
) -> dict[str, str]:
    """What `schedule` says of the pods that triggered, on the cluster with the new nodes."""
    added = new_nodes(inventory, file, loop.up)
    changed = replace(
        inventory,
        nodes=[*inventory.nodes, *(one.node for one in added)],
        slices=[*inventory.slices, *(piece for one in added for piece in one.slices)],
        pods=[*inventory.pods, *(pod for one in added for pod in one.pods)],
        claims=[*inventory.claims, *(claim for one in added for claim in one.claims)],
    )
    outcome = schedule_pods(changed, target, question).outcome
    wanted = set(loop.up.triggered)
    return {record.pod.key: record.outcome for record in outcome.pods if record.pod.key in wanted}


def _disagreeing(bound: dict[str, str]) -> list[Notice]:
    left = sorted(name for name, outcome in bound.items() if outcome != "Bound")
    if not left:
        return []
    pods = "1 pod" if len(left) == 1 else f"{len(left)} pods"
    return [
        Notice(
            "scale-up-not-enough",
            f"kube-scheduler does not bind {pods} of the plan on the new nodes: the autoscaler counts cpu and memory,"
            " and kube-scheduler decides again, with its own choice of nodes",
            f"Pod {left[0]}",
        )
    ]
