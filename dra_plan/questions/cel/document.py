"""`SelectorReport`, the document of `cel`."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from dra_plan.documents.base import Amount, DocumentPart, PrintedDocument, PrintedWarning, Text, one_of


class SelectorRead(DocumentPart, frozen=True, kw_only=True):
    """A property of a device that an expression reads."""

    kind: Annotated[str, one_of("driver", "allowMultipleAllocations", "attributes", "capacity")]
    domain: str = ""
    id: str = ""


class DeviceMatch(DocumentPart, frozen=True, kw_only=True):
    """The result of an expression on a device: either `match` and `cost`, or `error`."""

    driver: str
    pool: str
    device: str
    node_name: Annotated[
        str, Meta(description="The node of the device; absent if neither the slice nor the device names one.")
    ] = ""
    match: bool | None = None
    cost: Annotated[Amount | None, Meta(description="The cost of the evaluation, as the scheduler computes it.")] = None
    error: Annotated[
        Text | None, Meta(description="The error at run time, which stops the scheduling of a pod on all nodes.")
    ] = None


class PartValue(DocumentPart, frozen=True, kw_only=True):
    """A sub-expression with its value or its error; it has neither if it was not evaluated."""

    expression: str
    value: str | None = None
    error: str | None = None
    parts: list[ShownPart]


ShownPart = Annotated[PartValue, Meta(extra_json_schema={"not": {"required": ["value", "error"]}})]


class MeantSelector(DocumentPart, frozen=True, kw_only=True):
    """A hint for an expression that is true for no device or fails on some: the expression that was probably meant."""

    said: Annotated[
        list[Text], Meta(description=("Which values the devices have for the attributes that the expression reads."))
    ]
    expression: Annotated[
        str, Meta(description=("A similar expression that is true for at least one device; absent if none was found."))
    ] = ""
    offset: Annotated[
        int | None, Meta(description="The position of the mistake in the expression, counted from 0.")
    ] = None


class SelectorDocument(PrintedDocument, frozen=True, kw_only=True):
    """The type, cost and reads of a selector expression, and its results on devices."""

    kind: Literal["SelectorReport"] = "SelectorReport"
    expression: str
    result_type: Annotated[
        Text, Meta(description="The static type of the expression: bool, or the type of an attribute.")
    ]
    max_cost: Annotated[
        Amount, Meta(description="The cost that the API server estimates. 2^64-1 means this cost or more.")
    ]
    cost_limit: Annotated[int, Meta(ge=1)]
    reads: Annotated[
        list[SelectorRead] | None,
        Meta(description="What the expression reads. Null if it may read everything."),
    ]
    devices: list[
        Annotated[
            DeviceMatch, Meta(extra_json_schema={"oneOf": [{"required": ["match", "cost"]}, {"required": ["error"]}]})
        ]
    ]
    new_expression_error: Annotated[
        Text | UnsetType, Meta(description="Why the API server rejects the expression in a new object.")
    ] = UNSET
    hint: Annotated[
        MeantSelector | UnsetType,
        Meta(
            description=(
                "The expression that was probably meant, if this one matches no device or fails on some devices."
            )
        ),
    ] = UNSET
    explanation: ShownPart | UnsetType = UNSET
    warnings: list[PrintedWarning]
