"""`grow`: the cheapest new nodes with which the scheduler binds every pending pod.

To find pods that new nodes cannot help, the scheduler is run with spare nodes: a pod that gets no node although a new
node of each kind stays empty would not be helped by more nodes. Members of a pod group need one spare node each.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from dra_plan.api.inventory import Inventory, Notice
from dra_plan.documents.base import ObjectName, answer_target, warnings
from dra_plan.documents.scheduling import ExplainedAttempt
from dra_plan.errors import UsageError
from dra_plan.near import nearest
from dra_plan.planner.answer import PrintedAnswer, counted
from dra_plan.planner.failed_attempts import explained_attempts
from dra_plan.planner.question import Question
from dra_plan.planner.refused import RefusedOwner, accepted, entries
from dra_plan.planner.suspended import resumed
from dra_plan.questions.grow.document import AddedKind, AddedNode, GrowthDocument, NotEnough, TriedNumber, UnboundPod
from dra_plan.questions.grow.search import (
    Cheapest,
    CheapestSearch,
    Counts,
    Grown,
    GrowthQuestion,
    PodKey,
    Verdict,
    one_fewer,
    with_more,
)
from dra_plan.questions.schedule.answer import choice, notices_about, schedule_chosen
from dra_plan.releases import Target
from dra_plan.scheduler.attempts import FailedAttempt
from dra_plan.scheduler.notices import SEVERAL_BEST
from dra_plan.whatif import AddNodes
from dra_plan.whatif.node_copy import MOST_ADDED

USUAL_LIMIT = MOST_ADDED
"""The default maximum number of new nodes of one kind."""


@dataclass(frozen=True, repr=False)
class GrowthPlan(PrintedAnswer[GrowthDocument]):
    """The result of `grow`.

    Iterating over the result yields the kinds of new nodes, with the number of nodes of each kind.
    """

    target: Target
    question: Question
    limit: int
    kinds: tuple[NodeKind, ...]
    before: Grown
    top: Grown
    """The result with the largest numbers of new nodes, which are tried before the search."""
    beyond_help: frozenset[PodKey]
    fits_alone: frozenset[PodKey]
    """Pods that get no node although they would fit alone, because of ties between equally scored nodes."""
    cheapest: Cheapest | None
    """The cheapest combination that is enough, or None if the limit was reached."""
    final: Grown
    """The result with the new nodes of the answer, or `top` if there is no answer."""
    fewer: tuple[Grown, ...]
    asked: int
    tied: bool
    """Whether ties between nodes with equal scores affect the answer."""
    notices: tuple[Notice, ...] = ()
    refused: tuple[RefusedOwner, ...] = ()
    """The pods and workloads that the API server rejects, for which no nodes are added."""

    def __iter__(self) -> Iterator[AddedKind]:
        return iter(self.document.kinds)

    def __len__(self) -> int:
        return len(self.kinds)

    def __repr__(self) -> str:
        document = self.document
        if document.at_most is None:
            return f"<GrowthPlan for {self.target.version}: {document.outcome}>"
        return f"<GrowthPlan for {self.target.version}: {document.outcome}, {counted(len(document.nodes), 'node')}>"

    def grown(self, inventory: Inventory, counts: Counts) -> Inventory:
        """Return the cluster with new nodes. `counts` maps each kind of node to the number of new nodes."""
        chosen = choice(inventory, self.target, self.question)
        taken = accepted(inventory, self.target, chosen, self.question.runtime_config)
        return with_more(taken.inventory, [kind.edit for kind in self.kinds], counts)[0]

    def explained(self, inventory: Inventory, answer: Grown) -> list[tuple[ExplainedAttempt, FailedAttempt]]:
        """Return why pods get no node even with the new nodes in `answer`, and the last attempt for each such pod."""
        inventory = resumed(inventory, self.question.owners, self.question.namespace)
        chosen = choice(inventory, self.target, self.question)
        grown = self.grown(inventory, answer.counts)
        result = schedule_chosen(grown, self.target, self.question, chosen, explain=True)
        failed = {(one.pod.metadata.namespace, one.pod.metadata.name): one for one in result.failed_attempts}
        told = explained_attempts(result.failed_attempts, grown, self.question.max_steps)
        return [(one, failed[one.pods[0].namespace, one.pods[0].name]) for one in told]

    def _document(self) -> GrowthDocument:
        found = self.cheapest
        costs = [kind.cost for kind in self.kinds]
        at_least = found.at_least if found is not None else self._beyond_limit()
        at_most = None if found is None else _cost(found.counts, costs)
        counts: Sequence[int | None] = [None] * len(costs) if found is None else found.counts
        return GrowthDocument(
            target=answer_target(self.target),
            outcome="Undecided" if at_least != at_most else "Found" if any(self.final.counts) else "NotNeeded",
            limit=self.limit,
            pods=len(self.before.bound) + len(self.before.unbound),
            bound_before=len(self.before.bound),
            beyond_help=_unbound(
                self.top, [key for key in self.top.unbound if key in self.beyond_help], self.fits_alone
            ),
            kinds=[
                AddedKind(like=kind.like, cost=_number(kind.cost), count=count)
                for kind, count in zip(self.kinds, counts, strict=True)
            ],
            at_least=_number(at_least),
            at_most=None if at_most is None else _number(at_most),
            exact=found is not None and found.exact,
            tied=self.tied,
            asked=self.asked,
            nodes=[] if found is None else list(self._nodes()),
            not_enough=[self._not_enough(answer) for answer in self.fewer],
            evicted=_evicted(self.final),
            refusals=entries(self.refused),
            warnings=warnings(self.notices),
        )

    def _beyond_limit(self) -> Decimal:
        """Return the cost of the first numbers that may suffice, if none are known to suffice."""
        reached = not self.top.undecided and max(self.top.counts) == self.limit
        return (self.limit + 1 if reached else 0) * min(kind.cost for kind in self.kinds)

    def _nodes(self) -> Iterator[AddedNode]:
        pods: dict[str, list[ObjectName]] = {}
        for (namespace, name), node in self.final.bound.items():
            pods.setdefault(node, []).append(ObjectName(kind="Pod", namespace=namespace, name=name))
        for kind, names in zip(self.kinds, self.final.added, strict=True):
            for name in names:
                yield AddedNode(name=name, like=kind.like, pods=pods.get(name, []))

    def _not_enough(self, answer: Grown) -> NotEnough:
        tried = zip(self.kinds, answer.counts, strict=True)
        return NotEnough(
            nodes=[TriedNumber(like=kind.like, count=count) for kind, count in tried],
            unbound=_unbound(answer, [key for key in answer.unbound if key not in self.beyond_help]),
        )


def grow(
    inventory: Inventory, target: Target, question: Question, kinds: Sequence[NodeKind], *, limit: int
) -> GrowthPlan:
    """Return the cheapest combination of nodes of these kinds, with at most `limit` nodes of each kind.

    Raises UsageError for unknown owners, and for an invalid limit.
    """
    if not 1 <= limit <= MOST_ADDED:
        raise UsageError(f"limit: {limit:,} nodes of a kind is out of range: expected 1 to {MOST_ADDED:,}")
    inventory = resumed(inventory, question.owners, question.namespace)
    chosen = choice(inventory, target, question)
    taken = accepted(inventory, target, chosen, question.runtime_config)
    inventory = taken.inventory
    asked = GrowthQuestion(inventory, target, question, chosen, [kind.edit for kind in kinds])
    before = asked.ask(tuple(0 for _ in kinds))
    top, beyond_help = _plenty(asked, before, limit)
    found: Cheapest | None = None
    if not top.unbound.keys() - beyond_help:
        found = _search(asked, kinds, beyond_help).below(top.counts)
    final = top if found is None else asked.ask(found.counts)
    fewer = [asked.ask(counts) for counts in ([top.counts] if found is None else one_fewer(found.counts))]
    cheaper = _not_dearer(asked.answers, final, [kind.cost for kind in kinds])
    in_the_way = asked.alone(top, beyond_help) if beyond_help and top.tied else frozenset[PodKey]()
    is_tied = bool(in_the_way) or any(answer.tied for answer in cheaper)
    return GrowthPlan(
        target=target,
        question=question,
        limit=limit,
        kinds=tuple(kinds),
        before=before,
        top=top,
        beyond_help=beyond_help,
        fits_alone=in_the_way,
        cheapest=found,
        final=final,
        fewer=tuple(fewer),
        asked=asked.asked,
        tied=is_tied,
        refused=taken.refused,
        notices=tuple(_notices(inventory, target, final, is_tied=is_tied)),
    )


def _not_dearer(answers: Sequence[Grown], final: Grown, costs: Sequence[Decimal]) -> Iterator[Grown]:
    """Yield the answers that determine the numbers: `final`, and the cheaper ones that are not enough."""
    most = _cost(final.counts, costs)
    return (answer for answer in answers if answer is final or _cost(answer.counts, costs) < most)


def _notices(inventory: Inventory, target: Target, answer: Grown, *, is_tied: bool) -> Iterator[Notice]:
    """Yield the notices for readers, except that nodes which differ only in their names are equally good."""
    yield from notices_about(inventory, target, answer.result)
    ties = {f"Pod {pod}" for pod in answer.tied}
    yield from (each for each in answer.result.notices if each.code != SEVERAL_BEST or each.object in ties)
    if is_tied and not ties:
        yield Notice(
            SEVERAL_BEST,
            (
                "with other numbers of new nodes, several nodes have the highest score. dra-plan takes the first in "
                "node order; in a cluster, timing decides, and the number may differ"
            ),
        )


def _plenty(asked: GrowthQuestion, before: Grown, limit: int) -> tuple[Grown, frozenset[PodKey]]:
    """Return an answer that binds all pods except those that no number helps, with those; or that of the limit."""
    answer, number = before, 0
    while answer.unbound and number < limit:
        number = min(max(2 * number, 1), limit)
        answer = asked.ask(tuple(number for _ in before.counts))
        if answer.unbound and _spares(answer):
            return answer, frozenset(answer.unbound.keys() - answer.undecided)
    return answer, frozenset()


def _spares(answer: Grown) -> bool:
    """Return whether new nodes of each kind are left for the pods without a node, so that more would not help."""
    grouped = sum(
        record.pod.spec.scheduling_group is not None
        for record in answer.result.pods
        if (record.pod.metadata.namespace, record.pod.metadata.name) in answer.unbound
    )
    return all(answer.spare(kind) >= max(grouped, 1) for kind in range(len(answer.counts)))


def _search(asked: GrowthQuestion, kinds: Sequence[NodeKind], beyond_help: frozenset[PodKey]) -> CheapestSearch:
    def verdict(counts: Counts) -> Verdict:
        answer = asked.ask(counts)
        left = answer.unbound.keys() - beyond_help
        return None if left and left <= answer.undecided else not left

    return CheapestSearch(verdict, [kind.cost for kind in kinds])


def _unbound(answer: Grown, keys: Sequence[PodKey], fits_alone: Collection[PodKey] = frozenset()) -> list[UnboundPod]:
    return [
        UnboundPod(namespace=key[0], name=key[1], message=answer.unbound[key], fits_alone=key in fits_alone)
        for key in keys
    ]


def _evicted(answer: Grown) -> list[ObjectName]:
    names = dict.fromkeys(eviction.victim for eviction in answer.result.evictions)
    parts = (name.partition("/") for name in names)
    return [ObjectName(kind="Pod", namespace=namespace, name=name) for namespace, _, name in parts]


def _cost(counts: Counts, costs: Sequence[Decimal]) -> Decimal:
    return sum((cost * count for cost, count in zip(costs, counts, strict=True)), Decimal(0))


def _number(cost: Decimal) -> int | float:
    return int(cost) if cost == cost.to_integral_value() else float(cost)


@dataclass(frozen=True)
class NodeKind:
    """A kind of node that may be added."""

    like: str
    edit: AddNodes
    cost: Decimal = Decimal(1)


def kinds_of(
    inventory: Inventory, likes: Sequence[str | os.PathLike[str]], costs: Mapping[str, Decimal]
) -> list[NodeKind]:
    """Return a kind for each of `likes`: names of nodes in the inventory, or files with one node.

    Duplicates are omitted.

    Raises UsageError if `likes` is empty, for an unknown name, for a file that does not contain exactly one node, for a
    node that cannot be copied, and for a cost that is not positive or belongs to no kind. Raises InputError for a file
    that cannot be read.
    """
    names = list(dict.fromkeys(os.fspath(like) for like in likes))
    if not names:
        raise UsageError("no kind of node to add: name a node, or a file with a node and its slices")
    for name, cost in costs.items():
        if name not in names:
            near = nearest(name, names)
            raise UsageError(f"a cost of {name!r}, which is not in like" + (f": {near!r} is" if near else ""))
        if not cost.is_finite() or cost <= 0:
            raise UsageError(f"a cost of {cost} for {name!r}: expected a number above 0")
    made = [NodeKind(name, AddNodes.of(inventory, 1, name), costs.get(name, Decimal(1))) for name in names]
    for kind in made:
        kind.edit.apply(inventory)
    return made
