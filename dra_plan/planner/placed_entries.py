"""The pods of a placement as the document tells them: node, allocations, and the workload that makes the pod."""

from __future__ import annotations

from dra_plan.api.core import Pod
from dra_plan.api.workloads import AnyWorkload
from dra_plan.claims.index import Index
from dra_plan.claims.owners import DEPLOYMENT, deployment_of
from dra_plan.documents.base import claim_allocation
from dra_plan.documents.placement import PlacedPodClaim, PlacedPodEntry, PodMaker
from dra_plan.placement.verify import PlacedPod


def entry(placed: PlacedPod, index: Index) -> PlacedPodEntry:
    """The pod as the document tells it; the index is of the input."""
    pod = placed.candidate.pod
    return PlacedPodEntry(
        namespace=pod.metadata.namespace,
        name=pod.metadata.name,
        node=placed.node,
        claims=[
            PlacedPodClaim(
                namespace=claim.metadata.namespace,
                name=claim.metadata.name,
                allocation=claim_allocation(claim.allocation),
            )
            for claim in placed.claims
            if claim.allocation is not None
        ],
        made_by=maker(pod, index),
    )


def maker(pod: Pod, index: Index) -> PodMaker | None:
    """The workload whose template the pod is made from: what controls it, directly or through others; None if bare."""
    top: Pod | AnyWorkload = pod
    for controller in index.owners.above(pod.metadata):
        top = controller
    reference = top.metadata.controller
    if reference is not None and index.owners.of(top.metadata) is None:
        deployment = deployment_of(top.metadata)
        kind, name = (DEPLOYMENT, deployment) if deployment else (reference.kind, reference.name)
        return PodMaker(api_version=reference.api_version, kind=kind, name=name)
    if top is pod:
        return None
    return PodMaker(api_version=top.api_version, kind=top.kind, name=top.metadata.name)
