"""The subject of questions: the loaded and edited objects of a cluster, and the release to simulate."""

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
    """Kubernetes objects and the release to simulate. A cluster is immutable: `at` and the edits return a new cluster.

    Intermediate results (pools, compiled selectors) are cached for later answers. Derived clusters share the results
    that do not change. Arguments that take several names also take a single name.
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
        """Store the parts; `asked` is the source of the target, `read` reads the input for `validate`."""
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
        """Load the objects in files, directories and `-` (standard input), with their positions in the files.

        The loaded objects override the objects of `snapshot`, which is a cluster read earlier
        (`dra_plan.read_cluster`). Namespaced objects without a namespace are put into `namespace`.

        If `kubernetes_version` is not given, the release is that of the snapshot. Without a snapshot, the release is
        that of the kubelets if all Nodes have the same minor version, and 1.36 otherwise. For a release without
        recorded data, the nearest release with data is simulated, with a warning.

        Raises InputError (`ManifestErrors`, with every fault) for input that cannot be read, decoded or distinguished.
        Raises UsageError for an invalid version, gate or quirks mode; with `strict_version`, also for a version without
        recorded data.
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
        """Read the current state of the cluster that a kubectl context names. The default is the current context.

        The default release is that of the cluster. Raises InputError if the cluster cannot be read or kubectl is
        missing. Raises UsageError as `load` does.
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
        """Return a cluster of plain objects, which are not modified. Results of `dra_plan.load` keep their positions.

        Later changes to a dict do not change the cluster (but see `validate`). Raises InputError for objects that
        cannot be decoded. Raises UsageError as `load` does, and if `objects` is a string.
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
        """Return the cluster with another release, other feature gates or other quirks.

        An argument that is not given changes nothing. `feature_gates` are all the gates that differ from the defaults
        of the release. Raises UsageError for unknown gates.
        """
        before = self._asked
        asked = asked_release(
            before.version if kubernetes_version is None else kubernetes_version,
            before.gates if feature_gates is None else feature_gates,
            before.quirks if quirks is None else quirks,
            strict_version=before.strict_version,
        )
        asked = replace(asked, reported=before.reported, runtime_config=before.runtime_config)
        return self._under(replace(asked, served=before.served))

    def reported(self, gates: Mapping[str, bool]) -> Self:
        """Return the same cluster with the feature gates that its scheduler reports (`dra_plan.gates_of_metrics`).

        They replace the gates that the API server reports. Gates that were set explicitly are kept.
        """
        return self._under(replace(self._asked, reported=gates_of(gates, "gates")))

    def serving(self, runtime_config: Mapping[str, bool]) -> Self:
        """Return the same cluster, with an API server that runs with this `--runtime-config`.

        `{}` stands for the default of the API server. If `serving` is not called, a cluster accepts every API version
        that its release can serve.
        """
        return self._under(replace(self._asked, runtime_config=gates_of(runtime_config, "runtime_config")))

    def _under(self, asked: AskedRelease) -> Self:
        view = self._view.at(asked.target(self._inventory))
        return type(self)(self._inventory, view, asked, self._read, self._edits, self._ignored)

    def ignoring(self, *codes: str) -> Self:
        """Return the same cluster.

        Its answers omit warnings with these codes, so that checks in CI do not fail on them.

        Raises UsageError for an unknown code.
        """
        from .api.codes import checked

        ignored = self._ignored.union(checked(names(codes, "codes"), "codes"))
        return type(self)(self._inventory, self._view, self._asked, self._read, self._edits, ignored)

    # What if

    def cordon(self, *nodes: str) -> Self:
        """Return the cluster with these nodes cordoned.

        Nodes are given by name or by a label selector such as `rack=r2`. Like all edits, this raises UsageError for an
        unknown node.
        """
        from .planner.node_choice import all_meant
        from .whatif import Cordon

        return self.edited(*map(Cordon, all_meant(self._inventory.nodes, names(nodes, "nodes"))))

    def drain(self, *nodes: str) -> Self:
        """Return the cluster with these nodes cordoned and their pods evicted.

        Pods with a controller are recreated as pending pods under the same name, with new claims from their templates.
        Other claims of these pods are deallocated if no other pod uses them. Bare pods are removed, with a warning.
        Pods of DaemonSets and static pods stay until the node is removed. Nodes are given by name or by a label
        selector such as `rack=r2`.
        """
        from .planner.node_choice import all_meant
        from .whatif import Drain

        return self.edited(*map(Drain, all_meant(self._inventory.nodes, names(nodes, "nodes"))))

    def without(self, *objects: str) -> Self:
        """Return the cluster without these objects (KIND/NAME or KIND/NAMESPACE/NAME) and their dependents.

        The dependents of a pod are its generated claims, and the dependents of a workload are its pods. A node is
        removed with its pods and its node-local slices, and a namespace with everything in it.
        """
        from .whatif import Without

        return self.edited(*map(Without.parse, names(objects, "objects")))

    def add_nodes(self, count: int, *, like: str | PathLike) -> Self:
        """Return the cluster with `count` more nodes. Each is a copy of the node `like`, with that node's slices.

        `like` is a node of the cluster, or a file that contains only one node. The copies have new names, hostname
        labels, slices and pools, but the same devices and attributes. Raises UsageError if a copy is impossible because
        a slice is not node-local or because a pool would stay incomplete.
        """
        required(like, (str, os.PathLike), "like", "the name of a node, or a file")
        from .whatif import AddNodes

        return self.edited(AddNodes.of(self._inventory, whole_number(count, "count"), like))

    def label(self, *nodes: str, labels: Mapping[str, str | None]) -> Self:
        """Return the cluster with these labels on the nodes; the value None removes a label.

        Nodes are given by name or by a label selector such as `rack=r2`.
        """
        from .planner.node_choice import all_meant
        from .whatif import Label

        meant = all_meant(self._inventory.nodes, names(nodes, "nodes"))
        return self.edited(*(Label(node, required(labels, Mapping, "labels", "a mapping")) for node in meant))

    def scale(self, workload: str, replicas: int) -> Self:
        """Return the cluster with this number of replicas of a workload. Running pods are kept.

        `workload` is KIND/NAME or KIND/NAMESPACE/NAME.
        """
        from .whatif import Scale

        return self.edited(Scale(required(workload, str, "workload", "KIND/NAME"), whole_number(replicas, "replicas")))

    def taint_device(self, device: str, taint: str) -> Self:
        """Return the cluster with the taint KEY=VALUE:EFFECT on the device DRIVER/POOL/DEVICE."""
        from .allocator.identity import named_device
        from .whatif import TaintDevice

        meant = named_device(required(device, str, "device", "DRIVER/POOL/DEVICE"))
        return self.edited(TaintDevice.parse(meant, required(taint, str, "taint", "KEY=VALUE:EFFECT")))

    def applied(self, objects: LoadedCluster) -> Self:
        """Return the cluster after `kubectl apply` of these objects.

        If an object has no status or UID, the existing status or UID is kept.
        """
        from .whatif import Apply

        return self.edited(Apply(required(objects, LoadedCluster, "objects", "a Cluster").inventory))

    def restarted(self) -> Self:
        """Return the cluster with every pod scheduled again, as after an upgrade of all nodes.

        Pods of DaemonSets stay.
        """
        from .whatif import Restart

        return self.edited(Restart())

    def edited(self, *edits: Edit) -> Self:
        """Return the cluster after these edits, in this order.

        The new cluster shares all unchanged data with this cluster.
        """
        inventory, applied = self._inventory, list(self._edits)
        for edit in edits:
            done = able(edit, "apply", "edits", "edits").apply(inventory)
            inventory = replace(done.inventory, notices=[*done.inventory.notices, *done.notices])
            applied.append(done.entry)
        view = self._view.after(inventory)
        return type(self)(inventory, view, self._asked, self._read, tuple(applied), self._ignored)

    @property
    def what_if(self) -> tuple[AppliedEdit, ...]:
        """The edits that led to this cluster, with the effect of each."""
        return self._edits

    def question(self, owners: Iterable[str] = (), options: Mapping[str, Any] | None = None) -> Question:
        """Return the question that the options describe. Raises UsageError for invalid options."""
        return replace(question(owners, options), runtime_config=self._asked.runtime_config)

    def allotted(self, timeout: float | None, progress: Progress | None) -> AbstractContextManager[None]:
        """Limit the time of an answer within the block (`dra_plan/allotted.py`). Raises UsageError for a bad limit."""
        return allotted(seconds(timeout, "timeout"), callback(progress, "progress"))

    def with_edits(self, answer: A) -> A:
        """Return the answer with this cluster and its edits, without the ignored warnings."""
        drawn = (self.inventory, self.view)
        return replace(answer, what_if=self._edits, ignored=self._ignored, drawn=drawn)

    @property
    def ignored(self) -> frozenset[str]:
        """The codes of the warnings that answers omit."""
        return self._ignored

    @property
    def view(self) -> View:
        """The cluster as the allocator sees it. The view caches intermediate results for later answers."""
        return self._view

    def reading(self) -> Reading:
        """The input of `validate`: the original manifests, read once, on first use.

        Raises InputError for files that can no longer be read.
        """
        return self._read()

    def target_with(self, gate: str) -> Target:
        """Return the target with this gate enabled, because the input shows that the gate is on.

        If the gate was set explicitly, that choice takes precedence.
        """
        return self._asked.serving(gate).target(self._inventory)

    def with_gate(self, gate: str) -> Self:
        """Return the same cluster with this gate enabled.

        If the gate was set explicitly, that choice takes precedence.
        """
        return self._under(self._asked.serving(gate))

    @property
    def inventory(self) -> Inventory:
        """The typed objects and their positions in the files. Do not modify them."""
        return self._inventory

    @property
    def target(self) -> Target:
        """The release, gates and quirks to simulate."""
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
