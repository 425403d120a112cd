"""The DaemonSets that publish devices for drivers, and why they do not run on nodes without devices.

A driver's slices do not name its pods. A DaemonSet is assumed to be the driver's if it has a pod on every node for
which the driver publishes devices. If there are several, DaemonSets that mount the kubelet's plugin directories are
preferred, and then those whose names, images or paths have most in common with the name of the driver. A DaemonSet is
left out if its name resembles only the name of another driver in the input.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from msgspec.structs import replace

from dra_plan.allocator import View
from dra_plan.allocator.requests import Want
from dra_plan.api.core import Node, Pod, PodSpec
from dra_plan.api.inventory import Inventory
from dra_plan.api.meta import LabelSelector, LabelSelectorRequirement
from dra_plan.api.resource import ResourceClaim
from dra_plan.api.selectors import node_matches, requirement_holds, selector_text
from dra_plan.api.well_known import INSTANCE_TYPE
from dra_plan.api.workloads import AnyWorkload, pod_template
from dra_plan.cel.parts import strings
from dra_plan.claims.owners import ended, is_ready, pod_spec, wanted
from dra_plan.documents.devices import TaintName
from dra_plan.documents.reasons import UnreadyPod
from dra_plan.documents.stories import DriverPod, MissingDriver
from dra_plan.documents.volume_needs import PodlessWorkload
from dra_plan.explanation.funnel import NodeOffer
from dra_plan.explanation.unready_pods import (
    FAULTS,
    MOST_FOUND,
    STARTING,
    all_unready,
    fault,
    is_controller,
    is_manager,
    likeness,
    provisions,
    telling_parts,
    unready_among,
    unready_pod,
)
from dra_plan.scheduler.new_pods import daemon_node
from dra_plan.scheduler.plugins.node_affinity import required_terms
from dra_plan.scheduler.plugins.node_checks import untolerated

MOST_NODES = 50
"""The maximum number of a group's nodes on which pods are examined."""

_PLUGINS = "/var/lib/kubelet/plugins"
"""The directories in which a driver registers with the kubelet."""

_FIRST = (*FAULTS, "absent", "taint", "label")
"""The states of a driver's pod on a node, those first that say most."""


def missing_drivers(offer: NodeOffer) -> list[MissingDriver]:
    """Return the drivers that failing requests need but that publish no devices for the node.

    The list is empty if no driver at all publishes devices for the node.
    """
    if not offer.pools:
        return []
    return [MissingDriver(driver=name, nodes=len(_nodes(offer, name))) for name in _wanted(offer)]


def _wanted(offer: NodeOffer) -> Iterator[str]:
    """Yield the drivers that failing requests want, and that publish devices only for other nodes."""
    here = {pool.id.driver for pool in offer.pools}
    failing = [funnel.want for funnels in offer.failing() for funnel in funnels]
    known = {pool.driver for pool in offer.placement.view.gatherer.slices} - here if failing else set()
    wanted = {name for want in failing for name in texts_in(want) if texts_in(want).isdisjoint(here)}
    return (name for name in sorted(wanted & known) if _nodes(offer, name))


def texts_in(want: Want) -> set[str]:
    """Return the string constants in the selectors of the request and its class, some of which may be driver names."""
    return {text for one in want.conditions for text in strings(one.expression)}


def _nodes(offer: NodeOffer, driver: str) -> frozenset[str]:
    """Return the nodes for which the driver publishes devices."""
    return _published_for(offer.placement.view, driver)


def _published_for(view: View, driver: str) -> frozenset[str]:
    of_driver = (slices for pool, slices in view.gatherer.slices.items() if pool.driver == driver)
    names = {one.object.spec.node_name for slices in of_driver for one in slices}
    return frozenset(name for name in names if name)


class DriverPods:
    """The pods of device drivers in an input."""

    def __init__(self, inventory: Inventory) -> None:
        self._inventory = inventory
        self._provisioners: dict[str, list[UnreadyPod]] = {}
        self._podless: dict[str, PodlessWorkload | None] = {}

    def missing(self, offer: NodeOffer, nodes: Sequence[Node]) -> list[DriverPod]:
        """Return why the pods of needed drivers do not run on these nodes. Pods with errors come first.

        `offer` is the offer of one of the nodes.
        """
        found: list[DriverPod] = []
        for driver in _wanted(offer):
            there = _nodes(offer, driver)
            of_driver: list[DriverPod] = []
            for daemon_set in self._publishing(driver, there):
                whole = DriverPod(driver=driver, daemon_set="/".join(daemon_set), node=min(there), nodes=len(there))
                told = (self._on_node(daemon_set, node, whole) for node in nodes[:MOST_NODES])
                of_driver += _joined(one for one in told if one is not None)
            found += sorted(of_driver, key=lambda one: _FIRST.index(one.state))[:MOST_FOUND]
        return found

    def unready_on(self, offer: NodeOffer | None, node: Node) -> tuple[str, UnreadyPod] | None:
        """Return a DaemonSet pod on the node that is not ready, with the name of its driver, or None if all are ready.

        Pods of drivers that the failing requests need are preferred, followed by pods of kubelet plugins. If the
        failing requests do not need the driver, its name is "".
        """
        unready = self._unready.get(node.metadata.name, {})
        if not unready:
            return None
        if offer is not None:
            for driver in _wanted(offer):
                publishing = self._publishing(driver, _nodes(offer, driver))
                own = next((unready[key] for key in publishing if key in unready), None)
                if own is not None:
                    return driver, unready_pod(own, node.metadata.name)
        return "", unready_pod(min(unready.values(), key=lambda pod: not _is_plugin(pod)), node.metadata.name)

    def failing_on(self, node: str, claims: Iterable[ResourceClaim]) -> list[UnreadyPod]:
        """Return DaemonSet pods on a node that fail to start and seem to belong to a driver or its vendor's operator.

        The names of such a pod resemble the name of a driver that publishes devices for the node. If selectors of the
        claims or of their classes name any of these drivers, only those drivers are considered.
        """
        drivers = {one.spec.driver for one in self._inventory.slices if one.spec.node_name == node}
        texts = self._texts(claims) if drivers and node in self._unready else set()
        found = [
            unready_pod(pod, node)
            for key, pod in sorted(self._unready.get(node, {}).items())
            if any(likeness(driver, key, pod) for driver in drivers & texts or drivers)
        ]
        return [one for one in found if one.container and one.reason not in STARTING][:MOST_FOUND]

    def _texts(self, claims: Iterable[ResourceClaim]) -> set[str]:
        """Return the string constants in the selectors of the claims and of their classes."""
        classes = {one.metadata.name: one.spec.selectors for one in self._inventory.classes}
        requests = [one for claim in claims for one in claim.spec.devices.requests]
        asked = [part for one in requests for part in (one.exactly, *one.first_available) if part is not None]
        every = (each.cel for one in asked for each in (*one.selectors, *classes.get(one.device_class_name, ())))
        return {text for cel in every if cel is not None for text in strings(cel.expression)}

    def agent_on(self, taint: str, node: str) -> UnreadyPod | None:
        """Return a DaemonSet pod on the node that is not ready and may be the agent that removes the taint.

        It is the pod that has most in common with the domain of the taint's key, such as node.cilium.io. Return None if
        no pod has anything in common with it.
        """
        domain = taint.partition("/")[0].removeprefix("node.")
        unready = self._unready.get(node, {})
        alike = {key: likeness(domain, key, pod) for key, pod in unready.items()}
        best = min((key for key in alike if alike[key]), key=lambda key: (-alike[key], key), default=None)
        return unready_pod(unready[best], node) if best is not None else None

    def on_node(self, view: View, driver: str, node: Node) -> list[DriverPod]:
        """Return the driver's pods that are not ready on the node.

        The list is empty if the driver publishes no devices for the node.
        """
        there = _published_for(view, driver)
        if node.metadata.name not in there:
            return []
        found = []
        for daemon_set in self._publishing(driver, there):
            whole = DriverPod(driver=driver, daemon_set="/".join(daemon_set), node=min(there), nodes=len(there))
            found.append(self._on_node(daemon_set, node, whole))
        return [each for each in found if each is not None][:MOST_FOUND]

    def unready(self) -> list[UnreadyPod]:
        """Return the pods of kubelet plugins that are not ready.

        If the input has no kubelet plugins, the pods of all DaemonSets are considered.
        """
        every = [(node, pod) for pods in self._daemons.values() for node, pod in pods.items()]
        plugins = [(node, pod) for node, pod in every if _is_plugin(pod)]
        return [unready_pod(pod, node) for node, pod in plugins or every if not is_ready(pod)]

    def unready_controllers(self, kind: str) -> list[UnreadyPod]:
        """Return the pods that are not ready of the controller for a driver's own kind. Crashing pods come first.

        The driver is the one with the kind in its name, such as compute-domain.nvidia.com for ComputeDomain. Its
        controller is in the same namespace as its DaemonSet.
        """
        places: dict[str, set[str]] = {}
        for one in self._inventory.slices:
            if kind.lower() in one.spec.driver.replace("-", "").replace(".", ""):
                places.setdefault(one.spec.driver, set()).update(filter(None, [one.spec.node_name]))
        found: dict[str, Pod] = {}
        for driver, nodes in places.items():
            spaces = {namespace for namespace, _ in self._publishing(driver, frozenset(nodes))}
            there = (pod for pod in self._inventory.pods if pod.metadata.namespace in spaces)
            found |= {pod.key: pod for pod in there if is_controller(pod, driver)}
        return unready_among(found.values())

    def unready_managers(self) -> list[UnreadyPod]:
        """Return the pods of kube-controller-manager, if the input has some and none of them is ready."""
        return all_unready([pod for pod in self._inventory.pods if is_manager(pod)])

    def unready_provisioners(self, provisioner: str) -> list[UnreadyPod]:
        """Return the pods of a volume provisioner if none of them is ready. Crashing pods come first.

        Nothing in a cluster names these pods. A pod is assumed to be the provisioner's if one of its containers has the
        name or image of a provisioner, and if each distinctive part of the provisioner's name is in the pod's
        namespace, names, labels or images.
        """
        known = self._provisioners.get(provisioner)
        if known is None:
            parts = telling_parts(provisioner)
            known = all_unready([pod for pod in self._inventory.pods if parts and provisions(pod, parts)])
            self._provisioners[provisioner] = known
        return known

    def podless_provisioner(self, provisioner: str) -> PodlessWorkload | None:
        """Return a workload that should run the provisioner but has no pods.

        Return None if the input has pods of the provisioner, or no pods at all in the namespace of the workload.
        """
        if provisioner not in self._podless:
            self._podless[provisioner] = self._podless_of(telling_parts(provisioner))
        return self._podless[provisioner]

    def _podless_of(self, parts: set[str]) -> PodlessWorkload | None:
        pods = [pod for pod in self._inventory.pods if not ended(pod)]
        if not parts or any(provisions(pod, parts) for pod in pods):
            return None
        namespaces = {pod.metadata.namespace for pod in pods}
        for one in sorted(self._inventory.workloads, key=lambda one: (one.metadata.namespace, one.metadata.name)):
            if one.kind not in ("Deployment", "StatefulSet"):
                continue
            namespace, name, replicas = one.metadata.namespace, one.metadata.name, wanted(one, []).number
            template = pod_template(one)
            metadata = replace(template.metadata, namespace=namespace, name=name)
            if provisions(Pod(metadata=metadata, spec=template.spec), parts) and (
                not replicas or namespace in namespaces
            ):
                return PodlessWorkload(kind=one.kind, namespace=namespace, name=name, replicas=replicas)
        return None

    def _publishing(self, driver: str, nodes: frozenset[str]) -> list[tuple[str, str]]:
        """Return the DaemonSets that have a pod on each of the nodes and are most like the driver.

        Those that run on every node are among them: a log collector is ready where the driver is not.
        """
        found = [key for key, pods in self._daemons.items() if nodes <= pods.keys()]
        examples = {key: next(iter(self._daemons[key].values())) for key in found}
        plugins = [key for key in found if _is_plugin(examples[key])] or found
        alike = {key: likeness(driver, key, examples[key]) for key in plugins}
        most = max(alike.values(), default=0)
        nearest = [key for key in plugins if alike[key] == most]
        return nearest if most else [key for key in nearest if not self._is_of_other_driver(key, examples[key])]

    def _is_of_other_driver(self, key: tuple[str, str], pod: Pod) -> bool:
        """Return whether a DaemonSet has something in common with the name of any driver in the input."""
        return any(likeness(driver, key, pod) for driver in self._drivers)

    @cached_property
    def _drivers(self) -> frozenset[str]:
        return frozenset(one.spec.driver for one in self._inventory.slices)

    @cached_property
    def _unready(self) -> dict[str, dict[tuple[str, str], Pod]]:
        """Return the pods of DaemonSets that are on nodes and not ready, by node."""
        found: dict[str, dict[tuple[str, str], Pod]] = {}
        for key, pods in self._daemons.items():
            for node, pod in pods.items():
                if pod.spec.node_name and not is_ready(pod):
                    found.setdefault(node, {})[key] = pod
        return found

    @cached_property
    def _daemons(self) -> dict[tuple[str, str], dict[str, Pod]]:
        """Return the pods of DaemonSets by namespace and name of the DaemonSet, then by node."""
        found: dict[tuple[str, str], dict[str, Pod]] = {}
        for pod in self._inventory.pods:
            controller = pod.metadata.controller
            if controller is not None and controller.kind == "DaemonSet" and not ended(pod):
                found.setdefault((pod.metadata.namespace, controller.name), {})[daemon_node(pod)] = pod
        return found

    @cached_property
    def _workloads(self) -> dict[tuple[str, str], AnyWorkload]:
        return {
            (one.metadata.namespace, one.metadata.name): one
            for one in self._inventory.workloads
            if one.kind == "DaemonSet"
        }

    def _on_node(self, daemon_set: tuple[str, str], node: Node, whole: DriverPod) -> DriverPod | None:
        """Return why the DaemonSet has no ready pod on the node; None if it has one."""
        pod = self._daemons[daemon_set].get(node.metadata.name)
        whole = replace(whole, lacking=[node.metadata.name])
        if pod is not None:
            return None if is_ready(pod) else replace(whole, **fault(pod))
        workload = self._workloads.get(daemon_set)
        if workload is None:
            return replace(whole, state="absent")
        spec = pod_spec(workload)
        labels = _wanted_labels(spec, node)
        if labels:
            unlikely = self._is_unlikely(node, daemon_set)
            return replace(whole, state="label", labels=labels, found=[*_found_labels(spec, node)], unlikely=unlikely)
        taint = untolerated(node.spec.taints, spec.tolerations)
        if taint is None:
            return replace(whole, state="absent")
        return replace(whole, state="taint", taint=TaintName(key=taint.key, value=taint.value, effect=taint.effect))

    def _is_unlikely(self, node: Node, daemon_set: tuple[str, str]) -> bool:
        """Return whether the node has nothing that shows the hardware of the nodes on which the DaemonSet runs."""
        labels = (self._labels.get(name, {}) for name in sorted(self._daemons[daemon_set])[:MOST_NODES])
        signs = {sign for each in labels for sign in _signs(each)}
        return any(key == INSTANCE_TYPE for key, _ in signs) and signs.isdisjoint(_signs(node.metadata.labels or {}))

    @cached_property
    def _labels(self) -> dict[str, Mapping[str, str]]:
        return {node.metadata.name: node.metadata.labels or {} for node in self._inventory.nodes}


def _signs(labels: Mapping[str, str]) -> set[tuple[str, str]]:
    """Return the labels that tell hardware: the instance type, and the PCI devices (Node Feature Discovery)."""
    return {(key, value) for key, value in labels.items() if key == INSTANCE_TYPE or key.startswith(_PCI)}


_PCI = "feature.node.kubernetes.io/pci-"


def _joined(found: Iterable[DriverPod]) -> Iterator[DriverPod]:
    """Yield equal findings once, with all their nodes."""
    nodes: list[tuple[DriverPod, list[str]]] = []
    for one in found:
        nameless = replace(one, lacking=[])
        same = next((names for other, names in nodes if other == nameless), None)
        if same is None:
            nodes.append((nameless, same := []))
        same += one.lacking
    return (replace(one, lacking=names) for one, names in nodes)


def _is_plugin(pod: Pod) -> bool:
    paths = (volume.get("hostPath") for volume in pod.spec.volumes)
    return any(isinstance(path, dict) and str(path.get("path", "")).startswith(_PLUGINS) for path in paths)


def _wanted_labels(spec: PodSpec, node: Node) -> str:
    """Return the labels that the DaemonSet wants of a node and this one lacks, as kubectl's -l takes them."""
    lacking = ",".join(f"{key}={spec.node_selector[key]}" for key in _unmet_keys(spec, node))
    unmet = (selector_text(LabelSelector(match_expressions=term)) for term in _unmet_terms(spec, node))
    return " or ".join(filter(None, (lacking, *unmet)))


def _found_labels(spec: PodSpec, node: Node) -> Iterator[str]:
    """Yield the labels of the node that have these keys, as KEY=VALUE, or the keys that it lacks."""
    labels = node.metadata.labels or {}
    keys = [*_unmet_keys(spec, node), *(one.key for term in _unmet_terms(spec, node) for one in term)]
    yield from (f"{key}={labels[key]}" if key in labels else key for key in dict.fromkeys(keys))


def _unmet_keys(spec: PodSpec, node: Node) -> list[str]:
    labels = node.metadata.labels or {}
    return [key for key, value in spec.node_selector.items() if labels.get(key) != value]


def _unmet_terms(spec: PodSpec, node: Node) -> list[list[LabelSelectorRequirement]]:
    """Return what the node does not meet of each term of the node affinity; nothing if it meets one of them."""
    labels = node.metadata.labels or {}
    required = required_terms(Pod(spec=spec))
    if required is None or node_matches(required, node.metadata.name, labels):
        return []
    return [
        [
            LabelSelectorRequirement(key=one.key, operator=one.operator, values=one.values)
            for one in term.match_expressions
            if not requirement_holds(one.operator, one.values, labels.get(one.key))
        ]
        for term in required.node_selector_terms
    ]
