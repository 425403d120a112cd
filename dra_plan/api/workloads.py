"""apps/v1, batch/v1 and kinds that only their shape tells: the workloads whose pods use claims."""

from __future__ import annotations

from .core import PodTemplateSpec
from .meta import LabelSelector, Object, ObjectMeta
from .storage import PersistentVolumeClaim


class RollingUpdate(Object, frozen=True):
    """How an update proceeds; numbers, or percentages as text. StatefulSets have the partition."""

    max_surge: int | str | None = None
    max_unavailable: int | str | None = None
    partition: int = 0


class UpdateStrategy(Object, frozen=True):
    """How pods of an older template are replaced."""

    type: str = ""
    rolling_update: RollingUpdate | None = None


class WorkloadSpec(Object, frozen=True):
    """What Deployments, StatefulSets, ReplicaSets and DaemonSets share, and what one of them has.

    Deployments have `strategy`, StatefulSets and DaemonSets `update_strategy`; StatefulSets make a claim on a volume of
    each of `volume_claim_templates` for each pod.
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
    """A condition that a failed pod has; the status is True where none is written."""

    type: str = ""
    status: str = "True"


class PodFailurePolicyRule(Object, frozen=True):
    """What a failed pod means for its job: Ignore, Count, FailIndex or FailJob. Exit codes are not read."""

    action: str = ""
    on_pod_conditions: list[PodConditionPattern] = []


class PodFailurePolicy(Object, frozen=True):
    """Rules for failed pods, of which the first that matches counts."""

    rules: list[PodFailurePolicyRule] = []


class JobSpec(Object, frozen=True):
    """A job: at most `parallelism` pods at a time."""

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
    """What has become of a job; Complete or Failed with status True means that it is over."""

    type: str = ""
    status: str = ""


class JobStatus(Object, frozen=True):
    """The status of a job, as far as planning reads it."""

    conditions: list[JobCondition] = []
    succeeded: int = 0
    failed: int = 0


class JobTemplateSpec(Object, frozen=True):
    """The job that a CronJob makes."""

    metadata: ObjectMeta = ObjectMeta()
    spec: JobSpec = JobSpec()


class CronJobSpec(Object, frozen=True):
    """A job on a schedule."""

    job_template: JobTemplateSpec = JobTemplateSpec()
    suspend: bool = False


class WorkloadCondition(Object, frozen=True):
    """A condition of a Deployment or ReplicaSet; ReplicaFailure says why the API server refused its pods."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: str | None = None


class WorkloadStatus(Object, frozen=True):
    """What the controller of a StatefulSet says of its revisions, and of others why pods could not be made."""

    update_revision: str = ""
    conditions: list[WorkloadCondition] = []


class Workload(Object, frozen=True):
    """Deployment, StatefulSet, ReplicaSet or DaemonSet (apps/v1)."""

    api_version: str = "apps/v1"
    kind: str = "Deployment"
    metadata: ObjectMeta = ObjectMeta()
    spec: WorkloadSpec = WorkloadSpec()
    status: WorkloadStatus = WorkloadStatus()


class ReplicationControllerSpec(Object, frozen=True):
    """As a ReplicaSet's, with a plain label map as selector."""

    replicas: int | None = None
    selector: dict[str, str] = {}
    template: PodTemplateSpec = PodTemplateSpec()


class ReplicationController(Object, frozen=True):
    """v1 ReplicationController."""

    api_version: str = "v1"
    kind: str = "ReplicationController"
    metadata: ObjectMeta = ObjectMeta()
    spec: ReplicationControllerSpec = ReplicationControllerSpec()


class Job(Object, frozen=True):
    """batch/v1 Job."""

    api_version: str = "batch/v1"
    kind: str = "Job"
    metadata: ObjectMeta = ObjectMeta()
    spec: JobSpec = JobSpec()
    status: JobStatus = JobStatus()


class CronJob(Object, frozen=True):
    """batch/v1 CronJob."""

    api_version: str = "batch/v1"
    kind: str = "CronJob"
    metadata: ObjectMeta = ObjectMeta()
    spec: CronJobSpec = CronJobSpec()


class CustomWorkloadSpec(Object, frozen=True):
    """How many pods are made of a template; none as long as it is suspended."""

    replicas: int = 1
    suspend: bool = False
    template: PodTemplateSpec = PodTemplateSpec()


class CustomWorkload(Object, frozen=True):
    """One pod template of an object whose kind planning does not know.

    `part` is the field that has it, where the object has several; the status says no more than whether it is over.
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
    """The template of the pods that the workload makes."""
    job = workload.spec.job_template if isinstance(workload, CronJob) else workload
    return job.spec.template
