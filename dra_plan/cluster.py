"""`Cluster`: Kubernetes objects that are asked. It joins the planner, which answers, and the output, which prints."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

from dra_plan.api.inventory import Inventory
from dra_plan.api.meta import LabelSelector
from dra_plan.claims.identity import told_apart
from dra_plan.documents.base import AppliedEdit
from dra_plan.planner.answer import PrintedAnswer, counted
from dra_plan.planner.question import Progress
from dra_plan.planner.release_choice import AskedRelease

from .allocator import Probe, View
from .arguments import (
    Names,
    Objects,
    able,
    asked_release,
    at_least_one,
    callback,
    gates_of,
    list_of,
    names,
    optional,
    paths_of,
    prices,
    question,
    required,
    truth,
    whole_number,
)
from .errors import UsageError
from .releases import Target

if TYPE_CHECKING:
    from dra_plan.controllers.events import EventStep
    from dra_plan.live.snapshot import Snapshot
    from dra_plan.manifests.load import PathLike
    from dra_plan.planner.allocation import AllocationPlan
    from dra_plan.planner.capacity import CapacityPlan
    from dra_plan.planner.diff import ClusterDiff
    from dra_plan.planner.drains import DrainList
    from dra_plan.planner.explanation import Explanation
    from dra_plan.planner.growth.plan import GrowthPlan
    from dra_plan.planner.placing import PlacementPlan
    from dra_plan.planner.pool_list import PoolList
    from dra_plan.planner.scheduling import SchedulePlan
    from dra_plan.planner.validation import ValidationReport
    from dra_plan.scheduler.framework.extender import Extender
    from dra_plan.scheduler.framework.interface import Registry
    from dra_plan.validation.reading import Reading

    from .whatif import Edit


A = TypeVar("A", bound=PrintedAnswer[Any])


class Cluster:
    """Kubernetes objects, and the release that they are asked under. Never changed: `at` gives another one.

    What was found out for one answer (pools, compiled selectors) is kept for the next, and shared with the clusters
    made from this one as far as it is the same for them. Arguments that take names take one name, too.
    """

    __slots__ = ("_asked", "_edits", "_inventory", "_read", "_view")

    def __init__(
        self,
        inventory: Inventory,
        view: View,
        asked: AskedRelease,
        read: Callable[[], Reading],
        edits: tuple[AppliedEdit, ...] = (),
    ) -> None:
        """For `load`, `of`, `at` and edits: `asked` is what the target was made of, `read` reads for `validate`."""
        self._inventory, self._view, self._asked, self._read = inventory, view, asked, read
        self._edits = edits

    @classmethod
    def load(
        cls,
        paths: PathLike | Iterable[PathLike],
        *,
        recursive: bool = False,
        stdin: BinaryIO | None = None,
        snapshot: Snapshot | None = None,
        namespace: str = "default",
        kubernetes_version: str | None = None,
        feature_gates: Mapping[str, bool] | None = None,
        quirks: str = "upstream",
        strict_version: bool = False,
    ) -> Cluster:
        """The objects of files, directories and `-` (standard input), with the places where they were read.

        They override those of `snapshot`, a cluster that was read before (`dra_plan.read_cluster`). What does not say
        its namespace is in `namespace`.
        Without a `kubernetes_version` the input's is taken: that of the snapshot, or of the kubelets where it is one
        minor version on all Nodes; else 1.36. One that was not recorded is answered by the nearest, with a warning.
        Raises InputError (`ManifestErrors`, with every fault) for what can't be read, decoded or told apart, UsageError
        for what is no version (with `strict_version` also for one that was not recorded), gate or mode of quirks.
        """
        from dra_plan.manifests.load import load
        from dra_plan.manifests.sources import RecordedInput

        sources = paths_of(paths)
        standard_input = RecordedInput(stdin or sys.stdin.buffer)
        before = [] if snapshot is None else [able(snapshot, "source", "snapshot", "a Snapshot").source()]
        inventory = load(sources, recursive=recursive, stdin=standard_input, before=before, namespace=namespace)

        def read() -> Reading:
            from .validation import reading

            again = standard_input.again()
            return reading.read(sources, recursive=recursive, stdin=again, before=before, namespace=namespace)

        asked = asked_release(kubernetes_version, feature_gates, quirks, strict_version=strict_version)
        return cls._of(inventory, read, asked)

    @classmethod
    def live(
        cls,
        context: str | None = None,
        kubeconfig: str | None = None,
        *,
        kubernetes_version: str | None = None,
        feature_gates: Mapping[str, bool] | None = None,
        quirks: str = "upstream",
        strict_version: bool = False,
    ) -> Cluster:
        """The cluster of kubectl's current context, or of another one, as it is now; its release is the default.

        Raises InputError for a cluster that can't be read, or without kubectl, UsageError as `load`.
        """
        from .live import read_cluster

        return cls.load(
            [],
            snapshot=read_cluster(context, kubeconfig),
            kubernetes_version=kubernetes_version,
            feature_gates=feature_gates,
            quirks=quirks,
            strict_version=strict_version,
        )

    @classmethod
    def of(
        cls,
        objects: Objects,
        *,
        kubernetes_version: str | None = None,
        feature_gates: Mapping[str, bool] | None = None,
        quirks: str = "upstream",
        strict_version: bool = False,
    ) -> Cluster:
        """Plain objects, which are left as they are; those of `dra_plan.load` that nobody looked at keep their places.

        Changing a dict later changes no cluster (but see `validate`). Raises InputError for what can't be decoded,
        UsageError as `load` does and for a string.
        """
        from dra_plan.manifests.load import LoadedObjects, inventory_of

        if not isinstance(objects, LoadedObjects | dict | str | bytes | os.PathLike):
            objects = list_of(objects, "objects", "Kubernetes objects")

        def read() -> Reading:
            from dra_plan.validation.reading import Reading, of_objects

            return Reading(of_objects([objects] if isinstance(objects, dict) else objects))

        asked = asked_release(kubernetes_version, feature_gates, quirks, strict_version=strict_version)
        return cls._of(inventory_of(objects), read, asked)

    @classmethod
    def _of(cls, inventory: Inventory, read: Callable[[], Reading], asked: AskedRelease) -> Cluster:
        inventory = told_apart(inventory)
        return cls(inventory, View.of(inventory, asked.target(inventory)), asked, functools.cache(read))

    def at(
        self,
        kubernetes_version: str | None = None,
        feature_gates: Mapping[str, bool] | None = None,
        *,
        quirks: str | None = None,
    ) -> Cluster:
        """The same objects under another release, with other gates or quirks; what isn't given stays as it is.

        `feature_gates` are all that differ from the release's defaults. Raises UsageError for unknown ones.
        """
        before = self._asked
        asked = asked_release(
            before.version if kubernetes_version is None else kubernetes_version,
            before.gates if feature_gates is None else feature_gates,
            before.quirks if quirks is None else quirks,
            strict_version=before.strict_version,
        )
        return self._under(replace(asked, reported=before.reported))

    def reported(self, gates: Mapping[str, bool]) -> Cluster:
        """The same with the feature gates that its scheduler reports (`dra_plan.gates_of_metrics`).

        They take the place of those that the API server reports; those that were chosen stay.
        """
        return self._under(replace(self._asked, reported=gates_of(gates, "gates")))

    def _under(self, asked: AskedRelease) -> Cluster:
        return Cluster(self._inventory, self._view.at(asked.target(self._inventory)), asked, self._read, self._edits)

    # What if

    def cordon(self, *nodes: str) -> Cluster:
        """The cluster with these nodes unschedulable. UsageError for an unknown node, as in all edits."""
        from .whatif import Cordon

        return self.edited(*map(Cordon, names(nodes, "nodes")))

    def drain(self, *nodes: str) -> Cluster:
        """The cluster with these nodes cordoned and their pods gone.

        Pods with a controller come back pending, under the same name, with new claims from their templates; a claim of
        their own that nobody else uses is deallocated. Bare pods are gone, with a warning. Pods of DaemonSets and
        static pods stay until the node goes.
        """
        from .whatif import Drain

        return self.edited(*map(Drain, names(nodes, "nodes")))

    def without(self, *objects: str) -> Cluster:
        """The cluster without these objects, KIND/NAME or KIND/NAMESPACE/NAME, and what goes with them.

        With a pod go its generated claims, with a workload its pods, with a node its pods and its node-local slices.
        """
        from .whatif import Without

        return self.edited(*map(Without.parse, names(objects, "objects")))

    def add_nodes(self, count: int, *, like: str | PathLike) -> Cluster:
        """The cluster with `count` more nodes, like a node of it, or like the one node of a file, with its slices.

        Names, hostname label, slices and pools are new, devices and attributes the same. Raises UsageError where that
        can't be: a slice that is not node-local, a pool that would stay incomplete.
        """
        required(like, (str, os.PathLike), "like", "the name of a node, or a file")
        from .whatif import AddNodes

        return self.edited(AddNodes.of(self._inventory, whole_number(count, "count"), like))

    def edited(self, *edits: Edit) -> Cluster:
        """The cluster after these edits, in this order. It shares with this one all that does not change."""
        inventory, applied = self._inventory, list(self._edits)
        for edit in edits:
            done = able(edit, "apply", "edits", "edits").apply(inventory)
            inventory = replace(done.inventory, notices=[*done.inventory.notices, *done.notices])
            applied.append(done.entry)
        return Cluster(inventory, self._view.after(inventory), self._asked, self._read, tuple(applied))

    @property
    def what_if(self) -> tuple[AppliedEdit, ...]:
        """The edits that made this cluster, and what each of them did."""
        return self._edits

    def _told(self, answer: A) -> A:
        """The answer, with what was changed before it was asked."""
        return replace(answer, what_if=self._edits) if self._edits else answer

    @property
    def inventory(self) -> Inventory:
        """The typed objects and where they were read, not to be changed."""
        return self._inventory

    @property
    def target(self) -> Target:
        """The release, gates and quirks that the answers are for."""
        return self._view.target

    def __repr__(self) -> str:
        held = self._inventory
        parts = [
            counted(len(objects), noun)
            for objects, noun in (
                (held.nodes, "node"),
                (held.slices, "slice"),
                (held.claims, "claim"),
                (held.pods, "pod"),
                (held.workloads, "workload"),
            )
        ]
        return f"<Cluster for {self.target.version}: {', '.join(parts)}>"

    # Questions

    def allocate(
        self,
        *owners: str,
        nodes: Names = None,
        namespace: str | None = None,
        selector: str | LabelSelector | None = None,
        together: bool = False,
        devices_only: bool = False,
        infer_nodes: bool = False,
        explain: bool = False,
        max_steps: int | None = None,
        timeout: float | None = None,
        jobs: int = 1,
        progress: Progress | None = None,
        probe: Probe | None = None,
    ) -> AllocationPlan:
        """Where the claim sets fit and what they get, each on its own, against the cluster as it is.

        `owners` are pods, workloads and claims as kubectl names them ("deploy/serve", "po train", "train", with their
        namespace "default/train" or "pod/default/train"), in the namespace `namespace` or in any; each is planned
        whoever controls it. Without them, all that `namespace` and the labels of `selector` choose are planned.
        `together` joins all of it into one set. Nodes that are cordoned, tainted or not of the pod's choice do not
        count as fitting, unless `devices_only`. `explain` fills the `reasons` of nodes that do not fit. `max_steps`
        bounds one search, `timeout` the seconds of all; what is not answered by then is Undecided. `jobs`
        processes share the claim sets. Without Node objects `infer_nodes` makes them from the slices. `progress` hears
        of every answer, `probe` every step of the search, if it is one. Raises UsageError for an unknown owner or node,
        InputError for an input without nodes.
        """
        from dra_plan.planner.allocation import plan_claim_sets

        asked = question(
            owners,
            nodes=nodes,
            namespace=namespace,
            selector=selector,
            together=together,
            devices_only=devices_only,
            infer_nodes=infer_nodes,
            max_steps=max_steps,
            timeout=timeout,
            progress=progress,
            probe=probe,
        )
        explain, jobs = truth(explain, "explain"), at_least_one(jobs, "jobs")
        return self._told(plan_claim_sets(self._inventory, self._view, asked, explain=explain, jobs=jobs))

    def explain(
        self,
        *owners: str,
        devices: Names = None,
        nodes: Names = None,
        namespace: str | None = None,
        selector: str | LabelSelector | None = None,
        together: bool = False,
        devices_only: bool = False,
        moves: int | None = None,
        infer_nodes: bool = False,
        max_steps: int | None = None,
        timeout: float | None = None,
        progress: Progress | None = None,
    ) -> Explanation:
        """Why the claim sets fit or do not, and what would make them fit; `devices` are DRIVER/POOL/DEVICE.

        podgroup/NAME among the owners asks why a pod group starts or does not (`pod_groups` of the answer). With
        `moves` the answer says which running pods, so many at most, would have to leave for each pod that waits.
        The other arguments, and what is raised, are those of `allocate`; UsageError also for an unknown device.
        """
        from dra_plan.planner.explanation import explain_claim_sets

        asked = question(
            owners,
            nodes=nodes,
            namespace=namespace,
            selector=selector,
            together=together,
            devices_only=devices_only,
            infer_nodes=infer_nodes,
            max_steps=max_steps,
            timeout=timeout,
            progress=progress,
        )
        most = None if moves is None else at_least_one(moves, "moves")
        told = explain_claim_sets(self._inventory, self._view, asked, devices=names(devices, "devices"), moves=most)
        return self._told(told)

    def pools(
        self, nodes: Names = None, *, drivers: Names = None, states: Names = None, infer_nodes: bool = False
    ) -> PoolList:
        """The pools as the nodes see them, and what is left of them; of all nodes also those that no node sees.

        `drivers` and `states` (Complete, Incomplete, Invalid, Obsolete) choose among them. Raises UsageError for an
        unknown node, driver or state, InputError for an input without nodes.
        """
        from dra_plan.planner.pool_list import list_pools

        asked = question(nodes=nodes, infer_nodes=infer_nodes)
        listed = list_pools(
            self._inventory,
            self._view,
            asked,
            drivers=names(drivers, "drivers"),
            states=names(states, "states"),
        )
        return self._told(listed)

    def schedule(
        self,
        *owners: str,
        namespace: str | None = None,
        selector: str | LabelSelector | None = None,
        then: Iterable[Cluster | Objects] = (),
        config: Mapping[str, Any] | None = None,
        extenders: Sequence[Extender] | None = None,
        plugins: Registry | None = None,
        api_server: str | None = None,
        order: str | None = None,
        infer_nodes: bool = False,
        requires_nodes: bool = False,
        trace: bool = False,
        explain: bool = False,
        settle: bool = False,
        events: Iterable[Mapping[str, Any]] = (),
        never_ready: Names = None,
        max_steps: int | None = None,
        timeout: float | None = None,
    ) -> SchedulePlan:
        """What becomes of the pods when kube-scheduler takes them one after the other.

        `owners` name the pods that are scheduled and told, and workloads that stand for theirs; without them,
        `namespace` and `selector` choose which pending pods are scheduled. `then` are later states of the cluster;
        `config` is a decoded KubeSchedulerConfiguration, `extenders` stand for those that it names, `plugins` are
        factories of own plugins; `api_server` is "real", or "recorded" for the one with which most outcomes were
        recorded; `order` is "arrival" (by creationTimestamp, then by place in the input), or "name" for a scheduler
        that was restarted. With `explain` the plan says of each pod without a node why it was refused devices, as the
        cluster was when it was tried last. An input without nodes is scheduled as a cluster without nodes, or refused
        with `requires_nodes`. With `settle` controllers act as well: pods are evicted and made again, claims freed,
        quota refuses, until nothing changes; `events` are steps such as {"create": object} that happen then, one after
        the other (docs/schedule.md); pods that are `never_ready` (NAME or NAMESPACE/NAME) start and do not
        become ready. A DeviceTaintRule in them, or in the cluster, says that the cluster serves these.
        After `timeout` seconds it ends: what was not tried to its end is Undecided. Raises UsageError for what can't
        be chosen, InputError for later states and events that can't be decoded.
        """
        from dra_plan.manifests.load import inventory_of
        from dra_plan.planner.scheduling import schedule_pods

        steps, target = self._steps(list_of(events, "events", "steps"), settle=truth(settle, "settle"))
        states = list_of(then, "then", "states of the cluster")
        if settle and states:
            raise UsageError("settle and then exclude each other: events say what happens next")
        for state in states:
            required(state, (Cluster, Iterable), "then", "states of the cluster")
        optional(config, Mapping, "config", "a decoded KubeSchedulerConfiguration")
        optional(plugins, Mapping, "plugins", "a Registry")
        for name, factory in (plugins or {}).items():
            callback(factory, f"plugins: {name}")
        given = None if extenders is None else list_of(extenders, "extenders", "extenders")
        for extender in given or ():
            able(extender, "is_interested", "extenders", "extenders")
        asked = question(
            owners,
            namespace=namespace,
            selector=selector,
            infer_nodes=infer_nodes,
            max_steps=max_steps,
            timeout=timeout,
        )
        plan = schedule_pods(
            self._inventory,
            target,
            asked,
            config=config,
            extenders=given,
            then=[
                state.inventory if isinstance(state, Cluster) else told_apart(inventory_of(state, argument="then"))
                for state in states
            ],
            requires_nodes=truth(requires_nodes, "requires_nodes"),
            trace=truth(trace, "trace"),
            explain=truth(explain, "explain"),
            api_server=optional(api_server, str, "api_server", "a name"),
            order=optional(order, str, "order", "a name"),
            plugins=plugins,
            settle=settle,
            events=steps,
            never_ready=_keys(names(never_ready, "never_ready")),
        )
        return self._told(plan)

    def _steps(self, events: Sequence[Mapping[str, Any]], *, settle: bool) -> tuple[list[EventStep], Target]:
        """The decoded steps, and the target: what the API server serves, objects and steps tell."""
        if not settle:
            if events:
                raise UsageError("events need settle: they happen beside the scheduler")
            return [], self.target
        from dra_plan.controllers.events import read_steps, serves_taint_rules

        steps = read_steps((getattr(line, "origin", f"events[{i}]"), line) for i, line in enumerate(events))
        if self._inventory.taint_rules or serves_taint_rules(steps):
            return steps, self._asked.serving(self._inventory, "DRADeviceTaintRules")
        return steps, self.target

    def capacity(
        self,
        *owners: str | dict[str, Any],
        namespace: str | None = None,
        mix: bool = False,
        possible: bool | None = None,
        limit: int | None = None,
        infer_nodes: bool = False,
        max_steps: int | None = None,
    ) -> CapacityPlan:
        """How many copies of pods there is room for beside what is on nodes, each owner on its own.

        `owners` are names of pods and workloads, or pods as plain dicts; without them, the pods that wait for a node
        and the workloads of the input, or of `namespace`. Copies are created one after the other, as many as
        kube-scheduler binds, and no more than `limit` (10,000). Other pods that wait stay aside. With `mix` all owners
        are counted together, in the proportion of their replicas. What is possible at best is sought for a few seconds
        (not for a mix); if `possible` is true, thoroughly, and if it is false, not at all.
        Raises UsageError for an unknown owner, InputError for a pod that can't be decoded and for an input without
        nodes.
        """
        from dra_plan.manifests.decode import from_dicts

        from .planner import capacity

        for owner in owners:
            required(owner, (str, dict), "owners", "names, or pods as dicts")
        plain = [owner for owner in owners if not isinstance(owner, str)]
        named = [owner for owner in owners if isinstance(owner, str)]
        copied = [capacity.Copied.of_pod(pod) for pod in from_dicts(plain).pods]
        if named or not plain:
            copied += capacity.choose_copied(self._inventory, named, namespace)
        asked = question(infer_nodes=infer_nodes, max_steps=max_steps)
        mix, seeks = truth(mix, "mix"), None if possible is None else truth(possible, "possible")
        most = capacity.USUAL_LIMIT if limit is None else at_least_one(limit, "limit")
        return self._told(
            capacity.count_copies(self._inventory, self.target, copied, asked, limit=most, mix=mix, seeks=seeks)
        )

    def place(
        self,
        *owners: str,
        namespace: str | None = None,
        selector: str | LabelSelector | None = None,
        most: bool = False,
        infer_nodes: bool = False,
        max_steps: int | None = None,
    ) -> PlacementPlan:
        """Whether the pods that wait can all run at the same time, whatever kube-scheduler would do, and where.

        `owners`, also podgroup/NAME, or `namespace` and `selector`, choose which pods. With `most` as many as possible
        are placed, by priority. Raises UsageError for unknown owners, and where different pods share nodes and the
        extra `place`, which has the solver, is not installed; InputError for an input without nodes.
        """
        from dra_plan.planner.placing import place_pods

        asked = question(owners, namespace=namespace, selector=selector, infer_nodes=infer_nodes, max_steps=max_steps)
        return self._told(place_pods(self._inventory, self.target, asked, most=truth(most, "most")))

    def grow(
        self,
        *owners: str,
        like: str | PathLike | Iterable[str | PathLike],
        cost: Mapping[str, float | Decimal] | None = None,
        namespace: str | None = None,
        selector: str | LabelSelector | None = None,
        limit: int | None = None,
        max_steps: int | None = None,
    ) -> GrowthPlan:
        """The cheapest new nodes with which kube-scheduler binds every pod that waits.

        New nodes are like those that `like` names, as for `add_nodes`; one costs what `cost` says of its name, else 1.
        `owners`, or `namespace` and `selector`, choose which pods are scheduled. No more than `limit` (10,000) nodes of
        a kind are tried. An input without nodes is a cluster without nodes. Raises UsageError for unknown names, for
        kinds of which no node can be made, and for costs that are no numbers above 0.
        """
        from dra_plan.planner.growth import kinds, plan

        asked = question(owners, namespace=namespace, selector=selector, max_steps=max_steps)
        found = kinds.kinds_of(self._inventory, paths_of(like, "like"), prices(cost))
        most = plan.USUAL_LIMIT if limit is None else at_least_one(limit, "limit")
        return self._told(plan.grow(self._inventory, self.target, asked, found, limit=most))

    def page(self, answer: PrintedAnswer[Any]) -> str:
        """An answer of this cluster as a page of HTML, with a picture of the cluster: one file, which loads nothing."""
        from dra_plan.report.pages import html

        return html(required(answer, PrintedAnswer, "answer", "an answer"), self._inventory, self._view)

    def diff(
        self,
        other: Cluster,
        *owners: str,
        namespace: str | None = None,
        selector: str | LabelSelector | None = None,
        together: bool = False,
        devices_only: bool = False,
        infer_nodes: bool = False,
        max_steps: int | None = None,
    ) -> ClusterDiff:
        """What `other` answers differently from this cluster: claim sets, pods, pools, devices and selectors.

        `other` may hold other objects, be an edit of this one, or the same objects under another release (`at`). The
        other arguments, and what is raised, are those of `allocate`; with `together` pods are not scheduled.
        """
        from dra_plan.planner.diff import State, compare

        required(other, Cluster, "other", "a Cluster")
        asked = question(
            owners,
            namespace=namespace,
            selector=selector,
            together=together,
            devices_only=devices_only,
            infer_nodes=infer_nodes,
            max_steps=max_steps,
        )
        before, after = (State(each._inventory, each._view, each._edits) for each in (self, other))
        return compare(before, after, asked)

    def drain_each(
        self,
        *owners: str,
        nodes: Names = None,
        namespace: str | None = None,
        selector: str | LabelSelector | None = None,
        infer_nodes: bool = False,
        max_steps: int | None = None,
        jobs: int = 1,
    ) -> DrainList:
        """What would have no place if a node were drained: each of `nodes` in turn, or each that there is.

        A row says of pods what `diff` says with `drain`. `jobs` processes share the nodes. The other arguments, and
        what is raised, are those of `schedule`; UsageError also for an unknown node, InputError for an input without.
        """
        from dra_plan.planner.drains import drain_each

        asked = question(
            owners, nodes=nodes, namespace=namespace, selector=selector, infer_nodes=infer_nodes, max_steps=max_steps
        )
        return self._told(drain_each(self._inventory, self.target, asked, at_least_one(jobs, "jobs")))

    def validate(
        self,
        *,
        select: Names = None,
        ignore: Names = None,
        ignore_unknown: bool = False,
        against: Cluster | None = None,
        runtime_config: Mapping[str, bool] | None = None,
    ) -> ValidationReport:
        """What is wrong with the objects, one by one and together; `select` and `ignore` are codes of rules.

        Objects that the cluster `against` has too are judged as updates of these. `runtime_config` is that of the API
        server, `{}` its default: which versions it serves of those that the release can; None: all.

        Judged is what manifests say, so files are read, and dicts looked at, when this is asked first. Raises
        UsageError for an unknown code, InputError for files that can't be read any more.
        """
        from dra_plan.planner.validation import report
        from dra_plan.validation.registry import ALL, RuleSelection

        selection = RuleSelection(names(select, "select") or (ALL,), names(ignore, "ignore"))
        passed_over = truth(ignore_unknown, "ignore_unknown")
        if against is not None:
            required(against, Cluster, "against", "a Cluster")
        old = against._read().subjects if against is not None else ()
        return report(
            self._read(),
            self.target,
            selection,
            ignore_unknown=passed_over,
            against=old,
            runtime_config=runtime_config,
        )


def _keys(named: Iterable[str]) -> list[str]:
    """NAMESPACE/NAME of pods that may be named without their namespace."""
    return [name if "/" in name else f"default/{name}" for name in named]
