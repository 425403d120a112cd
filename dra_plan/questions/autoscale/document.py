"""`AutoscalePlan`, the document of `autoscale`."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from dra_plan.documents.base import Amount, DocumentPart, PrintedDocument, PrintedWarning, Text

SKIPPED = "skipped: "
"""The prefix of the reason why a group is skipped."""
MAX_TOTAL = "max total nodes in cluster reached"
FILTERED_OUT = "filtered out"
"""What stands in place of a node for a pod that is filtered out."""

Result = Literal[
    "ScaleUpSuccessful", "ScaleUpNotNeeded", "ScaleUpNoOptionsAvailable", "ScaleUpLimitedByMaxNodesTotal", ""
]
"""The result, with the Cluster Autoscaler's own name for it; empty if an error ended the loop."""

Reasons = Annotated[dict[str, str], Meta(description="By group: fits, or the reason in kube-scheduler's words.")]


class KnownGroup(DocumentPart, frozen=True, kw_only=True):
    """A node group, and where it was found."""

    group: Text
    min: Amount | None
    max: Amount | None
    current: Amount
    nodes: Annotated[Amount, Meta(description="Nodes of the input.")]
    told_by: Annotated[str, Meta(description="The node label or annotation that names the group.")] = ""


class GroupOption(DocumentPart, frozen=True, kw_only=True):
    """A group that could grow: the number of new nodes, and the pods that would fit on them."""

    group: Text
    nodes: Amount
    pods: list[str]
    similar: Annotated[list[str], Meta(description="Groups that share the nodes, where groups are balanced.")] = []


class GroupResize(DocumentPart, frozen=True, kw_only=True):
    """A group's size before and after scaling up."""

    group: Text
    from_: Amount
    to: Amount


class ScaleUpDocument(DocumentPart, frozen=True, kw_only=True):
    """The pending pods, and the groups that grow for them. Pods are given as NAMESPACE/NAME."""

    result: Result
    error: Annotated[str, Meta(description="What ended the loop, or dropped all pending pods.")] = ""
    unready: Annotated[list[str], Meta(description="Nodes that count as not ready.")] = []
    fit_existing: Annotated[
        dict[str, str],
        Meta(description="Pods that need no new node, with their node; `filtered out` if they were dropped."),
    ] = {}
    considered: Annotated[list[str], Meta(description="Groups with a template.")] = []
    fits: Annotated[dict[str, Reasons], Meta(description="By pod.")] = {}
    options: Annotated[list[GroupOption], Meta(description="In the order of the groups.")] = []
    chosen: Annotated[str, Meta(description="The group that `plan` is about.")] = ""
    expander: Annotated[
        str, Meta(description=("The expander that chose it; empty for the first group, if no expander was given."))
    ] = ""
    least_waste: Annotated[list[str], Meta(description="The groups among which this expander chooses at random.")] = []
    most_pods: Annotated[list[str], Meta(description="The same for this expander.")] = []
    least_nodes: Annotated[list[str], Meta(description="The same for this expander.")] = []
    plan: Annotated[list[GroupResize], Meta(description="What is done in this loop.")] = []
    triggered: Annotated[list[str], Meta(description="Pods that get a node by the plan.")] = []
    awaiting: Annotated[list[str], Meta(description="Pods that fit a group other than the chosen one: next loop.")] = []
    not_triggered: Annotated[
        dict[str, Reasons], Meta(description="Pods that no group helps, with each group's reason.")
    ] = {}
    needed: Annotated[
        Amount | None,
        Meta(description="New nodes of the chosen group that kube-scheduler needs for them, as `grow` says."),
    ] = None
    then_bound: Annotated[
        dict[str, str],
        Meta(description="kube-scheduler's outcome for each planned pod once the new nodes exist."),
    ] = {}
    others_bound: Annotated[
        Amount, Meta(description="Pods outside the plan that kube-scheduler binds on the new nodes: they came first.")
    ] = 0


class ScaleDownDocument(DocumentPart, frozen=True, kw_only=True):
    """The nodes that could be removed, one after another."""

    error: str = ""
    removable: list[str] = []
    unremovable: Annotated[dict[str, str], Meta(description="By node, the autoscaler's reason.")] = {}
    moves: Annotated[dict[str, str], Meta(description="By pod of a removable node, where it would go.")] = {}


class NodeUtilization(DocumentPart, frozen=True, kw_only=True):
    """The utilization of a node, as the autoscaler computes it."""

    utilization: Annotated[float, Meta(ge=0)]
    resource: Annotated[str, Meta(description="DRIVER/POOL of the fullest pool; cpu or memory without devices.")]


WhyNoNode = Literal["NoInstanceType", "NotEnoughResources", "BoundElsewhere"]
"""NoInstanceType: no instance type can satisfy the claims. NotEnoughResources: no instance type has enough resources.
BoundElsewhere: a claim belongs to another NodeClaim that is in flight."""


class NodeClaimDocument(DocumentPart, frozen=True, kw_only=True):
    """A node that Karpenter would launch. Its instance type depends on prices, which are unknown."""

    node_pool: Text
    instance_types: Annotated[list[str], Meta(description="The instance types that still fit all its pods.")]
    pods: list[str]


class KarpenterDocument(DocumentPart, frozen=True, kw_only=True):
    """What Karpenter would do with pending pods, as far as this was recorded. Pods are given as NAMESPACE/NAME."""

    node_claims: list[NodeClaimDocument] = []
    on_nodes: Annotated[dict[str, str], Meta(description="Pods that need no new node, with their node.")] = {}
    errors: Annotated[dict[str, WhyNoNode], Meta(description="Pods that get no node, and why.")] = {}
    ignored: Annotated[list[str], Meta(description="Pods without a claim, which it ignores.")] = []
    unknown: Annotated[dict[str, str], Meta(description="Pods for which there is no result, and why.")] = {}


class AutoscaleDocument(PrintedDocument, frozen=True, kw_only=True):
    """The result of one loop of the Cluster Autoscaler."""

    kind: Literal["AutoscalePlan"] = "AutoscalePlan"
    groups: Annotated[list[KnownGroup], Meta(description="min and max are null if they are unknown.")]
    karpenter: Annotated[
        KarpenterDocument | UnsetType,
        Meta(description="With the engine karpenter; then the scale-up and scale-down of the autoscaler are empty."),
    ] = UNSET
    scale_up: ScaleUpDocument
    scale_down: ScaleDownDocument
    utilization: dict[str, NodeUtilization] = {}
    warnings: list[PrintedWarning]
