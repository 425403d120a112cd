"""`AutoscalePlan`, the document of `autoscale`."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from dra_plan.documents.base import Amount, DocumentPart, PrintedDocument, PrintedWarning, Text

SKIPPED = "skipped: "
"""The prefix of the reason why a group is skipped."""
MAX_TOTAL = "max total nodes in cluster reached"
FILTERED_OUT = "filtered out"
"""The value in place of a node for a pod that is filtered out."""

Result = Literal[
    "ScaleUpSuccessful", "ScaleUpNotNeeded", "ScaleUpNoOptionsAvailable", "ScaleUpLimitedByMaxNodesTotal", ""
]
"""The result, with the Cluster Autoscaler's own name for it; empty if an error ended the loop."""

Reasons = Annotated[
    dict[str, str], Meta(description="The result for each group: `fits`, or the reason in kube-scheduler's words.")
]


class KnownGroup(DocumentPart, frozen=True, kw_only=True):
    """A node group, and where it was found."""

    group: Text
    min: Amount | None
    max: Amount | None
    current: Amount
    nodes: Annotated[Amount, Meta(description="The number of nodes of the group in the input.")]
    told_by: Annotated[str, Meta(description="The node label or annotation that names the group.")] = ""


class GroupOption(DocumentPart, frozen=True, kw_only=True):
    """A group that could grow: the number of new nodes, and the pods that would fit on them."""

    group: Text
    nodes: Amount
    pods: list[str]
    similar: Annotated[list[str], Meta(description="The groups that share the new nodes, if groups are balanced.")] = []


class GroupResize(DocumentPart, frozen=True, kw_only=True):
    """A group's size before and after scaling up."""

    group: Text
    from_: Amount
    to: Amount


class ScaleUpDocument(DocumentPart, frozen=True, kw_only=True):
    """The pending pods, and the groups that grow for them. Pods are given as NAMESPACE/NAME."""

    result: Result
    error: Annotated[str, Meta(description="The error that ended the loop, or that dropped all pending pods.")] = ""
    unready: Annotated[list[str], Meta(description="Nodes that the autoscaler considers not ready.")] = []
    fit_existing: Annotated[
        dict[str, str],
        Meta(
            description=(
                "Pods that need no new node, with the nodes that they fit on; `filtered out` if the pods were dropped."
            )
        ),
    ] = {}
    considered: Annotated[list[str], Meta(description="Groups that have a template.")] = []
    fits: Annotated[dict[str, Reasons], Meta(description="The result for each group, by pod.")] = {}
    options: Annotated[
        list[GroupOption], Meta(description="The groups that could grow, in the order of the groups.")
    ] = []
    chosen: Annotated[str, Meta(description="The group that was chosen to grow.")] = ""
    expander: Annotated[
        str,
        Meta(
            description=(
                "The expander that chose the group; empty if no expander was given and the first group was chosen."
            )
        ),
    ] = ""
    least_waste: Annotated[
        list[str], Meta(description="The groups among which the expander least-waste chooses at random.")
    ] = []
    most_pods: Annotated[
        list[str], Meta(description="The groups among which the expander most-pods chooses at random.")
    ] = []
    least_nodes: Annotated[
        list[str], Meta(description="The groups among which the expander least-nodes chooses at random.")
    ] = []
    plan: Annotated[list[GroupResize], Meta(description="The groups that grow in this loop.")] = []
    triggered: Annotated[list[str], Meta(description="Pods that the new nodes are for.")] = []
    awaiting: Annotated[
        list[str], Meta(description="Pods that fit only groups other than the chosen one, and wait for the next loop.")
    ] = []
    not_triggered: Annotated[
        dict[str, Reasons], Meta(description="Pods that no group can help, each with the reason for every group.")
    ] = {}
    needed: Annotated[
        Amount | None,
        Meta(
            description=(
                "The number of new nodes of the chosen group that kube-scheduler needs for the pods, "
                "as `grow` computes it."
            )
        ),
    ] = None
    then_bound: Annotated[
        dict[str, str],
        Meta(description="The outcome of each planned pod in kube-scheduler, once the new nodes exist."),
    ] = {}
    others_bound: Annotated[
        Amount,
        Meta(
            description=("The number of other pods that kube-scheduler binds to the new nodes before the planned ones.")
        ),
    ] = 0


class ScaleDownDocument(DocumentPart, frozen=True, kw_only=True):
    """The nodes that could be removed, one after another."""

    error: str = ""
    removable: list[str] = []
    unremovable: Annotated[dict[str, str], Meta(description="Why the autoscaler does not remove a node, by node.")] = {}
    moves: Annotated[dict[str, str], Meta(description="The node that each pod would move to.")] = {}


class NodeUtilization(DocumentPart, frozen=True, kw_only=True):
    """The utilization of a node, as the autoscaler computes it."""

    utilization: Annotated[float, Meta(ge=0)]
    resource: Annotated[
        str, Meta(description="DRIVER/POOL of the fullest pool or, for a node without devices, cpu or memory.")
    ]


WhyNoNode = Literal["NoInstanceType", "NotEnoughResources", "BoundElsewhere"]
"""NoInstanceType: no instance type can satisfy the claims. NotEnoughResources: no instance type has enough resources.
BoundElsewhere: a claim belongs to another NodeClaim that is in flight."""


class NodeClaimDocument(DocumentPart, frozen=True, kw_only=True):
    """A node that Karpenter would launch. Its instance type depends on prices, which are unknown."""

    node_pool: Text
    instance_types: Annotated[list[str], Meta(description="The instance types on which all of its pods fit.")]
    pods: list[str]


class KarpenterDocument(DocumentPart, frozen=True, kw_only=True):
    """What Karpenter would do with pending pods, as far as this was recorded. Pods are given as NAMESPACE/NAME."""

    node_claims: list[NodeClaimDocument] = []
    on_nodes: Annotated[
        dict[str, str], Meta(description="Pods that need no new node, with the nodes that they fit on.")
    ] = {}
    errors: Annotated[dict[str, WhyNoNode], Meta(description="Pods that get no node, and why.")] = {}
    ignored: Annotated[list[str], Meta(description="Pods that Karpenter ignores because a claim is missing.")] = []
    unknown: Annotated[dict[str, str], Meta(description="Pods for which the result is not known, and why.")] = {}


class AutoscaleDocument(PrintedDocument, frozen=True, kw_only=True):
    """The result of one loop of the Cluster Autoscaler."""

    kind: Literal["AutoscalePlan"] = "AutoscalePlan"
    groups: Annotated[list[KnownGroup], Meta(description="The node groups. min and max are null if they are unknown.")]
    karpenter: Annotated[
        KarpenterDocument | UnsetType,
        Meta(description="Karpenter's result, with --engine karpenter. `scaleUp` and `scaleDown` are then empty."),
    ] = UNSET
    scale_up: ScaleUpDocument
    scale_down: ScaleDownDocument
    utilization: dict[str, NodeUtilization] = {}
    warnings: list[PrintedWarning]
