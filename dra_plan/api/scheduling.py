"""scheduling.k8s.io: groups of pods that are scheduled together, and the Workloads with templates for these groups.

The shapes are those of v1alpha2 in Kubernetes 1.36. The scheduler reads pod groups only.
"""

from __future__ import annotations

from .meta import Object, ObjectMeta


class BasicSchedulingPolicy(Object, frozen=True):
    """A policy that schedules pods one by one."""


class GangSchedulingPolicy(Object, frozen=True):
    """A policy that needs nodes for at least `min_count` pods at the same time."""

    min_count: int = 0


class PodGroupSchedulingPolicy(Object, frozen=True):
    """A group's scheduling policy; exactly one of the two fields is set."""

    basic: BasicSchedulingPolicy | None = None
    gang: GangSchedulingPolicy | None = None


class TopologyConstraint(Object, frozen=True):
    """A constraint that all pods of the group run on nodes with the same value of one label."""

    key: str = ""


class PodGroupSchedulingConstraints(Object, frozen=True):
    """Constraints on the placement of a group's pods relative to each other; at most one topology constraint."""

    topology: list[TopologyConstraint] = []


class PodGroupResourceClaim(Object, frozen=True):
    """The group's claim, which already exists, or is created from a template once for the whole group."""

    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class PodGroupSpec(Object, frozen=True):
    """The common settings of a group's pods. `disruption_mode` is Pod or PodGroup; `priority` is the group's own."""

    scheduling_policy: PodGroupSchedulingPolicy = PodGroupSchedulingPolicy()
    scheduling_constraints: PodGroupSchedulingConstraints | None = None
    resource_claims: list[PodGroupResourceClaim] = []
    disruption_mode: str = ""
    priority_class_name: str = ""
    priority: int | None = None


class PodGroupCondition(Object, frozen=True):
    """A condition of a pod group."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""


class PodGroupResourceClaimStatus(Object, frozen=True):
    """The claim created for one entry of the group."""

    name: str = ""
    resource_claim_name: str | None = None


class PodGroupStatus(Object, frozen=True):
    """The status of a group, as written by the scheduler and the claim controller."""

    conditions: list[PodGroupCondition] = []
    resource_claim_statuses: list[PodGroupResourceClaimStatus] = []


class PodGroup(Object, frozen=True):
    """A group of pods, which name it in their `schedulingGroup`."""

    api_version: str = "scheduling.k8s.io/v1alpha2"
    kind: str = "PodGroup"
    metadata: ObjectMeta = ObjectMeta()
    spec: PodGroupSpec = PodGroupSpec()
    status: PodGroupStatus = PodGroupStatus()

    @property
    def key(self) -> str:
        """`NAMESPACE/NAME`."""
        return f"{self.metadata.namespace}/{self.metadata.name}"

    @property
    def min_count(self) -> int:
        """The number of pods in a gang that need nodes at the same time; 0 if there is no such policy."""
        gang = self.spec.scheduling_policy.gang
        return gang.min_count if gang is not None else 0

    @property
    def topology_key(self) -> str:
        """The label whose value all pods in the group share, or "" if there is none."""
        constraints = self.spec.scheduling_constraints
        return constraints.topology[0].key if constraints is not None and constraints.topology else ""


class PodGroupTemplate(Object, frozen=True):
    """A pod group as a Workload describes it."""

    name: str = ""
    scheduling_policy: PodGroupSchedulingPolicy = PodGroupSchedulingPolicy()
    scheduling_constraints: PodGroupSchedulingConstraints | None = None
    resource_claims: list[PodGroupResourceClaim] = []
    disruption_mode: str = ""
    priority_class_name: str = ""
    priority: int | None = None


class GroupWorkloadSpec(Object, frozen=True):
    """The templates for the groups that a controller creates."""

    pod_group_templates: list[PodGroupTemplate] = []


class GroupWorkload(Object, frozen=True):
    """The Workload kind of scheduling.k8s.io. Controllers that create pod groups read it; the scheduler does not."""

    api_version: str = "scheduling.k8s.io/v1alpha2"
    kind: str = "Workload"
    metadata: ObjectMeta = ObjectMeta()
    spec: GroupWorkloadSpec = GroupWorkloadSpec()
