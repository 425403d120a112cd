"""One run of a replay, with one configuration and one node order, until nothing more happens."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory
from dra_plan.controllers.endings import EXPECTED
from dra_plan.controllers.events import EventStep
from dra_plan.controllers.settle import Settled, Settling
from dra_plan.planner.creation import as_created, has_quotas
from dra_plan.planner.question import Chosen, Question
from dra_plan.planner.settling import with_successors
from dra_plan.questions.replay.document import FleetSample, ModelUse, ReplayedPod, WaitingTimes
from dra_plan.questions.replay.fleet import FleetWatch, KeptMoment, PodMix
from dra_plan.questions.schedule.answer import choice
from dra_plan.releases import Target
from dra_plan.scheduler import policies
from dra_plan.scheduler.chance import Chance
from dra_plan.scheduler.cluster.keys import pod_uid
from dra_plan.scheduler.framework.interface import Registry
from dra_plan.scheduler.simulate import SimulationResult, result_of
from dra_plan.scheduler.simulation import Simulation


@dataclass(frozen=True)
class Setting:
    """A configuration to simulate: its name, its policy, and the decoded KubeSchedulerConfiguration, if any."""

    name: str
    policy: str
    config: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Trace:
    """The cluster, the events and the question of a replay.

    `seconds` are the sample times. `ends` is the deadline on the monotonic clock.
    """

    inventory: Inventory
    target: Target
    steps: Sequence[EventStep]
    question: Question
    chance: Chance
    seconds: Sequence[float]
    max_steps: int | None = None
    ends: float | None = None
    plugins: Registry | None = None


@dataclass(frozen=True)
class RunResult:
    """The result of one run. It consists of plain values, so it can be sent between processes."""

    samples: list[FleetSample]
    models: list[ModelUse]
    used: float
    seconds: float
    waiting_times: WaitingTimes
    pods: list[ReplayedPod]
    refused: list[str]
    unsettled: str


def in_orders(trace: Trace, runs: Iterable[tuple[Setting, int]]) -> Iterator[RunResult]:
    """Yield the result of each run. Only results for the first node order include the pods."""
    for setting, order in runs:
        result, _, _ = run(trace, setting, order)
        yield replace(result, pods=[]) if order else result


def run(
    trace: Trace, setting: Setting, order: int, *, keeps: bool = False
) -> tuple[RunResult, SimulationResult, list[KeptMoment]]:
    """Return the result of a run, the scheduler's result for the remaining pods, and the kept moments.

    No moments are kept unless `keeps` is set.
    """
    policy = policies.named(setting.policy)
    mix = PodMix(trace.inventory, trace.steps)
    given, beyond = as_created(trace.inventory)
    chosen = _chosen(trace)
    seed = trace.chance.seed + order
    simulation = Simulation(
        given,
        target=trace.target,
        config=policies.configured(policy, setting.config),
        plugins=policies.registered(policy, mix, trace.plugins),
        max_steps=trace.max_steps,
        deadline=trace.ends,
        chosen=chosen,
        makes=not has_quotas(trace.inventory),
        ordered=True,
        chance=replace(trace.chance, seed=seed, order=order),
        device_order=policy.order,
    )
    settling = Settling(simulation)
    watch = FleetWatch(simulation, settling.server, mix, trace.seconds, keeps=keeps)
    settling.before_time_passes = watch.note
    settled = settling.follow(trace.steps)
    watch.finish()
    outcome = result_of(simulation)
    outcome.pods += [each.record for each in beyond if chosen(each.pod)]
    pods = list(_pods(simulation, settled))
    return (
        RunResult(
            samples=watch.samples,
            models=watch.models(),
            used=watch.used,
            seconds=settled.state.now - settling.server.start,
            waiting_times=waiting_times(pods),
            pods=pods,
            refused=[
                *(f"Pod {each.pod.key}: {each.message}" for each in beyond),
                *(f"{each.kind} {_named(each.namespace, each.name)}: {each.message}" for each in settled.refused),
                *(f"Pod {pod.key}: {said}" for pod, said in settled.not_made),
            ],
            unsettled=settled.unsettled,
        ),
        outcome,
        watch.moments,
    )


def _chosen(trace: Trace) -> Chosen:
    """Return the selected pods, their replacements, and all later pods."""
    follows = with_successors(choice(trace.inventory, trace.target, trace.question), trace.inventory.pods)
    created = {
        (obj.metadata.namespace, obj.metadata.name)
        for step in trace.steps
        for kind, obj in step.created
        if kind.holder in ("pods", "workloads")
    }

    def is_chosen(pod: Pod) -> bool:
        owner, namespace = pod.metadata.controller, pod.metadata.namespace
        names = (pod.metadata.name, *([owner.name] if owner is not None else []))
        return follows(pod) or any((namespace, name) in created for name in names)

    return is_chosen


def _named(namespace: str, name: str) -> str:
    return f"{namespace}/{name}" if namespace else name


def _pods(simulation: Simulation, settled: Settled) -> Iterator[ReplayedPod]:
    """Yield the pods that were pending at any time, in order of arrival."""
    server, there = settled.server, simulation.cluster.pods
    gone = {pod_uid(each.pod): each for each in server.ended}
    records = simulation.scheduler.records.by_uid
    for uid, moment in server.arrived.items():
        ending = gone.get(uid)
        pod: Pod | None = there.get(uid) or (ending.pod if ending is not None else None)
        if pod is None:
            continue
        started, record = server.started.get(uid), records.get(uid)
        yield ReplayedPod(
            namespace=pod.metadata.namespace,
            name=pod.metadata.name,
            arrived=moment - server.start,
            bound=None if started is None else started - server.start,
            ended=None if ending is None else ending.moment - server.start,
            ended_by="" if ending is None or ending.cause in EXPECTED else ending.cause.by,
            node_name=pod.spec.node_name or None,
            message=record.message or record.waiting if record is not None and ending is None else "",
        )


def waiting_times(pods: Sequence[ReplayedPod]) -> WaitingTimes:
    """Return statistics of the waiting times of pods that got a node."""
    times = sorted(pod.bound - pod.arrived for pod in pods if pod.bound is not None)
    if not times:
        return WaitingTimes(pods=0, mean=0.0, median=0.0, percentile95=0.0, longest=0.0)
    return WaitingTimes(
        pods=len(times),
        mean=statistics.fmean(times),
        median=statistics.median(times),
        percentile95=times[math.ceil(0.95 * len(times)) - 1],
        longest=times[-1],
    )
