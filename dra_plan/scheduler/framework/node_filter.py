"""A profile's filters, applied to many nodes for one pod, with cached results."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, ItemsView, Iterator, Mapping, Sequence
from itertools import compress, count, groupby, repeat
from operator import is_not

from dra_plan.api.core import Pod
from dra_plan.remembered import Remembered
from dra_plan.scheduler.cluster.cluster import SimulatedCluster
from dra_plan.scheduler.cluster.memo import MOST_SHAPES, NodeAnswers, ShapeAnswers
from dra_plan.scheduler.cluster.nodes import NodeInfo, PassedNodes

from .interface import FilterPlugin
from .runtime import FilterPhase
from .status import Code, CountedStatuses, CycleState, Rejection, Status

UNKNOWN = Status(Code.ERROR, "not asked yet")
"""A placeholder for a result that is not known yet."""


class Scan:
    """The result of a search for nodes: those that `passed`, and how many were `examined`.

    The nodes are in order from the start of the search.
    """

    def __init__(self, nodes: Sequence[NodeInfo], start: int, answers: Sequence[Status | None]) -> None:
        self.passed = PassedNodes(nodes, ())
        self.examined = len(nodes)
        self.others: dict[int, Status | None] = {}
        """The results that apply to this pod alone, by position: errors, and results for nodes that pods are nominated
        to.
        """
        self._nodes, self._start, self.answers = nodes, start, answers

    def errors(self) -> dict[str, Status]:
        """Return the nodes on which a filter failed with an error, each with the error."""
        return {
            self._nodes[position].name: status
            for position, status in self.others.items()
            if status is not None and status.code is Code.ERROR
        }

    def refused(self) -> dict[str, Status]:
        """Return the rejected nodes, each with its rejection. The result is valid until the cluster changes."""
        found: dict[str, Status] = {}
        end, total = self._start + self.examined, len(self._nodes)
        for position in (*range(self._start, min(end, total)), *range(max(0, end - total))):
            status = self.others[position] if position in self.others else self.answers[position]
            if status is not None and status.code is not Code.ERROR:
                found[self._nodes[position].name] = status
        return found


class Tally:
    """The number of nodes for each rejection, for identical pods. Only new results are counted again."""

    def __init__(self) -> None:
        self._counted: list[Status | None] = []
        self._counts: Counter[Rejection] = Counter()

    def of(self, known: ShapeAnswers[Status | None]) -> Mapping[Rejection, int]:
        """Return the number of nodes for each rejection, given one result for each node.

        The numbers are valid until the next call.
        """
        answers, before, counts = known.answers, self._counted, self._counts
        renewed = known.renewed
        if renewed is None or len(before) != len(answers):
            self._counted, renewed = [*answers], set()
            self._counts = counts = Counter([status.rejection for status in answers if status is not None])
        for position in renewed:
            for status, change in ((before[position], -1), (answers[position], 1)):
                if status is not None:
                    counts[status.rejection] += change
            before[position] = answers[position]
        known.renewed = set()
        return counts


class Refused(CountedStatuses):
    """The rejections of a scan. They are created on access, because most pods find a node and never need them."""

    def __init__(self, scan: Scan, number: int, run: _Run) -> None:
        self._scan, self._number, self._run = scan, number, run
        self._found: dict[str, Status] | None = None
        self._counts: Mapping[Rejection, int] | None = None

    def counts(self) -> Mapping[Rejection, int]:
        """Return the number of nodes for each rejection. The numbers are valid until the cluster changes."""
        if self._counts is None and self._number == len(self._scan.answers) and not self._scan.others:
            self._counts = self._run.tally.of(self._run.known)
        elif self._counts is None:
            self._counts = Counter([status.rejection for status in self._all().values()])
        return self._counts

    def _all(self) -> dict[str, Status]:
        if self._found is None:
            self._found = self._scan.refused()
        return self._found

    def __getitem__(self, name: str) -> Status:
        return self._all()[name]

    def items(self) -> ItemsView[str, Status]:
        """Return the nodes and their rejections."""
        return self._all().items()

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return self._number


class FilterAnswers:
    """The cached results of a profile's filters.

    The combined result of all filters is cached for identical pods, and the result of a single plugin for all pods that
    it treats alike.
    """

    def __init__(self, cluster: SimulatedCluster) -> None:
        self.of_pods: NodeAnswers[Status | None] = NodeAnswers(cluster, UNKNOWN)
        self.of_plugins: NodeAnswers[Status | None] = NodeAnswers(cluster, UNKNOWN)
        self.of_objects: NodeAnswers[Status | None] = NodeAnswers(cluster, UNKNOWN, of_objects=True)
        """The results of plugins that read only the Node object."""
        self.tallies: Remembered[Hashable, Tally] = Remembered(MOST_SHAPES)
        """The numbers of rejections for identical pods."""


class _Run:
    """Adjacent filters whose results are cached, together and plugin by plugin."""

    __slots__ = ("_keys", "_made", "_plugins", "_remembered", "known")

    @property
    def tally(self) -> Tally:
        """The number of nodes for each rejection."""
        return self._remembered.tallies.of(self._keys, Tally)

    def __init__(self, plugins: Sequence[FilterPlugin], keys: Sequence[Hashable], remembered: FilterAnswers) -> None:
        self._plugins, self._keys, self._remembered = plugins, tuple(keys), remembered
        self._made: list[tuple[Sequence[FilterPlugin], list[Status | None]]] | None = None
        self.known = remembered.of_pods.of(self._keys)

    @property
    def parts(self) -> list[tuple[Sequence[FilterPlugin], list[Status | None]]]:
        """The plugins in order, and their results by position of the node.

        Plugins that read only the Node object share one list of results.
        """
        if self._made is None:
            self._made, remembered = [], self._remembered
            entries = zip(self._plugins, self._keys, strict=True)
            for of_objects, group in groupby(entries, key=lambda entry: entry[0].looks_at_object_alone):
                if of_objects:
                    plugins, keys = zip(*group, strict=True)
                    self._made.append((plugins, remembered.of_objects.of(keys).answers))
                else:
                    self._made += [((plugin,), remembered.of_plugins.of(key).answers) for plugin, key in group]
        return self._made


def _not_passing(places: Sequence[int], answers: Sequence[Status | None]) -> Iterator[int]:
    """Return the indices of the places whose answer is not success: of nodes that are open, those not asked yet."""
    return compress(count(), map(is_not, map(answers.__getitem__, places), repeat(None)))


class NodeFilter:
    """The filters of a profile for one pod. Results are cached if the plugins allow it.

    Successive plugins with a memo key share a list of results, so each node is examined only once.
    """

    def __init__(self, phase: FilterPhase, state: CycleState, pod: Pod, remembered: FilterAnswers) -> None:
        self._phase = phase
        self._state = state
        self._pod = pod
        info = phase.handle.cluster.info(pod)
        self._uid, self._priority = info.uid, info.priority
        self._nominator = phase.handle.nominator
        self._positions = phase.handle.cluster.positions
        self._runs: list[_Run | FilterPlugin] = []
        self._group(remembered)

    def _group(self, remembered: FilterAnswers) -> None:
        members: list[FilterPlugin] = []
        keys: list[Hashable] = []

        def close() -> None:
            if members:
                self._runs.append(_Run(tuple(members), tuple(keys), remembered))
                members.clear()
                keys.clear()

        for plugin in self._phase.filters(self._state):
            # a trace needs every plugin's result, so nothing is cached in that case
            key = None if self._phase.tracer else plugin.filter_memo(self._state, self._pod)
            if key is None:
                close()
                self._runs.append(plugin)
            else:
                members.append(plugin)
                keys.append((plugin.name, key))
        close()

    @property
    def remembers(self) -> bool:
        """Whether all results are cached, so that `scan` can be used."""
        return len(self._runs) == 1 and isinstance(self._runs[0], _Run)

    def refused(self, scan: Scan) -> Refused:
        """Return the rejections of a scan."""
        [run] = self._runs
        assert isinstance(run, _Run)
        return Refused(scan, scan.examined - len(scan.passed) - len(scan.errors()), run)

    def scan(self, nodes: Sequence[NodeInfo], start: int, enough: int) -> Scan:
        """Return the nodes that pass, stopping when `enough` have passed or all have been examined.

        `nodes` are all nodes in scheduling order. The scan begins at position `start` and wraps around after the last
        node. Nodes that were rejected before and have not changed take no time.
        """
        [run] = self._runs
        assert isinstance(run, _Run)
        known = run.known
        crowded = {
            self._positions[name]
            for name in self._nominator.nodes
            if name in self._positions and self._nominator.at_least(name, self._priority, self._uid)
        }
        answers, scan = known.answers, Scan(nodes, start, known.answers)
        places = known.open if not crowded else sorted(crowded.union(known.open))
        first = bisect_left(places, start)
        places = places[first:] + places[:first]
        passed: list[int] = []
        others, done = scan.others, 0
        while len(passed) < enough and done < len(places):
            some = places[done : done + enough - len(passed)]  # so that no extra node is examined if all of them pass
            done += len(some)
            indices = [*_not_passing(some, answers)]
            asked = [some[index] for index in indices]
            if crowded:
                others.update((at, self(nodes[at])) for at in some if at in crowded)
                asked = [at for at in asked if at not in crowded and answers[at] is UNKNOWN]
            if asked:
                others.update(self._fill(run, [nodes[at] for at in asked]))
            if others:
                some = [at for at in some if (others[at] if at in others else answers[at]) is None]
            else:
                for index in reversed(indices):
                    if answers[some[index]] is not None:
                        del some[index]
            passed += some
        if len(passed) >= enough:
            scan.examined = (passed[-1] - start) % len(nodes) + 1
        scan.passed = PassedNodes(nodes, passed)
        return scan

    def __call__(self, node: NodeInfo) -> Status | None:
        """Return None if the pod fits on the node, or else the first plugin result that is not success."""
        crowded = self._nominator.at_least(node.name, self._priority, self._uid) if self._nominator else ()
        if crowded:
            return self._phase.filter_with_nominated(self._state, self._pod, node)
        position = node.position
        for run in self._runs:
            if not isinstance(run, _Run):
                status = self._phase.ask_filter(run, self._state, self._pod, node)
            else:
                status = run.known.answers[position]
                if status is UNKNOWN:
                    errors = self._fill(run, [node])
                    status = errors[position] if errors else run.known.answers[position]
            if status is not None:
                return status
        return None

    def _fill(self, run: _Run, nodes: Sequence[NodeInfo]) -> dict[int, Status]:
        """Compute and cache the plugins' results for these nodes; return errors, which are not cached.

        An error's text may contain data that concerns only this pod. Each plugin runs for all nodes that earlier
        plugins have not rejected.
        """
        first = run.known.answers
        errors: dict[int, Status] = {}
        for plugins, answers in run.parts:
            unknown = [node for node in nodes if answers[node.position] is UNKNOWN]
            errors |= self._ask(plugins, answers, unknown)
            passed = []
            for node in nodes:
                status = answers[node.position]
                if status is None:
                    passed.append(node)
                elif status is not UNKNOWN:
                    first[node.position] = status
                    run.known.close(node.position)
            nodes = passed
        for node in nodes:
            first[node.position] = None
        return errors

    def _ask(
        self, plugins: Sequence[FilterPlugin], answers: list[Status | None], nodes: Sequence[NodeInfo]
    ) -> dict[int, Status]:
        """Fill in the first result that is not success, or None; return errors, which are not filled in."""
        errors: dict[int, Status] = {}
        for plugin in plugins if nodes else ():
            found = self._phase.ask_filter_each(plugin, self._state, self._pod, nodes)
            if not any(found):
                continue
            passed = []
            for node, status in zip(nodes, found, strict=True):
                if status is None:
                    passed.append(node)
                elif status.code is Code.ERROR:
                    errors[node.position] = status
                else:
                    answers[node.position] = status
            nodes = passed
        for node in nodes:
            answers[node.position] = None
        return errors
