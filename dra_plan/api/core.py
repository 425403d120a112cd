"""core/v1: nodes, pods, namespaces and other objects, with the fields that scheduling reads."""

from __future__ import annotations

from typing import Any

import msgspec

from .meta import LabelSelector, Object, ObjectMeta, QuantityText


class NodeSelectorRequirement(Object, frozen=True):
    """A requirement on the labels or fields of a node."""

    key: str = ""
    operator: str = ""
    values: list[str] = []


class NodeSelectorTerm(Object, frozen=True):
    """A list of requirements. A node must meet all of them; an empty term matches no node."""

    match_expressions: list[NodeSelectorRequirement] = []
    match_fields: list[NodeSelectorRequirement] = []


class NodeSelector(Object, frozen=True):
    """A list of terms. A node must match at least one of them."""

    node_selector_terms: list[NodeSelectorTerm] = []


class Taint(Object, frozen=True):
    """A taint on a node."""

    key: str = ""
    value: str = ""
    effect: str = ""
    time_added: str | None = None


class Toleration(Object, frozen=True):
    """A pod's toleration of node taints."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: int | None = None


class ContainerImage(Object, frozen=True):
    """A container image on a node, with its size in bytes."""

    names: list[str] = []
    size_bytes: int = 0


class NodeSpec(Object, frozen=True):
    """The specification of a node."""

    unschedulable: bool = False
    taints: list[Taint] = []


class NodeSystemInfo(Object, frozen=True):
    """The versions that a node reports."""

    kubelet_version: str = ""


class NodeCondition(Object, frozen=True):
    """A condition of a node."""

    type: str = ""
    status: str = ""
    message: str = ""
    last_heartbeat_time: str | None = None


class NodeStatus(Object, frozen=True):
    """The status of a node: its resources, images, features and conditions."""

    capacity: dict[str, QuantityText] = {}
    allocatable: dict[str, QuantityText] = {}
    images: list[ContainerImage] = []
    node_info: NodeSystemInfo = NodeSystemInfo()
    declared_features: list[str] = []
    conditions: list[NodeCondition] = []


class Node(Object, frozen=True):
    """A node."""

    api_version: str = "v1"
    kind: str = "Node"
    metadata: ObjectMeta = ObjectMeta()
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()


class Namespace(Object, frozen=True):
    """A namespace. Its labels matter for admin access and pod affinity."""

    api_version: str = "v1"
    kind: str = "Namespace"
    metadata: ObjectMeta = ObjectMeta()


class ResourceClaimReference(Object, frozen=True):
    """A container's reference to one of the pod's claims."""

    name: str = ""
    request: str = ""


class ResourceRequirements(Object, frozen=True):
    """The resource requests, limits and claims of a container or of a whole pod."""

    requests: dict[str, QuantityText] = {}
    limits: dict[str, QuantityText] = {}
    claims: list[ResourceClaimReference] = []


class ContainerPort(Object, frozen=True):
    """A port of a container. If `host_port` is 0, the container does not use a port of the node."""

    container_port: int = 0
    host_port: int = 0
    host_ip: str = msgspec.field(default="", name="hostIP")
    protocol: str = "TCP"
    name: str = ""


class Container(Object, frozen=True):
    """A container. An init container whose `restart_policy` is Always is a sidecar."""

    name: str = ""
    image: str = ""
    ports: list[ContainerPort] = []
    resources: ResourceRequirements = ResourceRequirements()
    restart_policy: str | None = None

    @property
    def is_sidecar(self) -> bool:
        """Whether an init container keeps running beside the containers of the pod."""
        return self.restart_policy == "Always"


class PreferredSchedulingTerm(Object, frozen=True):
    """A preference for some nodes, with a weight."""

    weight: int = 0
    preference: NodeSelectorTerm = NodeSelectorTerm()


class NodeAffinity(Object, frozen=True):
    """The nodes that a pod requires, and the nodes that it prefers."""

    required_during_scheduling_ignored_during_execution: NodeSelector | None = None
    preferred_during_scheduling_ignored_during_execution: list[PreferredSchedulingTerm] = []


class PodAffinityTerm(Object, frozen=True):
    """The pods that a pod must run close to (affinity) or away from (anti-affinity)."""

    label_selector: LabelSelector | None = None
    namespaces: list[str] = []
    topology_key: str = ""
    namespace_selector: LabelSelector | None = None
    match_label_keys: list[str] = []
    mismatch_label_keys: list[str] = []


class WeightedPodAffinityTerm(Object, frozen=True):
    """A preference for running close to some pods, or away from them, with a weight."""

    weight: int = 0
    pod_affinity_term: PodAffinityTerm = PodAffinityTerm()


class PodAffinity(Object, frozen=True):
    """The affinity terms that a pod requires, and those that it prefers. Anti-affinity uses this type too."""

    required_during_scheduling_ignored_during_execution: list[PodAffinityTerm] = []
    preferred_during_scheduling_ignored_during_execution: list[WeightedPodAffinityTerm] = []


class Affinity(Object, frozen=True):
    """The affinity and anti-affinity of a pod."""

    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None


class TopologySpreadConstraint(Object, frozen=True):
    """A constraint on how evenly pods are spread over nodes or zones."""

    max_skew: int = 1
    topology_key: str = ""
    when_unsatisfiable: str = "DoNotSchedule"
    label_selector: LabelSelector | None = None
    min_domains: int | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    match_label_keys: list[str] = []


class PodResourceClaim(Object, frozen=True):
    """A claim of a pod, which either exists or is created from a template.

    `source` is the form that was used before Kubernetes 1.31. Conversion moves its fields to the claim.
    """

    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class PodSchedulingGate(Object, frozen=True):
    """A gate that keeps a pod out of scheduling until it is removed."""

    name: str = ""


class PodSchedulingGroup(Object, frozen=True):
    """The group that a pod is scheduled with: a PodGroup in the pod's namespace."""

    pod_group_name: str = ""


class PodSpec(Object, frozen=True):
    """The specification of a pod, with the fields that scheduling reads. Volumes are plain dicts."""

    containers: list[Container] = []
    init_containers: list[Container] = []
    overhead: dict[str, QuantityText] = {}
    resources: ResourceRequirements | None = None
    node_name: str = ""
    node_selector: dict[str, str] = {}
    affinity: Affinity | None = None
    tolerations: list[Toleration] = []
    topology_spread_constraints: list[TopologySpreadConstraint] = []
    priority: int | None = None
    priority_class_name: str = ""
    preemption_policy: str | None = None
    restart_policy: str = ""
    service_account_name: str = ""
    scheduler_name: str = ""
    scheduling_gates: list[PodSchedulingGate] = []
    resource_claims: list[PodResourceClaim] = []
    volumes: list[dict[str, Any]] = []
    host_network: bool = False
    runtime_class_name: str = ""
    active_deadline_seconds: int | None = None
    scheduling_group: PodSchedulingGroup | None = None

    @property
    def all_containers(self) -> list[Container]:
        """The init containers, followed by the containers."""
        return [*self.init_containers, *self.containers]


class PodResourceClaimStatus(Object, frozen=True):
    """The claim that was created for an entry of the pod's `resourceClaims`.

    If `resource_claim_name` is None, the pod does not need a claim for this entry.
    """

    name: str = ""
    resource_claim_name: str | None = None


class PodExtendedResourceClaimStatus(Object, frozen=True):
    """The claim that was created for the extended resources of the pod."""

    resource_claim_name: str = ""
    request_mappings: list[dict[str, str]] = []


class NodeAllocatableResourceClaimStatus(Object, frozen=True):
    """The node resources that the devices of a claim take for a pod (alpha in 1.36).

    `containers` are the pod's containers that use the claim.
    """

    resource_claim_name: str = ""
    containers: list[str] = []
    resources: dict[str, QuantityText] = {}


class PodCondition(Object, frozen=True):
    """A condition of a pod."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: str | None = None


class ContainerWaiting(Object, frozen=True):
    """The reason why a container has not started, such as ImagePullBackOff, with a message."""

    reason: str = ""
    message: str = ""


class ContainerTerminated(Object, frozen=True):
    """The result of a finished run of a container."""

    exit_code: int = 0
    reason: str = ""
    message: str = ""


class ContainerRunning(Object, frozen=True):
    """The time at which a running container started."""

    started_at: str | None = None


class ContainerState(Object, frozen=True):
    """The state of a container: running, waiting or terminated."""

    running: ContainerRunning | None = None
    waiting: ContainerWaiting | None = None
    terminated: ContainerTerminated | None = None


class ContainerStatus(Object, frozen=True):
    """The status of a container: its state, and its resources for in-place resize.

    `started` is true if the container is running and its startup probe has succeeded.
    """

    name: str = ""
    started: bool | None = None
    state: ContainerState = ContainerState()
    last_state: ContainerState = ContainerState()
    resources: ResourceRequirements | None = None
    allocated_resources: dict[str, QuantityText] = {}


class PodStatus(Object, frozen=True):
    """The status of a pod, with the fields that scheduling reads."""

    phase: str = ""
    conditions: list[PodCondition] = []
    nominated_node_name: str = ""
    start_time: str | None = None
    resource_claim_statuses: list[PodResourceClaimStatus] = []
    extended_resource_claim_status: PodExtendedResourceClaimStatus | None = None
    node_allocatable_resource_claim_statuses: list[NodeAllocatableResourceClaimStatus] = []
    container_statuses: list[ContainerStatus] = []
    init_container_statuses: list[ContainerStatus] = []
    resize: str = ""


class Pod(Object, frozen=True):
    """A pod."""

    api_version: str = "v1"
    kind: str = "Pod"
    metadata: ObjectMeta = ObjectMeta()
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()

    @property
    def key(self) -> str:
        """The pod's name, as `NAMESPACE/NAME`."""
        return f"{self.metadata.namespace}/{self.metadata.name}"


class PodTemplateSpec(Object, frozen=True):
    """The template for a workload's pods."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PodSpec = PodSpec()


class ServiceSpec(Object, frozen=True):
    """The specification of a service. By default, the pods that it selects are spread over nodes and zones."""

    selector: dict[str, str] = {}


class Service(Object, frozen=True):
    """A service."""

    api_version: str = "v1"
    kind: str = "Service"
    metadata: ObjectMeta = ObjectMeta()
    spec: ServiceSpec = ServiceSpec()


class PriorityClass(Object, frozen=True):
    """A priority class for pods (scheduling.k8s.io/v1)."""

    api_version: str = "scheduling.k8s.io/v1"
    kind: str = "PriorityClass"
    metadata: ObjectMeta = ObjectMeta()
    value: int = 0
    global_default: bool = False
    preemption_policy: str | None = None


class RuntimeClassOverhead(Object, frozen=True):
    """The resources that running a pod takes in addition to its containers."""

    pod_fixed: dict[str, QuantityText] = {}


class RuntimeClassScheduling(Object, frozen=True):
    """What the API server adds to pods, so that they run only on nodes with the runtime."""

    node_selector: dict[str, str] = {}
    tolerations: list[Toleration] = []


class RuntimeClass(Object, frozen=True):
    """A container runtime that pods can name (node.k8s.io/v1)."""

    api_version: str = "node.k8s.io/v1"
    kind: str = "RuntimeClass"
    metadata: ObjectMeta = ObjectMeta()
    overhead: RuntimeClassOverhead = RuntimeClassOverhead()
    scheduling: RuntimeClassScheduling = RuntimeClassScheduling()


class PodDisruptionBudgetSpec(Object, frozen=True):
    """The specification of a disruption budget: the pods that it protects, and how many must stay.

    Only one of `min_available` and `max_unavailable` may be set, to a number or a percentage.
    """

    selector: LabelSelector | None = None
    min_available: int | str | None = None
    max_unavailable: int | str | None = None
    unhealthy_pod_eviction_policy: str | None = None


class PodDisruptionBudgetStatus(Object, frozen=True):
    """The status of a disruption budget, with the number of evictions that it currently allows."""

    disruptions_allowed: int = 0
    disrupted_pods: dict[str, str] = {}


class PodDisruptionBudget(Object, frozen=True):
    """A pod disruption budget (policy/v1)."""

    api_version: str = "policy/v1"
    kind: str = "PodDisruptionBudget"
    metadata: ObjectMeta = ObjectMeta()
    spec: PodDisruptionBudgetSpec = PodDisruptionBudgetSpec()
    status: PodDisruptionBudgetStatus = PodDisruptionBudgetStatus()


class ScopedResourceSelectorRequirement(Object, frozen=True):
    """A requirement on the pods that a quota counts."""

    scope_name: str = ""
    operator: str = ""
    values: list[str] = []


class ScopeSelector(Object, frozen=True):
    """A list of requirements. A quota counts only pods that meet all of them."""

    match_expressions: list[ScopedResourceSelectorRequirement] = []


class ResourceQuotaSpec(Object, frozen=True):
    """The specification of a quota: the maximum that the pods in a namespace may request in total."""

    hard: dict[str, QuantityText] = {}
    scopes: list[str] = []
    scope_selector: ScopeSelector | None = None


class ResourceQuota(Object, frozen=True):
    """A resource quota."""

    api_version: str = "v1"
    kind: str = "ResourceQuota"
    metadata: ObjectMeta = ObjectMeta()
    spec: ResourceQuotaSpec = ResourceQuotaSpec()


class LimitRangeItem(Object, frozen=True):
    """The limits and defaults for containers or for pods."""

    type: str = ""
    max: dict[str, QuantityText] = {}
    min: dict[str, QuantityText] = {}
    default: dict[str, QuantityText] = {}
    default_request: dict[str, QuantityText] = {}
    max_limit_request_ratio: dict[str, QuantityText] = {}


class LimitRangeSpec(Object, frozen=True):
    """The limits and defaults of a namespace."""

    limits: list[LimitRangeItem] = []


class LimitRange(Object, frozen=True):
    """A limit range: limits and defaults for the pods and containers of a namespace."""

    api_version: str = "v1"
    kind: str = "LimitRange"
    metadata: ObjectMeta = ObjectMeta()
    spec: LimitRangeSpec = LimitRangeSpec()
