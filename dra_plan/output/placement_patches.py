"""`place -o patches`: what keeps pods to the nodes of a placement, as strategic merge patches for kubectl.

The affinity of a pod that exists can't be changed (unless scheduling gates hold it back), and pods of a workload have
one template: what a patch can't do stands above it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dra_plan import shown
from dra_plan.documents.placement import PlacedPodEntry, PlacementDocument, PodMaker

from . import structured
from .explain_words import counted, listed

_TEMPLATES: dict[str, tuple[str, ...]] = {
    "Deployment": ("template",),
    "ReplicaSet": ("template",),
    "ReplicationController": ("template",),
    "StatefulSet": ("template",),
    "Job": ("template",),
    "CronJob": ("jobTemplate", "spec", "template"),
}
"""Where a workload has its pod template, below its spec."""

_REPLACED = "Pods of it that run already are replaced as well."
_STAY = "Pods of it that exist stay as they are: delete those that wait."
_EFFECTS = {
    "Deployment": _REPLACED,
    "StatefulSet": _REPLACED,
    "ReplicaSet": _STAY,
    "ReplicationController": _STAY,
    "Job": "The template of a Job can be changed only as long as it is suspended; else make the Job anew.",
    "CronJob": "It counts for the Jobs that are made from then on.",
}

_HEAD = """\
What keeps pods to the nodes of this placement: strategic merge patches, one for each pod or workload.
Workloads take them as they are, and so do pods with scheduling gates that have no required node affinity yet:
  kubectl apply --server-side --force-conflicts -f FILE
Any other pod that exists keeps the affinity it has. Make it anew, each with its own patch:
  kubectl get pod NAME -o yaml | kubectl patch --local -f - --patch-file PATCH -o yaml | kubectl replace --force -f -
The scheduler chooses the devices on a node itself: `dra-plan schedule` says what it does with the patched pods."""


def render(document: PlacementDocument) -> str:
    """A stream of YAML documents; comments alone if there is no placement."""
    if not document.placed:
        return _comment(f"{document.outcome}: there is no placement of all pods, and so nothing to apply.")
    parts = [_comment(_HEAD)]
    makers: dict[tuple[str, PodMaker], list[PlacedPodEntry]] = {}
    for entry in document.placed:
        if entry.made_by is None:
            parts.append(_part([f"pod/{entry.namespace}/{entry.name}: on {entry.node}."], _pod(entry)))
        else:
            makers.setdefault((entry.namespace, entry.made_by), []).append(entry)
    for (namespace, maker), entries in makers.items():
        parts.append(_part(list(_words(maker, entries)), _workload(namespace, maker, entries)))
    return "".join(parts)


def _part(words: list[str], patch: dict[str, Any] | None) -> str:
    told = _comment("\n".join(words))
    return f"---\n{told}{structured.yaml(patch)}" if patch is not None else told


def _comment(text: str) -> str:
    return "".join(f"# {shown.line(line)}\n" for line in text.split("\n"))


def _words(maker: PodMaker, entries: list[PlacedPodEntry]) -> Iterator[str]:
    name = f"{maker.kind.lower()}/{entries[0].namespace}/{maker.name}"
    nodes = _nodes(entries)
    where = listed([f"{counted(sum(e.node == node for e in entries), 'pod')} on {node}" for node in nodes], len(nodes))
    if maker.kind not in _TEMPLATES:
        yield f"{name}: no patch, as where its pods have their template is not known here."
        yield f"Its pods: {where}."
        return
    yield f"{name}: {where}."
    if len(nodes) > 1:
        yield "Its pods have one template: it keeps them to these nodes, and the scheduler chooses who goes where."
    yield _EFFECTS[maker.kind]


def _nodes(entries: list[PlacedPodEntry]) -> list[str]:
    return list(dict.fromkeys(entry.node for entry in entries))


def _pod(entry: PlacedPodEntry) -> dict[str, Any]:
    metadata = {"name": entry.name, "namespace": entry.namespace}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": _kept_to([entry.node])}


def _workload(namespace: str, maker: PodMaker, entries: list[PlacedPodEntry]) -> dict[str, Any] | None:
    if maker.kind not in _TEMPLATES:
        return None
    spec: dict[str, Any] = {"spec": _kept_to(_nodes(entries))}
    for field in reversed(_TEMPLATES[maker.kind]):
        spec = {field: spec}
    metadata = {"name": maker.name, "namespace": namespace}
    return {"apiVersion": maker.api_version, "kind": maker.kind, "metadata": metadata, "spec": spec}


def _kept_to(nodes: list[str]) -> dict[str, Any]:
    """A required affinity for one of the nodes. By name there is one node in a term (API validation of matchFields)."""
    terms = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]} for node in nodes]
    required = {"nodeSelectorTerms": terms}
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}}
