"""`PoolList`, the document of `pools`."""

from __future__ import annotations

from typing import Literal

from dra_plan.documents.base import PrintedDocument, PrintedWarning
from dra_plan.documents.pools import ListedPool


class PoolsDocument(PrintedDocument, frozen=True, kw_only=True):
    """The resource pools of a cluster, in the form in which the allocator uses them.

    Fields are named as in ResourcePoolStatusRequest (resource.k8s.io/v1alpha3) where that API has them.
    """

    kind: Literal["PoolList"] = "PoolList"
    pools: list[ListedPool]
    warnings: list[PrintedWarning]
