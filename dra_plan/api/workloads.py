"""apps/v1, batch/v1 and kinds recognized only by their shape: the workloads whose pods use claims."""

from __future__ import annotations

from .core import PodTemplateSpec
from .meta import LabelSelector, Object, ObjectMeta
from .storage import PersistentVolumeClaim


class RollingUpdate(Object, frozen=True):
    """The pace of an update, as numbers or as percentages in text form. Only StatefulSets have the partition."""

    max_surge: int | str | None = None
    max_unavailable: int | str | None = None
    partition: int = 0


class UpdateStrategy(Object, frozen=True):
    """How pods created from an older template are replaced."""

    type: str = ""
    rolling_update: RollingUpdate | None = None


class WorkloadSpec(Object, frozen=True):
    """The fields that Deployments, StatefulSets, ReplicaSets and DaemonSets share, and those that only one of them has.

    Deployments have `strategy`, and StatefulSets and DaemonSets have `update_strategy`. StatefulSets create a volume
    claim for each pod from each of `volume_claim_templates`.
    """

    replicas: int | None = None
    selector: LabelSelector | None = None
    template: PodTemplateSpec = PodTemplateSpec()
    strategy: UpdateStrategy | None = None
    update_strategy: UpdateStrategy | None = None
    pod_management_policy: str = ""
    paused: bool = False
    volume_claim_templates: list[PersistentVolumeClaim] = []


class PodConditionPattern(Object, frozen=True):
    """A condition that a failed pod has; a missing status means True."""

    type: str = ""
    status: str = "True"


class PodFailurePolicyRule(Object, frozen=True):
    """A failed pod's effect on its job: Ignore, Count, FailIndex or FailJob. Exit codes are not read."""

    action: str = ""
    on_pod_conditions: list[PodConditionPattern] = []


class PodFailurePolicy(Object, frozen=True):
    """Rules for failed pods; the first rule that matches applies."""

    rules: list[PodFailurePolicyRule] = []


class JobSpec(Object, frozen=True):
    """A job, with at most `parallelism` pods at a time."""

    parallelism: int | None = None
    completions: int | None = None
    completion_mode: str | None = None
    selector: LabelSelector | None = None
    manual_selector: bool | None = None
    template: PodTemplateSpec = PodTemplateSpec()
    suspend: bool = False
    backoff_limit: int | None = None
    pod_failure_policy: PodFailurePolicy | None = None


class JobCondition(Object, frozen=True):
    """A condition of a job; Complete or Failed with status True means that it has finished."""

    type: str = ""
    status: str = ""


class JobStatus(Object, frozen=True):
    """The status of a job, limited to the fields that planning reads."""

    conditions: list[JobCondition] = []
    succeeded: int = 0
    failed: int = 0


class JobTemplateSpec(Object, frozen=True):
    """The template of a CronJob's jobs."""

    metadata: ObjectMeta = ObjectMeta()
    spec: JobSpec = JobSpec()


class CronJobSpec(Object, frozen=True):
    """A job on a schedule."""

    job_template: JobTemplateSpec = JobTemplateSpec()
    suspend: bool = False


class WorkloadCondition(Object, frozen=True):
    """A condition of a Deployment or ReplicaSet.

    ReplicaFailure gives the reason why the API server rejected its pods.
    """

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: str | None = None


class WorkloadStatus(Object, frozen=True):
    """The status of a workload: the revisions of a StatefulSet, and for other kinds why pods could not be created."""

    update_revision: str = ""
    conditions: list[WorkloadCondition] = []


class Workload(Object, frozen=True):
    """A Deployment, StatefulSet, ReplicaSet or DaemonSet (apps/v1)."""

    api_version: str = "apps/v1"
    kind: str = "Deployment"
    metadata: ObjectMeta = ObjectMeta()
    spec: WorkloadSpec = WorkloadSpec()
    status: WorkloadStatus = WorkloadStatus()


class ReplicationControllerSpec(Object, frozen=True):
    """The specification of a ReplicationController: like a ReplicaSet's, but with a plain label map as selector."""

    replicas: int | None = None
    selector: dict[str, str] = {}
    template: PodTemplateSpec = PodTemplateSpec()


class ReplicationController(Object, frozen=True):
    """A ReplicationController (v1)."""

    api_version: str = "v1"
    kind: str = "ReplicationController"
    metadata: ObjectMeta = ObjectMeta()
    spec: ReplicationControllerSpec = ReplicationControllerSpec()


class Job(Object, frozen=True):
    """A Job (batch/v1)."""

    api_version: str = "batch/v1"
    kind: str = "Job"
    metadata: ObjectMeta = ObjectMeta()
    spec: JobSpec = JobSpec()
    status: JobStatus = JobStatus()


class CronJob(Object, frozen=True):
    """A CronJob (batch/v1)."""

    api_version: str = "batch/v1"
    kind: str = "CronJob"
    metadata: ObjectMeta = ObjectMeta()
    spec: CronJobSpec = CronJobSpec()


class CustomWorkloadSpec(Object, frozen=True):
    """The number of pods from a template; there are none while it is suspended."""

    replicas: int = 1
    suspend: bool = False
    template: PodTemplateSpec = PodTemplateSpec()


class CustomWorkload(Object, frozen=True):
    """A pod template in an object whose kind planning does not know.

    `part` is the field with the template, if the object has several; the status only shows whether it has finished.
    """

    api_version: str = ""
    kind: str = ""
    metadata: ObjectMeta = ObjectMeta()
    spec: CustomWorkloadSpec = CustomWorkloadSpec()
    status: JobStatus = JobStatus()
    part: str = ""


AnyWorkload = Workload | ReplicationController | Job | CronJob | CustomWorkload
"""Everything with a pod template."""


def pod_template(workload: AnyWorkload) -> PodTemplateSpec:
    """Return the template of the workload's pods."""
    job = workload.spec.job_template if isinstance(workload, CronJob) else workload
    return job.spec.template
