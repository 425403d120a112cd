"""What stands below `allocate` and `explain`: what was judged alone or not at all, and the command that judges it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dra_plan.documents.allocation import AllocationDocument, ClaimSetSummary, PlannedClaimSet, PlannedNode
from dra_plan.documents.explanation import ExplainedClaimSet

from . import text
from .explain_words import listed

TOGETHER = "`dra-plan schedule`, with the same paths,"
ALONE = "Each was judged on its own, against the cluster as it is"


def footer(document: AllocationDocument, groups: Sequence[Sequence[PlannedClaimSet]]) -> list[str]:
    """Sentences about copies and rivals, and about the rules that are left out; nothing where none of it matters.

    `groups` are the claim sets, those with the same answer together.
    """
    return [*_alone(document, groups), *_left_out(document.claim_sets)]


def explained(claim_sets: Sequence[ExplainedClaimSet]) -> list[str]:
    """The same of claim sets that are explained: about copies, and about the rules that are left out."""
    many = _copies(claim_sets)
    return [*([_judged_alone([listed(many)])] if many else []), *_left_out(claim_sets)]


def _copies(claim_sets: Sequence[ClaimSetSummary]) -> list[str]:
    return [f"{text.claim_set_name(each)} wants {each.copies} pods" for each in claim_sets if each.copies > 1]


def _judged_alone(wants: list[str]) -> str:
    return f"{ALONE}: {'; '.join(wants)}. {TOGETHER} judges all pods together."


def _alone(document: AllocationDocument, groups: Sequence[Sequence[PlannedClaimSet]]) -> Iterator[str]:
    many = _copies(document.claim_sets)
    rivals = _rivals(document, groups)
    with_pods = [text.claim_set_name(each) for each in rivals if each.owner is not None]
    if many or len(with_pods) > 1:
        wants = [listed(many)] if many else []
        wants += [f"{listed(with_pods)} would be given the same devices"] if len(with_pods) > 1 else []
        yield _judged_alone(wants)
    elif rivals:
        names = listed([text.claim_set_name(each) for each in rivals])
        yield f"{ALONE}: {names} would be given the same devices. --together plans all of it as one set on one node."


def _rivals(document: AllocationDocument, groups: Sequence[Sequence[PlannedClaimSet]]) -> list[PlannedClaimSet]:
    """The claim sets that are given a device on some node which another one is given, too."""
    holders: dict[tuple[str, str, str], set[int]] = {}
    for number, group in enumerate(groups):
        for node in group[0].nodes:
            if not node.excluded_by:
                for device in _taken(node):
                    holders.setdefault(device, set()).add(number)
    found = {at for users in holders.values() if len(users) > 1 or len(groups[min(users)]) > 1 for at in users}
    rivals = {id(claim_set) for at in found for claim_set in groups[at]}
    return [claim_set for claim_set in document.claim_sets if id(claim_set) in rivals]


def _taken(node: PlannedNode) -> Iterator[tuple[str, str, str]]:
    """The devices that the node would give to nobody else then."""
    for claim in node.claims:
        for result in claim.allocation.devices.results:
            if not result.admin_access and not result.share_id:
                yield result.driver, result.pool, result.device


def _left_out(claim_sets: Sequence[ClaimSetSummary]) -> Iterator[str]:
    found = list(dict.fromkeys(rule for each in claim_sets for rule in each.not_judged))
    if found:
        about = _of(claim_sets)
        yield f"Not judged here: {listed(found, len(found))} of {about}. {TOGETHER} judges all of it."


def _of(claim_sets: Sequence[ClaimSetSummary]) -> str:
    names = [text.claim_set_name(each) for each in claim_sets if each.not_judged]
    return listed(names)
