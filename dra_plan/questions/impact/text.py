"""`impact -o table`, `-o wide`, `-o markdown` and `-o name`: which pods end and when, followed by all other changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import UNSET

from dra_plan import shown
from dra_plan.controllers.device_eviction import BY_DEVICE_TAINT
from dra_plan.controllers.over_quota import in_words
from dra_plan.documents.scheduling import BY_CHANCE
from dra_plan.questions.diff.document import (
    ChangedClaimSet,
    ChangedPod,
    ComparedPod,
    ComparedSet,
    HeldDevice,
    undecided_outcomes,
)
from dra_plan.questions.impact.devices import broken
from dra_plan.questions.impact.document import AffectedPod, ImpactDocument, PodEffect
from dra_plan.questions.impact.quotas import sentences
from dra_plan.text import evictions, refusals
from dra_plan.text.columns import Folded, Part, Screen, Table
from dra_plan.text.folding import by_pool
from dra_plan.text.formats import Format, Formats, choose, of_tables, whole
from dra_plan.text.markdown import markdown_parts
from dra_plan.text.naming import (
    claim_set_name,
    fits_nowhere,
    release,
    sentence,
    target,
    unsettled_words,
    why_not_known,
    written,
)
from dra_plan.text.pool_changes import changed_pools
from dra_plan.text.preemption import without
from dra_plan.text.selectors import failing_selectors
from dra_plan.text.words import CHANGES, counted, listed, when

EFFECTS: dict[PodEffect, str] = {
    "Gone": "Not recreated",
    "WithoutPlace": "Left pending",
    "EvictedAgain": "Evicted repeatedly",
    "Moves": "Moves",
    "Restarts": "Restarts in place",
    "Starts": "Starts",
    "NoLongerStarts": "No longer starts",
    "Elsewhere": "Starts elsewhere",
    "Refused": "Refused",
    "Undecided": "Undecided",
    "Waits": "New and waiting",
    "Other": "Waits for another reason",
}
"""How tables name each effect."""

_QUIET: tuple[PodEffect, ...] = ("Other",)
"""Effects that only have rows in `-o wide`."""

NOTHING = "Nothing changes for any pod, claim or selector"
MOST_ROWS = 40
"""The maximum number of pod rows in a table. `-o wide` shows all pods."""


def table(document: ImpactDocument, _screen: Screen | None) -> list[Part]:
    """Return rows of pods (one row for pods with the same effect), claim sets, selectors and claims, and a summary."""
    return _parts(document, whole=False)


def wide(document: ImpactDocument, _screen: Screen | None) -> list[Part]:
    """Return the same content as `table`, with a row for each pod and complete messages."""
    return _parts(document, whole=True)


def _parts(document: ImpactDocument, *, whole: bool) -> list[Part]:
    tables = [_pods(document, whole=whole), _claim_sets(document), _selectors(document), _quotas(document)]
    parts: list[Part] = [*refusals.paragraphs(document.refusals), f"{headline(document)}."]
    tables.append(changed_pools(document.pools))
    parts += [made for made in tables if made.rows]
    return [*parts, *_sentences(document), *_releases(document)]


def _releases(document: ImpactDocument) -> Iterator[str]:
    """Yield the simulated release; for an upgrade both releases, and the edits before it."""
    if document.upgraded_from is UNSET:
        yield target(document)
        return
    yield f"Before: {release(document.upgraded_from)}. After: {release(document.target)}."
    changed = sentence(document.what_if or ())
    if changed:
        yield changed


def headline(document: ImpactDocument) -> str:
    """Return a sentence about what happens to running and pending pods, without a full stop."""
    counts = Counter(pod.effect for pod in document.pods)
    ending = sum(counts[effect] for effect in ("Gone", "WithoutPlace", "EvictedAgain", "Moves", "Restarts"))
    said = []
    if ending:
        placed = counts["Moves"] + counts["Restarts"]
        refused = sum(_is_refused(pod) for pod in document.pods if pod.effect == "WithoutPlace")
        parts = (
            (placed, "rescheduled"),
            (refused, f"not created again{_because_of_quotas(document, 'WithoutPlace', refused=True)}"),
            (counts["WithoutPlace"] - refused, "left pending"),
            (counts["EvictedAgain"], "evicted repeatedly"),
            (counts["Gone"], "not recreated"),
        )
        kinds = ", ".join(f"{number} {word}" for number, word in parts if number)
        said.append(f"{counted(ending, 'running pod')} {'is' if ending == 1 else 'are'} terminated: {kinds}")
    new = Counter(pod.effect for pod in document.pods if pod.before is None)
    starting = (
        (new["Starts"], "gets a node" if new["Starts"] == 1 else "get a node"),
        (new["Waits"], f"without a node{_because_of_quotas(document, 'Waits')}"),
        (new["Refused"], f"rejected{_because_of_quotas(document, 'Refused')}"),
    )
    kinds = ", ".join(f"{number} {word}" for number, word in starting if number)
    said += [f"{counted(sum(number for number, _ in starting), 'new pod')}: {kinds}"] if kinds else []
    counts -= new
    words: dict[PodEffect, str] = {
        "Starts": "would start",
        "NoLongerStarts": "would no longer start",
        "Elsewhere": "would start elsewhere",
        "Refused": f"would be rejected{_because_of_quotas(document, 'Refused')}",
    }
    waiting = ((counts[effect], word) for effect, word in words.items())
    said += [f"{counted(number, 'pending pod')} {word}" for number, word in waiting if number]
    said += [f"{counted(counts['Undecided'], 'pod')} undecided"] if counts["Undecided"] else []
    if said:
        return "; ".join(said)
    rest = [*document.claim_sets, *document.selectors, *document.held_devices, *document.pods]
    rest += [one for one in document.quotas if one.refuses]
    rest += [*document.broken_pools, *(rule for rule in document.taints if rule.devices and rule.effect != "None")]
    return "No running pod is terminated, and no pending pod starts" if rest or document.refusals else NOTHING


def _is_refused(pod: AffectedPod) -> bool:
    return pod.after is not None and pod.after.outcome == "Refused"


def _because_of_quotas(document: ImpactDocument, effect: PodEffect, *, refused: bool = False) -> str:
    """Return the quotas, in brackets, if every pod with this effect, or every `refused` one, has it because of one."""
    quotas: dict[str, None] = {}
    for pod in document.pods:
        if pod.effect == effect and (_is_refused(pod) or not refused):
            over = pod.after.over_quota if pod.after is not None else []
            if not over:
                return ""
            quotas |= {f"{pod.namespace}/{one.quota}": None for one in over}
    return f" ({'quota' if len(quotas) == 1 else 'quotas'} {listed(list(quotas))})" if quotas else ""


def _pods(document: ImpactDocument, *, whole: bool) -> Table:
    made = Table(("POD", "EFFECT", "WHEN", "BEFORE", "AFTER"), flexible=(0, 3, 4))
    alike: dict[tuple[str, ...], list[AffectedPod]] = {}
    for pod in document.pods:
        if whole or pod.effect not in _QUIET:
            own = pod.name if whole else pod.owner or pod.name
            key = pod.namespace, own, pod.effect, when_it_ends(pod), str(pod.foreseen), *_kind(pod, whole=whole)
            alike.setdefault(key, []).append(pod)
    for (_, _, _, moment, *_), pods in list(alike.items())[: None if whole else MOST_ROWS]:
        pods.sort(key=_place)
        cells = [_state([getattr(pod, side) for pod in pods], pods[0], whole=whole) for side in ("before", "after")]
        made.add(row_name(pods), EFFECTS[pods[0].effect], moment, *cells)
    return made


def _place(pod: AffectedPod) -> tuple[str, Sequence[str]]:
    """Return the node and the devices of the pod before the change: the pods of a row have this order in every cell."""
    return (pod.before.node_name or "", pod.before.devices) if pod.before is not None else ("", ())


def row_name(pods: Sequence[AffectedPod]) -> str:
    """Return the names of the pods in a row.

    If the names are placeholders, returns the owner and the number of pods instead.
    """
    if not is_placeholder(pods[0]):
        return listed([f"{pod.namespace}/{pod.name}" for pod in pods])
    owner = pods[0].owner.partition("/")[2]
    return f"{pods[0].namespace}/{owner} ({counted(len(pods), 'new pod')})"


def is_placeholder(pod: AffectedPod) -> bool:
    """Return whether the pod's name is a placeholder, because its controller generates names."""
    return pod.foreseen and pod.owner.partition("/")[0] not in ("", "StatefulSet")


def when_it_ends(pod: AffectedPod) -> str:
    """Return when and why the pod is terminated, or "" if it is not."""
    ending = pod.after.ended if pod.after is not None else None
    return f"{when(ending.second, ending.time)} ({ending.by})" if ending is not None else ""


def _kind(pod: AffectedPod, *, whole: bool) -> Iterator[str]:
    """Yield the values that pods of one owner in one row share."""
    for state in (pod.before, pod.after):
        yield "" if state is None else f"{state.outcome} {bool(state.node_name)} {_message(state, pod, whole=whole)}"


def _message(state: ComparedPod, pod: AffectedPod, *, whole: bool) -> str:
    """Return the message for a pod without a node; for a quota a short one, without the names of missing claims."""
    if state.over_quota and not whole:
        kept = "Refused" if state.outcome == "Refused" else "Waits for its claim"
        return f"{kept}: {in_words(state.over_quota, pod.namespace)}"
    return (state.message or "") if whole else without(state.message or "")


def _state(states: Sequence[ComparedPod | None], pod: AffectedPod, *, whole: bool) -> str:
    """Return the nodes of the pods in one row, or why they have none.

    The nodes have the order of the pods; if several pods get one of several nodes, each has the number of its pods.
    """
    first = states[0]
    if first is None:
        return "not there"
    there = [state for state in states if state is not None]
    if first.node_name:
        counts = Counter(state.node_name or "" for state in there)
        names = list(counts)
        if 1 < len(counts) < len(there):  # one name per pod would repeat nodes
            there.sort(key=lambda state: state.node_name or "")
            names = [f"{name} ({counted(counts[name], 'pod')})" for name in sorted(counts)]
        nodes = listed(names)
        devices = [device for state in there for device in state.devices]
        place = (
            f"{'on' if first.running else 'gets' if len(there) == 1 else 'get'} {nodes}{' with ' if devices else ''}"
        )
        only = first.node_name if len(there) == 1 else ""
        return Folded(f"{place}{listed(devices, 4)}", f"{place}{by_pool(devices, only)}")
    message = _message(first, pod, whole=whole)
    if first.over_quota and not whole:
        return message
    outcome = "Terminated" if first.outcome == "Ended" else first.outcome
    return f"{outcome}: {message}" if message else outcome


def _claim_sets(document: ImpactDocument) -> Table:
    made = Table(("WORKLOAD", "CHANGE", "BEFORE", "AFTER"), flexible=(0, 2, 3))
    alike: dict[tuple[str, str, str], list[ChangedClaimSet]] = {}
    for one in document.claim_sets:
        alike.setdefault((one.change, _fits(one.before), _fits(one.after)), []).append(one)
    for (change, *cells), sets in alike.items():
        made.add(listed([claim_set_name(one) for one in sets]), CHANGES.get(change, change), *cells)
    return made


def _fits(state: ComparedSet | None) -> str:
    if state is None:
        return "not there"
    if state.fitting_nodes:
        return f"fits on {counted(len(state.fitting_nodes), 'node')}"
    return "; ".join([fits_nowhere(state.outcome.value), *state.messages[:1]])


def _selectors(document: ImpactDocument) -> Table:
    made = Table(("SELECTOR", "OF", "DEVICES BEFORE", "AFTER"), flexible=(0, 1))
    for one in document.selectors:
        was = f" (was: {one.edited_from})" if one.edited_from not in ("", one.expression) else ""
        users = listed([f"{user.kind.lower()}/{user.name}" for user in one.used_by])
        made.add(f"{one.expression}{was}", users, str(one.before), str(one.after))
    return made


def _quotas(document: ImpactDocument) -> Table:
    made = Table(("QUOTA", "RESOURCE", "USED BEFORE", "AFTER", "HARD"))
    for one in document.quotas:
        made.add(f"{one.namespace}/{one.name}", one.resource, one.used, one.used_after, one.hard)
    return made


def _sentences(document: ImpactDocument) -> Iterator[str]:
    for later in document.later_pods:
        owner = f"{later.namespace}/{later.stateful_set}"
        yield f"StatefulSet {owner} does not create {listed(later.pods, 4)} until {later.waits_for} is ready."
    hidden = [pod for pod in document.pods if pod.effect in _QUIET]
    if hidden:
        yield f"{counted(len(hidden), 'pending pod')} would get another reason (-o wide)."
    held: dict[tuple[str, str], list[HeldDevice]] = {}
    for one in document.held_devices:
        held.setdefault((one.change, f"{one.holder.namespace}/{one.holder.name}"), []).append(one)
    for (change, name), found in held.items():
        devices = listed([f"{one.driver}/{one.pool}/{one.device}" for one in found], 4)
        pods = listed([f"{found[0].holder.namespace}/{pod}" for pod in found[0].holder.pods], 4)
        of = f" of {pods}" if pods else ""
        if change == "Lost":
            ends = "; no running pod is terminated because of this" if pods else ""
            yield f"Claim {name}{of} has {devices}, which no driver publishes any more{ends}."
        else:
            yield f"Claim {name}{of} gets {devices} back."
    yield from _of_devices(document)
    endings = ((pod, pod.after.ended) for pod in document.pods if pod.after is not None)
    tainted = ((pod, end.device) for pod, end in endings if end is not None and end.device is not None)
    written = {rule.name for rule in document.taints}
    others = ((f"{pod.namespace}/{pod.name}", device) for pod, device in tainted if device.rule not in written)
    yield from evictions.of_devices(others)
    for short in (each for each in document.selectors if 0 < each.after < min(each.before, each.in_use)):
        users = listed([f"{user.kind.lower()}/{user.name}" for user in short.used_by], 4)
        yield (
            f"Pods have {counted(short.in_use, 'device')} of {users}, and {short.after} would match: running pods keep"
            " their devices, but not all of these pods could be recreated."
        )
    lost = lost_selectors(document)
    if lost:
        yield f"{lost}: running pods keep their devices, but new pods cannot get any."
    yield from sentences(document.quotas)
    yield from _unsettled(document)
    changes: list[ChangedClaimSet | ChangedPod] = [*document.claim_sets, *document.pods]
    if any(one.change == "Undecided" for one in changes):
        yield f"Undecided: {why_not_known(undecided_outcomes(changes))}."
    if document.applied:
        yield f"Applied: {applied(document)}."


def _unsettled(document: ImpactDocument) -> Iterator[str]:
    """Yield that the cluster never settles, with the pods that are evicted endlessly, and the reason."""
    if not document.unsettled:
        return
    endless = [pod for pod in document.pods if pod.effect == "EvictedAgain"]
    pods = listed([f"{pod.namespace}/{pod.name}" for pod in endless], 4)
    yield f"{unsettled(document)}{f' ({pods})' if pods else ''}."
    if document.unsettled.startswith(BY_CHANCE):
        yield (
            "If several nodes have the same score, the scheduler chooses one at random; the table shows the first in"
            " node order. A pod that is bound to one of the named nodes is not evicted again."
        )
        return
    tainted = {pod.after.ended.by for pod in endless if pod.after is not None and pod.after.ended is not None}
    if tainted & {BY_DEVICE_TAINT}:
        yield (
            "A pod that tolerates a taint for some seconds may be scheduled to devices with that taint. "
            "The pod's replacement then gets devices with that taint again, and is also evicted."
        )


def unsettled(document: ImpactDocument) -> str:
    """Return a sentence that states that the cluster never settles, or settles only by chance. It has no full stop."""
    return f"Afterwards the cluster {unsettled_words(document.unsettled)}"


def _of_devices(document: ImpactDocument) -> Iterator[str]:
    """Yield the tainted devices, pools that lack slices, and selectors that stop with an error."""
    for rule in document.taints:
        if rule.devices:
            free = rule.devices - rule.in_use
            said = (
                f"{counted(rule.devices, 'device')} ({rule.in_use} in use, {free} free) with {rule.key}:{rule.effect}"
            )
            yield f"Rule {rule.name} taints {said}{_TAINTED.get(rule.effect, '')}."
        elif rule.reason:
            yield f"Rule {rule.name} taints no device: {rule.reason}."
    for pool in document.broken_pools:
        yield f"{broken(pool)}."
    yield from failing_selectors(document.selectors)


_TAINTED = {
    "NoSchedule": ": running pods keep their devices, and new pods need a toleration to use the devices",
    "None": ", which does nothing",
}
"""The wording of taint effects that end no pod."""


def lost_selectors(document: ImpactDocument) -> str:
    """Return a sentence about selectors in use that would match no device, or "" if there are none.

    The sentence has no full stop.
    """
    lost = sum(one.lost for one in document.selectors)
    return f"{counted(lost, 'selector')} in use would match no device" if lost else ""


def applied(document: ImpactDocument) -> str:
    """Return the names of the applied objects, and whether each is created or changed."""
    return listed([written(one) for one in document.applied], 4)


def names(document: ImpactDocument) -> str:
    """Return a line of the form `pod/NAMESPACE/NAME EFFECT` for each affected pod.

    A pod that has no name yet is listed under its owner. Further lines list claim sets whose result changes, selectors
    that no longer match, and exceeded quotas.
    """
    pods = [f"{_real_name(pod)} {pod.effect}" for pod in document.pods]
    sets = [f"{claim_set_name(one)} {one.change}" for one in document.claim_sets]
    users = (user for one in document.selectors if one.lost or one.stops for user in one.used_by)
    lost = [f"{user.kind.lower()}/{'/'.join(filter(None, (user.namespace, user.name)))} Lost" for user in users]
    quotas = [f"resourcequota/{one.namespace}/{one.name} Exceeded" for one in document.quotas if one.refuses]
    return "".join(f"{shown.line(line)}\n" for line in dict.fromkeys((*pods, *sets, *lost, *quotas)))


def _real_name(pod: AffectedPod) -> str:
    """Return the pod; for a placeholder its owner."""
    kind, name = pod.owner.split("/", 1) if is_placeholder(pod) else ("Pod", pod.name)
    return f"{kind.lower()}/{pod.namespace}/{name}"


def markdown(document: ImpactDocument, screen: Screen | None) -> str:
    """Return the table as Markdown, for a merge request."""
    return markdown_parts(table(document, screen))


FORMATS = Formats(table=table, wide=wide, name=names)


def parse(option: str) -> Format[ImpactDocument]:
    """Return the format for `-o OPTION`. Raises UsageError for an unknown format or a malformed template."""
    return choose(option, {**of_tables(FORMATS), "markdown": whole(markdown)})
