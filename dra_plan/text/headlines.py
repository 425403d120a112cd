"""The first line of a verdict on a pod, workload or claim: the names, and what becomes of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dra_plan.api.well_known import KUEUE
from dra_plan.documents.verdict_parts import AloneVerdict, FullClaim, GangShortage, GatedVerdict
from dra_plan.documents.verdicts import OwnerVerdict
from dra_plan.text import words
from dra_plan.text.naming import named, workload_name
from dra_plan.text.rivals import other, room_taken


def headline(alike: Sequence[OwnerVerdict]) -> str:
    """Return a sentence with the names of the owners and their verdict."""
    then, partial = alike[0].with_gates, alike[0].partial
    if then is not None and alike[0].depends_on_gates:
        whose = "" if alike[0].kind == "Pod" else ": its pods"
        return f"{_names(alike)}{whose} would probably stay Pending: {with_gates(alike[0], then)}."
    said = f"{_names(alike)}{_HEADLINES[alike[0].told](_Whose(alike))}"
    if not partial or alike[0].doubted:
        return said
    return f"{said.removesuffix('.')}, as far as the input shows: some {words.listed(partial)} seem to be missing."


def with_gates(of: OwnerVerdict, then: GatedVerdict) -> str:
    """Return the result with the feature gates that are off by default but seem to be on in the cluster."""
    if then.gang is not None:
        return gang_shortage(then.gang)
    if then.verdict != "Unschedulable":
        return f"its verdict is {then.verdict}"
    return f"no node can take {'it' if of.kind == 'Pod' else 'one of its pods'} (0 of {then.total_nodes:,})"


def without_gates(alike: Sequence[OwnerVerdict]) -> str:
    """Return the verdict without the feature gates that seem to be on in the cluster.

    The text is a part of a sentence, such as `it would be bound to gpu-2 now`.
    """
    said = _HEADLINES[alike[0].verdict](_Whose(alike)).lstrip(": ").removesuffix(".")
    return said if said.startswith(("its ", "all ")) else f"{'they' if len(alike) > 1 else 'it'} {said}"


def _names(alike: Sequence[OwnerVerdict]) -> str:
    names = [named(one.object) for one in alike]
    if len(names) > words.NAMES:
        return f"{names[0]} and {len(names) - 1} more"
    return ", ".join(names)


class _Whose:
    """Verdicts that are shown in one sentence; the fields are those of the first."""

    def __init__(self, alike: Sequence[OwnerVerdict]) -> None:
        self.alike = alike
        self.of = alike[0]
        self.several = len(alike) > 1
        self.is_pod = self.of.kind == "Pod"
        self.nodes = words.listed(list(dict.fromkeys(one.node_name for one in alike)))
        self.it = "one of them" if self.several else "it" if self.of.pods <= 1 else "one"


def _would_bind(whose: _Whose) -> str:
    of = whose.of
    when = "once its volumes exist" if any(one.is_stalled for one in of.volume_claims) else "now"
    if of.uncreated:
        when = "once its claims are created" if len(of.uncreated) > 1 else "once its claim is created"
    if whose.is_pod:
        return f" would be bound to {whose.nodes} {when}."
    if of.kind == "ResourceClaim":
        return ": its devices are free."
    return f": {_its_pods(of)} would be bound {when}{f', to {of.node_name}' if of.pods == 1 else ''}."


def _would_preempt(whose: _Whose) -> str:
    of = whose.of
    victims = words.listed([other(victim) for victim in of.victims])
    if whose.is_pod:
        return f" would be bound to {whose.nodes} after evicting {victims}."
    return f": {_its_pods(of)} would be bound, after evicting {victims}."


def _its_pods(of: OwnerVerdict) -> str:
    return "its pod" if of.pods == 1 else f"all {of.pods} pods"


def _pending(whose: _Whose) -> str:
    """Return `pod/ml/a is Pending`, `job/ml/a: 1 of 4 pods would be bound now, the others are Pending`."""
    of = whose.of
    if whose.is_pod:
        return " are Pending" if whose.several else " is Pending"
    if of.kind == "ResourceClaim":
        return ""
    if of.would_bind:
        which = "" if whose.several else _binding(of)
        return f": {of.would_bind} of {of.pods} pods would be bound now{which}, the others are Pending"
    if of.pods < of.wanted:
        return f": {of.pods} of its {of.wanted} pods {'is' if of.pods == 1 else 'are'} Pending"
    return ": its pod is Pending" if of.pods <= 1 else f": its {of.pods} pods are Pending"


def _binding(of: OwnerVerdict) -> str:
    """Return which pods would be bound and where, such as ` (w-0 and w-1 to gpu-1, 1 to gpu-2)`."""
    by_node: dict[str, list[str]] = {}
    for one in of.binding:
        by_node.setdefault(one.node_name, []).append(one.name)
    count = "" if of.would_bind == 1 else "{} "
    told = [
        f"{f'{words.listed(names)} ' if all(names) else count.format(len(names))}to {node}"
        for node, names in by_node.items()
    ]
    more = of.would_bind - len(of.binding)
    return f" ({', '.join(told)}{f' and {more} more' if more else ''})" if told else ""


def _unschedulable(whose: _Whose) -> str:
    of = whose.of
    if of.evicted_for:
        others = words.listed([other(pod) for pod in of.evicted_for])
        return f" would be bound to {of.node_name}, and then evicted for {others}."
    if of.alone is not None and of.first:
        return f"{_pending(whose)}: {room_taken(_who_would_fit(whose, of.alone), of.alone.node_name, of.first)}"
    if of.gang is not None:
        return f"{_pending(whose)}: {gang_shortage(of.gang)}."
    if of.lost_claims:
        lost = of.lost_claims[0]
        on = f"has devices on {lost.node_name}, a node that the input does not have"
        return f"{_pending(whose)}: claim {lost.claim} {on}."
    return f"{_pending(whose)}: no node can take {whose.it} (0 of {of.total_nodes:,})."


def _who_would_fit(whose: _Whose, alone: AloneVerdict) -> str:
    """Return which pods would fit if no other pod were pending: `it`, `all of them`, `1 more`."""
    of = whose.of
    if whose.is_pod or of.pods <= 1:
        return "one of them" if whose.several else "it"
    if not of.would_bind and alone.would_bind == of.pods:
        return "they"
    more = alone.would_bind - of.would_bind
    return f"{more} more" if of.would_bind else f"{more} of them"


def gang_shortage(of: GangShortage) -> str:
    """Return how many pods of a gang find a node, and which one does not."""
    finds = "none finds" if not of.found else f"{of.found} {'find' if of.found > 1 else 'finds'}"
    return f"its pod group {of.name} needs {words.counted(of.least, 'pod')} at the same time, and {finds} a node" + (
        f"; {of.pod} is the first that finds none" if of.found else ""
    )


def _error(whose: _Whose) -> str:
    if whose.of.full_claims:
        return f"{_pending(whose)}: {_full(whose.of.full_claims[0])}."
    return f"{_pending(whose)}: the scheduler stops with an error at every attempt to schedule {whose.it}."


def _full(of: FullClaim) -> str:
    if of.pods >= of.most:
        return f"claim {of.claim} is already reserved for {of.pods} pods, the most that a claim can have"
    return f"claim {of.claim} can be reserved for {of.most} pods at most ({of.pods} now), and others come first"


def _held(whose: _Whose) -> str:
    of = whose.of
    if of.held_by == "Order" and of.kind != "Pod":
        there, ready = of.wanted - of.pods, f"{words.listed(of.held)} is" if of.held else "those before it are"
        are = "pods exists" if there == 1 else "pods exist"
        return f": {there} of its {of.wanted} {are}; its controller creates the next one when {ready} ready."
    return f"{_pending(whose)}: {_HOLDS[whose.of.held_by](whose.of)}."


def _missing_claim(of: OwnerVerdict) -> str:
    """Return which claims or templates do not exist, or no longer."""
    leaving = [one.name for one in of.leaving_claims]
    if leaving and not of.held:
        which = f"claim {leaving[0]}, which is" if len(leaving) == 1 else f"claims {words.listed(leaving)}, which are"
        return f"it is waiting for {which} being deleted"
    if of.held:
        return f"it is waiting for {words.listed(of.held)}, which {'does' if len(of.held) == 1 else 'do'} not exist"
    return "it is waiting for its claims, which do not exist yet" if not of.waiting else "it cannot use its claims"


_HOLDS: dict[str, Callable[[OwnerVerdict], str]] = {
    "": lambda of: of.waiting,
    "SchedulingGates": lambda of: (
        f"held by its scheduling gate{'s' if len(of.held) > 1 else ''} {words.listed(of.held)}"
        f"{admission(of) or _set(of)}"
    ),
    "PodGroup": lambda of: f"it is waiting for its pod group {words.listed(of.held)}{_there(of)}",
    "MissingClaim": _missing_claim,
    "Volumes": lambda of: f"{_bound_to(of)}its volumes are not bound yet",
    "BindingConditions": lambda of: (
        f"{_bound_to(of)}"
        + ("its devices have failed" if any(one.failed for one in of.awaited) else "its devices are not ready yet")
    ),
    "Preemption": lambda of: (
        f"it is waiting until {words.listed(of.held) or 'the pods that make room for it'} "
        f"{'are' if len(of.held) > 1 or not of.held else 'is'} "
        f"gone{f' from {of.node_name}' if of.node_name else ''}"
    ),
    "NodeName": lambda of: f"its nodeName is {words.listed(of.held)}, which does not exist",
    "OtherScheduler": lambda of: f"its schedulerName is {words.listed(of.held)}{_other_scheduler(of)}",
    "Order": lambda _: "its StatefulSet creates it once the earlier pods are ready",
    "Plugin": lambda of: f"plugin {words.listed(of.held)} holds it",
}


def _other_scheduler(of: OwnerVerdict) -> str:
    """Return what the input has of the pod's scheduler."""
    pods = of.running_schedulers or [one.pod for one in of.scheduler_pods]
    if pods:
        is_one, ready = len(pods) == 1, "running" if of.running_schedulers else "not ready"
        which = f"which probably {'runs' if is_one else 'run'} it, {'is' if is_one else 'are'} {ready}"
        return f", and {'pod' if is_one else 'pods'} {words.listed(pods)}, {which}"
    if of.scheduler_workload is None:
        return "; if no such scheduler is running, the pod stays Pending"
    replicas = of.scheduler_workload.replicas
    lacks = "has no pods" if replicas else "has 0 replicas"
    return f", and {workload_name(of.scheduler_workload)}, which probably runs it, {lacks}"


def _set(of: OwnerVerdict) -> str:
    """Return that only the controller that set the gates, or a user, removes them."""
    them = "them" if len(of.held) > 1 else "it"
    return f", until the controller that set {them} removes {them}"


def admission(of: OwnerVerdict) -> str:
    """Return the controller that removes the scheduling gates, if known, and the queue in which the pod waits."""
    if not all(gate.startswith(KUEUE) for gate in of.held):
        return ""
    return f", until Kueue admits it from local queue {of.queue}" if of.queue else ", until Kueue admits it"


def _there(of: OwnerVerdict) -> str:
    """Return the number of existing pods of the group, if there are too few."""
    if of.group_pods >= of.group_least:
        return ""
    return (
        f": {of.group_pods} of the {of.group_least} pods that it needs "
        f"{'is' if of.group_pods == 1 else 'are'} in the input"
    )


def _bound_to(of: OwnerVerdict) -> str:
    return f"it has been assigned to {of.node_name}, but " if of.node_name else ""


def _suspended(whose: _Whose) -> str:
    queue = f", because it is waiting in Kueue's queue {whose.of.held[0]}" if whose.of.held else ""
    suspended = "is suspended and " if whose.of.kind in ("Job", "CronJob") else ""
    if not whose.of.wanted and whose.of.kind in _REPLICATED and not queue:
        return " has no pods now: its replicas are 0."
    return f" {suspended}has no pods now{queue}."


_REPLICATED = ("Deployment", "StatefulSet", "ReplicaSet", "ReplicationController")


def _refused(whose: _Whose) -> str:
    of = whose.of
    if of.outdated:
        older = f"{of.outdated} of its {of.wanted} pods" if of.outdated < of.wanted else "all its pods"
        return f": its rollout is stuck: {older} have an older template, and the API server rejects the next pod."
    if (of.forbidden or of.last_message is not None) and not whose.is_pod:
        refused = of.forbidden or of.pods
        all_of_them = refused in (0, max(of.pods, of.wanted))
        which = "its pods" if all_of_them else f"{refused} of its {max(of.pods, of.wanted)} pods"
        return f": the API server rejects {_CLAIM_OF if _is_about_claims(of) else ''}{which}."
    if of.findings and all(one.code == _OF_ITS_PODS for one in of.findings):
        return ": the API server rejects its pods."
    return f": the API server rejects {'its claim' if whose.is_pod and _is_about_claims(of) else 'it'}."


_OF_ITS_PODS = "DRA226"
"""The finding that a workload is accepted but its pods are not."""


_CLAIM_OF = "the claims of "


def _is_about_claims(of: OwnerVerdict) -> bool:
    """Return whether the rejected objects are claims to be generated for pods, and not the pods."""
    templates = bool(of.findings) and all(one.object.startswith("ResourceClaimTemplate ") for one in of.findings)
    return templates or bool(of.forbidden_claim)


def _stuck(whose: _Whose) -> str:
    of = whose.of
    claims = f"claim {words.listed(of.held)} has" if len(of.held) == 1 else f"claims {words.listed(of.held)} have"
    return f" is stuck on {of.node_name}: {claims} no devices, and nothing will allocate any."


def _unknown(whose: _Whose) -> str:
    of = whose.of
    if of.doubted:
        there = f"In this input, {without_gates(whose.alike).removesuffix(' now')}"
        return (
            f": unknown whether a node can take {whose.it}. {there}, but {words.listed(of.partial)} seem to be missing."
        )
    return f": unknown whether a node can take {whose.it}, because the input has no {none_of(whose.of.missing)}."


def none_of(resources: Sequence[str]) -> str:
    """Return the kinds joined with "or", such as `PersistentVolumeClaims, PersistentVolumes or StorageClasses`."""
    names = [_KINDS.get(one, one) for one in resources]
    return f"{', '.join(names[:-1])} or {names[-1]}" if len(names) > 1 else names[0]


_KINDS = {
    "deviceclasses": "DeviceClasses",
    "resourceslices": "ResourceSlices",
    "resourceclaims": "ResourceClaims",
    "resourceclaimtemplates": "ResourceClaimTemplates",
    "persistentvolumeclaims": "PersistentVolumeClaims",
    "persistentvolumes": "PersistentVolumes",
    "storageclasses": "StorageClasses",
}


def _bound(whose: _Whose) -> str:
    if whose.of.kind not in ("Pod", "ResourceClaim"):
        return ": all its pods already have nodes."
    return f" already has a node{f': {whose.nodes}' if whose.nodes else ''}."


_HEADLINES: dict[str, Callable[[_Whose], str]] = {
    "WouldBind": _would_bind,
    "WouldPreempt": _would_preempt,
    "Unschedulable": _unschedulable,
    "Error": _error,
    "Held": _held,
    "Suspended": _suspended,
    "Refused": _refused,
    "Stuck": _stuck,
    "Bound": _bound,
    "Finished": lambda _whose: " has finished, or is being deleted.",
    "Unknown": _unknown,
    "Undecided": lambda _whose: ": undecided, because a search was cut short (--max-steps, --timeout).",
}
