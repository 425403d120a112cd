"""What the Cluster Autoscaler does for the explained pods, from the answer of `autoscale`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from dra_plan.claims.owners import is_waiting
from dra_plan.questions.autoscale.document import FILTERED_OUT, MAX_TOTAL, SKIPPED, ScaleUpDocument
from dra_plan.questions.explain.document import AutoscaledPod, AutoscalerOutcome, ExplanationDocument
from dra_plan.text.words import counted, listed

if TYPE_CHECKING:
    from dra_plan.loaded import LoadedCluster
    from dra_plan.planner.question import Question

MOST_GROUPS = 3
"""The maximum number of groups whose reasons a sentence gives."""
MOST_PODS = 10
"""The maximum number of sentences about the autoscaler. Pods with the same result share a sentence."""


def autoscaled_pods(
    cluster: LoadedCluster, question: Question, groups: object, group: Sequence[str]
) -> list[AutoscaledPod]:
    """Return the autoscaler's result for each explained pod that is pending. Raises the same errors as `autoscale`."""
    from dra_plan.questions.autoscale.ask import autoscale
    from dra_plan.questions.schedule.answer import choice

    chosen = choice(cluster.inventory, cluster.target, question)
    up = autoscale(cluster, groups, group=group).document.scale_up
    waiting = [pod for pod in cluster.inventory.pods if is_waiting(pod) and chosen(pod)]
    return [_answer(pod.metadata.namespace, pod.metadata.name, up) for pod in waiting]


def _answer(namespace: str, name: str, up: ScaleUpDocument) -> AutoscaledPod:
    key = f"{namespace}/{name}"
    outcome, reasons, where = _outcome(key, up)
    return AutoscaledPod(namespace=namespace, name=name, outcome=outcome, reasons=dict(reasons), where=where)


def _outcome(key: str, up: ScaleUpDocument) -> tuple[AutoscalerOutcome, Mapping[str, str], list[str]]:
    none: Mapping[str, str] = {}
    if key in up.triggered:
        return "Triggered", none, [each.group for each in up.plan]
    if key in up.not_triggered:
        return "NotTriggered", up.not_triggered[key], []
    if key in up.awaiting:
        return "Awaiting", none, []
    if up.error:
        return "Error", {"": up.error}, []
    if key in up.fit_existing:
        node = up.fit_existing[key]
        return ("FilteredOut", none, []) if node == FILTERED_OUT else ("FitsExisting", none, [node])
    if up.result == "ScaleUpLimitedByMaxNodesTotal":
        return "NotTriggered", {"": MAX_TOTAL}, []
    return ("Awaiting", none, []) if key in up.fits else ("NotSeen", none, [])


# -- words -------------------------------------------------------------------------------------------------------------


def autoscaler_lines(document: ExplanationDocument) -> Iterator[str]:
    """Yield a sentence for each result of the autoscaler. If several pods are explained, it names the pods."""
    pods = document.autoscaler or []
    told: dict[str, list[AutoscaledPod]] = {}
    for pod in pods:
        told.setdefault(_sentence(pod), []).append(pod)
    for number, (sentence, own) in enumerate(told.items()):
        if number == MOST_PODS:
            yield f"`autoscale` shows {counted(len(told) - MOST_PODS, 'answer')} more."
            return
        named = listed([f"{pod.namespace}/{pod.name}" for pod in own])
        yield sentence if len(pods) == 1 else f"{named}: {sentence}"


def _sentence(pod: AutoscaledPod) -> str:
    if pod.outcome == "Triggered":
        return f"The Cluster Autoscaler would add a node: {listed(pod.where)} grows."
    if pod.outcome == "FitsExisting":
        return f"The Cluster Autoscaler would not add a node: the pod fits on {listed(pod.where)}, which exists."
    if pod.outcome == "Awaiting":
        return "The Cluster Autoscaler would not add a node in this loop: another group grows first."
    if pod.outcome == "NotSeen":
        return "The Cluster Autoscaler does not see the pod: kube-scheduler has not rejected it yet."
    if pod.outcome == "FilteredOut":
        return "The Cluster Autoscaler would not add a node: it skips the pod in this loop."
    if pod.outcome == "Error":
        return f"The Cluster Autoscaler would not add a node: {pod.reasons['']}."
    return f"The Cluster Autoscaler would not add a node: {_reasons(pod.reasons)}."


def _reasons(reasons: Mapping[str, str]) -> str:
    """Return each reason once, with its groups."""
    groups: dict[str, list[str]] = {}
    for group, said in reasons.items():
        groups.setdefault(said.removeprefix(SKIPPED), []).append(group)
    told = [f"{said} ({', '.join(own)})" if own != [""] else said for said, own in groups.items()]
    return "; ".join([*told[:MOST_GROUPS], *([f"{len(told) - MOST_GROUPS} more"] if len(told) > MOST_GROUPS else [])])
