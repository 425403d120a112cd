"""`GrowthPlan`, the document of `grow`."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta

from dra_plan.documents.base import Amount, DocumentPart, ObjectName, PrintedDocument, PrintedWarning, Text
from dra_plan.documents.refusals import Refusals

Cost = Annotated[int | float, Meta(extra_json_schema={"minimum": 0})]
"""The cost of nodes, in the unit of `--cost`. By default, each node costs 1."""


GrowthOutcome = Literal["NotNeeded", "Found", "Undecided"]
"""NotNeeded: everything that can be bound is bound without new nodes. Found: with the new nodes, every pod is bound
unless new nodes cannot help it. Undecided: the search was cut short by --limit or --max-steps, or had too many numbers
to try; `atLeast` and `atMost` are the known bounds. Pods that the API server rejects do not count."""


class AddedKind(DocumentPart, frozen=True, kw_only=True):
    """New nodes of one kind."""

    like: Text
    cost: Annotated[Cost, Meta(description="The cost of one node.")]
    count: Annotated[Amount | None, Meta(description=("The number of nodes that are needed; null if unknown."))]


class UnboundPod(DocumentPart, frozen=True, kw_only=True):
    """A pod that gets no node."""

    namespace: str
    name: Text
    message: Annotated[str | None, Meta(description="The scheduler's message for the pod.")]
    fits_alone: Annotated[
        bool,
        Meta(
            description=(
                "For pods that new nodes cannot help: whether the pod would be bound if no other pod "
                "were pending. A different choice among equally scored nodes might then help it."
            )
        ),
    ] = False


class AddedNode(DocumentPart, frozen=True, kw_only=True):
    """A new node, and the selected pods that it runs."""

    name: Text
    like: Text
    pods: list[ObjectName]


class TriedNumber(DocumentPart, frozen=True, kw_only=True):
    """A number of new nodes of one kind."""

    like: Text
    count: Amount


class NotEnough(DocumentPart, frozen=True, kw_only=True):
    """New nodes that are not enough, and the pods that get a node only with the nodes of the result."""

    nodes: list[TriedNumber]
    unbound: list[UnboundPod]


class GrowthDocument(PrintedDocument, frozen=True, kw_only=True):
    """The cheapest new nodes that let kube-scheduler bind every pending pod."""

    kind: Literal["GrowthPlan"] = "GrowthPlan"
    outcome: GrowthOutcome
    limit: Annotated[int, Meta(ge=1, description=("The maximum number of nodes of one kind that were tried."))]
    pods: Annotated[Amount, Meta(description="The number of pending pods.")]
    bound_before: Annotated[Amount, Meta(description="The number of pending pods that are bound without new nodes.")]
    beyond_help: Annotated[list[UnboundPod], Meta(description="Pods that new nodes of these kinds cannot help.")]
    kinds: list[AddedKind]
    at_least: Annotated[Cost, Meta(description="A proved lower bound of the cost.")]
    at_most: Annotated[
        int | float | None, Meta(description=("The cost of the cheapest known solution. Null if there is none."))
    ]
    exact: Annotated[
        bool,
        Meta(
            description=(
                "Whether all cheaper combinations were tried. Otherwise, some were skipped because "
                "larger numbers of every kind were not enough. The result holds for this node order; "
                "see `tied`."
            )
        ),
    ]
    tied: Annotated[
        bool,
        Meta(
            description=(
                "Whether the result depends on ties between nodes with equal scores. Ties were "
                "resolved in node order. In a real cluster they depend on timing, so the number may "
                "differ. Ties between empty new nodes of the same kind do not count."
            )
        ),
    ] = False
    asked: Annotated[Amount, Meta(description="The number of scheduler runs.")]
    nodes: Annotated[list[AddedNode], Meta(description="The new nodes.")]
    not_enough: Annotated[
        list[NotEnough],
        Meta(
            description=(
                "Why one node fewer of each kind is not enough. If the search was cut short, this is "
                "the largest number that was tried."
            )
        ),
    ]
    evicted: Annotated[
        list[ObjectName], Meta(description=("Pods that are evicted to make room for others, even with the new nodes."))
    ]
    refusals: Refusals = UNSET
    warnings: list[PrintedWarning]
