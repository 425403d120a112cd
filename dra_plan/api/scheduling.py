"""scheduling.k8s.io: groups of pods that are scheduled together, and the Workloads with templates for these groups.

The shapes are those of v1alpha2 in Kubernetes 1.36. The scheduler reads pod groups only.
"""

from __future__ import annotations

from .meta import Object, ObjectMeta


class BasicSchedulingPolicy(Object, frozen=True):
    """A policy that schedules the pods of a group one by one."""


class GangSchedulingPolicy(Object, frozen=True):
    """A policy that schedules pods of a group only if at least `min_count` of them get nodes at the same time."""

    min_count: int = 0


class PodGroupSchedulingPolicy(Object, frozen=True):
    """The scheduling policy of a group. Exactly one of the two fields is set."""

    basic: BasicSchedulingPolicy | None = None
    gang: GangSchedulingPolicy | None = None


class TopologyConstraint(Object, frozen=True):
    """A constraint that all pods of the group run on nodes with the same value of one label."""

    key: str = ""


class PodGroupSchedulingConstraints(Object, frozen=True):
    """Constraints on where the pods of a group run relative to each other. There is at most one topology constraint."""

    topology: list[TopologyConstraint] = []


class PodGroupResourceClaim(Object, frozen=True):
    """A claim of a group. It either exists already, or is created from a template once for the whole group."""

    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class PodGroupSpec(Object, frozen=True):
    """The settings that the pods of a group share.

    `disruption_mode` is Pod or PodGroup, and `priority` is the priority of the group itself.
    """

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
    """The claim that was created for one entry in the group's `resourceClaims`."""

    name: str = ""
    resource_claim_name: str | None = None


class PodGroupStatus(Object, frozen=True):
    """The status of a group, as written by the scheduler and the claim controller."""

    conditions: list[PodGroupCondition] = []
    resource_claim_statuses: list[PodGroupResourceClaimStatus] = []


class PodGroup(Object, frozen=True):
    """A group of pods that are scheduled together. The pods name the group in their `schedulingGroup`."""

    api_version: str = "scheduling.k8s.io/v1alpha2"
    kind: str = "PodGroup"
    metadata: ObjectMeta = ObjectMeta()
    spec: PodGroupSpec = PodGroupSpec()
    status: PodGroupStatus = PodGroupStatus()

    @property
    def key(self) -> str:
        """The namespace and name of the group, as `NAMESPACE/NAME`."""
        return f"{self.metadata.namespace}/{self.metadata.name}"

    @property
    def min_count(self) -> int:
        """The number of pods in the gang that need nodes at the same time, or 0 if the group is not a gang."""
        gang = self.spec.scheduling_policy.gang
        return gang.min_count if gang is not None else 0

    @property
    def topology_key(self) -> str:
        """The label for which all pods in the group must have the same value, or "" if there is none."""
        constraints = self.spec.scheduling_constraints
        return constraints.topology[0].key if constraints is not None and constraints.topology else ""


class PodGroupTemplate(Object, frozen=True):
    """A template for a pod group, as a Workload contains it."""

    name: str = ""
    scheduling_policy: PodGroupSchedulingPolicy = PodGroupSchedulingPolicy()
    scheduling_constraints: PodGroupSchedulingConstraints | None = None
    resource_claims: list[PodGroupResourceClaim] = []
    disruption_mode: str = ""
    priority_class_name: str = ""
    priority: int | None = None


class GroupWorkloadSpec(Object, frozen=True):
    """The templates for the pod groups that a controller creates."""

    pod_group_templates: list[PodGroupTemplate] = []


class GroupWorkload(Object, frozen=True):
    """A Workload of scheduling.k8s.io. It is read by controllers that create pod groups, but not by the scheduler."""

    api_version: str = "scheduling.k8s.io/v1alpha2"
    kind: str = "Workload"
    metadata: ObjectMeta = ObjectMeta()
    spec: GroupWorkloadSpec = GroupWorkloadSpec()
