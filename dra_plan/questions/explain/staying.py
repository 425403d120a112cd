"""`explain`: why a running pod stays on its node whichever pod needs its place, and claims whose pods all stay.

Disruption budgets and priorities are checked in `moves`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import structs

from dra_plan.api.core import Pod
from dra_plan.api.well_known import MIRROR_POD
from dra_plan.documents.cluster_changes import ClaimReleased
from dra_plan.documents.suggestions import TriedChanges

StayingReason = Literal["NoController", "DaemonSet", "Static", "Leaving"]


def why_it_stays(pod: Pod) -> StayingReason | None:
    """Return why the pod would not be started on another node, or None if it would.

    The pod is being deleted, belongs to its node, or is not recreated by anything.
    """
    from dra_plan.whatif.edits import belongs_to_node  # only released claims need it, and start-up time matters

    if pod.metadata.deletion_timestamp is not None:
        return "Leaving"
    controller = pod.metadata.controller
    if MIRROR_POD in (pod.metadata.annotations or {}) or (controller is not None and controller.kind == "Node"):
        return "Static"
    if belongs_to_node(pod):
        return "DaemonSet"
    return "NoController" if controller is None else None


def with_staying(of: TriedChanges, pods: Mapping[str, Pod]) -> TriedChanges:
    """Return the changes. If no user of a claim to be released would leave, the change also says why.

    `pods` contains the pods of the input by key.
    """
    if not any(isinstance(one, ClaimReleased) for one in of.changes):
        return of
    return structs.replace(
        of, changes=[_staying(one, pods) if isinstance(one, ClaimReleased) else one for one in of.changes]
    )


def _staying(of: ClaimReleased, pods: Mapping[str, Pod]) -> ClaimReleased:
    users = [pods.get(f"{of.release.namespace}/{name}") for name in of.pods]
    reasons = [why_it_stays(pod) if pod is not None else None for pod in users]
    return structs.replace(of, stays=reasons[0]) if reasons and reasons[0] is not None and all(reasons) else of
