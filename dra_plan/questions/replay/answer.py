"""`replay`: the use of a cluster over time, with one or two configurations and one or more node orders."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import fmean

from msgspec import UNSET, structs

from dra_plan.api.inventory import Inventory, Notice
from dra_plan.controllers.events import EventStep
from dra_plan.documents.base import answer_target, warnings
from dra_plan.planner.answer import PrintedAnswer, counted
from dra_plan.planner.parallel import in_shares
from dra_plan.planner.question import Question
from dra_plan.planner.refused import accepted
from dra_plan.questions.replay.document import Band, FleetSample, ReplayComparison, ReplayDocument, ReplayRun
from dra_plan.questions.replay.fleet import KeptMoment
from dra_plan.questions.replay.run import RunResult, Setting, Trace, in_orders, run
from dra_plan.questions.schedule.answer import choice, notices_about
from dra_plan.releases import Target
from dra_plan.scheduler.chance import Chance
from dra_plan.scheduler.framework.interface import Registry
from dra_plan.scheduler.simulate import SimulationResult

MOST_SAMPLES = 10_000
"""The maximum number of samples."""
USUAL_SAMPLES = 10
"""The default number of samples."""
ONE_ORDER = "one-order"
"""The code of the notice that only one node order was tried."""


@dataclass(frozen=True, repr=False)
class Replay(PrintedAnswer[ReplayDocument]):
    """The result of `replay`."""

    target: Target
    chance: Chance
    settings: Sequence[Setting]
    results: Sequence[Sequence[RunResult]]
    """The results for each setting, one per node order."""
    outcome: SimulationResult
    """The scheduler's result for the remaining pods, with the first setting and the first node order."""
    notices: Sequence[Notice]
    enlarged: Inventory
    """The cluster, including nodes and slices that are created later."""
    again: Callable[[], Sequence[KeptMoment]]
    """Returns the kept moments of the first run, which is simulated again if none were kept."""

    @cached_property
    def kept(self) -> Sequence[KeptMoment]:
        """Return the cluster's objects at selected times of the first run, for the HTML page."""
        return self.again()

    def __repr__(self) -> str:
        last = self.results[0][0].samples[-1]
        return f"<Replay: {counted(int(last.arrived), 'pod')} in {self.results[0][0].seconds:g} s>"

    def _document(self) -> ReplayDocument:
        return ReplayDocument(
            target=answer_target(self.target),
            ties=self.chance.ties,
            seconds=max(each.seconds for results in self.results for each in results),
            runs=[_run(*each) for each in zip(self.settings, self.results, strict=True)],
            comparison=_comparison(*self.results) if len(self.results) > 1 else UNSET,
            warnings=warnings(self.notices),
        )


def _comparison(first: Sequence[RunResult], second: Sequence[RunResult]) -> ReplayComparison:
    ends = [_share(two.samples[-1]) - _share(one.samples[-1]) for one, two in zip(first, second, strict=True)]
    over_time = [two.used - one.used for one, two in zip(first, second, strict=True)]
    return ReplayComparison(
        at_the_end=_POINTS * fmean(ends),
        least=_POINTS * min(ends),
        most=_POINTS * max(ends),
        over_time=_POINTS * fmean(over_time),
        over_time_least=_POINTS * min(over_time),
        over_time_most=_POINTS * max(over_time),
    )


_POINTS = 100


def _share(sample: FleetSample) -> float:
    return sample.allocated / sample.devices if sample.devices else 0.0


def _run(setting: Setting, results: Sequence[RunResult]) -> ReplayRun:
    first = results[0]
    return ReplayRun(
        name=setting.name,
        policy=setting.policy,
        orders=len(results),
        samples=first.samples,
        bands=list(_bands([each.samples for each in results])) if len(results) > 1 else [],
        used=first.used,
        used_least=min(each.used for each in results),
        used_most=max(each.used for each in results),
        waiting_times=first.waiting_times,
        models=first.models,
        pods=first.pods,
        refused=first.refused,
        unsettled=next((each.unsettled for each in results if each.unsettled), ""),
    )


def _bands(orders: Sequence[Sequence[FleetSample]]) -> Iterator[Band]:
    """Yield a band for each sample of the first order; orders that end earlier keep their final state."""
    for number, sample in enumerate(orders[0]):
        is_last = number == len(orders[0]) - 1
        each = [samples[-1] if is_last else samples[min(number, len(samples) - 1)] for samples in orders]
        rows = [[float(getattr(one, name)) for one in each] for name in _MEASURED]
        mean, least, most = (
            structs.replace(sample, **{name: found(row) for name, row in zip(_MEASURED, rows, strict=True)})
            for found in (fmean, min, max)
        )
        yield Band(mean=mean, least=least, most=most)


_MEASURED = tuple(name for name in FleetSample.__struct_fields__ if name != "second")


def replay_cluster(
    inventory: Inventory,
    target: Target,
    question: Question,
    steps: Sequence[EventStep],
    settings: Sequence[Setting],
    *,
    chance: Chance,
    orders: int = 1,
    jobs: int = 1,
    seconds: Sequence[float] = (),
    every: float | None = None,
    plugins: Registry | None = None,
    for_page: bool = False,
) -> Replay:
    """Simulate the steps with each setting and each node order until nothing more happens.

    Samples are taken at `seconds`, every `every` seconds, or by default at ten moments between the first and the last
    step, and always at the end. The question's owners, namespace and selector restrict which of the initially pending
    pods are scheduled. If `for_page` is set, the result keeps what a page needs. Raises InputError for impossible
    steps, and UsageError for invalid options.
    """
    chosen = choice(inventory, target, question)
    taken = accepted(inventory, target, chosen, question.runtime_config)
    trace = Trace(
        inventory=taken.inventory,
        target=target,
        steps=steps,
        question=question,
        chance=chance,
        seconds=moments(steps, seconds, every),
        max_steps=question.max_steps,
        ends=question.deadline(),
        plugins=plugins,
    )
    others = [(setting, order) for setting in settings for order in range(orders)][1:]
    begun: list[tuple[RunResult, SimulationResult, list[KeptMoment]]] = []

    def begin() -> None:
        begun.append(run(trace, settings[0], 0, keeps=for_page))

    if jobs > 1 and others:
        _ = [step.created for step in steps]  # decoded once, before processes fork
        more = in_shares(in_orders, trace, others, jobs, first=begin)
    else:
        begin()
        more = list(in_orders(trace, others))
    [(first, outcome, kept)] = begun
    every_result = [first, *more]
    results = [every_result[at : at + orders] for at in range(0, len(every_result), orders)]
    told = [*notices_about(inventory, target, outcome, settled=True)]
    if orders == 1:
        told.append(Notice(ONE_ORDER, ONLY_ONE))

    def again() -> Sequence[KeptMoment]:
        return kept if for_page else run(trace, settings[0], 0, keeps=True)[2]

    return Replay(target, chance, settings, results, outcome, told, enlarged(inventory, steps), again)


def enlarged(inventory: Inventory, steps: Sequence[EventStep]) -> Inventory:
    """Return the cluster with all nodes and slices that the steps create.

    If the steps create several objects with the same name, the last one is used.
    """
    nodes = {node.metadata.name: node for node in inventory.nodes}
    slices = {each.metadata.name: each for each in inventory.slices}
    for kind, obj in (created for step in steps for created in step.created):
        if kind.holder == "nodes":
            nodes[obj.metadata.name] = obj
        elif kind.holder == "slices":
            slices[obj.metadata.name] = obj
    return replace(inventory, nodes=list(nodes.values()), slices=list(slices.values()))


ONLY_ONE = "only one node order was tried; --orders 10 shows how much the figures depend on chance"


def moments(steps: Sequence[EventStep], seconds: Sequence[float], every: float | None) -> list[float]:
    """Return the times at which samples are taken, in seconds."""
    last = length(steps)
    if every:
        count = min(int(last / every), MOST_SAMPLES)
        return [number * every for number in range(count + 1)]
    if seconds:
        return sorted(set(seconds))[:MOST_SAMPLES]
    if not last:
        return []
    return [last * number / USUAL_SAMPLES for number in range(USUAL_SAMPLES + 1)]


def length(steps: Sequence[EventStep]) -> float:
    """Return the time of the last step, in seconds."""
    now = 0.0
    for step in steps:
        now = max(now, step.time or 0.0) + (float(step.value) if step.verb == "wait" else 0.0)
    return now
