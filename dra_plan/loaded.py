"""What is asked about: the objects of a cluster as they were read and edited, and the release that they are under."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, BinaryIO, Self, TypeVar, Unpack

from dra_plan.allotted import allotted
from dra_plan.api.inventory import Inventory
from dra_plan.claims.identity import told_apart
from dra_plan.documents.base import AppliedEdit
from dra_plan.planner.answer import PrintedAnswer, counted
from dra_plan.planner.question import AskedRelease, Progress, Question

from .allocator import View
from .arguments import (
    Objects,
    able,
    asked_release,
    callback,
    gates_of,
    list_of,
    names,
    paths_of,
    question,
    required,
    seconds,
    whole_number,
)
from .options import ReleaseOptions, spelled_out
from .releases import Target

if TYPE_CHECKING:
    from dra_plan.live.snapshot import Snapshot
    from dra_plan.manifests.load import PathLike
    from dra_plan.validation.reading import Reading

    from .whatif import Edit


A = TypeVar("A", bound=PrintedAnswer[Any])


class LoadedCluster:
    """Kubernetes objects, and the release that they are asked under. Never changed: `at` and edits give another one.

    What was found out for one answer (pools, compiled selectors) is kept for the next, and shared with the clusters
    made from this one as far as it is the same for them. Arguments that take names take one name, too.
    """

    __slots__ = ("_asked", "_edits", "_ignored", "_inventory", "_read", "_view")

    def __init__(
        self,
        inventory: Inventory,
        view: View,
        asked: AskedRelease,
        read: Callable[[], Reading],
        edits: tuple[AppliedEdit, ...] = (),
        ignored: frozenset[str] = frozenset(),
    ) -> None:
        """For `load`, `of`, `at` and edits: `asked` is what the target was made of, `read` reads for `validate`."""
        self._inventory, self._view, self._asked, self._read = inventory, view, asked, read
        self._edits, self._ignored = edits, ignored

    @classmethod
    @spelled_out
    def load(
        cls,
        paths: PathLike | Iterable[PathLike],
        *,
        recursive: bool = False,
        stdin: BinaryIO | None = None,
        snapshot: Snapshot | None = None,
        namespace: str = "default",
        **release: Unpack[ReleaseOptions],
    ) -> Self:
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

        asked = asked_release(**release)
        return cls._of(inventory, read, asked)

    @classmethod
    @spelled_out
    def live(
        cls,
        context: str | None = None,
        kubeconfig: str | None = None,
        **release: Unpack[ReleaseOptions],
    ) -> Self:
        """The cluster of kubectl's current context, or of another one, as it is now; its release is the default.

        Raises InputError for a cluster that can't be read, or without kubectl, UsageError as `load`.
        """
        from .live import read_cluster

        return cls.load(
            [],
            snapshot=read_cluster(context, kubeconfig),
            **release,
        )

    @classmethod
    @spelled_out
    def of(
        cls,
        objects: Objects,
        **release: Unpack[ReleaseOptions],
    ) -> Self:
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

        asked = asked_release(**release)
        return cls._of(inventory_of(objects), read, asked)

    @classmethod
    def _of(cls, inventory: Inventory, read: Callable[[], Reading], asked: AskedRelease) -> Self:
        inventory = told_apart(inventory)
        return cls(inventory, View.of(inventory, asked.target(inventory)), asked, functools.cache(read))

    def at(
        self,
        kubernetes_version: str | None = None,
        feature_gates: Mapping[str, bool] | None = None,
        *,
        quirks: str | None = None,
    ) -> Self:
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
        return self._under(replace(asked, reported=before.reported, runtime_config=before.runtime_config))

    def reported(self, gates: Mapping[str, bool]) -> Self:
        """The same with the feature gates that its scheduler reports (`dra_plan.gates_of_metrics`).

        They take the place of those that the API server reports; those that were chosen stay.
        """
        return self._under(replace(self._asked, reported=gates_of(gates, "gates")))

    def serving(self, runtime_config: Mapping[str, bool]) -> Self:
        """The same with an API server that has this `--runtime-config`, `{}` for its default: what it serves.

        By itself a cluster takes all versions of the API that its release can serve.
        """
        return self._under(replace(self._asked, runtime_config=gates_of(runtime_config, "runtime_config")))

    def _under(self, asked: AskedRelease) -> Self:
        view = self._view.at(asked.target(self._inventory))
        return type(self)(self._inventory, view, asked, self._read, self._edits, self._ignored)

    def ignoring(self, *codes: str) -> Self:
        """The same, whose answers leave out warnings of these codes, so that no gate counts them."""
        ignored = self._ignored.union(names(codes, "codes"))
        return type(self)(self._inventory, self._view, self._asked, self._read, self._edits, ignored)

    # What if

    def cordon(self, *nodes: str) -> Self:
        """The cluster with these nodes unschedulable. UsageError for an unknown node, as in all edits.

        Nodes are named, or chosen by a label selector such as `rack=r2`.
        """
        from .planner.node_choice import all_meant
        from .whatif import Cordon

        return self.edited(*map(Cordon, all_meant(self._inventory.nodes, names(nodes, "nodes"))))

    def drain(self, *nodes: str) -> Self:
        """The cluster with these nodes cordoned and their pods gone.

        Pods with a controller come back pending, under the same name, with new claims from their templates; a claim of
        their own that nobody else uses is deallocated. Bare pods are gone, with a warning. Pods of DaemonSets and
        static pods stay until the node goes. Nodes are named, or chosen by a label selector such as `rack=r2`.
        """
        from .planner.node_choice import all_meant
        from .whatif import Drain

        return self.edited(*map(Drain, all_meant(self._inventory.nodes, names(nodes, "nodes"))))

    def without(self, *objects: str) -> Self:
        """The cluster without these objects, KIND/NAME or KIND/NAMESPACE/NAME, and what goes with them.

        With a pod go its generated claims, with a workload its pods, with a node its pods and its node-local slices,
        with a namespace all that is in it.
        """
        from .whatif import Without

        return self.edited(*map(Without.parse, names(objects, "objects")))

    def add_nodes(self, count: int, *, like: str | PathLike) -> Self:
        """The cluster with `count` more nodes, like a node of it, or like the one node of a file, with its slices.

        Names, hostname label, slices and pools are new, devices and attributes the same. Raises UsageError where that
        can't be: a slice that is not node-local, a pool that would stay incomplete.
        """
        required(like, (str, os.PathLike), "like", "the name of a node, or a file")
        from .whatif import AddNodes

        return self.edited(AddNodes.of(self._inventory, whole_number(count, "count"), like))

    def label(self, *nodes: str, labels: Mapping[str, str | None]) -> Self:
        """The cluster with these labels on the nodes; None takes a label away.

        Nodes are named, or chosen by a label selector such as `rack=r2`.
        """
        from .planner.node_choice import all_meant
        from .whatif import Label

        meant = all_meant(self._inventory.nodes, names(nodes, "nodes"))
        return self.edited(*(Label(node, required(labels, Mapping, "labels", "a mapping")) for node in meant))

    def scale(self, workload: str, replicas: int) -> Self:
        """The cluster with so many replicas of KIND/NAME or KIND/NAMESPACE/NAME; pods that run stay."""
        from .whatif import Scale

        return self.edited(Scale(required(workload, str, "workload", "KIND/NAME"), whole_number(replicas, "replicas")))

    def taint_device(self, device: str, taint: str) -> Self:
        """The cluster with the taint KEY=VALUE:EFFECT on the device DRIVER/POOL/DEVICE."""
        from .allocator.identity import named_device
        from .whatif import TaintDevice

        meant = named_device(required(device, str, "device", "DRIVER/POOL/DEVICE"))
        return self.edited(TaintDevice.parse(meant, required(taint, str, "taint", "KEY=VALUE:EFFECT")))

    def applied(self, objects: LoadedCluster) -> Self:
        """The cluster with these objects written, as by `kubectl apply`: status and uid stay where they say none."""
        from .whatif import Apply

        return self.edited(Apply(required(objects, LoadedCluster, "objects", "a Cluster").inventory))

    def restarted(self) -> Self:
        """The cluster with every pod placed again, as after an upgrade of all nodes; pods of DaemonSets stay."""
        from .whatif import Restart

        return self.edited(Restart())

    def edited(self, *edits: Edit) -> Self:
        """The cluster after these edits, in this order. It shares with this one all that does not change."""
        inventory, applied = self._inventory, list(self._edits)
        for edit in edits:
            done = able(edit, "apply", "edits", "edits").apply(inventory)
            inventory = replace(done.inventory, notices=[*done.inventory.notices, *done.notices])
            applied.append(done.entry)
        view = self._view.after(inventory)
        return type(self)(inventory, view, self._asked, self._read, tuple(applied), self._ignored)

    @property
    def what_if(self) -> tuple[AppliedEdit, ...]:
        """The edits that made this cluster, and what each of them did."""
        return self._edits

    def question(self, owners: Iterable[str] = (), options: Mapping[str, Any] | None = None) -> Question:
        """What is asked of it. Raises UsageError for options that can't be."""
        return replace(question(owners, options), runtime_config=self._asked.runtime_config)

    def allotted(self, timeout: float | None, progress: Progress | None) -> AbstractContextManager[None]:
        """The time that an answer may take within the block (`dra_plan/allotted.py`). Raises UsageError for others."""
        return allotted(seconds(timeout, "timeout"), callback(progress, "progress"))

    def with_edits(self, answer: A) -> A:
        """The answer with this cluster, its edits, and without the warnings that are ignored."""
        drawn = (self.inventory, self.view)
        return replace(answer, what_if=self._edits, ignored=self._ignored, drawn=drawn)

    @property
    def ignored(self) -> frozenset[str]:
        """The codes of warnings that answers leave out."""
        return self._ignored

    @property
    def view(self) -> View:
        """The cluster as the allocator sees it; what was found out for one answer is kept in it for the next."""
        return self._view

    def reading(self) -> Reading:
        """What `validate` judges: manifests as they stand. They are read when this is asked first, and once.

        Raises InputError for files that can't be read any more.
        """
        return self._read()

    def target_with(self, gate: str) -> Target:
        """The target with a gate on of which something tells that it is on; a choice goes before that."""
        return self._asked.serving(gate).target(self._inventory)

    def with_gate(self, gate: str) -> Self:
        """The same with that gate on; a choice goes before that."""
        return self._under(self._asked.serving(gate))

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
