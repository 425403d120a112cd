"""Questions to the scheduler's filters: why a pod does not fit on each node, and how many copies of it fit.

Contents: every filter's result for every node, whereas a cycle stops at the first filter that rejects a node; copies
that are created until one is not scheduled; and the filters that depend only on node and pod, without a simulation.
Other modules put the results into words.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence

from msgspec import Struct, field, structs

from dra_plan.api.core import Node, Pod, PodSchedulingGroup, PodStatus
from dra_plan.api.meta import ObjectMeta
from dra_plan.api.resource import ResourceClaim
from dra_plan.api.scheduling import PodGroup, PodGroupStatus
from dra_plan.documents.claim_sets import NodeExclusion
from dra_plan.releases import Target
from dra_plan.scheduler.cluster.nodes import NodeInfo
from dra_plan.scheduler.dra.filter import PodState
from dra_plan.scheduler.dra.plugin import DynamicResources
from dra_plan.scheduler.framework.interface import FilterPlugin
from dra_plan.scheduler.framework.profile import Framework
from dra_plan.scheduler.framework.status import CycleState, Obstacle, Status, failed, is_skip, left_out
from dra_plan.scheduler.obstacles import node_obstacle
from dra_plan.scheduler.plugins.node_affinity import NodeAffinityPlugin
from dra_plan.scheduler.plugins.node_checks import NodeName, NodeUnschedulable, TaintToleration

from .attempts import PodRecord
from .simulation import Simulation


class Refusals(Struct, frozen=True):
    """The reasons why a pod does not fit on each node, by node name in scheduling order.

    A node on which the pod fits has none. `claims` are the pod's claims without devices, and `allocated` those with
    devices.
    """

    of_nodes: dict[str, tuple[Status, ...]]
    claims: tuple[ResourceClaim, ...] = ()
    allocated: tuple[ResourceClaim, ...] = ()


def refusals(simulation: Simulation, pod: Pod) -> Refusals:
    """Return why the pod does not fit on each node in the current cluster. The cluster is not changed."""
    cluster = simulation.cluster
    nodes = list(cluster.nodes.values())
    framework = simulation.frameworks.get(cluster.info(pod).profile)
    if framework is None:
        return Refusals({})
    state = CycleState()
    allowed, refused, restricting = framework.run_pre_filter(state, pod, nodes)
    if refused is not None:
        return Refusals({node.name: (refused,) for node in nodes})
    found: dict[str, tuple[Status, ...]] = {}
    for node in nodes:
        if allowed.node_names is not None and node.name not in allowed.node_names:
            found[node.name] = tuple(map(left_out, restricting))
        else:
            found[node.name] = _of_node(framework, state, pod, node)
    return Refusals(found, *_claims(framework, state, pod, nodes))


def _of_node(framework: Framework, state: CycleState, pod: Pod, node: NodeInfo) -> tuple[Status, ...]:
    asked = (framework.ask_filter(plugin, state, pod, node) for plugin in framework.filters(state))
    return tuple(status for status in asked if status is not None)


def _claims(
    framework: Framework, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
) -> tuple[tuple[ResourceClaim, ...], tuple[ResourceClaim, ...]]:
    """Return the pod's claims that wait for devices, as requested on the first node, and those that have theirs."""
    for plugin in framework.all_plugins():
        kept: PodState | None = state.get(plugin.name) if isinstance(plugin, DynamicResources) else None
        if isinstance(plugin, DynamicResources) and kept is not None and nodes:
            return tuple(plugin.claims_asked_for(kept, pod, nodes[0])), tuple(kept.allocated)
    return (), ()


# -- copies of a pod ---------------------------------------------------------------------------------------------------
# Copies are created one after the other until the scheduler rejects one. The meaning of their number, and the largest
# possible number, are not decided here.


class CopyTemplate(Struct, frozen=True):
    """What a copy consists of: a pod, or all pods of a gang.

    Objects get new names in each copy, and each copy of a gang has a pod group of its own.
    """

    pods: tuple[Pod, ...]
    group: PodGroup | None = None

    @property
    def never_starts(self) -> bool:
        """Whether the copy is a gang with fewer pods than it needs."""
        return self.group is not None and len(self.pods) < self.group.min_count

    def made(self, number: int) -> tuple[PodGroup | None, list[Pod]]:
        """Return the group and the pods of the copy with this number."""
        if self.group is None:
            return None, [copy_of(pod, number) for pod in self.pods]
        metadata = self.group.metadata
        name = f"{metadata.name}-{number}"
        named = ObjectMeta(name=name, namespace=metadata.namespace, labels=metadata.labels)
        group = structs.replace(self.group, metadata=named, status=PodGroupStatus())
        return group, [_of_group(copy_of(pod, number), name) for pod in self.pods]


def _of_group(pod: Pod, group: str) -> Pod:
    spec = structs.replace(pod.spec, scheduling_group=PodSchedulingGroup(pod_group_name=group))
    return structs.replace(pod, spec=spec)


class Copies(Struct):
    """The outcome for copies: the pods that were bound, in order, and the first pod that was not, or None.

    A copy has `size` pods and counts only if all of them are bound.
    """

    size: int = 1
    bound: list[PodRecord] = field(default_factory=list)
    refused: PodRecord | None = None

    @property
    def number(self) -> int:
        """The number of bound copies."""
        return len(self.bound) // self.size

    def add(self, simulation: Simulation, records: Sequence[PodRecord]) -> bool:
        """Record the outcome for the next copy. Return whether all of its pods are bound.

        If not, one of the pods without a node becomes the rejected pod.
        """
        if len(records) == self.size and all(record.node for record in records):
            self.bound += records
            return True
        left = [record for record in records if not record.node]
        tried = simulation.scheduler.groups.records.by_key.values()
        held = {each.pod for group in tried for each in group.last if each.node} if self.size > 1 else ()
        refused = [record for record in left if record.refused or record.pod.key not in held]
        self.refused = max(refused or left, key=lambda record: record.refused)
        return False


def next_of(found: Sequence[Copies], templates: Sequence[tuple[CopyTemplate, int]]) -> int:
    """Return the index of the template to copy next: the one furthest behind its share, or the first of several."""
    shares = [copies.number / share for copies, (_, share) in zip(found, templates, strict=True)]
    return shares.index(min(shares))


def create_in_proportion(
    simulation: Simulation, templates: Sequence[tuple[CopyTemplate, int]], limit: int
) -> list[Copies]:
    """Create at most `limit` copies in a running simulation, one after another, until one is rejected.

    Each template comes with the number of its copies in a set. A copy counts if it is still bound when nothing changes
    any more, even if other pods were evicted for it.
    """
    found = [Copies(len(template.pods)) for template, _ in templates]
    for _ in range(limit):
        at = next_of(found, templates)
        group, pods = templates[at][0].made(found[at].number)
        if group is not None:
            simulation.arrive_group(group)
        records = [simulation.arrive(pod) for pod in pods]
        simulation.scheduler.run()
        if not found[at].add(simulation, records):
            break
    return found


def without_its_gang(simulation: Simulation, template: CopyTemplate, number: int) -> list[PodRecord]:
    """Return the outcomes for the pods of a rejected gang if they arrive one by one and without a group.

    `number` is that of the gang's copy. The pods arrive in the order in which the scheduler tried them. The first pod
    that gets no node is the last one; earlier pods stay on their nodes.
    """
    group, made = template.made(number)
    known = simulation.scheduler.groups.records.by_key
    tried = known.get((group.metadata.namespace, group.metadata.name)) if group is not None else None
    places = {each.pod: place for place, each in enumerate(tried.last if tried is not None else ())}
    records: list[PodRecord] = []
    for pod in sorted(made, key=lambda pod: places.get(pod.key, len(places))):
        spec = structs.replace(pod.spec, scheduling_group=None)
        metadata = structs.replace(pod.metadata, name=f"{pod.metadata.name}-alone")
        records.append(simulation.arrive(copy_of(structs.replace(pod, metadata=metadata, spec=spec), 0)))
        simulation.scheduler.run()
        if not records[-1].node:
            break
    return records


def copy_of(template: Pod, number: int) -> Pod:
    """Return a new pending pod like the template, with a new name and no created claims."""
    metadata = template.metadata
    named = ObjectMeta(
        name=f"{metadata.name}-{number}",
        namespace=metadata.namespace,
        uid=f"copy:{metadata.namespace}/{metadata.name}-{number}",
        labels=metadata.labels,
        annotations=metadata.annotations,
        owner_references=metadata.owner_references,
    )
    spec = structs.replace(template.spec, node_name="")
    return structs.replace(template, metadata=named, spec=spec, status=PodStatus())


# -- filters that depend only on node and pod --------------------------------------------------------------------------
# The filters are called outside a simulation to find the nodes that they exclude. The rules are the plugins' own.
# Anything that depends on other pods or on used resources needs a simulation.


class NodeRules:
    """The nodes of a question, and the reasons why plugins exclude pods from them."""

    def __init__(self, nodes: Iterable[Node], target: Target) -> None:
        self._nodes = list(nodes)
        self._infos: dict[str, NodeInfo] = {}
        self._known: dict[Hashable, list[tuple[str, NodeExclusion]]] = {}
        """The results by the part of a pod that the plugins read. Pods that are alike in it are checked once."""
        self._joined: dict[tuple[Hashable, ...], dict[str, list[NodeExclusion]]] = {}
        """The results for several pods, by the parts of these pods that the plugins read."""
        self._affinity = NodeAffinityPlugin()
        self._plugins: tuple[FilterPlugin, ...] = (
            NodeUnschedulable(),
            NodeName(),
            TaintToleration(target),
            self._affinity,
        )

    def exclusions(self, pods: Iterable[Pod]) -> dict[str, list[NodeExclusion]]:
        """Return the nodes that exclude at least one of the pods, with the plugins that exclude it.

        Most nodes exclude no pods. If the plugins cannot tell the pods from earlier ones, the same dict is returned
        again.
        """
        pods = list(pods)
        keys = tuple(self._key(pod) for pod in pods)
        if keys not in self._joined:
            found: dict[str, dict[NodeExclusion, None]] = {}
            for key, pod in zip(keys, pods, strict=True):
                for name, exclusion in self._remembered(key, pod):
                    found.setdefault(name, {})[exclusion] = None
            self._joined[keys] = {name: list(exclusions) for name, exclusions in found.items()}
        return self._joined[keys]

    def _key(self, pod: Pod) -> Hashable:
        state = CycleState()
        return tuple(plugin.filter_memo(state, pod) for plugin in self._plugins)

    def _remembered(self, key: Hashable, pod: Pod) -> list[tuple[str, NodeExclusion]]:
        if key not in self._known:
            self._known[key] = list(self._of_pod(pod))
        return self._known[key]

    def _of_pod(self, pod: Pod) -> Iterator[tuple[str, NodeExclusion]]:
        spec = pod.spec
        anywhere = not (spec.node_name or spec.node_selector or spec.affinity)
        nodes = [node for node in self._nodes if node.spec.taints or node.spec.unschedulable or not anywhere]
        if not nodes:
            return
        state, plugins = CycleState(), list(self._plugins)
        _, status = self._affinity.pre_filter(state, pod, [] if anywhere else list(map(self._info, nodes)))
        if is_skip(status):
            plugins.remove(self._affinity)

        def on(node: Node) -> Iterator[NodeExclusion]:
            info = self._info(node)
            for plugin in plugins:
                refused = status if plugin is self._affinity and failed(status) else plugin.filter(state, pod, info)
                if failed(refused):
                    yield _exclusion(plugin, refused, plugin.obstacles(state, pod, info))

        alike: dict[Hashable, list[NodeExclusion]] = {}
        for node in nodes:
            name, of = node.metadata.name, node.spec
            key: Hashable = (of.unschedulable, *of.taints) if anywhere else name  # a pod like this reads nothing else
            if key not in alike:
                alike[key] = list(on(node))
            yield from ((name, exclusion) for exclusion in alike[key])

    def _info(self, node: Node) -> NodeInfo:
        name = node.metadata.name
        if name not in self._infos:
            self._infos[name] = NodeInfo(node)
        return self._infos[name]


def _exclusion(plugin: FilterPlugin, status: Status, obstacles: Iterable[Obstacle]) -> NodeExclusion:
    """Return the obstacle; for labels, only the requirement, so that nodes with different labels are alike."""
    made = (node_obstacle([each], {}) for each in obstacles)
    about = [structs.replace(each, found=[], values_found=0, without=0, near="") for each in made if each is not None]
    return NodeExclusion(plugin=plugin.name, message=status.message, about=about)
