"""`autoscale --engine karpenter` as tables of new NodeClaims and of pods that get none."""

from __future__ import annotations

from collections.abc import Iterator

from dra_plan.questions.autoscale.document import KarpenterDocument, WhyNoNode
from dra_plan.text.columns import Part, Table
from dra_plan.text.words import counted

NO_CLAIM = "a claim of the pod does not exist"

WHY: dict[WhyNoNode, str] = {
    "NoInstanceType": "no instance type can satisfy the allocation",
    "NotEnoughResources": "no instance type has enough resources",
    "BoundElsewhere": "a claim is bound to a different NodeClaim in flight, which has no room",
}


def karpenter_parts(of: KarpenterDocument) -> Iterator[Part]:
    """Yield a table of the NodeClaims that Karpenter creates, and one of the pods that get none."""
    made = Table(("NODEPOOL", "INSTANCE TYPES", "PODS"), flexible=(1, 2))
    for one in of.node_claims:
        made.add(one.node_pool, " or ".join(one.instance_types), ", ".join(one.pods))
    if made.rows:
        yield made
    pods = Table(("POD", "OUTCOME", "WHY NOT"), flexible=(0, 2))
    for name, node in of.on_nodes.items():
        pods.add(name, f"Fits on {node}", "")
    for name, why in of.errors.items():
        pods.add(name, "No node", WHY[why])
    for name in of.ignored:
        pods.add(name, "Not seen", NO_CLAIM)
    for name, reason in of.unknown.items():
        pods.add(name, "Unknown", reason)
    if pods.rows:
        yield pods
    claims = counted(len(of.node_claims), "NodeClaim")
    yield f"Karpenter creates {claims}. Prices decide which instance type is launched."
    yield ("This result assumes ignore-dra-requests=false; by default, Karpenter rejects every pod with claims.")
