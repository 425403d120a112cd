"""Workloads: apps/v1, batch/v1, ReplicationController, and other kinds with a pod template."""

from __future__ import annotations

from .core import PodTemplateSpec
from .meta import LabelSelector, Object, ObjectMeta
from .storage import PersistentVolumeClaim


class RollingUpdate(Object, frozen=True):
    """The pace of a rolling update. Text is a percentage. Only StatefulSets have a partition."""

    max_surge: int | str | None = None
    max_unavailable: int | str | None = None
    partition: int = 0


class UpdateStrategy(Object, frozen=True):
    """The update strategy of a workload, which decides how it replaces its pods."""

    type: str = ""
    rolling_update: RollingUpdate | None = None


class WorkloadSpec(Object, frozen=True):
    """The specification of a Deployment, StatefulSet, ReplicaSet or DaemonSet.

    Deployments have `strategy`, and StatefulSets and DaemonSets have `update_strategy`. StatefulSets create a volume
    claim for each pod and each entry of `volume_claim_templates`.
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
    """A condition of failed pods that a rule matches."""

    type: str = ""
    status: str = "True"


class PodFailurePolicyRule(Object, frozen=True):
    """A rule for failed pods of a job.

    `action` is Ignore, Count, FailIndex or FailJob. Rules about exit codes are not read.
    """

    action: str = ""
    on_pod_conditions: list[PodConditionPattern] = []


class PodFailurePolicy(Object, frozen=True):
    """The rules for failed pods. The first rule that matches a pod applies."""

    rules: list[PodFailurePolicyRule] = []


class JobSpec(Object, frozen=True):
    """The specification of a job, which runs at most `parallelism` pods at a time."""

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
    """A condition of a job. The job has finished if Complete or Failed is True."""

    type: str = ""
    status: str = ""


class JobStatus(Object, frozen=True):
    """The status of a job, with the fields that planning reads."""

    conditions: list[JobCondition] = []
    succeeded: int = 0
    failed: int = 0


class JobTemplateSpec(Object, frozen=True):
    """The template for the jobs of a CronJob."""

    metadata: ObjectMeta = ObjectMeta()
    spec: JobSpec = JobSpec()


class CronJobSpec(Object, frozen=True):
    """The specification of a CronJob, which runs jobs on a schedule."""

    job_template: JobTemplateSpec = JobTemplateSpec()
    suspend: bool = False


class WorkloadCondition(Object, frozen=True):
    """A condition of a Deployment or ReplicaSet. ReplicaFailure says why the API server rejected its pods."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: str | None = None


class WorkloadStatus(Object, frozen=True):
    """The status of a workload. Only a StatefulSet has `update_revision`, the revision that it is updated to."""

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
    """The specification of a ReplicationController. Its selector is a plain label map."""

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
    """The specification of a workload of another kind. A suspended workload has no pods."""

    replicas: int = 1
    suspend: bool = False
    template: PodTemplateSpec = PodTemplateSpec()


class CustomWorkload(Object, frozen=True):
    """A pod template in an object of another kind.

    `part` is the field with this template, if the object has several templates. The status only shows whether the
    object has finished.
    """

    api_version: str = ""
    kind: str = ""
    metadata: ObjectMeta = ObjectMeta()
    spec: CustomWorkloadSpec = CustomWorkloadSpec()
    status: JobStatus = JobStatus()
    part: str = ""


AnyWorkload = Workload | ReplicationController | Job | CronJob | CustomWorkload
"""Any object with a pod template."""


def pod_template(workload: AnyWorkload) -> PodTemplateSpec:
    """Return the template from which the workload's pods are created."""
    job = workload.spec.job_template if isinstance(workload, CronJob) else workload
    return job.spec.template
