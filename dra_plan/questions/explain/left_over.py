"""`explain`: claims that hold devices for pods that are not in the input, and perhaps gone.

The controller of claims removes the reservation of a deleted pod. Until then its devices stay in use.
"""

from __future__ import annotations

from collections.abc import Iterator

from dra_plan.api.inventory import Inventory
from dra_plan.documents.claim_sets import ExplainedClaimSet
from dra_plan.documents.devices import ClaimHolder
from dra_plan.documents.verdicts import OwnerVerdict


def left_over(inventory: Inventory) -> frozenset[tuple[str, str]]:
    """Return the claims that are reserved only for pods that are missing from the input.

    A claim is included only if the input seems to contain the pods of its namespace. This is the case if the input has
    running pods in this namespace, or running pods and pods of several namespaces, as with `-A`.
    """
    pods = {(pod.metadata.namespace, pod.metadata.name) for pod in inventory.pods}
    running = {pod.metadata.namespace for pod in inventory.pods if pod.spec.node_name}
    if not running:
        return frozenset()
    namespaces, found = {namespace for namespace, _ in pods}, set()
    for claim in inventory.claims:
        namespace = claim.metadata.namespace
        users = claim.reserved_for
        is_known = namespace in running or len(namespaces) > 1
        if is_known and users and all(each.resource == "pods" and (namespace, each.name) not in pods for each in users):
            found.add((namespace, claim.metadata.name))
    return frozenset(found)


def named_holders(of: OwnerVerdict, claim_set: ExplainedClaimSet | None) -> Iterator[ClaimHolder]:
    """Yield the claims that the result names as users of devices."""
    for story in claim_set.stories if claim_set is not None else ():
        for request in story.requests:
            for removed in request.removed:
                yield from removed.holders
    for group in of.nodes:
        for obstacle in group.about:
            shares = (removed for share in obstacle.each for removed in share.removed)
            for removed in (*obstacle.removed, *shares):
                yield from removed.holders
