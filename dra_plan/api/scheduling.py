"""scheduling.k8s.io: groups of pods that are scheduled together, and Workloads with templates for such groups.

The structs are those of v1alpha2 in Kubernetes 1.36. The scheduler reads only PodGroups.
"""

from __future__ import annotations

from .meta import Object, ObjectMeta


class BasicSchedulingPolicy(Object, frozen=True):
    """The policy of a group whose pods are scheduled one by one."""


class GangSchedulingPolicy(Object, frozen=True):
    """The policy of a gang: its pods are scheduled only if at least `min_count` of them get nodes at the same time."""

    min_count: int = 0


class PodGroupSchedulingPolicy(Object, frozen=True):
    """The scheduling policy of a group. Exactly one field is set."""

    basic: BasicSchedulingPolicy | None = None
    gang: GangSchedulingPolicy | None = None


class TopologyConstraint(Object, frozen=True):
    """A constraint that requires all pods of the group to run on nodes with the same value of a label."""

    key: str = ""


class PodGroupSchedulingConstraints(Object, frozen=True):
    """Constraints on where the pods of a group run. At most one topology constraint is allowed."""

    topology: list[TopologyConstraint] = []


class PodGroupResourceClaim(Object, frozen=True):
    """A claim of a group, which either exists or is created from a template, once for the whole group."""

    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class PodGroupSpec(Object, frozen=True):
    """The specification of a group.

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
    """The claim that was created for an entry of the group's `resourceClaims`."""

    name: str = ""
    resource_claim_name: str | None = None


class PodGroupStatus(Object, frozen=True):
    """The status of a group, which the scheduler and the claim controller write."""

    conditions: list[PodGroupCondition] = []
    resource_claim_statuses: list[PodGroupResourceClaimStatus] = []


class PodGroup(Object, frozen=True):
    """A group of pods that are scheduled together. Each pod names its group in `schedulingGroup`."""

    api_version: str = "scheduling.k8s.io/v1alpha2"
    kind: str = "PodGroup"
    metadata: ObjectMeta = ObjectMeta()
    spec: PodGroupSpec = PodGroupSpec()
    status: PodGroupStatus = PodGroupStatus()

    @property
    def key(self) -> str:
        """The group's name, as `NAMESPACE/NAME`."""
        return f"{self.metadata.namespace}/{self.metadata.name}"

    @property
    def min_count(self) -> int:
        """The number of pods that must get nodes at the same time, or 0 if the group is not a gang."""
        gang = self.spec.scheduling_policy.gang
        return gang.min_count if gang is not None else 0

    @property
    def topology_key(self) -> str:
        """The node label that must have the same value for all pods of the group, or "" if there is none."""
        constraints = self.spec.scheduling_constraints
        return constraints.topology[0].key if constraints is not None and constraints.topology else ""


class PodGroupTemplate(Object, frozen=True):
    """A template for a pod group, in a Workload."""

    name: str = ""
    scheduling_policy: PodGroupSchedulingPolicy = PodGroupSchedulingPolicy()
    scheduling_constraints: PodGroupSchedulingConstraints | None = None
    resource_claims: list[PodGroupResourceClaim] = []
    disruption_mode: str = ""
    priority_class_name: str = ""
    priority: int | None = None


class GroupWorkloadSpec(Object, frozen=True):
    """The specification of a Workload: templates for the pod groups that a controller creates."""

    pod_group_templates: list[PodGroupTemplate] = []


class GroupWorkload(Object, frozen=True):
    """A Workload of scheduling.k8s.io. Controllers create pod groups from it; the scheduler does not read it."""

    api_version: str = "scheduling.k8s.io/v1alpha2"
    kind: str = "Workload"
    metadata: ObjectMeta = ObjectMeta()
    spec: GroupWorkloadSpec = GroupWorkloadSpec()
