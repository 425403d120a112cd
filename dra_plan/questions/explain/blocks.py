"""The owners of an explanation, grouped by equal text: verdicts, claim sets, or the state of owners without any."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field, structs

from dra_plan.documents.base import ClaimName, ObjectName
from dra_plan.documents.claim_sets import ExplainedClaimSet, UnplannedOwner
from dra_plan.documents.suggestions import AnyChange
from dra_plan.documents.verdicts import OwnerVerdict
from dra_plan.questions.explain.document import ExplanationDocument
from dra_plan.text import stories

Key = tuple[str, str, str]


class OwnerBlock(Struct):
    """A group of owners that are explained together.

    If the block has no verdicts, it is only about devices. If the block has no claim sets, no devices are requested.
    """

    verdicts: list[OwnerVerdict] = field(default_factory=list)
    claim_sets: list[ExplainedClaimSet] = field(default_factory=list)
    unplanned: UnplannedOwner | None = None


def is_lone_claim(block: OwnerBlock) -> bool:
    """Return whether the block is about unused claims that the API server accepts.

    For such claims, only devices matter.
    """
    first = block.verdicts[0]
    return bool(block.claim_sets) and first.kind == "ResourceClaim" and first.verdict != "Refused"


def owner_blocks(document: ExplanationDocument) -> list[OwnerBlock]:
    """Return all owners in document order. Owners with claim sets come before owners without claim sets."""
    verdicts = {_key(one.object): one for one in document.verdicts or ()}
    blocks: list[OwnerBlock] = []
    for group in stories.explained_alike(document.claim_sets):
        blocks += _split(group, verdicts)
    told = {_key(one.object) for block in blocks for one in block.verdicts}
    unplanned = {_key(one.owner): one for one in document.unplanned or ()}
    rest: dict[Any, OwnerBlock] = {}
    for key, verdict in verdicts.items():
        if key not in told:
            alike = key if key in unplanned else _nameless(verdict)
            block = rest.setdefault(alike, OwnerBlock(unplanned=unplanned.get(key)))
            block.verdicts.append(verdict)
    lost = [OwnerBlock(unplanned=one) for key, one in unplanned.items() if key not in verdicts]
    return [*blocks, *rest.values(), *lost]


def _split(group: list[ExplainedClaimSet], verdicts: dict[Key, OwnerVerdict]) -> list[OwnerBlock]:
    """Split equal claim sets by their verdicts; each verdict appears once."""
    found: dict[Any, OwnerBlock] = {}
    for claim_set in group:
        verdict = verdicts.get(_owner(claim_set))
        told = [verdict] if verdict is not None else []
        block = found.setdefault(_nameless(told[0]) if told else None, OwnerBlock())
        block.claim_sets.append(claim_set)
        block.verdicts += [one for one in told if one not in block.verdicts]
    return list(found.values())


def _key(of: ObjectName) -> Key:
    return of.kind, of.namespace, of.name


def _owner(of: ExplainedClaimSet) -> Key:
    if of.owner is not None:
        return _key(of.owner)
    return ("ResourceClaim", of.claims[0].namespace, of.claims[0].name) if len(of.claims) == 1 else ("", "", "")


def _nameless(of: OwnerVerdict) -> Any:
    """Return the verdict without names; as bytes, so that it can be a key."""
    import msgspec

    changes = [
        structs.replace(one, patches=[], node="", changes=[_of_any_claim(change) for change in one.changes])
        for one in of.suggestions
    ]
    kept = structs.replace(
        of, namespace="", name="owner", node_name="", message="", victims=[], binding=[], last_message=None
    )
    return msgspec.json.encode(structs.replace(kept, suggestions=changes))


def _of_any_claim(change: AnyChange) -> AnyChange:
    """Return the change of a template without the name of the claim that stands for it."""
    claim = getattr(change, "claim", None)
    if not isinstance(claim, ClaimName) or not claim.template:
        return change
    return structs.replace(change, claim=structs.replace(claim, name=""))
