"""`diff -o table`, `-o wide` and `-o markdown`: a table for each kind of difference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from dra_plan import shown
from dra_plan.allocator import Outcome
from dra_plan.controllers.over_quota import in_words
from dra_plan.questions.diff.document import (
    ChangedClaimSet,
    ChangedField,
    ChangedPod,
    ComparedPod,
    ComparedSet,
    ComparedState,
    DiffDocument,
    DiffReason,
    undecided_outcomes,
)
from dra_plan.text import evictions
from dra_plan.text.columns import Folded, Paragraph, Screen, Table
from dra_plan.text.folding import by_pool
from dra_plan.text.formats import Format, Formats, choose, of_tables, whole
from dra_plan.text.markdown import markdown_parts
from dra_plan.text.naming import (
    claim_set_name,
    fits_nowhere,
    node_list,
    release,
    sentence,
    unsettled_words,
    why_not_known,
)
from dra_plan.text.pool_changes import changed_pools
from dra_plan.text.preemption import without
from dra_plan.text.words import CHANGES, NOT_MADE, class_selector, counted, listed, when

Part = Table | Paragraph | str


MOST_MESSAGES = 3
"""The maximum number of messages about nodes in a table cell."""


HELD = {"Lost": "no longer published", "Gained": "now published"}
"""How tables name each change of an allocated device."""


FEWEST_FOLDED = 3
"""The minimum number of rows for pods of one controller that are merged into one."""


_PodCells = tuple[str, str, str, str]
"""Change, before, after, and whether other pods are the reason."""


MOST_HELD = 20
"""The maximum number of allocated claims in a table. `-o wide` shows all of them."""


MOST_FIELDS = 4
"""The maximum number of changed fields shown for a node."""


def table(document: DiffDocument, _screen: Screen | None) -> list[Part]:
    """Return the differences. Pods and pools with the same difference share a row, which shows their number."""
    parts: list[Part] = [*_tables(document), *_other_messages(document), *_reasons(document), *_not_known(document)]
    return [*parts, *ends(document)] if parts else ["No difference.", *ends(document)]


def wide(document: DiffDocument, _screen: Screen | None) -> list[Part]:
    """Return the same content as `table`, plus every node for each claim set."""
    made = Table(("WORKLOAD", "NODE", "BEFORE", "AFTER"), grouped=1, flexible=(2, 3))
    for one in document.claim_sets:
        for node in one.nodes:
            made.add(claim_set_name(one), node.name, node.before or "", node.after or "")
    nodes = [made] if made.rows else []
    parts: list[Part] = [*_tables(document, whole=True), *nodes, *_reasons(document), *_not_known(document)]
    return [*parts, *ends(document)] if parts else ["No difference.", *ends(document)]


def _tables(document: DiffDocument, *, whole: bool = False) -> Iterator[Table]:
    """Yield a table for each kind of difference; `whole` includes messages, pods and claims omitted otherwise."""
    pools = changed_pools(document.pools), _held(document, None if whole else MOST_HELD)
    for made in (_claim_sets(document), _pods(document, whole=whole), _nodes(document), *pools, _selectors(document)):
        if made.rows:
            yield made


def _claim_sets(document: DiffDocument) -> Table:
    made = Table(("WORKLOAD", "CHANGE", "BEFORE", "AFTER"), flexible=(0, 2, 3))
    alike: dict[tuple[str, ...], list[str]] = {}
    for one in document.claim_sets:
        alike.setdefault((change(one.change), *_set_states(one)), []).append(claim_set_name(one))
    for cells, names in alike.items():
        made.add(listed(names), *cells)
    return made


def _set_states(one: ChangedClaimSet) -> list[str]:
    """Return both states; if the set fits on the same nodes, the first node that differs."""
    states = (one.before, one.after)
    cells = [_set_state(state) for state in states]
    if cells[0] != cells[1] or one.change == "Undecided":
        return cells
    differing = [node for node in one.nodes if node.before != node.after]
    if not differing:
        return [f"{cell} ({state.outcome.value})" for cell, state in zip(cells, states, strict=True) if state]
    fitting = one.after.fitting_nodes if one.after is not None else []
    first = next((node for node in differing if node.name in fitting), differing[0])
    more = f" (and {counted(len(differing) - 1, 'other node')})" if len(differing) > 1 else ""
    return [f"on {first.name}: {side or 'not there'}{more}" for side in (first.before, first.after)]


def _set_state(state: ComparedSet | None) -> str:
    if state is None:
        return "not there"
    if state.outcome is Outcome.ERROR and state.messages:
        fits = f"; its devices would fit on {node_list(state.fitting_nodes)}" if state.fitting_nodes else ""
        return f"the scheduler stops with an error: {state.messages[0]}{fits}"
    if state.fitting_nodes:
        return f"fits on {counted(len(state.fitting_nodes), 'node')}: {node_list(state.fitting_nodes)}"
    word = fits_nowhere(state.outcome.value)
    rest = len(state.messages) - MOST_MESSAGES
    more = [f"{rest} other messages"] if rest > 0 else []
    return f"{word}: {'; '.join([*state.messages[:MOST_MESSAGES], *more])}" if state.messages else word


def _pods(document: DiffDocument, *, whole: bool) -> Table:
    made = Table(("POD", "CHANGE", "BEFORE", "AFTER"), flexible=(0, 2, 3))
    alike: dict[_PodCells, list[ChangedPod]] = {}
    for pod in document.pods:
        if whole or pod.change != "OtherMessage":
            before, after = (_pod_state(state, pod.namespace, whole=whole) for state in (pod.before, pod.after))
            alike.setdefault((change(pod.change), before, after, _alone(pod)), []).append(pod)
    if not whole:
        alike = dict(_folded(alike))
    for cells, pods in sorted(alike.items(), key=lambda row: row[0][0] != change("Lost")):
        named = listed([f"{pod.namespace}/{pod.name}" for pod in pods])
        made.add(named, cells[0], cells[1], f"{cells[2]}{cells[3]}" if cells[3] else cells[2])
    return made


def _folded(rows: Mapping[_PodCells, list[ChangedPod]]) -> Iterator[tuple[_PodCells, list[ChangedPod]]]:
    """Yield the rows; `FEWEST_FOLDED` or more that differ only in nodes and devices of one controller's are merged.

    `-o wide` has each row.
    """
    groups: dict[tuple[str, ...], list[_PodCells]] = {}
    for cells, pods in rows.items():
        groups.setdefault((*_shape(pods[0]), cells[3]), []).append(cells)
    for alike in groups.values():
        pods = [pod for cells in alike for pod in rows[cells]]
        if len(alike) < FEWEST_FOLDED:
            yield from ((cells, rows[cells]) for cells in alike)
        else:
            states = ([getattr(pod, side) for pod in pods] for side in ("before", "after"))
            before, after = (_places(each, pods[0].namespace) for each in states)
            yield (alike[0][0], before, after, alike[0][3]), pods


def _shape(pod: ChangedPod) -> Iterator[str]:
    """Yield everything that pods in one row share: all except nodes, devices and names."""
    yield pod.namespace
    yield pod.owner
    yield pod.change
    for state in (pod.before, pod.after):
        if state is not None:
            yield from (state.outcome, without(state.message or ""), str(state.running), str(bool(state.node_name)))
            yield "" if state.ended is None else f"{state.ended.by} {bool(state.ended.recreated_as)}"


def _places(states: Sequence[ComparedPod | None], namespace: str) -> str:
    """Return the state that they share except for nodes and times, with the nodes of all."""
    first = states[0]
    if first is None:
        return "not there"
    there = [state for state in states if state is not None]
    nodes = listed(sorted({state.node_name for state in there if state.node_name}))
    place = f"{'run on' if first.running else 'get'} {nodes}" if nodes else _place(first, namespace, whole=False)
    if first.ended is None:
        return place
    moments = sorted({(state.ended.second, state.ended.time) for state in there if state.ended is not None})
    times = " to ".join(dict.fromkeys(when(*moment) for moment in (moments[0], moments[-1])))
    ends = f"are terminated {times} ({first.ended.by})"
    return f"{ends}, recreated: {place}" if first.ended.recreated_as else f"{ends}; {NOT_MADE}"


def _other_messages(document: DiffDocument) -> Iterator[str]:
    """Yield pods without a node in both states, which have no rows in the table."""
    named = [f"{pod.namespace}/{pod.name}" for pod in document.pods if pod.change == "OtherMessage"]
    if named:
        has = "has" if len(named) == 1 else "have"
        messages = "its message differs" if len(named) == 1 else "their messages differ"
        yield f"{listed(named)} {has} no node in either state, but {messages} (see -o wide)."


def _not_known(document: DiffDocument) -> Iterator[str]:
    """Yield that a cluster never settles, and undecided results with possible remedies."""
    yield from unsettled(document)
    changes: list[ChangedClaimSet | ChangedPod] = [*document.claim_sets, *document.pods]
    if any(one.change == "Undecided" for one in changes):
        reasons = why_not_known(undecided_outcomes(changes))
        yield f"Undecided: changes there are unknown: {reasons}."


def unsettled(document: DiffDocument) -> Iterator[str]:
    """Yield a sentence for each state that never settles, with the pods that keep it from settling."""
    states = [("before", document.before), ("after", document.after)]
    said = {word: _endless(state) for word, state in states if state.unsettled}
    if len(said) == 2 and said["before"] == said["after"]:
        yield f"The cluster, before and after, {said['after']}."
        return
    yield from (f"The cluster {word} {why}." for word, why in said.items())


def _endless(state: ComparedState) -> str:
    pods = listed([f"{pod.namespace}/{pod.name}" for pod in state.unsettled_pods])
    return unsettled_words(state.unsettled) + (f" ({pods})" if pods else "")


def _alone(pod: ChangedPod) -> str:
    """Return the wording for whether other pods are the reason."""
    taken, freed = (listed([f"{one.namespace}/{one.name}" for one in by]) for by in (pod.taken_by, pod.freed_by))
    said = f" (only because {taken} took its devices)" if taken else ""
    said += f" (only because {freed} no longer {'takes' if len(pod.freed_by) == 1 else 'take'} them)" if freed else ""
    return said or (" (would fit if no other pod were pending)" if pod.fits_alone else "")


def _pod_state(state: ComparedPod | None, namespace: str, *, whole: bool) -> str:
    if state is None:
        return "not there"
    if state.ended is None:
        return _place(state, namespace, whole=whole)
    ends = f"is terminated {when(state.ended.second, state.ended.time)} ({state.ended.by})"
    if not state.ended.recreated_as:
        return f"{ends}; {NOT_MADE}"
    return f"{ends}, recreated: {_place(state, namespace, whole=whole)}"


def _place(state: ComparedPod, namespace: str, *, whole: bool) -> str:
    """Return the node of the pod, or why it has none."""
    if state.node_name:
        verb = "runs on" if state.running else "gets"
        place = f"{verb} {state.node_name}{' with ' if state.devices else ''}"
        return Folded(f"{place}{_by_pool(state.devices)}", f"{place}{by_pool(state.devices, state.node_name)}")
    message = state.message or ""
    if not whole:
        message = in_words(state.over_quota, namespace) if state.over_quota else without(message)
    outcome = state.outcome if not state.undecided else "not known" if state.outcome == "Unknown" else "undecided"
    return f"{outcome}: {message}" if message else outcome


def _by_pool(devices: Sequence[str]) -> str:
    """Return the devices, DRIVER/POOL: DEVICE and DEVICE."""
    pools: dict[str, list[str]] = {}
    for device in devices:
        pool, _, name = device.rpartition("/")
        pools.setdefault(pool, []).append(name)
    return "; ".join(f"{pool}: {listed(names)}" for pool, names in pools.items())


def _held(document: DiffDocument, most: int | None = MOST_HELD) -> Table:
    """Return allocated claims with gained or lost devices, those with losses first."""
    made = Table(("CLAIM", "CHANGE", "PODS", "DEVICES"), flexible=(0, 2, 3))
    for (holder, word), devices in list(_by_claim(document).items())[:most]:
        pods = listed([f"{holder[0]}/{pod}" for pod in holder[2:]])
        made.add("/".join(holder[:2]), word, pods, f"{_by_pool(devices)}, {HELD[word]}")
    return made


def _by_claim(document: DiffDocument) -> dict[tuple[tuple[str, ...], str], list[str]]:
    """Return the gained or lost devices of each claim, with its pods."""
    found: dict[tuple[tuple[str, ...], str], list[str]] = {}
    for one in document.held_devices:
        holder = (one.holder.namespace, one.holder.name, *one.holder.pods)
        found.setdefault((holder, one.change), []).append(f"{one.driver}/{one.pool}/{one.device}")
    return found


def _nodes(document: DiffDocument) -> Table:
    """Return a row for the nodes that differ alike."""
    made = Table(("NODE", "CHANGE", "WHAT"), flexible=(0, 2))
    alike: dict[tuple[str, str], list[str]] = {}
    for node in document.nodes:
        said = [_field(one) for one in node.fields[:MOST_FIELDS]]
        said += [f"{len(node.fields) - MOST_FIELDS} more"] if len(node.fields) > MOST_FIELDS else []
        alike.setdefault((node.change, "; ".join(said)), []).append(node.name)
    for (change_, what), names in alike.items():
        made.add(listed(names), change_, what)
    return made


def _field(of: ChangedField) -> str:
    match of.field:
        case "taints":
            return f"taint {of.after} added" if of.after is not None else f"taint {of.before} removed"
        case "unschedulable":
            return "cordoned" if of.after == "true" else "uncordoned"
        case "ready":
            return f"Ready: {of.before or 'none'} -> {of.after or 'none'}"
    kind, _, name = of.field.partition(".")
    word = "label " if kind == "labels" else ""
    return f"{word}{name}: {'none' if of.before is None else of.before} -> {'none' if of.after is None else of.after}"


def _selectors(document: DiffDocument) -> Table:
    made = Table(("SELECTOR", "OF", "DEVICES BEFORE", "AFTER"), flexible=(0, 1))
    for one in document.selectors:
        users = listed([f"{user.kind.lower()}/{user.name}" for user in one.used_by])
        was = f" (was: {one.edited_from})" if one.edited_from not in ("", one.expression) else ""
        made.add(f"{one.expression}{was}", users, str(one.before), str(one.after))
    return made


def change(word: str) -> str:
    """Return how tables name the change."""
    return CHANGES.get(word, word)


# Below the tables


def _reasons(document: DiffDocument) -> Iterator[str]:
    """Yield each reason once, with the claim sets that it applies to."""
    owners: dict[str, list[str]] = {}
    for one in document.claim_sets:
        for reason in one.reasons:
            owners.setdefault(_reason(reason, document), []).append(claim_set_name(one))
    for said, names in owners.items():
        yield f"{listed(names)}: {said}."
    ends = ((pod, state.ended) for pod in document.pods for state in (pod.after,) if state is not None)
    tainted = ((pod, end.device) for pod, end in ends if end is not None and end.device is not None)
    yield from evictions.of_devices((f"{pod.namespace}/{pod.name}", device) for pod, device in tainted)


def _reason(reason: DiffReason, document: DiffDocument) -> str:
    whose = class_selector(reason.device_class) if reason.device_class else "a selector in a request"
    match reason.code:
        case "defect-ended":
            return f"{document.after.target.release} no longer has {reason.defect} ({reason.title})"
        case "defect-began":
            return f"{document.after.target.release} has {reason.defect} ({reason.title})"
        case "gate-on" | "gate-off":
            now, was = ("on", "off") if reason.code == "gate-on" else ("off", "on")
            return f"the feature gate {reason.gate} is {now}, and was {was} before"
        case "attribute-gone":
            return f"{whose} reads {reason.attribute}, which no device has any more"
    return f"{whose} matches {counted(reason.after, 'device')} (was {reason.before})"


def ends(document: DiffDocument) -> Iterator[str]:
    """Yield sentences that give the number of changes of each kind, and list the releases and the edits."""
    counts = Counter(one.change for one in document.claim_sets)
    pods = Counter(pod.change for pod in document.pods)
    held = Counter(word for _, word in _by_claim(document))
    titles = ("Workloads", counts), ("Pods", pods), ("Allocated claims", held)
    for title, found in titles:
        if found:
            yield f"{title}: {', '.join(f'{change(word)} ({number})' for word, number in found.items())}."
    lost = sum(one.lost for one in document.selectors)
    if lost:
        yield f"{counted(lost, 'selector')} in use no longer match{'es' if lost == 1 else ''} any device."
    before, after = document.before, document.after
    releases = [release(each.target) for each in (before, after)]
    yield f"{releases[0]}." if releases[0] == releases[1] else f"Before: {releases[0]}. After: {releases[1]}."
    changed = sentence(after.what_if)
    if changed:
        yield changed


# Markdown


def markdown(document: DiffDocument, screen: Screen | None) -> str:
    """Return the differences as Markdown tables, for a merge request."""
    return markdown_parts(table(document, screen))


def names(document: DiffDocument) -> str:
    """Return a line of the form `KIND/NAMESPACE/NAME CHANGE` for each object that differs.

    The objects are claim sets, pods, nodes and allocated claims.
    """
    sets = [f"{claim_set_name(one)} {one.change}" for one in document.claim_sets]
    pods = [f"pod/{pod.namespace}/{pod.name} {pod.change}" for pod in document.pods]
    claims = [f"resourceclaim/{'/'.join(holder[:2])} {word}" for holder, word in _by_claim(document)]
    nodes = [f"node/{node.name} {node.change}" for node in document.nodes]
    return "".join(f"{shown.line(line)}\n" for line in (*sets, *pods, *nodes, *claims))


FORMATS = Formats(table=table, wide=wide, name=names)


def parse(option: str) -> Format[DiffDocument]:
    """Return the format for `-o OPTION`. Raises UsageError for an unknown format or a malformed template."""
    return choose(option, {**of_tables(FORMATS), "markdown": whole(markdown)})
