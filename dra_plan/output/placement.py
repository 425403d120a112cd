"""`place -o table`, `-o wide` and `-o name`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dra_plan import shown
from dra_plan.documents.base import ObjectName
from dra_plan.documents.capacity import CopyObstacle, NextCopy
from dra_plan.documents.placement import ImpossibilityProof, PlacedPodClaim, PlacedPodEntry, PlacementDocument

from . import leading_words, placement_patches, text
from .columns import Paragraph, Part, Screen, Table
from .explain_words import counted, listed
from .formats import Formats

AT_ONCE = "can run at the same time"


def table(document: PlacementDocument, _screen: Screen | None) -> list[Part]:
    """The verdict, then the placement or the proof that there is none."""
    return [*_verdict(document), *_placed(document, wide=False), text.target(document)]


def wide(document: PlacementDocument, _screen: Screen | None) -> list[Part]:
    """The same, with every device by its name."""
    return [*_verdict(document), *_placed(document, wide=True), text.target(document)]


def _verdict(document: PlacementDocument) -> Iterator[Part]:
    pods = counted(document.pods, "pod")
    if document.outcome == "Placed":
        placed = len(document.placed)
        if placed == document.pods:
            yield f"Placed: {pods}, all at the same time."
        else:
            yield f"Placed: {placed} of {pods} at the same time, which is what the group needs."
    elif document.outcome == "Impossible":
        yield f"Impossible: {_at_most(document.pods, document.at_most)}."
    else:
        yield f"Undecided: {_between(document)}."
    for group in document.groups:
        name = f"podgroup {group.namespace}/{group.name}"
        yield f"{name} needs {group.needed} of its waiting pods, and has {group.placed}."
    if document.proof is not None:
        yield proof(document.proof)
    if document.refused_afterwards:
        yield Paragraph(list(_refused(document)))
    yield from _priorities(document)
    yield from _scheduler(document)


def _between(document: PlacementDocument) -> str:
    """What is known where neither a placement nor a proof was found."""
    pods, least, most = document.pods, document.at_least, document.at_most
    if most < pods:
        some = f"at least {least} and " if least else ""
        return f"of {counted(pods, 'pod')} {some}at most {most} {AT_ONCE}"
    if pods == 1:
        return "whether the pod that waits can run is not known"
    some = f"; at least {least} can" if least else ""
    return f"whether all {pods:,} pods can run at the same time is not known{some}"


def _at_most(pods: int, most: int) -> str:
    if most == 0:
        return "the pod that waits can't run" if pods == 1 else f"none of {counted(pods, 'pod')} can run"
    return f"of {counted(pods, 'pod')} no more than {most} {AT_ONCE}"


def proof(of: ImpossibilityProof) -> Paragraph:
    """The smallest set that can't be placed, and what is in the way."""
    names = listed([_pod(pod) for pod in of.pods])
    if len(of.pods) == 1:
        lines = [f"{names} has no place, even alone:"]
    else:
        lines = [
            f"These {len(of.pods)} can't run at the same time, and without any one of them the others can: {names}.",
            f"With {counted(len(of.pods) - 1, 'of them', 'of them')} placed, in the way of {_pod(of.left)}:",
        ]
    return Paragraph([*lines, *(f"  {line}" for line in _in_the_way(of))])


def _in_the_way(proof: ImpossibilityProof) -> Iterator[str]:
    yield proof.message
    if proof.in_the_way is not None:
        for obstacle in proof.in_the_way.obstacles:
            yield from _obstacle(obstacle, proof.in_the_way)


def _obstacle(of: CopyObstacle, told: NextCopy) -> Iterator[str]:
    nodes = counted(of.nodes_with_copies + of.other_nodes, "node")
    if of.kind == "Resource":
        yield f"{of.resource} on {nodes}: {of.need} needed, {of.left} left at most"
    elif of.kind == "Devices" and told.leading:
        reasons = [f"{leading_words.cell(one)} on {one.nodes}" for one in told.leading[: leading_words.MOST]]
        yield f"devices on {nodes}: {', '.join(reasons)}"


def _refused(document: PlacementDocument) -> Iterator[str]:
    yield "Filters that look at other pods or at volumes are asked when a placement is found. There they refuse:"
    for one in document.refused_afterwards:
        yield f"  {one.namespace}/{one.name} on {one.node}: {one.plugin}: {one.message}"


def _priorities(document: PlacementDocument) -> Iterator[Part]:
    made = Table(("PRIORITY", "PODS", "PLACED", "AT MOST"))
    for level in document.priorities:
        made.add(str(level.priority), str(level.pods), str(level.placed), str(level.at_most))
    if made.rows:
        yield made


def _scheduler(document: PlacementDocument) -> Iterator[str]:
    told = document.scheduler
    if told is None:
        return
    best = {True: "no placement has more.", False: "a placement with more exists.", None: "whether more fit is open."}
    yield f"kube-scheduler would bind {told.bound} of them: {best[told.is_best]}"


def _placed(document: PlacementDocument, *, wide: bool) -> Iterator[Part]:
    made = Table(("NODE", "POD", "DEVICES"), grouped=1, flexible=(1, 2))
    order = {node: place for place, node in enumerate(dict.fromkeys(entry.node for entry in document.placed))}
    for entry in sorted(document.placed, key=lambda each: order[each.node]):
        made.add(entry.node, f"{entry.namespace}/{entry.name}", _devices(entry, wide=wide))
    if made.rows:
        yield made
    if document.left:
        yield f"Without a place: {listed([_pod(pod) for pod in document.left])}."


def _devices(entry: PlacedPodEntry, *, wide: bool) -> str:
    """The devices of a pod."""
    if wide:
        results = [result for claim in entry.claims for result in claim.allocation.devices.results]
        return ", ".join(text.device_name(result) for result in results)
    return devices_of(entry.claims)


def devices_of(claims: Sequence[PlacedPodClaim]) -> str:
    """The devices that claims get, by driver; with their number where there are many."""
    names: dict[str, list[str]] = {}
    for claim in claims:
        for result in claim.allocation.devices.results:
            names.setdefault(result.driver, []).append(result.device)
    return "; ".join(f"{driver}: {listed(found)}" for driver, found in names.items())


def device_lines(entry: PlacedPodEntry) -> Iterator[str]:
    """Each device of a pod, with the claim and the request that get it."""
    for claim in entry.claims:
        for result in claim.allocation.devices.results:
            yield f"{text.device_name(result)}: claim {claim.name}, request {result.request}"


def _pod(pod: ObjectName) -> str:
    return f"{pod.namespace}/{pod.name}"


def names(document: PlacementDocument) -> str:
    """`pod/NAMESPACE/NAME node/NODE` for every pod that is placed."""
    return "".join(
        shown.line(f"pod/{entry.namespace}/{entry.name} node/{entry.node}") + "\n" for entry in document.placed
    )


FORMATS = Formats(table=table, wide=wide, name=names, others={"patches": placement_patches.render})
