"""`PoolList`, the document of `pools`. Names follow ResourcePoolStatusRequest if it has one."""

from __future__ import annotations

from typing import Literal

from dra_plan.documents.base import PrintedDocument, PrintedWarning
from dra_plan.documents.pools import ListedPool


class PoolsDocument(PrintedDocument, frozen=True, kw_only=True):
    """Resource pools as the allocator gathers them.

    Fields have the same names as in ResourcePoolStatusRequest (resource.k8s.io/v1alpha3) if that API has them.
    """

    kind: Literal["PoolList"] = "PoolList"
    pools: list[ListedPool]
    warnings: list[PrintedWarning]
