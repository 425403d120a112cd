"""Texts about claim sets: whether they fit, why they do not fit on each node, and which changes would help."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import structs

from dra_plan.allocator import Outcome
from dra_plan.documents.base import ClaimName, ObjectName
from dra_plan.documents.claim_sets import (
    ClaimSetSummary,
    ExplainedClaimSet,
    NodeExclusion,
    PlannedClaimSet,
    PlannedNode,
)
from dra_plan.documents.devices import DecidingClause
from dra_plan.documents.reasons import AttemptFault, BlockingRequest, LeadingReason
from dra_plan.documents.refusals import REFUSED
from dra_plan.documents.stories import AbsentName, DriverPod, NodeStory
from dra_plan.documents.suggestions import PatchedObject, TriedChanges
from dra_plan.documents.verdicts import OwnerVerdict
from dra_plan.explanation.hints import found_lines
from dra_plan.explanation.parts import Renaming
from dra_plan.text import obstacles, words
from dra_plan.text.columns import Lines, indented
from dra_plan.text.devices import choice_lines, request_lines
from dra_plan.text.naming import claim_set_name
from dra_plan.text.node_obstacles import obstacle
from dra_plan.text.verdicts import WITH_DEVICES
from dra_plan.text.words import counted, listed

MOST_STORIES = 12
"""The maximum number of explanations that are shown for a claim set."""


SUMMED = 4
"""The minimum number of explanations for which there is a summary."""


def stories_of(of: ExplainedClaimSet, verdict: OwnerVerdict | None) -> list[NodeStory]:
    """Return the explanations to show.

    If the pod is unscheduled, the nodes that are closest to fitting come first, and fitting nodes are left out.
    """
    if verdict is None or verdict.verdict in WITH_DEVICES:
        return of.stories
    places = {node: place for place, group in enumerate(verdict.told_nodes) for node in group.nodes}
    told = [story for story in of.stories if story.outcome is not Outcome.FITS]
    return sorted(told, key=lambda story: min((places.get(node, len(places)) for node in story.nodes), default=0))


def told_lines(absent: list[AbsentName], leading: list[LeadingReason], stories: list[NodeStory]) -> Lines:
    """Yield the missing values, a summary if it helps, and the explanations, each after an empty line."""
    yield from summary_lines(absent, leading, stories)
    told, rest = worth_telling(stories)
    for story in told:
        yield from paragraph(story)
    if rest:
        yield ""
        yield rest


def summary_lines(absent: list[AbsentName], leading: list[LeadingReason], stories: list[NodeStory]) -> Lines:
    """Yield a summary of all nodes: values that no device has, and the leading reasons."""
    yield from (f"  {words.absent(found)}" for found in absent)
    if is_long(leading, stories):
        yield f"  {words.summary(leading)}"


def is_long(leading: list[LeadingReason], stories: list[NodeStory]) -> bool:
    """Return whether a summary helps. It helps if several reasons apply to many nodes."""
    return len(leading) > 1 and (len(stories) >= SUMMED or sum(len(story.nodes) for story in stories) > MOST_STORIES)


def worth_telling(stories: list[NodeStory]) -> tuple[list[NodeStory], str]:
    """Return the explanations to show, and a sentence about the others.

    If there are too many explanations, those that cover the most nodes are shown.
    """
    if len(stories) <= MOST_STORIES:
        return stories, ""
    chosen = sorted(range(len(stories)), key=lambda at: -len(stories[at].nodes))[:MOST_STORIES]
    rest = [story for at, story in enumerate(stories) if at not in chosen]
    others = counted(sum(len(story.nodes) for story in rest), "more node")
    told = counted(len(rest), "other result", "other results")
    return [stories[at] for at in sorted(chosen)], (
        f"{others} with {told}: `-o json` lists them all, `--node NODE` shows one."
    )


def headline(of: ExplainedClaimSet, name: str = "") -> str:
    """Return the name of the claim set, and whether it fits."""
    name = name or claim_set_name(of)
    fitting = of.fitting_nodes
    total = sum(len(story.nodes) for story in of.stories) + sum(len(each.nodes) for each in of.excluded)
    if of.outcome is Outcome.REFUSED:
        return f"{name}: {REFUSED}."
    if of.outcome is Outcome.UNKNOWN:
        return f"{name}: unknown; {words.UNKNOWN}."
    if of.outcome is Outcome.FITS:
        return f"{name}: fits on {len(fitting)} of {counted(total, 'node')}."
    if of.outcome is Outcome.ERROR:
        also = f" Nodes that would fit without this error: {listed(fitting)}." if fitting else ""
        return f"{name}: {error_of(of)}.{also}"
    if of.outcome is Outcome.UNDECIDED:
        return f"{name}: undecided within the step budget."
    if total == 0:
        return f"{name}: does not fit: there is no node."
    if not of.stories and of.excluded:
        return f"{name}: does not fit: the scheduler's rules keep it off {_all(total)}."
    fails = "do not fit together" if of.owner is None and len(of.claims) > 1 else "does not fit"
    if total == 1:
        return f"{name}: {fails}."
    return f"{name}: {fails} on {'either' if total == 2 else 'any'} of the {counted(total, 'node')}."


def _all(total: int) -> str:
    return "the node" if total == 1 else f"all {total} nodes"


THE_POD = "the pod"
STOPS = "the scheduler stops with an error"
NO_CLASS = "unschedulable until its device class exists"
_MISSING = "class-missing"
"""The error that the scheduler does not stop with: it finds the missing class before it calls its allocator."""


def error_of(of: PlannedClaimSet | ExplainedClaimSet) -> str:
    """Return what an error on one node means for the claim set."""
    return NO_CLASS if any(one.code == _MISSING for one in of.leading) else STOPS


def who(of: ExplainedClaimSet) -> str:
    """Return the subject of a sentence about fitting: the pod, or the claims if there is no pod."""
    return THE_POD if of.owner is not None else "the claim" if len(of.claims) == 1 else "the claims"


def heading(story: NodeStory, who: str = THE_POD) -> str:
    """Return the nodes of an explanation, and the outcome on them."""
    several = who.endswith("s")
    match story.outcome:
        case Outcome.FITS:  # the node may lack something else
            said = "the devices fit" if who == THE_POD else f"{who} fit{'' if several else 's'}"
        case Outcome.ERROR if story.fault is None or story.fault.code != _MISSING:
            said = STOPS
        case Outcome.DOES_NOT_FIT | Outcome.ERROR:
            said = f"{who} do{'' if several else 'es'} not fit"
        case outcome:
            said = _OUTCOMES[outcome]
    return f"{nodes(story)}: {said}."


_OUTCOMES = {Outcome.NODE_ERROR: "the scheduler rejects the node with an error", Outcome.UNDECIDED: "undecided"}


def nodes(story: NodeStory) -> str:
    """Return the names of the nodes, such as `node-1` or `node-1 and node-2`.

    If the details describe only the first node, the text is, for example, `node-1 and 36 nodes like it`.
    """
    first, *rest = story.nodes
    if not rest:
        return first
    has_details = story.devices or story.choices
    if story.outcome is Outcome.ERROR:
        has_details = story.fault is not None and story.fault.device is not None
    if len(rest) <= words.NAMES and not has_details:
        return listed(story.nodes, len(story.nodes))
    named = f" ({', '.join(rest)})" if len(rest) <= words.NAMES else ""
    return f"{first} and {counted(len(rest), 'node')} like it{named}"


def story_lines(story: NodeStory) -> Lines:
    """Yield the lines about the nodes of an explanation, starting with the cause."""
    if story.outcome is Outcome.FITS:
        yield from choice_lines(story.choices)
        return
    yield from cause_lines(story)
    if story.outcome is not Outcome.ERROR and story.devices != 0:
        yield from request_lines(story)
        yield from blocking_lines(story)
        yield from obstacles.slot_lines(story.counter_sets)


def cause_lines(story: NodeStory) -> Lines:
    """Yield the causes that prevent any request from being checked: defects, errors and pools."""
    if story.defect is not None:
        yield from words.defect(story.defect)
    if story.fault is not None:
        yield from obstacles.fault(_without_useless_rewrite(story.fault, story))
    if story.outcome is Outcome.UNDECIDED:
        limit = max(story.steps - 1, 0)  # the next step exceeded it
        steps = f"within {counted(limit, 'search step')} (--max-steps)"
        yield f"No result {steps if limit else 'before the time was up (--timeout)'}."
    for claim in story.claims_elsewhere:
        devices = words.listed([f"{each.driver}/{each.pool}/{each.device}" for each in claim.devices])
        these = "this device" if len(claim.devices) == 1 else "these devices"
        yield f"Claim {words.used_claim(claim, claim.pods)} already has {devices}; this node cannot use {these}."
    if story.outcome is Outcome.ERROR:
        if story.fault is not None and story.fault.code in obstacles.ABOUT_POOLS:
            yield from _pool_lines(story)
        yield from unpublished(story)
        return
    yield from _pool_lines(story)
    if story.devices == 0 and not any(one.code == "devices-with-counters" for one in story.pools):
        yield f"No resource slice offers a device to {'this node' if len(story.nodes) == 1 else 'these nodes'}."
    yield from _lacks(story)


def _lacks(story: NodeStory) -> Iterator[str]:
    """Yield the drivers and slices that the node should perhaps have."""
    yield from map(_driver_pod, story.driver_pods)
    explained = {one.driver for one in story.driver_pods}
    for one in story.missing_drivers:
        if one.driver in explained:
            continue
        elsewhere = words.counted(one.nodes, "other node")
        yield f"Driver {one.driver} publishes no devices for this node, but it does for {elsewhere}. Does it run here?"
    for near in story.near_slices:
        yield (
            f"Slice {near.slice} (pool {near.pool}) is for nodes with {near.label}={near.wanted}; "
            f"this node has {near.label}={near.found}."
        )


def _driver_pod(of: DriverPod) -> str:
    """Return where a driver publishes devices, and why its pod does not run on other nodes."""
    more = f" and {words.counted(of.nodes - 1, 'more node', 'more nodes')}" if of.nodes > 1 else ""
    there = f"Driver {of.driver} publishes devices for {of.node}{more}, where DaemonSet {of.daemon_set} runs"
    return f"{there}. {_DRIVER_POD[of.state](of, listed(of.lacking))}."


_DRIVER_POD: dict[str, Callable[[DriverPod, str], str]] = {
    "fault": lambda of, nodes: f"Its pod {of.pod} on {nodes} is not ready: {of.reason}{words.in_brackets(of.message)}",
    "pending": lambda of, nodes: f"Its pod {of.pod} for {nodes} is Pending{words.in_brackets(of.message)}",
    "not-ready": lambda of, nodes: f"Its pod {of.pod} on {nodes} is not ready",
    "deleted": lambda of, nodes: f"Its pod {of.pod} on {nodes} is being deleted",
    "absent": lambda _of, nodes: f"It has no pod on {nodes}",
    "taint": lambda of, nodes: (
        f"It does not run on {nodes}: it does not tolerate taint {words.taint(of.taint) if of.taint else ''}"
    ),
    "label": lambda of, nodes: f"It does not run on {nodes}: it is for nodes with {of.labels}{_instead(of)}",
}


def _instead(of: DriverPod) -> str:
    """Return the labels that the nodes have instead, such as `; the node has pool=b and no label zone`."""
    found = [one if "=" in one else f"no label {one}" for one in of.found]
    if not found:
        return ""
    return f"; {'the node has' if len(of.lacking) == 1 else 'these nodes have'} {listed(found, len(found))}"


def lacks_lines(story: NodeStory) -> Iterator[str]:
    """Yield what the nodes may lack, such as a driver, if no other line shows it.

    Driver pods are listed with their nodes.
    """
    yield from map(_driver_pod, story.driver_pods)
    yield from (f"{listed(story.nodes)}: {line}" for line in _lacks(structs.replace(story, driver_pods=[])))


def _pool_lines(story: NodeStory) -> Iterator[str]:
    return (f"{words.capital(words.unusable_pool(pool))}." for pool in story.pools)


def _without_useless_rewrite(fault: AttemptFault, story: NodeStory) -> AttemptFault:
    """Return the error without a selector that avoids it but does not fit, if another name was probably meant."""
    if fault.rewrite is None or fault.rewrite.outcome != "DoesNotFit":
        return fault
    names = (item for each in _failing(story) for item in each.found)
    return structs.replace(fault, rewrite=None) if any(item.problem and item.hint for item in names) else fault


def _failing(story: NodeStory) -> Iterator[DecidingClause]:
    """Yield the deciding parts of the selectors that fail with an error."""
    for request in story.requests:
        for removed in request.removed:
            if removed.code == "selector-error":
                yield from removed.selectors or ()


def unpublished(story: NodeStory) -> Iterator[str]:
    """Yield the names that a failing selector reads but no device publishes."""
    told = [
        words.ended(words.capital(line, item.name))
        for finding in _failing(story)
        for item in finding.found
        if item.problem is not None
        for line in found_lines(item)
    ]
    yield from dict.fromkeys(told)


def blocking_lines(story: NodeStory) -> Lines:
    """Yield the lines about requests, constraints and claims that cannot be met together."""
    blocking = story.blocking_set
    if blocking is None:
        return
    if not blocking.elements:
        yield ("Each request can be met on its own, but not all of them together. It is unknown which ones conflict.")
        return
    one = sum(isinstance(element, BlockingRequest) for element in blocking.elements) == 1
    yield (
        "Enough devices pass every check, but the following are in conflict:"
        if one
        else "Each request can be met on its own, but the following are in conflict:"
    )
    yield from indented(obstacles.lines(blocking))
    if blocking.proven:
        yield "Removing any one of them resolves this conflict."
    else:
        yield "The set may be smaller: the search was cut short."


def has_suggestions(of: ExplainedClaimSet) -> bool:
    """Return whether there are suggestions to show, or that none were found."""
    if of.outcome is Outcome.UNDECIDED:
        return bool(of.suggestions)
    return of.outcome not in (Outcome.FITS, Outcome.REFUSED, Outcome.UNKNOWN) and bool(of.stories or of.suggestions)


def in_vain(of: ExplainedClaimSet) -> str:
    """Return a sentence saying that no change helped."""
    waits = _missing_slices(of)
    if waits:
        return waits
    tried = of.tried
    room = [each for each in of.excluded if each.has_room]
    if tried == 0 and room:
        why = causes(one for each in room for one in each.excluded_by)
        nodes = listed([node for each in room for node in each.nodes])
        return f"There are no changes to try. On nodes with room ({nodes}), the pod is rejected: {why}."
    if tried == 0:
        pools = dict.fromkeys(
            str(one.pool) for story in of.stories for one in story.pools if one.code == "pool-invalid"
        )
        driver = f"The driver must correct the slices of {listed(list(pools))}. " if pools else ""
        return f"{driver}{_published(of)}There are no {'other ' if pools else ''}changes to try."
    if tried == 1:
        return "One change was tried; it does not help."
    return f"{tried} changes were tried, alone and in pairs; none of them helps."


def _published(of: ExplainedClaimSet) -> str:
    """Return where a driver publishes counter sets that its devices consume and that are not published."""
    absent = dict.fromkeys(one.absent for story in of.stories for one in story.pools if one.absent and not one.hint)
    if not absent:
        return ""
    sets = f"counter {'set' if len(absent) == 1 else 'sets'} {listed(list(absent))}"
    return (
        f"To publish {sets}, list {'it' if len(absent) == 1 else 'them'} in sharedCounters of another slice of the "
        "pool, without devices, and include that slice in resourceSliceCount of all its slices. "
    )


def _missing_slices(of: ExplainedClaimSet) -> str:
    """Return the sentence about missing slices, if pools are incomplete only because of them; their devices decide."""
    pools = [pool for story in of.stories for pool in story.pools if pool.code == "pool-incomplete"]
    lacking = [pool for pool in pools if (pool.seen or 0) < (pool.expected or 0) and not pool.counts]
    if not lacking:
        return ""
    names = listed(list(dict.fromkeys(str(pool.pool) for pool in lacking)))
    return f"The contents of the missing slices of {names} are not known: the driver must publish them."


def excluded_nodes(claim_set: PlannedClaimSet | ExplainedClaimSet) -> list[tuple[list[str], Sequence[NodeExclusion]]]:
    """Return the excluded nodes, in groups with the same exclusions."""
    if isinstance(claim_set, ExplainedClaimSet):
        return [(each.nodes, each.excluded_by) for each in claim_set.excluded]
    groups: dict[tuple[NodeExclusion, ...], list[str]] = {}
    for node in claim_set.nodes:
        if node.excluded_by:
            groups.setdefault(tuple(node.excluded_by), []).append(node.name)
    return [(nodes, exclusions) for exclusions, nodes in groups.items()]


def plugins(exclusions: Iterable[NodeExclusion]) -> str:
    """Return the names of the plugins that exclude a node."""
    return ", ".join(dict.fromkeys(each.plugin for each in exclusions))


def causes(exclusions: Iterable[NodeExclusion]) -> str:
    """Return the obstacles (a taint, the cordon or a label), or the scheduler's message if nothing more is known."""
    found = list(exclusions)
    is_cordoned = any(one.kind == "Cordoned" for each in found for one in each.about)
    said: dict[str, None] = {}
    for each in found:
        about = [one for one in each.about if not (is_cordoned and one.is_of_cordon)]
        if about or not each.about:
            said[", ".join(map(obstacle, about)) or each.message] = None
    return listed(list(said))


def room(claim_set: PlannedClaimSet) -> str:
    """Return the excluded nodes that have enough devices, if the claim set fits on no other node.

    If there are no such nodes, the text says that all nodes are excluded. It is empty if some are not.
    """
    found = [node for node in claim_set.nodes if node.outcome is Outcome.FITS and node.excluded_by]
    if claim_set.fitting_nodes:
        return ""
    if not found:
        every = claim_set.outcome is Outcome.DOES_NOT_FIT and all(node.excluded_by for node in claim_set.nodes)
        why = causes(each for node in claim_set.nodes for each in node.excluded_by)
        return f"all nodes rejected: {why}" if every and why else ""
    why = causes(each for node in found for each in node.excluded_by)
    return f"only {listed([node.name for node in found])} would have room, but rejected: {why}"


def lines(claim_set: ExplainedClaimSet) -> Iterator[str]:
    """Yield a line for each kind of exclusion, with the nodes, whether the claims would fit there, and the obstacle."""
    for each in claim_set.excluded:
        why = causes(each.excluded_by)
        if each.has_room:
            has = "has" if len(each.nodes) == 1 else "have"
            yield f"{listed(each.nodes)}: {has} room, but rejected: {why}."
        else:
            yield f"{listed(each.nodes)}: rejected before any device is checked: {why}."


MOST_NAMES = 3
"""The maximum number of claim sets that a cell names. If there are more, it names only the first."""


def alike(claim_sets: Iterable[PlannedClaimSet]) -> list[list[PlannedClaimSet]]:
    """Group the claim sets with equal results on every node, in the order of the first set of each group."""
    groups: dict[tuple[object, ...], list[list[PlannedClaimSet]]] = {}
    found: list[list[PlannedClaimSet]] = []
    for claim_set in claim_sets:
        key = (claim_set.outcome, len(claim_set.claims), len(claim_set.fitting_nodes), len(claim_set.nodes))
        known = groups.setdefault(key, [])
        group = next((group for group in known if _same_answers(group[0], claim_set)), None)
        if group is None:
            group = []
            known.append(group)
            found.append(group)
        group.append(claim_set)
    return found


def explained_alike(claim_sets: Iterable[ExplainedClaimSet]) -> list[list[ExplainedClaimSet]]:
    """Group the claim sets whose explanations differ only in names, in the order of the first set of each group."""
    known: dict[tuple[object, ...], list[tuple[ExplainedClaimSet, list[ExplainedClaimSet]]]] = {}
    found: list[list[ExplainedClaimSet]] = []
    for claim_set in claim_sets:
        nameless = _without_names(claim_set)
        key = (claim_set.outcome, len(claim_set.claims), len(claim_set.stories), len(claim_set.fitting_nodes))
        groups = known.setdefault(key, [])
        group = next((group for first, group in groups if first == nameless), None)
        if group is None:
            group = []
            groups.append((nameless, group))
            found.append(group)
        group.append(claim_set)
    return found


def _without_names(of: ExplainedClaimSet) -> ExplainedClaimSet:
    """Return the claim set with numbers instead of the names of its claims, without its owner and its example node."""
    numbers = {claim: ClaimName(namespace="", name=str(number)) for number, claim in enumerate(of.claims)}
    nameless = Renaming(numbers).of(of)
    suggestions = [_without_owner(each, of.owner) for each in nameless.suggestions]
    told = [_without_example(story) if story.outcome is Outcome.FITS else story for story in nameless.stories]
    return structs.replace(
        nameless, owner=None, part="", copies=1, not_judged=[], stories=told, suggestions=suggestions
    )


def _without_example(of: NodeStory) -> NodeStory:
    """Return the story for nodes that fit, without the devices, which are the first node's."""
    choices = [structs.replace(each, device=None, passed_over=[]) for each in of.choices]
    return structs.replace(of, nodes=sorted(of.nodes), choices=choices, devices=None)


def _without_owner(of: TriedChanges, owner: ObjectName | None) -> TriedChanges:
    """Return the changes with anonymous patches instead of those of the owner."""
    if owner is None or all(patch.object.kind != owner.kind for patch in of.patches):
        return of
    nobody = PatchedObject(api_version="v1", kind=owner.kind, namespace="", name="owner")
    name = (owner.kind, owner.namespace, owner.name)
    patches = [
        structs.replace(patch, object=nobody)
        if (patch.object.kind, patch.object.namespace, patch.object.name) == name
        else patch
        for patch in of.patches
    ]
    return structs.replace(of, patches=patches)


def names(group: Sequence[PlannedClaimSet | ExplainedClaimSet]) -> str:
    """Return the names in a group, such as `pod/default/a, pod/default/b` or `pod/default/a and 299 more`."""
    first = claim_set_name(group[0])
    if len(group) > MOST_NAMES:
        return f"{first} and {len(group) - 1} more"
    return ", ".join([first, *map(claim_set_name, group[1:])])


def _same_answers(one: PlannedClaimSet, other: PlannedClaimSet) -> bool:
    return (
        one.leading == other.leading
        and one.fitting_nodes == other.fitting_nodes
        and all(a is b or _same_answer(a, b) for a, b in zip(one.nodes, other.nodes, strict=True))
    )


def _same_answer(one: PlannedNode, other: PlannedNode) -> bool:
    return (
        one.steps == other.steps
        and one.outcome is other.outcome
        and one.message == other.message
        and one.excluded_by == other.excluded_by
        and len(one.claims) == len(other.claims)
        and all(a.allocation == b.allocation for a, b in zip(one.claims, other.claims, strict=True))
        and [reason.code for reason in one.reasons] == [reason.code for reason in other.reasons]
    )


TOGETHER = "run `dra-plan schedule --settle` with the same paths"


ALONE = "Each row is checked alone"


def copies(claim_sets: Sequence[ClaimSetSummary]) -> list[str]:
    """Return the owners that need more than one pod, and the number of pods."""
    return [f"{claim_set_name(each)} needs {each.copies} pods" for each in claim_sets if each.copies > 1]


def judged_alone(wants: list[str]) -> str:
    """Return a sentence saying that each row is checked separately, although more pods are needed."""
    return f"{ALONE}: {'; '.join(wants)}. To check all pods together, {TOGETHER}."


def left_out(claim_sets: Sequence[ClaimSetSummary]) -> Iterator[str]:
    """Yield the rules about pods that were not checked."""
    found = list(dict.fromkeys(rule for each in claim_sets for rule in each.not_judged))
    if found:
        about = _of(claim_sets)
        yield f"Not checked: {listed(found, len(found))} of {about}. To check them as well, {TOGETHER}."


def _of(claim_sets: Sequence[ClaimSetSummary]) -> str:
    names = [claim_set_name(each) for each in claim_sets if each.not_judged]
    return listed(names)


def paragraph(story: NodeStory, who: str = THE_POD) -> list[str]:
    """Return the lines of an explanation, starting with an empty line."""
    return ["", heading(story, who), *indented(story_lines(story))]
