"""`allocate -o table` and `-o wide`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from dra_plan.allocator import Outcome
from dra_plan.documents.allocation import AllocationDocument, PlannedClaimSet, PlannedNode

from . import alike_sets, exclusions, leading_words, names, text
from .allocation_footer import footer
from .columns import Part, Screen, Table
from .formats import Formats

Groups = list[list[PlannedClaimSet]]
"""Claim sets with the same answer together."""


def table(document: AllocationDocument, _screen: Screen | None) -> list[Part]:
    """What a person wants first: does it fit and where, one example of who gets what, and the nodes that refuse."""
    parts: list[Part] = []
    groups = alike_sets.alike(document.claim_sets)
    if groups:
        parts += [_summary(groups), _totals(document)]
    parts += [part for part in (_examples(groups), _others(groups), _excluded(groups)) if part.rows]
    return [*parts, *footer(document, groups), text.target(document)]


def _summary(groups: Groups) -> Table:
    """One row per claim set, or for those with the same answer: where they fit, or what is in the way."""
    refused = any(in_the_way(group[0]) for group in groups)
    headers = ("CLAIM SET", "OUTCOME", "NODES", "FITS ON", *(["REASON"] if refused else []))
    made = Table(headers, flexible=(0, 3, 4) if refused else (0, 3))
    for group in groups:
        claim_set = group[0]
        fitting = claim_set.fitting_nodes
        count = f"{len(fitting)}/{len(claim_set.nodes)}"
        cells = (alike_sets.names(group), claim_set.outcome.value, count, text.node_list(fitting))
        made.add(*cells, *([in_the_way(claim_set)] if refused else []))
    return made


def in_the_way(claim_set: PlannedClaimSet) -> str:
    """Why the set fits nowhere, as far as a cell can say it: where its devices are, the rules that keep it away."""
    leading = leading_words.cell(claim_set.leading[0]) if claim_set.leading else ""
    return exclusions.room(claim_set) or leading


def _totals(document: AllocationDocument) -> str:
    """How many claim sets came to what: `3 Fits, 1 DoesNotFit.`."""
    counts = Counter(claim_set.outcome for claim_set in document.claim_sets)
    return f"{', '.join(f'{counts[outcome]} {outcome.value}' for outcome in Outcome if counts[outcome])}."


def _examples(groups: Groups) -> Table:
    """One row per device on the first node that fits, of those with the same answer for the first."""
    rows = [
        (text.claim_set_name(claim_set), node.name, *cells)
        for claim_set, *_ in groups
        for node in claim_set.nodes
        if node.name == next(iter(claim_set.fitting_nodes), None)
        for cells in _devices(node)
    ]
    headers = ("CLAIM SET", "EXAMPLE NODE", "CLAIM", "REQUEST", "DEVICE", "CONSUMES")
    shown = len(headers) if any(row[-1] for row in rows) else len(headers) - 1
    made = Table(headers[:shown], grouped=2, flexible=range(2, shown))
    for row in rows:
        made.add(*row[:shown])
    return made


def _devices(node: PlannedNode) -> Iterator[tuple[str, str, str, str]]:
    """(claim, request, device, consumed) in allocation order."""
    for claim in node.claims:
        for result in claim.allocation.devices.results:
            yield claim.name, result.request, text.device_name(result), text.consumed(result)


def _others(groups: Groups) -> Table:
    """Nodes of which more is known than that nothing was found; those with the same message and reasons in one row."""
    rows = []
    for group in groups:
        said: dict[tuple[str, str, str], list[str]] = {}
        for node in group[0].nodes:
            if node.outcome is not Outcome.FITS and not node.excluded_by and _says_more(node):
                said.setdefault((node.outcome.value, node.message, _codes(node)), []).append(node.name)
        for (outcome, message, codes), nodes in said.items():
            count = f"{len(nodes)}/{len(group[0].nodes)}"
            rows.append((alike_sets.names(group), count, outcome, message, codes, text.node_list(nodes)))
    headers = ("CLAIM SET", "NODES", "OUTCOME", "MESSAGE", "REASONS", "ON")
    shown = [column for column in range(6) if column != 4 or any(row[4] for row in rows)]
    made = Table([headers[column] for column in shown], grouped=1, flexible=range(3, len(shown)))
    for row in rows:
        made.add(*(row[column] for column in shown))
    return made


def _says_more(node: PlannedNode) -> bool:
    """Whether there is more to say of a node than that nothing was found on it."""
    return node.outcome is not Outcome.DOES_NOT_FIT or node.out_of_reach or bool(node.reasons)


def _excluded(groups: Groups) -> Table:
    """Nodes that the scheduler's rules keep the pods off, whatever devices they have."""
    made = Table(("CLAIM SET", "NODES", "EXCLUDED BY", "MESSAGE", "ON"), grouped=1, flexible=(3, 4))
    for group in groups:
        for nodes, found in exclusions.excluded_nodes(group[0]):
            count = f"{len(nodes)}/{len(group[0].nodes)}"
            cells = (exclusions.plugins(found), exclusions.messages(found), text.node_list(nodes))
            made.add(alike_sets.names(group), count, *cells)
    return made


def _codes(node: PlannedNode) -> str:
    """The codes of the node's reasons, each once."""
    return ", ".join(dict.fromkeys(reason.code for reason in node.reasons))


def wide(document: AllocationDocument, _screen: Screen | None) -> list[Part]:
    """Every node of every claim set, one row per device that it would give."""
    headers = ("CLAIM SET", "NODE", "OUTCOME", "STEPS", "CLAIM", "REQUEST", "DEVICE", "CONSUMES", "MESSAGE")
    made = Table(headers, grouped=4, flexible=(4, 5, 6, 7, 8))
    for claim_set in document.claim_sets:
        for node in claim_set.nodes:
            for cells in list(_devices(node)) or [("", "", "", "")]:
                name, steps = text.claim_set_name(claim_set), str(node.steps)
                said = ", ".join(filter(None, (node.message, exclusions.messages(node.excluded_by))))
                made.add(name, node.name, node.outcome.value, steps, *cells, said)
    return [
        *([made] if made.rows else []),
        *footer(document, alike_sets.alike(document.claim_sets)),
        text.target(document),
    ]


FORMATS = Formats(table=table, wide=wide, name=names.allocation)
