"""Rules about single workloads, disruption budgets and priority classes (DRA166, DRA167, DRA169, DRA170, DRA172)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dra_plan.api.core import PodDisruptionBudget, PodTemplateSpec, PriorityClass
from dra_plan.api.meta import FieldPath, LabelSelector, Object
from dra_plan.api.selectors import labels_match
from dra_plan.api.workloads import (
    AnyWorkload,
    CronJob,
    CustomWorkload,
    Job,
    ReplicationController,
    Workload,
    pod_template,
)
from dra_plan.manifests.paths import value_at

from . import metadata
from .formats import nearest, shown
from .pod_specs import ALWAYS, NEVER, ON_FAILURE, RESTART_POLICY, label_selector, one_of
from .rule import Problem, refused
from .schema import MISSING_FIELD

SELECTOR = refused(
    "DRA166",
    "selector that does not select the workload's own pods",
    (
        "An apps/v1 workload must have a selector that matches the labels in its pod template. "
        "Kubernetes generates the selector of a job, so a job must not set a selector unless "
        "`manualSelector` is true."
    ),
    "Add the selector's labels to the pod template.",
)
NUMBER = refused(
    "DRA167",
    "number that the API server rejects",
    "Numbers of pods, retries and seconds must not be negative. Percentages must not exceed 100.",
    "Write 0 or a positive number.",
)
JOB = refused(
    "DRA172",
    "job with contradicting fields",
    (
        "The completion mode of a job must be NonIndexed or Indexed, and per-index fields require "
        "Indexed. The concurrency policy of a CronJob must be Allow, Forbid or Replace. The name of a CronJob must "
        "leave room for the suffix that is added to it in the names of jobs."
    ),
    "Correct or remove the field.",
)
BUDGET = refused(
    "DRA169",
    "disruption budget that sets both amounts",
    (
        "A disruption budget sets either how many pods must stay available (`minAvailable`) or how many may be "
        "unavailable (`maxUnavailable`)."
    ),
    "Keep one of the two fields.",
)
PRIORITY_CLASS = refused(
    "DRA170",
    "priority class that the API server rejects",
    (
        "Names that begin with `system-` and values over 1,000,000,000 are reserved for Kubernetes. Only "
        "one class can be the default."
    ),
    "Choose another name or a lower value, or keep only one default class.",
)
RULES = (SELECTOR, NUMBER, JOB, BUDGET, PRIORITY_CLASS)

HIGHEST_PRIORITY = 1_000_000_000
"""The highest value of a priority class that is not built into Kubernetes."""
SYSTEM = "system-"
_SYSTEM_CLASSES = ("system-node-critical", "system-cluster-critical")
_PREEMPTION = ("Never", "PreemptLowerPriority")
_COUNTS = ("replicas", "minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds")
_JOB_COUNTS = (
    "parallelism",
    "completions",
    "backoffLimit",
    "activeDeadlineSeconds",
    "ttlSecondsAfterFinished",
    "backoffLimitPerIndex",
    "maxFailedIndexes",
)
_CRON_COUNTS = ("startingDeadlineSeconds", "successfulJobsHistoryLimit", "failedJobsHistoryLimit")
_MODES = ("NonIndexed", "Indexed")
_CONCURRENCY = ("Allow", "Forbid", "Replace")
_LONGEST_CRON_JOB = 52
_SPEC: FieldPath = ("spec",)


def check(workload: AnyWorkload, template_path: FieldPath, written: Mapping[str, Any]) -> Iterator[Problem]:
    """Check a workload as written in the manifest, except for the pod spec in its template."""
    template = pod_template(workload)
    if isinstance(workload, CustomWorkload):
        return
    yield from metadata.check(template.metadata, (*template_path, "metadata"))
    if isinstance(workload, Job | CronJob):
        yield from _job(workload, template_path[:-1], written)
    else:
        yield from _numbers(written, _SPEC, _COUNTS)
        yield from _pods_restart(template, template_path, (ALWAYS,), required=False)
        yield from _selector(workload, template, template_path)
        if value_at(written, (*template_path, "spec", "activeDeadlineSeconds")) is not None:
            yield RESTART_POLICY.at((*template_path, "spec", "activeDeadlineSeconds"), "only pods of jobs can have it")


def _pods_restart(
    template: PodTemplateSpec, path: FieldPath, known: tuple[str, ...], *, required: bool
) -> Iterator[Problem]:
    policy, at = template.spec.restart_policy, (*path, "spec", "restartPolicy")
    if not policy and required:
        yield RESTART_POLICY.at(at, f"missing, so it defaults to {ALWAYS}; expected {' or '.join(known)}")
    elif policy and policy not in known:
        yield RESTART_POLICY.at(at, f"{shown(policy)} is not {' or '.join(known)}", nearest(policy, known) or "")


def _selector(
    workload: Workload | ReplicationController, template: PodTemplateSpec, path: FieldPath
) -> Iterator[Problem]:
    labels, at = template.metadata.labels or {}, (*path, "metadata", "labels")
    if isinstance(workload, ReplicationController):
        # If there is no selector, the API server uses the template's labels.
        selector: LabelSelector | None = LabelSelector(match_labels=workload.spec.selector or labels)
    else:
        selector = workload.spec.selector
    if selector is None:
        yield MISSING_FIELD.at((*_SPEC, "selector"), "missing")
        return
    yield from label_selector((*_SPEC, "selector"), selector)
    if not selector.match_labels and not selector.match_expressions:
        yield SELECTOR.at((*_SPEC, "selector"), f"empty: it must select the pods of this {workload.kind}")
    elif not labels_match(selector, labels):
        wanted = ", ".join(f"{key}={value}" for key, value in (selector.match_labels or {}).items())
        message = f"the selector does not select these labels{f': it requires {wanted}' if wanted else ''}"
        yield SELECTOR.at(at, message)


def _job(workload: Job | CronJob, path: FieldPath, written: Mapping[str, Any]) -> Iterator[Problem]:
    """Check a job whose spec is at a path, or the job that a CronJob creates."""
    job = workload.spec.job_template.spec if isinstance(workload, CronJob) else workload.spec
    yield from _numbers(written, path, _JOB_COUNTS)
    yield from _pods_restart(job.template, (*path, "template"), (ON_FAILURE, NEVER), required=True)
    mode = job.completion_mode
    if mode is not None:
        yield from one_of(JOB, (*path, "completionMode"), mode, _MODES)
    if mode == "Indexed" and job.completions is None:
        yield MISSING_FIELD.at((*path, "completions"), "missing; an Indexed job needs a number of completions")
    for field in ("backoffLimitPerIndex", "maxFailedIndexes"):
        if mode != "Indexed" and value_at(written, (*path, field)) is not None:
            yield JOB.at((*path, field), "only allowed with completionMode Indexed")
    if value_at(written, (*path, "podFailurePolicy")) and job.template.spec.restart_policy != NEVER:
        message = "podFailurePolicy needs restartPolicy Never"
        yield RESTART_POLICY.at((*path, "template", "spec", "restartPolicy"), message)
    if job.manual_selector:
        if job.selector is None:
            yield MISSING_FIELD.at((*path, "selector"), "missing; with manualSelector a job needs one")
        elif not labels_match(job.selector, job.template.metadata.labels):
            yield SELECTOR.at((*path, "template", "metadata", "labels"), "the selector does not select these labels")
    elif job.selector is not None:
        yield SELECTOR.at((*path, "selector"), "a job gets its own selector unless manualSelector is set")
    if isinstance(workload, CronJob):
        yield from _cron_job(workload, written)


def _cron_job(workload: CronJob, written: Mapping[str, Any]) -> Iterator[Problem]:
    yield from _numbers(written, _SPEC, _CRON_COUNTS)
    if not value_at(written, (*_SPEC, "schedule")):
        yield MISSING_FIELD.at((*_SPEC, "schedule"), "missing or empty")
    policy = value_at(written, (*_SPEC, "concurrencyPolicy"))
    if isinstance(policy, str) and policy:
        yield from one_of(JOB, (*_SPEC, "concurrencyPolicy"), policy, _CONCURRENCY)
    name = workload.metadata.name
    if len(name) > _LONGEST_CRON_JOB:
        message = (
            f"{len(name)} characters; a CronJob's name can have at most "
            f"{_LONGEST_CRON_JOB}, because its jobs get longer names"
        )
        yield JOB.at(("metadata", "name"), message)


def _numbers(written: Mapping[str, Any], path: FieldPath, fields: tuple[str, ...]) -> Iterator[Problem]:
    for field in fields:
        number = value_at(written, (*path, field))
        if isinstance(number, int) and number < 0:
            yield NUMBER.at((*path, field), f"{number} is negative", "0")


def check_other(obj: Object) -> Iterator[Problem]:
    """Check a disruption budget or a priority class. Objects of other kinds are not checked."""
    if isinstance(obj, PodDisruptionBudget):
        yield from _budget(obj)
    elif isinstance(obj, PriorityClass):
        yield from _priority_class(obj)


def _budget(budget: PodDisruptionBudget) -> Iterator[Problem]:
    spec = budget.spec
    if spec.min_available is not None and spec.max_unavailable is not None:
        yield BUDGET.at((*_SPEC, "maxUnavailable"), "minAvailable and maxUnavailable are both set").called("spec")
    for field, amount in (("minAvailable", spec.min_available), ("maxUnavailable", spec.max_unavailable)):
        at = (*_SPEC, field)
        if isinstance(amount, int) and amount < 0:
            yield NUMBER.at(at, f"{amount} is negative", "0")
        elif isinstance(amount, str):
            digits = amount.removesuffix("%")
            if digits == amount or not (digits.isascii() and digits.isdigit()):
                yield NUMBER.at(at, f"{shown(amount)} is neither a percentage such as 50% nor a number")
            elif int(digits[:_DIGITS]) > 100 or len(digits) > _DIGITS:
                yield NUMBER.at(at, f"{shown(amount)} is more than 100%", '"100%"')
    yield from label_selector((*_SPEC, "selector"), spec.selector)


_DIGITS = 9


def _priority_class(one: PriorityClass) -> Iterator[Problem]:
    name = one.metadata.name
    if name.startswith(SYSTEM) and name not in _SYSTEM_CLASSES:
        message = f"{shown(name)}: names that begin with {SYSTEM} are reserved for Kubernetes"
        yield PRIORITY_CLASS.at(("metadata", "name"), message, name.removeprefix(SYSTEM))
    elif one.value > HIGHEST_PRIORITY and name not in _SYSTEM_CLASSES:
        yield PRIORITY_CLASS.at(("value",), f"{one.value} is over {HIGHEST_PRIORITY}", str(HIGHEST_PRIORITY))
    if one.preemption_policy:
        yield from one_of(PRIORITY_CLASS, ("preemptionPolicy",), one.preemption_policy, _PREEMPTION)
