"""`explain`: changes to what a pod requires of other pods: topology spread, affinity, and free host ports.

The rule becomes a preference or selects other pods, pods that an affinity term needs are started, or a node is added.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from msgspec import structs

from dra_plan.api.core import Node, Pod, PodSpec
from dra_plan.api.inventory import Inventory
from dra_plan.api.selectors import labels_match, parse_selector, selector_text
from dra_plan.api.well_known import HOSTNAME
from dra_plan.api.workloads import AnyWorkload, Job
from dra_plan.claims.index import owner_of
from dra_plan.claims.sets import Owner
from dra_plan.documents.cluster_changes import (
    AffinityNamespacesAdded,
    HostPortChanged,
    PodRuleRelaxed,
    PodSelectorChanged,
    WorkloadStarted,
)
from dra_plan.documents.node_obstacles import NodeObstacle, PodSource
from dra_plan.documents.suggestions import PatchOperation
from dra_plan.explanation.suggest import patches
from dra_plan.planner.suspended import QUEUE_LABEL
from dra_plan.questions.explain.editing import OwnedPods, Remedy, found
from dra_plan.questions.explain.node_changes import added, working
from dra_plan.questions.explain.spec_edits import (
    away_from_pods_with,
    honoring_taints,
    labelled,
    near_pods_in,
    near_pods_with,
    preferring_distance,
    preferring_pods,
    spreading_anyway,
    spreading_over,
    with_domains,
    with_port,
    without_port,
)
from dra_plan.scheduler.cluster.nodes import PodInfo

_SCALED = ("Deployment", "ReplicaSet", "ReplicationController", "StatefulSet")
"""The kinds of workloads whose replicas may be raised."""


MOST_SKEW = 2
"""The maximum factor by which maxSkew is raised. A higher maxSkew would hardly spread the pods."""


FIRST_OTHER, LAST_PORT = 1024, 65535
"""The first port that is not reserved for a well-known service (RFC 6335), and the last one."""

MOST_PORTS = 100
"""The maximum number of ports that are tried to find a free one."""


class RuleRemedies:
    """A search for changes to the rules about other pods, for one owner."""

    def __init__(self, inventory: Inventory, owner: Owner, pods: OwnedPods) -> None:
        self._inventory, self._owner, self._pods = inventory, owner, pods

    def of(self, one: NodeObstacle, node: Node, nodes: Collection[str]) -> Iterator[Remedy]:
        """Yield changes that would remove an obstacle caused by a spread constraint, an affinity or a host port."""
        key = one.topology_key
        yield from self._one_more(one, node)
        if one.kind == "Port":
            yield from self._port(one, nodes)
        elif one.kind == "Spread" and (one.domain or one.nowhere):
            yield from self._spread(one)
        elif one.term == "affinity":
            yield from self._affinity(one)
        elif one.term == "anti-affinity":
            edit = partial(away_from_pods_with, key=key, selector=one.selector)
            yield from self._narrowed("anti-affinity", one, lambda spec, labels: edit(spec, labels=labels))
            told = PodRuleRelaxed(code="relax-anti-affinity", topology_key=key)
            yield from self._pods.changed(told, lambda spec: preferring_distance(spec, key), fixed=True)

    def _port(self, one: NodeObstacle, nodes: Collection[str]) -> Iterator[Remedy]:
        """Yield another host port, and none: in the host's network, every port that the process listens on is one."""
        spec = self._pods.spec
        if spec is None:
            return
        to = self._free_port(one, spec, nodes)
        if to:
            other = HostPortChanged(
                code="change-host-port", protocol=one.protocol, from_=one.port, to=to, listens=spec.host_network
            )
            yield from self._pods.changed(other, lambda of: with_port(of, one.port, one.protocol, to), fixed=True)
        if not spec.host_network:
            told = PodRuleRelaxed(code="drop-host-port", port=one.port)
            yield from self._pods.changed(told, lambda of: without_port(of, one.port, one.protocol), fixed=True)

    def _free_port(self, one: NodeObstacle, spec: PodSpec, nodes: Collection[str]) -> int:
        """Return the next port that neither the pod nor a pod on these nodes uses; 0 if there is none.

        Clients expect services at the ports below 1024, so no other port replaces one of these.
        """
        there = [pod for pod in self._inventory.pods if pod.spec.node_name in nodes]
        taken = {port for pod in (*there, Pod(spec=spec)) for _, _, port in PodInfo(pod).ports}
        following = range(one.port + 1, min(one.port + MOST_PORTS, LAST_PORT) + 1)
        return next((port for port in following if port not in taken), 0) if one.port >= FIRST_OTHER else 0

    def _spread(self, one: NodeObstacle) -> Iterator[Remedy]:
        """Yield the changes of a spread constraint: what it counts, and how much difference it allows."""
        key, selector = one.topology_key, one.selector
        if self._pods.spec is None or not self._pods.spec.topology_spread_constraints:
            return  # the configuration of the scheduler spreads the pods
        if one.counted:
            edit = partial(spreading_over, key=key, selector=selector)
            yield from self._narrowed("spread", one, lambda spec, labels: edit(spec, label_selector=labelled(labels)))
        if one.tainted:
            told = PodRuleRelaxed(code="honor-taints", topology_key=key)
            yield from self._pods.changed(told, lambda spec: honoring_taints(spec, key), fixed=True)
        if one.domains:
            least = one.domains
            told = PodRuleRelaxed(code="lower-min-domains", topology_key=key, from_=one.min_domains, to=least)
            yield from self._pods.changed(told, lambda spec: with_domains(spec, key, least), fixed=True)
        elif 0 < (skew := one.pods + (not one.excludes_itself) - one.least) <= MOST_SKEW * one.max_skew:
            told = PodRuleRelaxed(code="raise-max-skew", topology_key=key, from_=one.max_skew, to=skew)
            yield from self._pods.changed(
                told, lambda spec: spreading_over(spec, key, selector, max_skew=skew), fixed=True
            )
        told = PodRuleRelaxed(code="relax-spread", topology_key=key)
        yield from self._pods.changed(told, lambda spec: spreading_anyway(spec, key), fixed=True)

    def _narrowed(
        self, rule: str, one: NodeObstacle, edit: Callable[[PodSpec, dict[str, str]], PodSpec]
    ) -> Iterator[Remedy]:
        """Yield the rule that selects only pods of the pod's own workload, by the labels of the workload's selector.

        An anti-affinity that does not select the pod itself is about other pods on purpose.
        """
        labels = self._pods.own_labels
        to = selector_text(labelled(labels))
        if not labels or to == one.selector:
            return
        if rule == "anti-affinity" and not labels_match(parse_selector(one.selector), labels):
            return
        told = PodSelectorChanged(
            code="narrow-pod-selector", rule=rule, topology_key=one.topology_key, from_=one.selector, to=to
        )
        yield from self._pods.changed(told, lambda spec: edit(spec, labels), fixed=True)

    def _in_more_namespaces(self, one: NodeObstacle) -> Iterator[Remedy]:
        """Yield the affinity term with the other namespaces that have such pods, and those that it already selects."""
        spec = self._pods.spec
        near = spec.affinity.pod_affinity if spec is not None and spec.affinity is not None else None
        terms = near.required_during_scheduling_ignored_during_execution if near is not None else ()
        for term in terms:
            if (term.topology_key, selector_text(term.label_selector)) == (one.topology_key, one.selector):
                every = sorted({*(term.namespaces or [self._owner.namespace]), *one.elsewhere})
                told = AffinityNamespacesAdded(
                    code="add-affinity-namespaces",
                    selector=one.selector,
                    topology_key=one.topology_key,
                    namespaces=every,
                )
                edit = partial(near_pods_in, key=one.topology_key, selector=one.selector, namespaces=every)
                yield from self._pods.changed(told, edit, fixed=True)
                return

    def _one_more(self, one: NodeObstacle, node: Node) -> Iterator[Remedy]:
        """Yield one more node, if no pod there would be in the way: a new domain, or one more node of the emptiest."""
        if one.topology_key not in ("", HOSTNAME):
            every = self._inventory.nodes if one.emptiest else ()
            inside = (each for each in every if (each.metadata.labels or {}).get(one.topology_key) == one.emptiest)
            ready = next((each for each in inside if not (each.spec.unschedulable or each.spec.taints)), None)
            if ready is None:
                return
            node = ready
        elif one.term == "affinity":
            return
        yield added(working(self._inventory, node).metadata.name)

    def _affinity(self, one: NodeObstacle) -> Iterator[Remedy]:
        """Yield the changes that meet a required pod affinity term, or no longer require it."""
        for source in one.sources:
            yield from self._started(source)
        key, selector = one.topology_key, one.selector
        if one.absent and one.near:
            told = PodSelectorChanged(
                code="correct-pod-selector", rule="affinity", topology_key=key, from_=selector, to=one.near
            )
            labels = dict([one.near.split("=", 1)])
            yield from self._pods.changed(told, lambda spec: near_pods_with(spec, key, selector, labels), fixed=True)
        if one.elsewhere:
            yield from self._in_more_namespaces(one)
        elif not (one.nowhere and one.near):  # else the topology key is corrected
            relaxed = PodRuleRelaxed(code="relax-affinity", topology_key=key)
            yield from self._pods.changed(relaxed, lambda spec: preferring_pods(spec, key), fixed=True)

    def _started(self, source: PodSource) -> Iterator[Remedy]:
        """Yield one replica of a workload that has none, or a suspended Job that goes on.

        Something else may decide on the replicas of a workload that has a controller, and on Jobs in a queue.
        """
        workload: Any = found(self._inventory, Owner(source.kind, source.namespace, source.name))
        if workload is None or workload.metadata.controller is not None:
            return
        if source.state == "NoReplicas" and workload.kind in _SCALED:
            told = WorkloadStarted(
                code="raise-replicas", kind=source.kind, namespace=source.namespace, name=source.name, to=1
            )
            yield _edited(workload, told, replicas=1)
        elif isinstance(workload, Job) and source.state == "Suspended" and not _is_queued(workload):
            told = WorkloadStarted(code="resume-job", kind=source.kind, namespace=source.namespace, name=source.name)
            yield _edited(workload, told, suspend=False)


def _is_queued(job: Job) -> bool:
    return QUEUE_LABEL in (job.metadata.labels or {})


def _edited(workload: AnyWorkload, told: WorkloadStarted, **field: object) -> Remedy:
    after = structs.replace(workload, spec=structs.replace(workload.spec, **field))
    operations = [PatchOperation(op="add", path=f"/spec/{name}", value=value) for name, value in field.items()]
    made = patches.of_object(owner_of(workload), workload.api_version, operations)

    def apply(of: Inventory) -> Inventory:
        return replace(of, workloads=[after if each is workload else each for each in of.workloads])

    return Remedy((told,), apply, patches=(made,))
