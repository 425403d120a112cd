"""`capacity -o table` and `-o wide`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import UNSET

from dra_plan import shown
from dra_plan.documents.cluster_changes import PodsGone
from dra_plan.documents.obstacles import CopyObstacle, DevicesInUse, NextCopy
from dra_plan.documents.suggestions import TriedChanges
from dra_plan.questions.capacity import shortages
from dra_plan.questions.capacity.document import (
    MOST_GAINED,
    CapacityDocument,
    CopiedGang,
    IdleDevices,
    NodeCopies,
    OwnerCapacity,
    OwnerReplicas,
    PossibleCopies,
    ScheduledCopies,
    StrandedFor,
)
from dra_plan.text import formats, refusals, suggestions, words
from dra_plan.text.columns import Paragraph, Part, Screen, Table
from dra_plan.text.formats import Format, Formats
from dra_plan.text.naming import named, target, with_part
from dra_plan.text.words import counted, listed

if TYPE_CHECKING:
    from dra_plan.questions.capacity.document import CopiedOwner


_ENDS = {
    "EveryNode": "a DaemonSet has one pod on each node that may have one",
    "Limit": "the limit was reached (--limit)",
    "OtherRefused": "a copy of another workload was rejected",
    "Refused": "the API server rejects one",
    "Undecided": "undecided: the search was cut short (--max-steps)",
}
"""The texts that replace a message if the scheduler rejected nothing."""


def table(document: CapacityDocument, _screen: Screen | None) -> list[Part]:
    """Return the copies of each owner and what they run out of, followed by messages and details."""
    fleet = parts(document)
    told = [*refusals.paragraphs(document.refusals), _owners(document), *_captions(document)]
    return [*told, *details(document), *fleet, target(document)]


def wide(document: CapacityDocument, _screen: Screen | None) -> list[Part]:
    """Return the same content as `table`, plus every node that has copies."""
    fleet = parts(document)
    told = [*_captions(document), *nodes(document), *details(document)]
    refused = refusals.paragraphs(document.refusals)
    return [*refused, _owners(document), *told, *fleet, target(document)]


def details(document: CapacityDocument) -> list[Part]:
    """Return the result for all owners together, and where each owner's copies are and what limits their number."""
    return [*_mix(document), *_stories(document)]


def nodes(document: CapacityDocument) -> list[Part]:
    """Return a table of the nodes that have copies, or no table if there are no such nodes."""
    made = Table(("WORKLOAD", "NODE", "COPIES", "POSSIBLE"), grouped=1)
    for item in document.items:
        _nodes(made, copied_owner(item.owner), item.scheduled.nodes, item.possible)
    if document.mix is not UNSET:
        _nodes(made, "all together", [], document.mix.possible)
    return [made] if made.rows else []


def _nodes(made: Table, name: str, scheduled: Sequence[NodeCopies], possible: PossibleCopies | None) -> None:
    """Add a row for each node with copies; scheduled ones are in input order."""
    best = {node.name: node.copies for node in possible.nodes} if possible is not None else {}
    done = {node.name: node.copies for node in scheduled}
    for node in dict.fromkeys((*done, *best)):
        made.add(name, node, str(done.get(node, 0)), str(best.get(node, 0)) if possible is not None else "")


def _mix(document: CapacityDocument) -> list[Part]:
    """Return the total of all owners."""
    if document.mix is UNSET:
        return []
    shares = listed([f"{share.copies} of {copied_owner(share.owner)}" for share in document.mix.shares], 8)
    at_best = possible(document.mix.possible)
    mix = document.mix
    scheduled = f"{at_least(document.items)}{counted(mix.sets, 'whole set')}"
    if mix.more < mix.sets:
        scheduled += f", {mix.more:,} of them beyond the pending replicas" if mix.more else ""
    best = f"; {at_best} with the best choice" if at_best else ""
    return [f"All together, {shares} to a set: kube-scheduler binds {scheduled}{best}."]


def _owners(document: CapacityDocument) -> Table:
    made = Table(("WORKLOAD", "COPIES", "POSSIBLE", "NODES", "RUNS OUT FIRST"), flexible=(0, 4))
    for item in document.items:
        first = runs_out(item.next_copy) if item.next_copy is not None else ""
        first = "rejected when created" if _is_refused(item.scheduled) else first
        nodes = f"{len(item.scheduled.nodes):,}"
        made.add(copied_owner(item.owner), _number(item), possible(item.possible), nodes, first)
    return made


def _captions(document: CapacityDocument) -> list[Part]:
    """Return the meaning of the numbers, and the scheduler's messages about one more copy, each with its owners."""
    if not document.items:
        return []
    mixed = document.mix is not UNSET
    turns = ", taking turns with the other workloads" if mixed else ""
    pending = ", including pending replicas" if any(item.pending for item in document.items) else ""
    copies = f"COPIES: the number of further pods that kube-scheduler can bind, one after another{turns}{pending}."
    best = " POSSIBLE: the number of pods that would fit with the best choice of nodes and devices."
    sought = any(item.possible is not None for item in document.items)
    gangs = " A gang is copied with all its pods." if any(item.gang is not None for item in document.items) else ""
    return [copies + (best if sought else "") + gangs, *_said(document.items)]


def _said(items: Sequence[OwnerCapacity]) -> list[Part]:
    """Return the messages of the scheduler and of the API server about one more copy, without duplicates."""
    who = {False: "The scheduler's message for one more copy", True: "The API server creates no more"}
    return [part for refused, says in who.items() for part in _words(items, says, refused=refused)]


def _words(items: Sequence[OwnerCapacity], says: str, *, refused: bool) -> list[Part]:
    owners: dict[str, list[str]] = {}
    for item in items:
        is_told = item.scheduled.ended not in _ENDS or _is_refused(item.scheduled)
        if item.scheduled.message and is_told and _is_refused(item.scheduled) is refused:
            owners.setdefault(item.scheduled.message, []).append(copied_owner(item.owner))
    if len(owners) == 1:
        [(message, named)] = owners.items()
        whose = "" if len(items) == 1 else " of each" if len(named) == len(items) else f" of {listed(named)}"
        return [f"{says}{whose}: {message}"]
    lines = [f"  {listed(named)}: {message}" for message, named in owners.items()]
    return [Paragraph([f"{says}:", *lines])] if lines else []


def _is_refused(of: ScheduledCopies) -> bool:
    return of.ended == "Refused"


def _stories(document: CapacityDocument) -> list[Part]:
    """Return the distribution of each owner's copies over nodes, and the obstacles of one more."""
    return [
        Paragraph(
            [
                _spread(item),
                *_end(item.scheduled),
                *replicas(item.replicas, item.scheduled),
                *_own_gang(item.gang, item.scheduled),
                *better(item),
                *_part(item.gang, item.scheduled),
                *(_left_over(item) if len(document.items) > 1 else ()),
                *_why_not(item),
            ]
        )
        for item in document.items
    ]


def _why_not(item: OwnerCapacity) -> Iterator[str]:
    if item.next_copy is not None:
        yield from lines(item.next_copy) if item.gang is None else lines(item.next_copy, "pod", "pods")


def _number(item: OwnerCapacity) -> str:
    return f"{at_least([item])}{item.scheduled.copies:,}"


def at_least(items: Sequence[OwnerCapacity]) -> str:
    """Return "at least " if more copies may fit than were counted, and "" otherwise."""
    return "at least " if any(item.scheduled.ended in OPEN_ENDS for item in items) else ""


def _spread(item: OwnerCapacity) -> str:
    """Return the distribution of copies: the number on each node, and the number of such nodes."""
    gang = item.gang
    parts = spread(item.scheduled.nodes, "pod" if gang is not None else "")
    evicted = item.scheduled.evicted
    if evicted:
        parts.append(f"{len(evicted)} running {'pod has' if len(evicted) == 1 else 'pods have'} to be evicted for them")
    none = "not known" if at_least([item]) else "kube-scheduler binds no copies" if _is_open(item) else "no copies fit"
    size = f", a gang of {counted(gang.pods, 'pod')}" if gang is not None else ""
    return f"{copied_owner(item.owner)}{size}: {', '.join(parts) or none}."


def _is_open(item: OwnerCapacity) -> bool:
    """Return whether copies may fit that the scheduler does not bind."""
    return item.possible is not None and item.possible.at_most != 0


def _own_gang(of: CopiedGang | None, scheduled: ScheduledCopies) -> Iterator[str]:
    """Yield the notes about the gang that is already in the input, and about one that cannot start."""
    if of is None:
        return
    if of.pods < of.min_count:
        yield f"  It never starts: minCount of pod group {of.pod_group} is {of.min_count}."
    elif of.waiting == of.pods and (scheduled.copies or scheduled.ended not in OPEN_ENDS):
        own = counted(of.pods, "pending pod")
        if scheduled.copies:
            told = counted(scheduled.copies, "gang fits", "gangs fit")
            yield f"  {told}: its own {own} and {scheduled.copies - 1:,} more."
        else:
            yield f"  Its {own} would not be scheduled."
    elif 0 < of.waiting < of.pods:
        yield f"  {of.waiting:,} of its own {of.pods:,} pods are pending, and left out of the count."


def _left_over(item: OwnerCapacity) -> Iterator[str]:
    """Yield the devices that stay idle although the owner requests such devices."""
    left = [
        f"{one.stranded:,} {' '.join(part for part in (one.driver, one.model, one.profile) if part)}"
        for one in item.devices
        if one.stranded
    ]
    if left:
        yield f"  idle devices that no further copy can use: {listed(left)}"


def _part(of: CopiedGang | None, scheduled: ScheduledCopies) -> Iterator[str]:
    """Yield the part of one more gang that fits."""
    if of is not None and of.fitting is None and of.topology_key and scheduled.ended == "Unschedulable":
        yield f"  kube-scheduler finds no {of.topology_key} with room for all {of.pods:,} pods of one more gang."
    if of is not None and of.fitting is not None:
        verb = "finds" if of.fitting == 1 else "find"
        some = f"{of.fitting:,} of {of.pods:,} pods {verb}" if of.fitting else f"none of the {of.pods:,} pods finds"
        rest = "; the next one does not" if of.fitting else ""
        yield f"  Of one more gang, {some} a node{rest}:"


def _end(of: ScheduledCopies) -> Iterator[str]:
    """Yield why the count ended, if the scheduler has no message about one more copy."""
    if not of.message or (of.ended in _ENDS and not _is_refused(of)):
        yield f"  The count ended there: {_ENDS.get(of.ended, of.ended)}."


def names(document: CapacityDocument) -> str:
    """Return a line of the form `KIND/NAMESPACE/NAME COPIES` for each owner."""
    return "".join(shown.line(f"{copied_owner(item.owner)} {item.scheduled.copies}") + "\n" for item in document.items)


FORMATS = Formats(table=table, wide=wide, name=names)


MOST_SUGGESTIONS = 4
"""The maximum number of suggestions in text output, the most plausible first. Documents contain all of them."""


_LEFT_ALONE = "; its own pods keep their devices"


def possible(of: PossibleCopies | None) -> str:
    """Return the largest possible number of copies, for example `7`, or its bounds, for example `7 to 9`.

    Returns "" if the number was not searched for.
    """
    if of is None:
        return ""
    if of.at_most is None:
        return f"at least {of.copies:,}"
    return f"{of.copies:,}" if of.at_most == of.copies else f"{of.copies:,} to {of.at_most:,}"


OPEN_ENDS = ("Limit", "Undecided")
"""The reasons for ending a count after which more copies may fit."""


def replicas(of: OwnerReplicas | None, scheduled: ScheduledCopies) -> Iterator[str]:
    """Yield sentences about how many replicas have a node, and how many copies take the place of the others."""
    copies = scheduled.copies
    if of is None or not of.wanted:
        return
    there = of.wanted - of.missing
    number = f"{there:,} of its" if there else "None of its"
    number = number if of.missing else "All"
    had = f"  {number} {of.wanted:,} replicas {'is' if there == 1 else 'are'} scheduled"
    if of.wanted == 1:
        had = f"  Its 1 replica is {'scheduled' if there else 'pending'}"
    missing = "the pending one" if of.missing == 1 else f"the {of.missing:,} pending ones"
    if not of.missing:
        yield f"{had}; all copies are additional pods."
    elif of.missing <= copies:
        pending = "its pending replica" if of.missing == 1 else f"its {of.missing:,} pending replicas"
        told = counted(copies, "copy", "copies")
        number = f"At least {told}" if scheduled.ended in OPEN_ENDS else told
        yield f"  {number} {'fits' if copies == 1 else 'fit'}: {pending} and {copies - of.missing:,} more."
    elif scheduled.ended in OPEN_ENDS:
        some = f"at least {copies:,} of {missing} would fit" if copies else f"whether {missing} would fit is unknown"
        yield f"{had}; {some}."
    elif copies:
        yield f"{had}; {copies:,} of {missing} would fit."
    else:
        yield f"{had}; {missing} would not fit."


def better(item: OwnerCapacity) -> Iterator[str]:
    """Yield how many more copies fit in a better placement, and what the upper bound ignores."""
    of = item.possible
    if of is not None and of.copies > item.scheduled.copies:
        verb = "is" if of.copies == 1 else "are"
        where = ", ".join(spread(of.nodes, "pod" if item.gang is not None else ""))
        is_error = item.scheduled.ended == "SchedulerError"
        how_many = f"without the error, {of.copies:,} would fit" if is_error else f"{of.copies:,} {verb} possible"
        yield f"  {how_many}: {where}"
    if of is not None and of.brief and of.at_most not in (None, of.copies):
        yield f"  more than {of.copies} may be possible: --possible searches longer"
    if of is not None and of.besides:
        yield f"  the bound ignores {listed(of.besides)}"


FEW_NODES = 3
"""The maximum number of nodes that are named."""


def spread(nodes: Sequence[NodeCopies], noun: str = "") -> list[str]:
    """Return how many copies each node has or, if there are many nodes, how many nodes have each number of copies.

    `noun` names what is counted if it is not copies.
    """
    if len(nodes) <= FEW_NODES:
        by_number = sorted(nodes, key=lambda node: -node.copies)
        return [f"{counted(node.copies, noun) if noun else node.copies} on {node.name}" for node in by_number]
    numbers = Counter(node.copies for node in nodes)
    return [
        f"{counted(copies, noun) if noun else copies} {'on 1 node' if many == 1 else f'each on {many} nodes'}"
        for copies, many in sorted(numbers.items(), reverse=True)
    ]


def runs_out(of: NextCopy) -> str:
    """Return what most of the nodes with copies run out of. If several resources are equally frequent, returns all."""
    first = [one for one in of.obstacles if one.nodes_with_copies == of.obstacles[0].nodes_with_copies]
    if not of.obstacles or not first[0].nodes_with_copies:
        first = of.obstacles[:1]
    return ", ".join(_thing(one, of) for one in first)


def _thing(of: CopyObstacle, told: NextCopy) -> str:
    """Return a few words for a shortage."""
    if of.kind == "Resource":
        return of.resource
    if of.kind != "Devices":
        return of.message
    leading = told.ran_out or told.leading
    if leading and leading[0].code == "in-use" and told.in_use:
        used = [one for one in told.in_use if one.on_nodes_with_copies or not told.ran_out]
        drivers = {one.driver: [each for each in used if each.driver == one.driver] for one in used}
        return ", ".join(map(_models, drivers.values()))
    return f"devices: {words.phrase(leading[0])}" if leading else "devices"


def _models(of: list[DevicesInUse]) -> str:
    """Return a driver, with its models."""
    models = list(dict.fromkeys(one.model for one in of if one.model))
    return f"{of[0].driver} {listed(models)}" if models else of[0].driver


WHY_NOT = "What prevents one more copy"


def lines(of: NextCopy, noun: str = "copy", plural: str = "copies") -> Iterator[str]:
    """Yield what nodes lack for one more copy, followed by the changes that would help, one per line.

    `noun` and `plural` name what nodes hold.
    """
    yield f"  {WHY_NOT}:"
    yield from (f"    {line}" for line in shortages.lines(of.by_node, noun, plural))
    for tried in of.suggestions[:MOST_SUGGESTIONS]:
        yield f"  To fit {_gain(tried.more)}: {_suggestion(tried)}."
    if of.sought and not of.suggestions:
        yield (f"  No change was found that makes room for one more{_LEFT_ALONE if of.own_claims else ''}.")


def _suggestion(of: TriedChanges) -> str:
    """Return the changes, and where the first copy then fits, unless it is where pods are removed."""
    [first, *others] = of.changes
    if isinstance(first, PodsGone) and first.on == of.node and not others:
        return suggestions.change(first)
    return suggestions.suggestion(of, "the new copy" if of.more <= 1 else "the first new copy")


def _gain(more: int) -> str:
    """Return the number of copies that a change brings, which is counted up to a limit."""
    if more <= 1:
        return "one more"
    return f"at least {more:,} more" if more >= MOST_GAINED else f"{more:,} more"


def why_not_more(of: NextCopy) -> str:
    """Return the main obstacle to one more copy, as a short text."""
    first = of.obstacles[0]
    said = words.phrase(of.leading[0]) if first.kind == "Devices" and of.leading else _obstacle(first)
    return f"{WHY_NOT}: {said}"


def _obstacle(of: CopyObstacle) -> str:
    """Return `cpu on 3 nodes with copies and 2 nodes without: 4 needed, 2 left at most`."""
    if of.kind == "Resource":
        holder = f", {of.used} in use by pod {of.pod}" if of.pod else ""
        if of.nodes_with_copies + of.other_nodes > 1:
            there = f" (on {of.node}{holder})" if holder else ""
            return f"{of.resource} {_where(of)}: {of.need} needed, {of.left} left at most{there}"
        return f"{of.resource} {_where(of)}: {of.need} needed, {of.left} left on {of.node}{holder}"
    return f"{'not enough suitable devices' if of.kind == 'Devices' else of.message} {_where(of)}"


def _where(of: CopyObstacle) -> str:
    with_, others = of.nodes_with_copies, of.other_nodes
    if not with_:
        return f"on {counted(others, 'node')} without copies"
    if not others:
        return f"on {counted(with_, 'node')} with copies"
    return f"on {counted(with_ + others, 'node')} ({with_:,} of them with copies)"


def parts(document: CapacityDocument) -> list[Part]:
    """Return a table with a row for each driver and model, or nothing if the cluster has no devices."""
    fleet = document.fleet
    profiles = any(kind.profile for kind in fleet.kinds)
    headers = (
        "DRIVER",
        "MODEL",
        *(("PROFILE",) if profiles else ()),
        "DEVICES",
        "IDLE",
        "MOST ON A NODE",
        "STRANDED",
        "WHY",
    )
    made = Table(headers, grouped=1, flexible=(1, len(headers) - 1))
    for kind in fleet.kinds:
        profile = (kind.profile,) if profiles else ()
        made.add(kind.driver, kind.model, *profile, f"{kind.devices:,}", f"{kind.idle:,}", *_rest(kind, document))
    return [made, *_notes(document)] if made.rows else []


def _notes(document: CapacityDocument) -> Iterator[Part]:
    """Yield for whom devices are stranded, and what the numbers omit."""
    fleet = document.fleet
    if len(document.items) > 1 and document.mix is UNSET and any(kind.stranded for kind in fleet.kinds):
        yield "STRANDED: idle devices that none of these workloads can use."
    lines = [
        f"  {' '.join(part for part in (kind.driver, kind.model, kind.profile) if part)}: {withheld(kind)}"
        for kind in fleet.kinds
        if kind.withheld
    ]
    if lines:
        yield Paragraph(["Devices that are neither idle nor used up:", *lines])
    kinds = Counter((kind.driver, kind.model) for kind in fleet.kinds if kind.profile)
    if any(number > 1 for number in kinds.values()):
        yield (
            "Partitions of one device exclude each other: the number for each profile assumes that no other "
            "profile is used."
        )


def withheld(of: IdleDevices) -> str:
    """Return a text about the devices that are neither idle nor used up."""
    told = [f"{one.devices:,} {f'({one.message})' if one.message else 'shared, with room left'}" for one in of.withheld]
    return listed(told)


def _rest(kind: IdleDevices, document: CapacityDocument) -> tuple[str, str, str]:
    most = f"{kind.most_on_one_node:,} ({kind.node})" if kind.most_on_one_node else "0"
    stranded = "not known" if kind.stranded is None else f"{kind.stranded:,}"
    if kind.reasons and all(reason.code == "not-wanted" for reason in kind.reasons):
        stranded = "-"  # not applicable to devices that no owner requests
    return most, stranded, why_stranded(kind, document)


def why_stranded(of: IdleDevices, document: CapacityDocument) -> str:
    """Return why idle devices cannot be used, with the number of devices for each reason."""
    what = "copy" if document.mix is UNSET else "set"
    return ", ".join(_why(reason, what) for reason in of.reasons)


def _why(of: StrandedFor, what: str) -> str:
    if of.code == "not-wanted":
        return f"{of.devices:,} not requested"
    is_one = not of.other_nodes
    where = f"{of.devices:,} on {of.node if is_one else counted(of.other_nodes + 1, 'node')}"
    if of.code != "node":
        return f"{where}: too few left{'' if is_one else ' on each'} for one more {what}"
    if not of.resource:
        return f"{where}: {of.message}"
    there = where if is_one else f"{where} ({of.message}), such as {of.node}"
    left = words.amount(of.resource, of.used, of.left) if of.pod else of.left
    return f"{there}: {left} {of.resource} left{f', {of.used} in use by pod {of.pod}' if of.pod else ''}"


def copied_owner(owner: CopiedOwner) -> str:
    """Return KIND/NAMESPACE/NAME and, if the owner has several pod templates, the field of the copied one."""
    return with_part(named(owner), owner.part)


def parse(option: str) -> Format[CapacityDocument]:
    """Return the format for `-o OPTION`. Raises UsageError for an unknown format or a malformed template."""
    return formats.parse(option, FORMATS)
