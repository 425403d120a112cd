"""The line that says why a gate failed. What a gate is, and when it fails, is `gate.py`."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import UNSET

from dra_plan.documents.allocation import AllocationDocument
from dra_plan.documents.capacity import CapacityDocument
from dra_plan.documents.diff import DiffDocument
from dra_plan.documents.drains import DrainsDocument
from dra_plan.documents.explanation import ExplanationDocument
from dra_plan.documents.growth import GrowthDocument
from dra_plan.documents.placement import PlacementDocument
from dra_plan.documents.schedule import ScheduleDocument, ScheduledPod

from . import text
from .explain_words import counted, listed
from .gate import Gate, Gated, Verdict


def failure(gate: Gate, document: Gated) -> str:
    """One line with all that failed a gate that somebody has set; "" if there is no such gate, or none failed."""
    if gate == Gate():
        return ""
    match document:
        case ScheduleDocument():
            causes = _of_pods(gate, document)
        case DiffDocument() | DrainsDocument() | GrowthDocument() | PlacementDocument():
            causes = []  # a table says what is lost, or has no node
        case CapacityDocument():
            causes = _of_owners(gate, document)
        case _:
            causes = _of_claim_sets(gate, document)
    if gate.no_warnings and document.warnings:
        codes = list(dict.fromkeys(warning.code for warning in document.warnings))
        causes.append(f"{counted(len(document.warnings), 'warning')} (--fail-on warning): {listed(codes)}")
    return f"gate failed: {'; '.join(causes)}" if causes else ""


def _of_claim_sets(gate: Gate, document: AllocationDocument | ExplanationDocument) -> list[str]:
    usual = Gate()
    refused, undecided, few = [], [], []
    for claim_set in document.claim_sets:
        if gate.claim_set(claim_set) is not Verdict.FAILED:
            continue
        name = text.claim_set_name(claim_set)
        if usual.claim_set(claim_set) is Verdict.FAILED:
            refused.append(name)
        elif len(claim_set.fitting_nodes) < gate.min_nodes and gate.min_nodes > 1:
            few.append(f"{name} on {len(claim_set.fitting_nodes)}")
        else:
            undecided.append(name)
    return [
        *_cause(refused, "claim set", "does not fit", "do not fit"),
        *_cause(few, "claim set", *[f"fit{s} on fewer than {gate.min_nodes} nodes (--min-nodes)" for s in ("s", "")]),
        *_cause(undecided, "claim set", *[f"{verb} undecided (--require-fit)" for verb in ("is", "are")]),
    ]


def _of_pods(gate: Gate, document: ScheduleDocument) -> list[str]:
    failed = [pod for pod in document.pods if gate.pod(pod) is Verdict.FAILED]
    undecided = [pod for pod in failed if Gate().pod(pod) is Verdict.UNDECIDED]
    return [
        *_cause([_pod(pod) for pod in failed if pod not in undecided], "pod", "has no node", "have no node"),
        *_cause([_pod(p) for p in undecided], "pod", *[f"{verb} undecided (--require-fit)" for verb in ("is", "are")]),
    ]


def _of_owners(gate: Gate, document: CapacityDocument) -> list[str]:
    few = [
        f"{text.copied_owner(item.owner)} for {item.scheduled.copies}"
        for item in document.items
        if gate.capacity(item) is Verdict.FAILED
    ]
    if document.mix is not UNSET:
        is_short = gate.mix(document.mix, document.items) is Verdict.FAILED
        few = [f"all together for {document.mix.sets}"] if is_short else []
    verbs = [f"{verb} room for fewer than {gate.min_copies} copies (--at-least)" for verb in ("has", "have")]
    return _cause(few, "owner", *verbs)


def _pod(pod: ScheduledPod) -> str:
    return f"{pod.namespace}/{pod.name}"


def _cause(names: Sequence[str], what: str, one: str, many: str) -> list[str]:
    if not names:
        return []
    return [f"{counted(len(names), what)} {one if len(names) == 1 else many}: {listed(list(names))}"]
