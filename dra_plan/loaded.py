"""The loaded and edited objects of a cluster, and the release to simulate."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, BinaryIO, Self, TypeVar, Unpack

from msgspec import structs

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
    """Kubernetes objects, and the Kubernetes release to simulate.

    A cluster is immutable: `at`, `drain` and the other edits return a new cluster.

    Intermediate results, such as pools and compiled selectors, are cached. A new cluster reuses the results that are
    still correct. Arguments that take several names also take a single name.
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
        """Create a cluster. The target is derived from `asked`, and `read` reads the input for `validate`."""
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
        """Return a cluster with the objects in these files and directories. `-` stands for standard input.

        These objects override those in `snapshot`, a cluster state that was read earlier with `dra_plan.read_cluster`.
        Namespaced objects without a namespace are put into `namespace`.

        `kubernetes_version` defaults to the release of the snapshot. Without a snapshot, the default is the minor
        version of the kubelets if this version is the same on all Nodes, and 1.36 otherwise. If a version has no
        recorded data, the nearest version that has recorded data is simulated, with a warning.

        Raises InputError for input that cannot be read or decoded, and for different objects with the same name. The
        error is a `ManifestErrors`, which lists every problem. Raises UsageError for an invalid value of
        `kubernetes_version`, `feature_gates` or `quirks`. If `strict_version` is set, this includes versions without
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
        """Read the current state of a cluster with kubectl. By default, kubectl's current context is used.

        By default, the simulated release is the release of the cluster. Raises InputError if the cluster cannot be read
        or kubectl is missing. Raises UsageError in the same cases as `load`.
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
        """Return a cluster with these objects, which are dicts and are not modified.

        Objects from `dra_plan.load` keep their positions.

        Later changes to the objects do not change the cluster (but see `validate`). Raises InputError for objects that
        cannot be decoded. Raises UsageError in the same cases as `load`, and for a string.
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
        """Return a cluster with the same objects but a different release, or different feature gates or `quirks`.

        Arguments that are omitted leave the current values unchanged. `feature_gates` replaces all feature gates that
        differ from the defaults of the release. Raises UsageError for an unknown feature gate.
        """
        before = self._asked
        asked = asked_release(
            before.version if kubernetes_version is None else kubernetes_version,
            before.gates if feature_gates is None else feature_gates,
            before.quirks if quirks is None else quirks,
            strict_version=before.strict_version,
        )
        asked = structs.replace(asked, reported=before.reported, runtime_config=before.runtime_config)
        return self._under(structs.replace(asked, served=before.served))

    def reported(self, gates: Mapping[str, bool]) -> Self:
        """Return the same cluster with the feature gates that its scheduler reports (see `dra_plan.gates_of_metrics`).

        The scheduler's gates replace those that the API server reports. Feature gates that the user set explicitly do
        not change.
        """
        return self._under(structs.replace(self._asked, reported=gates_of(gates, "gates")))

    def serving(self, runtime_config: Mapping[str, bool]) -> Self:
        """Return the same cluster, with an API server that has this `--runtime-config`.

        An empty dict means the default. Without this call, a cluster accepts all API versions that its release can
        serve.
        """
        return self._under(structs.replace(self._asked, runtime_config=gates_of(runtime_config, "runtime_config")))

    def _under(self, asked: AskedRelease) -> Self:
        view = self._view.at(asked.target(self._inventory))
        return type(self)(self._inventory, view, asked, self._read, self._edits, self._ignored)

    def ignoring(self, *codes: str) -> Self:
        """Return the same cluster, except that its answers omit warnings with these codes and do not count them.

        Raises UsageError for an unknown code.
        """
        from .api.codes import checked

        ignored = self._ignored.union(checked(names(codes, "codes"), "codes"))
        return type(self)(self._inventory, self._view, self._asked, self._read, self._edits, ignored)

    # What if

    def cordon(self, *nodes: str) -> Self:
        """Return the cluster with these nodes cordoned. Like all edits, this raises UsageError for an unknown node.

        Nodes are given by name or by a label selector such as `rack=r2`.
        """
        from .planner.node_choice import all_meant
        from .whatif import Cordon

        return self.edited(*map(Cordon, all_meant(self._inventory.nodes, names(nodes, "nodes"))))

    def drain(self, *nodes: str) -> Self:
        """Return the cluster with these nodes cordoned and their pods evicted.

        Pods with a controller are recreated as pending pods with the same names and with new claims from their
        templates. The old claims lose their devices unless other pods use them. Pods without a controller are removed,
        with a warning. DaemonSet pods and static pods stay until the node is removed. Nodes are given by name or by a
        label selector such as `rack=r2`.
        """
        from .planner.node_choice import all_meant
        from .whatif import Drain

        return self.edited(*map(Drain, all_meant(self._inventory.nodes, names(nodes, "nodes"))))

    def without(self, *objects: str) -> Self:
        """Return the cluster without these objects (KIND/NAME or KIND/NAMESPACE/NAME) and their dependents.

        The dependents of a pod are its generated claims. The dependents of a workload are its pods. The dependents of a
        node are its pods and its node-local slices. The dependents of a namespace are all objects in it.
        """
        from .whatif import Without

        return self.edited(*map(Without.parse, names(objects, "objects")))

    def add_nodes(self, count: int, *, like: str | PathLike) -> Self:
        """Return the cluster after adding `count` copies of a node and its slices.

        `like` is the name of a node in the cluster, or the path of a file with exactly one node. The copies get new
        names, hostname labels, slices and pools, and keep the devices and attributes. Raises UsageError if the node
        can't be copied because a slice is not node-local or a pool is incomplete.
        """
        required(like, (str, os.PathLike), "like", "the name of a node, or a file")
        from .whatif import AddNodes

        return self.edited(AddNodes.of(self._inventory, whole_number(count, "count"), like))

    def label(self, *nodes: str, labels: Mapping[str, str | None]) -> Self:
        """Return the cluster with these labels set on the nodes. The value None removes a label.

        Nodes are given by name or by a label selector such as `rack=r2`.
        """
        from .planner.node_choice import all_meant
        from .whatif import Label

        meant = all_meant(self._inventory.nodes, names(nodes, "nodes"))
        return self.edited(*(Label(node, required(labels, Mapping, "labels", "a mapping")) for node in meant))

    def scale(self, workload: str, replicas: int) -> Self:
        """Return the cluster with the workload KIND/NAME or KIND/NAMESPACE/NAME scaled to `replicas`.

        Running pods stay.
        """
        from .whatif import Scale

        return self.edited(Scale(required(workload, str, "workload", "KIND/NAME"), whole_number(replicas, "replicas")))

    def taint_device(self, device: str, taint: str) -> Self:
        """Return the cluster after adding the taint KEY=VALUE:EFFECT to the device DRIVER/POOL/DEVICE."""
        from .allocator.identity import named_device
        from .whatif import TaintDevice

        meant = named_device(required(device, str, "device", "DRIVER/POOL/DEVICE"))
        return self.edited(TaintDevice.parse(meant, required(taint, str, "taint", "KEY=VALUE:EFFECT")))

    def applied(self, objects: LoadedCluster) -> Self:
        """Return the cluster after `kubectl apply` of these objects.

        If a new object omits the status or the UID, the object keeps its current one.
        """
        from .whatif import Apply

        return self.edited(Apply(required(objects, LoadedCluster, "objects", "a Cluster").inventory))

    def restarted(self) -> Self:
        """Return the cluster after all pods have been evicted and are pending again, as after an upgrade of all nodes.

        DaemonSet pods stay on their nodes.
        """
        from .whatif import Restart

        return self.edited(Restart())

    def edited(self, *edits: Edit) -> Self:
        """Return the cluster after making these edits in the given order."""
        inventory, applied = self._inventory, list(self._edits)
        for edit in edits:
            done = able(edit, "apply", "edits", "edits").apply(inventory)
            inventory = replace(done.inventory, notices=[*done.inventory.notices, *done.notices])
            applied.append(done.entry)
        view = self._view.after(inventory)
        return type(self)(inventory, view, self._asked, self._read, tuple(applied), self._ignored)

    @property
    def what_if(self) -> tuple[AppliedEdit, ...]:
        """The edits that led to this cluster, and their effects."""
        return self._edits

    def question(self, owners: Iterable[str] = (), options: Mapping[str, Any] | None = None) -> Question:
        """Return a `Question` with this cluster and these options. Raises UsageError for invalid options."""
        return structs.replace(question(owners, options), runtime_config=self._asked.runtime_config)

    def allotted(self, timeout: float | None, progress: Progress | None) -> AbstractContextManager[None]:
        """Limit the time for all answers within the `with` block.

        Raises UsageError for an invalid limit.
        """
        return allotted(seconds(timeout, "timeout"), callback(progress, "progress"))

    def with_edits(self, answer: A) -> A:
        """Return the answer with a reference to this cluster and its edits, and without the ignored warnings."""
        drawn = (self.inventory, self.view)
        return replace(answer, what_if=self._edits, ignored=self._ignored, drawn=drawn)

    @property
    def ignored(self) -> frozenset[str]:
        """The codes of the warnings that are omitted from answers."""
        return self._ignored

    @property
    def view(self) -> View:
        """The allocator's view of the cluster, with cached intermediate results."""
        return self._view

    def reading(self) -> Reading:
        """Return the original manifests, on which `validate` works.

        The files are read on the first call. Raises InputError for files that can no longer be read.
        """
        return self._read()

    def target_with(self, gate: str) -> Target:
        """Return the target with this feature gate enabled, because the input shows that the cluster has enabled it.

        A feature gate that the user set explicitly does not change.
        """
        return self._asked.serving(gate).target(self._inventory)

    def with_gate(self, gate: str) -> Self:
        """Return the same cluster with this feature gate enabled.

        A feature gate that the user set explicitly does not change.
        """
        return self._under(self._asked.serving(gate))

    @property
    def inventory(self) -> Inventory:
        """The decoded objects, and their positions in the files. Neither may be modified."""
        return self._inventory

    @property
    def target(self) -> Target:
        """The simulated release and feature gates, and the release defects that are reproduced."""
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
