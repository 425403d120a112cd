"""Objects that the API server rejects, in documents about running pods."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, UnsetType

from dra_plan.documents.findings import CorrectedText, From1, RuleCode, SourceName

from .base import DocumentPart, ObjectName, Text

REFUSED = "rejected by the API server"
"""The reason why a rejected object is not scheduled."""
CLAIM_REFUSED = "the API server rejects its claim"
"""The reason why a pod waits for a claim that the API server rejects."""


class RefusalFinding(DocumentPart, frozen=True, kw_only=True):
    """A finding of `validate` that makes the API server reject an object."""

    code: RuleCode
    object: Annotated[
        str, Meta(description="The rejected object, or the object whose pods are rejected, as KIND NAMESPACE/NAME.")
    ]
    field: Annotated[str, Meta(description="The path of the field in the manifest, or empty for the whole object.")]
    message: Text
    file: SourceName
    line: From1
    suggestion: CorrectedText
    fix: Annotated[Text, Meta(description="How to fix the problem.")]


class ApiServerRefusal(RefusalFinding, frozen=True, kw_only=True):
    """A finding of `validate`, and the pods that it keeps from running."""

    owners: Annotated[
        list[ObjectName],
        Meta(min_length=1, description="The selected pods, workloads and claims that need the object."),
    ]


class FirstPods(DocumentPart, frozen=True, kw_only=True):
    """New pods in the namespace of a quota that are created first and therefore use a part of it."""

    kind: Annotated[str, Meta(description="The kind of the pods' workload, or Pod for a single pod.")]
    name: Text
    pods: From1


class OverQuota(DocumentPart, frozen=True, kw_only=True):
    """A quota that makes the API server reject the pod or one of its claims."""

    quota: Text
    resource: Text
    requested: str
    used: Annotated[str, Meta(description="The amount in use when the object is rejected.")]
    used_now: Annotated[str, Meta(description="The part of `used` that existing objects use.")]
    later: Annotated[str, Meta(description="The part of `used` that pods created earlier use.")]
    first: list[FirstPods]
    hard: str


Refusals = Annotated[
    list[ApiServerRefusal] | UnsetType,
    Meta(description="Objects that the API server rejects. They never count as fitting or bound."),
]
