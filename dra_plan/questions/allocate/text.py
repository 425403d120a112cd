"""`allocate -o table`, `-o wide` and `-o name`. Claim sets with the same result share a row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from dra_plan import shown
from dra_plan.allocator import Outcome
from dra_plan.documents.claim_sets import Competition, PlannedClaimSet, PlannedNode
from dra_plan.documents.refusals import REFUSED
from dra_plan.questions.allocate.document import AllocationDocument
from dra_plan.text import formats, refusals, stories, words
from dra_plan.text.columns import Part, Screen, Table
from dra_plan.text.folding import device_cell
from dra_plan.text.formats import Format, Formats
from dra_plan.text.naming import claim_set_name, consumed, device_name, node_list, owner_name, target
from dra_plan.text.stories import ALONE, copies, judged_alone, left_out
from dra_plan.text.words import counted, listed


def allocation(document: AllocationDocument) -> str:
    """Return a line of the form `KIND/NAMESPACE/NAME node/NODE` for each node on which a claim set fits."""
    return "".join(
        shown.line(f"{owner_name(claim_set)} node/{node}") + "\n"
        for claim_set in document.claim_sets
        for node in claim_set.fitting_nodes
    )


def footer(document: AllocationDocument, groups: Sequence[Sequence[PlannedClaimSet]]) -> list[Part]:
    """Return the notes below the table: about copies, competing pods, and rules that were not checked.

    `groups` are the claim sets, grouped by result.
    """
    if document.competition:
        return [*_competition(document.competition)]
    return [*_alone(document, groups), *left_out(document.claim_sets)]


def _competition(of: Competition) -> Iterator[Part]:
    """Yield the result of `schedule` for the pods together: it covers copies, rivals and all requirements of pods."""
    bound = of.pods - len(of.without_node)
    yield f"When they compete, the scheduler binds {bound} of {counted(of.pods, 'pod')}."
    made = Table(("UNSCHEDULED PODS", "MESSAGE"), flexible=(0, 1))
    said: dict[str, list[str]] = {}
    for pod in of.without_node:
        said.setdefault(pod.message or "", []).append(f"{pod.namespace}/{pod.name}")
    for message, names in said.items():
        made.add(listed(names), message)
    if made.rows:
        yield made


def _alone(document: AllocationDocument, groups: Sequence[Sequence[PlannedClaimSet]]) -> Iterator[str]:
    many = copies(document.claim_sets)
    rivals = _rivals(document, groups)
    with_pods = [claim_set_name(each) for each in rivals if each.owner is not None]
    if many or len(with_pods) > 1:
        wants = [listed(many)] if many else []
        wants += [f"{listed(with_pods)} would get the same devices"] if len(with_pods) > 1 else []
        yield judged_alone(wants)
    elif rivals:
        names = listed([claim_set_name(each) for each in rivals])
        yield (f"{ALONE}: {names} would get the same devices. --together plans all of them as one set on one node.")


def _rivals(document: AllocationDocument, groups: Sequence[Sequence[PlannedClaimSet]]) -> list[PlannedClaimSet]:
    """Return the claim sets that get a device on some node which another set also gets."""
    holders: dict[tuple[str, str, str], set[int]] = {}
    for number, group in enumerate(groups):
        if group[0].outcome is Outcome.REFUSED:
            continue
        for node in group[0].nodes:
            if not node.excluded_by:
                for device in _taken(node):
                    holders.setdefault(device, set()).add(number)
    found = {at for users in holders.values() if len(users) > 1 or len(groups[min(users)]) > 1 for at in users}
    rivals = {id(claim_set) for at in found for claim_set in groups[at]}
    return [claim_set for claim_set in document.claim_sets if id(claim_set) in rivals]


def _taken(node: PlannedNode) -> Iterator[tuple[str, str, str]]:
    """Yield the devices that the node would then give to no other claim."""
    for claim in node.claims:
        for result in claim.allocation.devices.results:
            if not result.admin_access and not result.share_id:
                yield result.driver, result.pool, result.device


Groups = list[list[PlannedClaimSet]]
"""Groups of claim sets that have the same result."""


def table(document: AllocationDocument, screen: Screen | None) -> list[Part]:
    """Return a summary: where each claim set fits, examples of the devices, and the nodes that reject it."""
    parts: list[Part] = [*refusals.paragraphs(document.refusals)]
    groups = stories.alike(document.claim_sets)
    if groups:
        parts += [_summary(groups), _totals(document)]
    tables = _examples(groups, together=screen is not None), _others(groups), _excluded(groups)
    parts += [part for part in tables if part.rows]
    return [*parts, *footer(document, groups), target(document)]


def _summary(groups: Groups) -> Table:
    """Return one row per claim set, or per group with equal answers: where they fit, or the obstacle."""
    refused = any(in_the_way(group[0]) for group in groups)
    headers = ("WORKLOAD", "OUTCOME", "NODES", "FITS ON", *(["REASON"] if refused else []))
    made = Table(headers, flexible=(0, 3, 4) if refused else (0, 3))
    for group in groups:
        claim_set = group[0]
        fitting = claim_set.fitting_nodes
        count = f"{len(fitting)}/{len(claim_set.nodes)}"
        cells = (stories.names(group), claim_set.outcome.value, count, node_list(fitting))
        made.add(*cells, *([in_the_way(claim_set)] if refused else []))
    return made


def in_the_way(claim_set: PlannedClaimSet) -> str:
    """Return why the claim set fits on no node, as a text for a table cell."""
    if claim_set.outcome is Outcome.REFUSED:
        return REFUSED
    if claim_set.outcome is Outcome.UNKNOWN:
        return words.UNKNOWN
    if claim_set.outcome is Outcome.ERROR:
        said = next((node.message for node in claim_set.nodes if node.outcome is Outcome.ERROR), "")
        return said.partition("; ")[0]  # the rest explains the error, and is shown below
    leading = words.cell(claim_set.leading[0]) if claim_set.leading else ""
    return stories.room(claim_set) or leading


def _totals(document: AllocationDocument) -> str:
    """Return the number of claim sets with each result: `3 Fits, 1 DoesNotFit.`."""
    counts = Counter(claim_set.outcome for claim_set in document.claim_sets)
    return f"{', '.join(f'{counts[outcome]} {outcome.value}' for outcome in Outcome if counts[outcome])}."


def _examples(groups: Groups, *, together: bool) -> Table:
    """Return one row per device on the first node that fits, for the first of each group with equal answers.

    With `together`, return one row for the devices of each request.
    """
    rows = [
        (claim_set_name(claim_set), node.name, *cells)
        for claim_set, *_ in groups
        for node in claim_set.nodes
        if node.name == next(iter(claim_set.fitting_nodes), None)
        for cells in (_requests(node) if together else _devices(node))
    ]
    headers = ("WORKLOAD", "EXAMPLE NODE", "CLAIM", "REQUEST", "DEVICE", "CONSUMES")
    shown = len(headers) if any(row[-1] for row in rows) else len(headers) - 1
    made = Table(headers[:shown], grouped=2, flexible=range(2, shown))
    for row in rows:
        made.add(*row[:shown])
    return made


def _devices(node: PlannedNode) -> Iterator[tuple[str, str, str, str]]:
    """Yield (claim, request, device, consumed) in allocation order."""
    for claim in node.claims:
        for result in claim.allocation.devices.results:
            yield claim.name, result.request, device_name(result), consumed(result)


def _requests(node: PlannedNode) -> Iterator[tuple[str, str, str, str]]:
    """Yield the same as `_devices`, with all devices of a request that consume the same in one cell."""
    alike: dict[tuple[str, str, str], list[str]] = {}
    for claim, request, device, consumes in _devices(node):
        alike.setdefault((claim, request, consumes), []).append(device)
    for (claim, request, consumes), devices in alike.items():
        yield claim, request, device_cell(devices, node.name), consumes


def _others(groups: Groups) -> Table:
    """Return the nodes with more details than that no device was found, grouped by equal messages and reasons."""
    rows = []
    for group in groups:
        if group[0].outcome is Outcome.REFUSED:
            continue  # the refusal, which precedes the tables, is the answer
        said: dict[tuple[str, str, str], list[str]] = {}
        for node in group[0].nodes:
            if node.outcome is not Outcome.FITS and not node.excluded_by and _says_more(node):
                said.setdefault((node.outcome.value, node.message, _codes(node)), []).append(node.name)
        for (outcome, message, codes), nodes in said.items():
            count = f"{len(nodes)}/{len(group[0].nodes)}"
            rows.append((stories.names(group), count, outcome, message, codes, node_list(nodes)))
    headers = ("WORKLOAD", "NODES", "OUTCOME", "MESSAGE", "REASONS", "ON")
    shown = [column for column in range(6) if column != 4 or any(row[4] for row in rows)]
    made = Table([headers[column] for column in shown], grouped=1, flexible=range(3, len(shown)))
    for row in rows:
        made.add(*(row[column] for column in shown))
    return made


def _says_more(node: PlannedNode) -> bool:
    """Return whether there is more to say about a node than that no device was found on it."""
    return node.outcome is not Outcome.DOES_NOT_FIT or node.out_of_reach or bool(node.reasons)


def _excluded(groups: Groups) -> Table:
    """Return the nodes on which the scheduler's rules reject the pods, regardless of devices."""
    made = Table(("WORKLOAD", "NODES", "REJECTED BY", "MESSAGE", "ON"), grouped=1, flexible=(3, 4))
    for group in groups:
        for nodes, found in stories.excluded_nodes(group[0]):
            count = f"{len(nodes)}/{len(group[0].nodes)}"
            cells = (stories.plugins(found), stories.causes(found), node_list(nodes))
            made.add(stories.names(group), count, *cells)
    return made


def _codes(node: PlannedNode) -> str:
    """Return the codes of the node's reasons, without duplicates."""
    return ", ".join(dict.fromkeys(reason.code for reason in node.reasons))


def wide(document: AllocationDocument, _screen: Screen | None) -> list[Part]:
    """Return a row for each claim set, node and device that would be allocated."""
    headers = ("WORKLOAD", "NODE", "OUTCOME", "STEPS", "CLAIM", "REQUEST", "DEVICE", "CONSUMES", "MESSAGE")
    made = Table(headers, grouped=4, flexible=(4, 5, 6, 7, 8))
    for claim_set in document.claim_sets:
        for node in claim_set.nodes:
            for cells in list(_devices(node)) or [("", "", "", "")]:
                name, steps = claim_set_name(claim_set), str(node.steps)
                said = ", ".join(filter(None, (node.message, stories.causes(node.excluded_by))))
                made.add(name, node.name, node.outcome.value, steps, *cells, said)
    return [
        *refusals.paragraphs(document.refusals),
        *([made] if made.rows else []),
        *footer(document, stories.alike(document.claim_sets)),
        target(document),
    ]


FORMATS = Formats(table=table, wide=wide, name=allocation)


def parse(option: str) -> Format[AllocationDocument]:
    """Return the format for `-o OPTION`. Raises UsageError for an unknown format or a malformed template."""
    return formats.parse(option, FORMATS)
