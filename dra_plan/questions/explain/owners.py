"""The text about owners: the verdict, the nodes, and the changes that would help, in full, folded, or on one line."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from msgspec import UNSET, structs

from dra_plan.allocator import Outcome
from dra_plan.documents.base import ClaimName
from dra_plan.documents.claim_sets import ExplainedClaimSet
from dra_plan.documents.node_obstacles import NodeObstacle
from dra_plan.documents.stories import NodeStory
from dra_plan.documents.suggestions import TriedChanges
from dra_plan.documents.verdicts import MOST_NODES_TRIED, TRIED, OwnerVerdict
from dra_plan.explanation.unready_pods import FAULTS
from dra_plan.questions.explain.blocks import OwnerBlock, is_lone_claim
from dra_plan.questions.explain.document import ExplanationDocument
from dra_plan.questions.explain.lines import unplanned_lines
from dra_plan.text import columns, obstacles, suggestions
from dra_plan.text.columns import Lines, indented
from dra_plan.text.node_obstacles import in_short
from dra_plan.text.placed import start_lines, unready_lines
from dra_plan.text.refusing_nodes import is_told_elsewhere, only_devices
from dra_plan.text.stories import (
    copies,
    has_suggestions,
    headline,
    in_vain,
    judged_alone,
    lacks_lines,
    left_out,
    lines,
    names,
    paragraph,
    stories_of,
    summary_lines,
    who,
    worth_telling,
)
from dra_plan.text.verdicts import (
    UNTOLD,
    eviction_lines,
    verdict_line,
    verdict_lines,
)
from dra_plan.text.words import counted, listed

MOST_LINES, WIDTH, FOOTER = 25, 80, 2
"""The default number of lines for an owner, the width of the screen, and the number of lines at the end."""


MOST_HELP = 4
"""The default maximum number of suggestions for an owner."""


MOST_BLOCKS = 4
"""The maximum number of owners shown in full unless they are named. If there are more, each has one line."""


MOST_SLOTS = 3
"""The maximum number of counter sets whose slots are shown for nodes that are not shown in full."""


WHOLE = "-v shows"


ONE_MORE = "  The following is about one more pod like these."
"""A note for a workload whose pods all have nodes."""


class Telling(NamedTuple):
    """How detailed an explanation is: whether all groups of nodes are shown, and whether owners are shown in full."""

    verbose: bool = False
    details: bool = False


BRIEF = Telling()


def one_line(block: OwnerBlock) -> str:
    """Return the verdict, or the result for devices, and the obstacles on the nodes closest to fitting, on one line."""
    if not block.verdicts or is_lone_claim(block):
        return headline(block.claim_sets[0], names(block.claim_sets))
    if block.unplanned is not None and is_told_by_what_it_has(block):
        return next(unplanned_lines(block.unplanned))
    return verdict_line(block.verdicts)


def is_told_by_what_it_has(block: OwnerBlock) -> bool:
    """Return whether the owner's state says more than its verdict.

    This is the case if the owner has a node or devices, or has finished.
    """
    unplanned = block.unplanned
    return block.verdicts[0].verdict in UNTOLD and unplanned is not None and unplanned.state != "WithoutClaims"


def owner_lines(block: OwnerBlock, *, folded: bool = False) -> Lines:
    """Yield the lines about equal owners: the verdict, and then the devices, the changes that help, or the state.

    If `folded` is set, explanations that do not fit on the screen are counted instead of shown.
    """
    if not block.verdicts or is_lone_claim(block):
        name = names(block.claim_sets)
        yield from _fold([headline(block.claim_sets[0], name)], block.claim_sets[0], None, folded=folded)
        return
    verdict = block.verdicts[0]
    first = next(iter(block.claim_sets), None)
    is_told = is_told_by_what_it_has(block)
    head = [] if is_told else list(verdict_lines(block.verdicts, first))
    if verdict.verdict == "Refused":
        yield from head
        if verdict.suggestions:
            yield from _suggestion_lines(None, verdict, folded=folded)
            return
        yield from _suggestion_lines(first) if first is not None and first.suggestions else ()
        return
    start = list(start_lines(verdict, block.unplanned))
    if block.unplanned is not None:
        of_requests = is_told or _is_about_requests(verdict)
        head += unplanned_lines(
            block.unplanned, start, headed=is_told, lacking=verdict.lacking, of_requests=of_requests
        )
    else:
        head += indented(start)
    head += indented(eviction_lines(verdict))
    if first is None:
        yield from head
        yield from _suggestion_lines(None, verdict, folded=folded)
    else:
        if verdict.verdict in UNTOLD:
            head.append(ONE_MORE)
        yield from _fold(head, first, verdict, folded=folded)


def _is_about_requests(of: OwnerVerdict) -> bool:
    """Return whether a node has too little for the pod, or it is not told why nodes reject it.

    Nodes that are reserved for the control plane are left out if there are others.
    """
    about = [group.about for group in of.nodes]
    told = [each for each in about if not any(one.is_reserved for one in each)] or about
    return not told or any(one.kind == "Resource" for each in told for one in each)


def set_lines(of: ExplainedClaimSet, name: str = "") -> Lines:
    """Yield the lines about a claim set, or about claim sets that are together called `name`."""
    yield from _fold([headline(of, name)], of, None, folded=False)


def _fold(head: list[str], of: ExplainedClaimSet, verdict: OwnerVerdict | None, *, folded: bool) -> Lines:
    """Yield the first lines and the devices; nodes that the verdict covers are not repeated."""
    faults = _missing_classes(verdict, of)
    head = [*head[:1], *indented(unready_lines(verdict)), *indented(faults), *head[1:]]
    if verdict is not None and _is_told_whole(verdict, of):
        yield from head
        yield from [RELEASED] if not verdict.missing else []
        return
    if of.fault is not None:
        head = [*head, *indented(obstacles.fault(of.fault))]
    stories = [story for story in stories_of(of, verdict) if not faults or story.fault is None]
    if folded and verdict is not None and verdict.depends_on_gates:
        stories = []  # they are about the cluster without the gates
    head = [*head, *summary_lines(of.absent, [] if tells_nodes(verdict, of) else of.leading, stories)]
    tail: list[str] = []
    if of.excluded and not (verdict is not None and verdict.told_nodes):
        tail += ["", *lines(of)]
    if verdict is None or verdict.verdict not in ("Unknown", "WouldBind", "WouldPreempt"):
        tail += _suggestion_lines(of, verdict, folded=folded)
    are_named = tells_nodes(verdict, of)
    faulty = [story for story in stories if story.fault is not None] if folded and _is_stopped(verdict) else []
    if faulty and told_suggestions(of, verdict):
        others, stories = len(stories) - len(faulty), faulty  # the error ends the attempt, whatever other nodes lack
        told, rest = worth_telling(faulty)[0], _not_told(others, are_named=False) if others else ""
    elif folded and verdict is not None and are_named:
        stories = [_deciding(story, verdict) for story in stories]
        told, rest = worth_telling([story for story in stories if not _is_told(story, verdict)])
    else:
        told, rest = worth_telling(stories)
    hidden: list[str] = []
    paragraphs = [paragraph(story, who(of)) for story in told]
    if folded:
        kept = _kept(head, paragraphs, tail, least=0 if are_named and not _decides(verdict) else 1)
        shown = told[:kept]
        paragraphs = paragraphs[:kept]
        if any(story.devices for story in stories if story not in shown):
            rest = _not_told(len(stories) - kept, are_named=are_named)
        unshown = [story for story in stories if story not in shown]
        slots = (line for story in unshown for line in obstacles.slot_lines(story.counter_sets))
        hidden = [*(line for story in unshown for line in lacks_lines(story)), *islice(slots, MOST_SLOTS)]
    yield from head
    for each in paragraphs:
        yield from each
    yield from ("", *hidden) if hidden else ()
    yield from ("", rest) if rest else ()
    yield from tail


def _is_stopped(verdict: OwnerVerdict | None) -> bool:
    """Return whether an error ends the attempt."""
    return verdict is not None and verdict.verdict == "Error"


def _not_told(stories: int, *, are_named: bool) -> str:
    """Return how to see the devices of nodes that are not shown."""
    if are_named:
        return f"{WHOLE} the devices of each kind of node; --node NODE shows the devices of one node."
    kinds = counted(stories, "more kind of node", "more kinds of nodes")
    return f"{kinds}: {WHOLE} {'it' if stories == 1 else 'them all'}, --node NODE shows a single node."


FEW = 2
"""The maximum number of node kinds that are all shown in full."""

RELEASED = "  The devices of its claims are on other nodes and not in use: kube-scheduler frees them first."
"""A note for a pod that would be bound although its allocated claims do not fit, because of PostFilter of
DynamicResources."""


def _is_told_whole(verdict: OwnerVerdict, of: ExplainedClaimSet) -> bool:
    """Return whether the device results would contradict the verdict: they use claims in their present state."""
    if verdict.missing:
        return True
    is_elsewhere = any(story.claims_elsewhere for story in of.stories)
    return verdict.verdict in ("WouldBind", "WouldPreempt") and of.outcome is Outcome.DOES_NOT_FIT and is_elsewhere


def tells_nodes(verdict: OwnerVerdict | None, of: ExplainedClaimSet) -> bool:
    """Return whether the verdict already shows the obstacles on nodes."""
    nodes = verdict.told_nodes if verdict is not None else []
    return bool(nodes) and not is_told_elsewhere(nodes, of.fitting_nodes)


def _of_devices(verdict: OwnerVerdict, node: str) -> list[NodeObstacle]:
    """Return what the verdict says about the devices of a node."""
    about = next((group.about for group in verdict.told_nodes if node in group.nodes), [])
    return [one for one in about if one.kind == "Devices"]


def _deciding(story: NodeStory, verdict: OwnerVerdict) -> NodeStory:
    """Return the story without the drivers that nodes lack which something else keeps the pod off anyway.

    The same applies to nodes that are not likely to have such devices. A pod of the driver that should run there and
    does not is told in any case.
    """
    likely = [one for one in story.driver_pods if not one.unlikely]
    kept = [one for one in likely if one.state in FAULTS or _only_devices(verdict, one.lacking)]
    unlikely = {one.driver for one in story.driver_pods} - {one.driver for one in likely}
    missing = [one for one in story.missing_drivers if one.driver not in unlikely]
    return structs.replace(story, driver_pods=kept, missing_drivers=missing)


def _only_devices(verdict: OwnerVerdict, nodes: list[str]) -> bool:
    groups = [group for group in verdict.told_nodes if not set(group.nodes).isdisjoint(nodes)]
    return any(only_devices([group]) for group in groups)


def _is_told(story: NodeStory, verdict: OwnerVerdict) -> bool:
    """Return whether the verdict's line says as much: there are no devices, never enough, or why none is left."""
    lost, elsewhere = {one.claim for one in verdict.lost_claims}, {one.name for one in story.claims_elsewhere}
    if story.fault or story.defect or elsewhere - lost or story.pools or story.blocking_set:
        return False
    if elsewhere:
        return True
    if story.devices == 0:
        return True
    failing = [one for one in story.requests if one.problem]
    if len(failing) != 1 or story.counter_sets:
        return False
    devices = _of_devices(verdict, story.nodes[0])
    is_selector = any(one.deciding is not None and not one.on for one in devices)
    steps = {one.step for one in failing[0].removed if not one.class_ and one.wanted != 0}
    if steps == {"selector"}:
        return is_selector
    return steps.isdisjoint(("selector", "pool")) and any(one.removed or (one.never and one.room) for one in devices)


def _missing_classes(verdict: OwnerVerdict | None, of: ExplainedClaimSet) -> list[str]:
    """Return that a class does not exist, if other text follows or the devices are unknown, and the input has any."""
    if verdict is None or verdict.verdict == "Unknown" or "deviceclasses" in verdict.missing:
        return []
    if not verdict.missing and verdict.freed is None:
        return []
    faults = (story.fault for story in of.stories if story.fault is not None)
    return next((obstacles.fault(one) for one in faults if one.code == "class-missing"), [])


def _decides(verdict: OwnerVerdict | None) -> bool:
    """Return whether the devices of the nodes closest to fitting decide, and their line does not say why."""
    nodes = verdict.told_nodes[:1] if verdict is not None else []
    told = [one for group in nodes for one in group.about if one.removed or one.together or one.deciding]
    return bool(nodes) and only_devices(nodes) and not told


def _kept(head: list[str], paragraphs: list[list[str]], tail: list[str], *, least: int) -> int:
    """Return the number of paragraphs that fit, at least `least`; of two, neither is omitted alone."""
    if least and len(paragraphs) <= FEW:
        return len(paragraphs)
    room = MOST_LINES - len(columns.wrapped([*head, *tail], WIDTH)) - FOOTER
    for number, each in enumerate(paragraphs):
        room -= len(columns.wrapped(each, WIDTH))
        if room < (0 if number + 1 == len(paragraphs) else 2) and number >= least:
            return number
    return len(paragraphs)


def _suggestion_lines(
    of: ExplainedClaimSet | None, verdict: OwnerVerdict | None = None, *, folded: bool = False
) -> Iterator[str]:
    told = told_suggestions(of, verdict)
    if told:
        yield from _help_lines(told, verdict, folded=folded)
        if edits_generated(of, verdict):
            yield ANEW
    elif said := nothing_helps(of, verdict):
        yield ""
        yield said


ANEW = (
    "  Templates and claims cannot be edited. Delete and recreate the template, then delete the pod "
    "(and create it again if it has no controller)."
)


def edits_generated(of: ExplainedClaimSet | None, verdict: OwnerVerdict | None) -> bool:
    """Return whether any suggestion changes a template from which a claim has already been generated."""
    if of is None:
        return False
    is_tried = verdict is not None and verdict.verdict in TRIED
    return any(map(_edits_generated, verdict.suggestions if verdict is not None and is_tried else of.suggestions))


def _edits_generated(of: TriedChanges) -> bool:
    """Return whether a changed template, which may not be in the input, has an already generated claim."""
    kinds = {patch.object.kind for patch in of.patches}
    claims = (getattr(change, "claim", None) for change in of.changes)
    is_absent = any(isinstance(claim, ClaimName) and claim.is_template_absent for claim in claims)
    return is_absent or {"ResourceClaim", "ResourceClaimTemplate"} <= kinds


def nothing_helps(of: ExplainedClaimSet | None, verdict: OwnerVerdict | None) -> str:
    """Return a sentence that states that no change helps, or "" if this is not known.

    It is known if devices are the only obstacle, or if changes were tried.
    """
    nodes = verdict.told_nodes if verdict is not None else []
    alone = not (verdict is not None and verdict.of_all_nodes) and only_devices(nodes)
    if of is None or not alone or not has_suggestions(of):
        return _none_helps(verdict)
    if verdict is not None and verdict.held_by_siblings:
        pods = listed(verdict.held_by_siblings)
        return f"The devices are in use by pods of the same workload ({pods}), which its controller would recreate."
    return STILL_NONE if verdict is not None and of.suggestions else in_vain(of)


def _none_helps(verdict: OwnerVerdict | None) -> str:
    """Return that no change helps or, if none was tried, why not; "" if changes are not tried for such a verdict."""
    if verdict is None or verdict.verdict not in TRIED:
        return ""
    if verdict.tried:
        return NONE_HELPS if verdict.alone is None else FOR_ALL
    if verdict.of_all_nodes:
        is_awaited = any(one.awaits_default for one in verdict.volume_claims)
        return "" if is_awaited and verdict.freed is not None else NOT_OF_NODES
    if verdict.volume_claims or verdict.volumes_apart is not None:
        return ""  # the lines about them say what to do
    if verdict.tried is None:
        return NO_TIME
    if verdict.total_nodes > MOST_NODES_TRIED:
        return f"No change was tried: there are more than {MOST_NODES_TRIED:,} nodes."
    nearest = verdict.told_nodes[0] if verdict.told_nodes else None
    return f"{NONE_KNOWN} ({in_short(nearest)})." if nearest is not None else f"{NONE_KNOWN}."


NONE_HELPS = "No single change and no pair of changes that dra-plan tries makes it fit."
NONE_KNOWN = "No change was tried: dra-plan knows of none that would help here"
NOT_OF_NODES = "No change was tried: no node can take the pod until the problem above is fixed."
NO_TIME = "No change was tried: too many pods are explained at once, or the time is up."
FOR_ALL = "No change that dra-plan knows makes room for it as well as for the pods that come first."
"""Notes for the cases in which no change helps, or none was tried with the whole scheduler."""

STILL_NONE = "Some changes make the claims of the pod fit, but the pod still cannot be scheduled."
"""A note for claims that would fit, although the pod still cannot be scheduled."""


LIMITS = "  How many volumes a node can attach is not known: add the output of `kubectl get csinodes -o yaml`."


def _help_lines(told: list[str], verdict: OwnerVerdict | None, *, folded: bool) -> Iterator[str]:
    if not told:
        return
    kept = MOST_HELP if folded and len(told) > MOST_HELP + 1 else len(told)
    title, tried = help_heading(told, verdict)
    yield ""
    yield f"{title}{tried}:"
    yield from (f"  {number}. {line}" for number, line in enumerate(told[:kept], start=1))
    if kept < len(told):
        yield f"  and {len(told) - kept} more: {WHOLE} them."
    if verdict is not None and verdict.limits_unknown:
        yield LIMITS


def help_heading(told: list[str], verdict: OwnerVerdict | None) -> tuple[str, str]:
    """Return the heading of the suggestions, and a remark on which of them were tried."""
    untried = len(verdict.repairs) if verdict is not None else 0
    return suggestions.heading(len(told) - untried, untried)


def told_suggestions(of: ExplainedClaimSet | None, verdict: OwnerVerdict | None) -> list[str]:
    """Return the changes that would help, one per line.

    Claims of which any one has to be released share a line. The suggestions of a verdict were tried with the whole
    scheduler. Without a verdict, they are the changes that make the claims fit. Driver pods to repair come first;
    repairs are not tried.
    """
    if verdict is not None and (of is None or verdict.verdict in TRIED):
        who_fits = "the claim" if verdict.kind == "ResourceClaim" else "the pod"
        repairs = map(suggestions.repair, verdict.repairs)
        return [*repairs, *suggestions.together(verdict.suggestions, who_fits, verdict.pods)]
    found = of.suggestions if of is not None else []
    kept = [one for one in found if verdict is None or verdict.is_met_by(one)]
    return suggestions.together(kept, who(of) if of is not None else "the pod")


def explained(document: ExplanationDocument) -> list[str]:
    """Return what the explanation does not cover: moves, or, if the whole scheduler was not run, copies and rules."""
    if document.verdicts is not UNSET:
        helped = [one for one in document.verdicts if one.moves_help] if document.moves is UNSET else []
        names = listed([f"{one.kind.lower()}/{one.namespace}/{one.name}" for one in helped])
        whom = f" for {names}" if len(document.verdicts) > 1 else ""
        most = max((one.moves_help for one in helped), default=0)
        pods = "pods" if most > 1 else "pod"
        return [f"--moves {most} shows which running {pods} could move to make room{whom}."] if helped else []
    claim_sets = document.claim_sets
    many = copies(claim_sets)
    return [*([judged_alone([listed(many)])] if many else []), *left_out(claim_sets)]
