"""The gate rules for a SchedulePlan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from dra_plan.documents.scheduling import ScheduledPod, SettledCluster
from dra_plan.questions.schedule.document import ScheduleDocument
from dra_plan.text.gate import Gate, Judge, Verdict

MOST_WORKLOADS = 3
"""The number of workloads that a gate's line names."""

FAILED_CREATE = "FailedCreate"
"""The reason of the event that a controller emits when it cannot create a pod."""


def of_pod(gate: Gate, pod: ScheduledPod) -> Verdict:
    """Return whether the pod passes the gate. Pods that were skipped pass."""
    if pod.outcome in ("Bound", "Skipped"):
        return Verdict.PASSED
    return gate.undecided if pod.is_undecided else Verdict.FAILED


def _verdicts(gate: Gate, document: ScheduleDocument) -> list[Verdict]:
    found = [of_pod(gate, pod) for pod in document.pods]
    found += [Verdict.FAILED for _ in document.rejected_later or ()]
    return found + [Verdict.FAILED for _ in (never_made(document.settled) if document.settled else ())]


def never_made(settled: SettledCluster) -> list[str]:
    """Return the objects that are never created, as KIND/NAME with the namespace.

    An object is missing because the API server rejects it, or because a controller cannot create pods for it. If the
    cluster never settles, the last entry says so.
    """
    refused = [f"{one.object} in {one.namespace}" for one in settled.refused]
    failed = [f"{one.kind}/{one.name} in {one.namespace}" for one in settled.events if one.reason == FAILED_CREATE]
    return [*dict.fromkeys([*refused, *failed]), *(["the cluster never settles"] if settled.unsettled else [])]


def _causes(gate: Gate, document: ScheduleDocument) -> list[str]:
    from dra_plan.questions.schedule.reasons import of_pods
    from dra_plan.text.gate_words import cause, undecided_cause
    from dra_plan.text.words import listed

    failed = [pod for pod in document.pods if of_pod(gate, pod) is Verdict.FAILED and pod.outcome != "Refused"]
    missing = never_made(document.settled) if document.settled else []
    undecided = [f"{pod.namespace}/{pod.name}" for pod in failed if of_pod(Gate(), pod) is Verdict.UNDECIDED]
    refused = [pod for pod in failed if of_pod(Gate(), pod) is not Verdict.UNDECIDED]
    own = [f"{pod.namespace}/{pod.name}" for pod in refused if pod.workload is None]
    why = of_pods(document, own)
    return [
        *(f"{line}{why}" for line in cause(own, "pod", "has no node", "have no node")),
        *_of_later(document),
        *_of_workloads(document, [pod for pod in refused if pod.workload is not None]),
        *([f"not created: {listed(missing)}"] if missing else []),
        *undecided_cause(undecided, "pod"),
    ]


def _of_later(document: ScheduleDocument) -> Iterator[str]:
    """Yield the number of pods that quotas and limits keep from being created, with the first reason."""
    from dra_plan.text.words import counted

    rejected = document.rejected_later or []
    if rejected:
        yield f"quotas and limits reject {counted(len(rejected), 'pod')} ({rejected[0].message})"


def _of_workloads(document: ScheduleDocument, refused: Sequence[ScheduledPod]) -> Iterator[str]:
    """Yield the workloads of pods that do not exist yet and get no node, with the reasons."""
    from dra_plan.questions.schedule.reasons import of_pods
    from dra_plan.text.naming import named
    from dra_plan.text.words import counted

    workloads = list(dict.fromkeys(named(pod.workload) for pod in refused if pod.workload is not None))
    new = Counter(named(pod.workload) for pod in document.pods if pod.workload is not None)
    for name in workloads[:MOST_WORKLOADS]:
        own = [
            f"{pod.namespace}/{pod.name}" for pod in refused if pod.workload is not None and named(pod.workload) == name
        ]
        have = "has" if len(own) == 1 else "have"
        yield f"{name}: {len(own)} of {new[name]} new pods {have} no node{of_pods(document, own)}"
    if len(workloads) > MOST_WORKLOADS:
        yield f"and new pods of {counted(len(workloads) - MOST_WORKLOADS, 'more workload')}"


JUDGE = Judge(_verdicts, _causes)
