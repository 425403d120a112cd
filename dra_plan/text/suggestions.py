"""The wording of changes that would help: single changes, combined changes, and similar changes on one line."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from itertools import islice

from dra_plan.documents.claim_changes import (
    AlternativeAdded,
    CapacityChanged,
    ClassChanged,
    ConstraintDropped,
    CountLowered,
    PoolAwaited,
    RequestDropped,
    SelectorChanged,
    TaintRuleDeleted,
    TaintTolerated,
)
from dra_plan.documents.cluster_changes import (
    AffinityNamespacesAdded,
    ClaimDropped,
    ClaimReleased,
    ClaimTemplated,
    DevicesRepaired,
    GateEnabled,
    HostPortChanged,
    NodeAdded,
    NodeAwaited,
    NodeBoundMoved,
    NodeLabelled,
    NodeRequirementDropped,
    NodeRequirementsMerged,
    NodeSelectorChanged,
    NodeTaintMet,
    NodeUncordoned,
    PodRuleRelaxed,
    PodSelectorChanged,
    PodsGone,
    PriorityRaised,
    QuotaRaised,
    ReplicasLowered,
    ResourceClaimed,
    ResourceDropped,
    ResourceLowered,
    ResourceRenamed,
    ResourceServed,
    RolloutLoosened,
    VolumeClaimShrunk,
    VolumeFreed,
    WorkloadStarted,
)
from dra_plan.documents.stories import DriverPod
from dra_plan.documents.suggestions import SuggestedChange, TriedChanges
from dra_plan.text import words
from dra_plan.text.folding import by_pool
from dra_plan.text.placed import failing

_VERBS = {"guard-selector": "change", "fix-spelling": "correct", "change-value": "change"}


def suggestion(of: TriedChanges, who: str = "the pod", pods: int = 1) -> str:
    """Return changes that were tried together, and the nodes on which `who` (the pod or the claims) then fits.

    For a workload with several `pods`, the text says how many of them are scheduled after the changes.
    """
    return f"{', and '.join(_said(of))} ({'; '.join([_then(of, [of.node, *of.also_on], who, pods), *_after(of)])})"


def _after(of: TriedChanges) -> Iterator[str]:
    """Yield what becomes of the pods that leave, if they are not started on another node."""
    released = [one for one in of.changes if isinstance(one, ClaimReleased)]
    if _is_recreated_by_nothing(released):
        pods = {f"{one.release.namespace}/{name}" for one in released for name in one.pods}
        yield _NOT_RECREATED if len(pods) > 1 else f"nothing recreates pod {next(iter(pods))}"
    if not any(isinstance(one, NodeUncordoned) for one in of.changes):
        yield from (f"find out first why {failing(one)}" for one in of.failing)
    if any(isinstance(one, PodsGone) and one.stays == "WithoutPlace" for one in of.changes):
        yield "the removed pod's replacement would have no node"
    if any(one.stays == "WithoutPlace" for one in released):
        yield _WITHOUT_PLACE
    for change in of.changes:
        if isinstance(change, PriorityRaised):
            yield from _preempted(change)


def _preempted(of: PriorityRaised) -> Iterator[str]:
    """Yield what becomes of the pods that are preempted."""
    if of.without_place:
        yield f"no node would take the replacement of {words.listed(of.without_place)}"
    elif len(of.placed) == 1:
        yield "the evicted pod's replacement fits on another node"
    elif of.placed:
        yield "the evicted pods' replacements fit on other nodes"
    if of.not_recreated:
        yield f"nothing recreates {words.listed(of.not_recreated)}"


_CLASS_FIELD = "priorityClassName"


def _is_recreated_by_nothing(releases: Sequence[ClaimReleased]) -> bool:
    """Return whether claims are released that pods use, and none of these pods has a controller."""
    used = [one for one in releases if one.pods]
    return bool(used) and all(one.stays == "NoController" for one in used)


def _said(of: TriedChanges) -> Iterator[str]:
    """Yield the words for each change. Several tolerations are one change to a reader, and so are several releases."""
    tolerated = [one for one in of.changes if isinstance(one, NodeTaintMet) and one.code == "tolerate-node-taint"]
    released = [one for one in of.changes if isinstance(one, ClaimReleased)]
    folded = [each for each in (tolerated, released) if len(each) > 1]
    if tolerated in folded:
        taints = [words.taint(one.taint) for one in tolerated]
        yield f"add tolerations for taints {words.listed(taints, len(taints))}"
    yield from (_change_of(one, of) for one in of.changes if not any(one in each for each in folded))
    if released in folded:
        both = "both" if len(released) == 2 else "all"
        claims = words.listed(sorted(words.used_claim(one.release, one.pods) for one in released), len(released))
        yield f"release {both} claims{'' if any(one.pods for one in released) else UNUSED}: {claims}"


def heading(tried: int, untried: int) -> tuple[str, str]:
    """Return the title of the suggestions, and a remark in brackets saying which suggestions were tried.

    `tried` and `untried` are numbers of suggestions. The untried suggestions come first.
    """
    if not tried:
        return "Changes that may make it fit", ""
    but = f" but the first{f' {untried}' if untried > 1 else ''}" if untried else ""
    return "Changes that would make it fit", f" (each{but} was tried)"


def repair(of: DriverPod) -> str:
    """Return where to look if a driver pod has a problem or does not run, so that its devices are not known."""
    if of.state == "label":
        nodes = f"node{'s' if len(of.lacking) > 1 else ''} {words.listed(of.lacking)}"
        labels = of.labels.replace(",", " ")
        return (
            f"label {nodes} {labels}, as DaemonSet {of.daemon_set} of the driver requires: what it "
            "then publishes there is not known, so this cannot be tried"
        )
    where = f"{'for' if of.state == 'pending' else 'on'} {words.listed(of.lacking)}"
    return f"{_look_at(of, where)}: what it then publishes there is not known, so this cannot be tried"


def _look_at(of: DriverPod, where: str) -> str:
    reason = "Pending" if of.state == "pending" else of.reason
    said = ": ".join(filter(None, (reason, words.one_line(of.message)))) or "not ready"
    return f"look at pod {of.pod} of the driver {where} ({said})"


def _then(of: TriedChanges, nodes: Sequence[str], who: str, pods: int) -> str:
    if of.would_bind:
        return f"{of.would_bind} of its pods can then be scheduled"
    if any(isinstance(one, ReplicasLowered) for one in of.changes):
        return "none of them is then Pending"
    if pods > 1:
        return f"{'both' if pods == 2 else f'all {pods}'} of its pods can then be scheduled"
    evicting = f" after evicting {words.listed(of.evicts)}" if of.evicts else ""
    return f"{who} then {words.fits(who)} on {' or '.join(nodes)}{evicting}"


def _change_of(one: SuggestedChange, of: TriedChanges) -> str:
    """Return the words for one of the changes; a label also needs the node on which it is set."""
    if isinstance(one, NodeUncordoned) and (one.upgrade or of.failing):
        said = "; ".join([*([one.upgrade] if one.upgrade else []), *map(failing, of.failing)])
        return f"find out why {one.uncordon} was cordoned ({said}), and uncordon it"
    nodes = [each.object.name for each in of.patches if each.object.kind == "Node"]
    if isinstance(one, NodeLabelled) and len(nodes) == 1:
        return change(one).replace("the node", f"node {nodes[0]}", 1)
    return change(one)


def _corrected(of: NodeTaintMet) -> str:
    """Return how a toleration is corrected; a field may be empty before or after."""
    toleration = f"{of.field} of the toleration for {of.taint.key}"
    where = f" in CronJob {of.cron_job}" if of.cron_job else ""
    if not of.to:
        return f"remove the {toleration}, which is {of.from_}{where}"
    return f"{f'correct the {toleration} from {of.from_}' if of.from_ else f'set the {toleration}'} to {of.to}{where}"


def together(found: Sequence[TriedChanges], who: str = "the pod", pods: int = 1) -> list[str]:
    """Return a line for each suggestion. Suggestions that differ only in the released claim share a line.

    Tolerating a device taint and removing it also share a line. Only the toleration is tried, because the result is the
    same. The first lines say what to find out about device taints.
    """
    groups: dict[object, list[TriedChanges]] = {}
    for one in found:
        groups.setdefault(_likeness(one), []).append(one)
    lines = [line for group in groups.values() for line in _group_lines(group, who, pods)]
    return [*islice(_untainted(found, who), MOST_UNTAINTED), *lines]


def _likeness(of: TriedChanges) -> object:
    """Return what suggestions in one line agree on: everything but the node, the claim, and how a taint is met."""
    told: list[object] = []
    for one in of.changes:
        if isinstance(one, NodeTaintMet):
            told.append(one.taint)
        else:
            told.append(_likeness_of_pods(one))
    return repr((told, of.would_bind, of.evicts))


def _likeness_of_pods(of: SuggestedChange) -> object:
    """Return what changes of other pods in one line agree on: what becomes of the pods; other changes agree wholly."""
    if isinstance(of, ClaimReleased):
        return ClaimReleased, bool(of.pods), of.stays == "WithoutPlace"
    return (of.code, len(of.pods)) if isinstance(of, PodsGone) and of.code == "restart-pods" else of


def _group_lines(group: Sequence[TriedChanges], who: str, pods: int) -> Iterator[str]:
    """Yield the line for suggestions that are alike: what they have in common, then the choice that they leave."""
    released = [[one.release for one in of.changes if isinstance(one, ClaimReleased)] for of in group]
    if all(len(each) == 1 for each in released) and len({repr(each) for each in released}) > 1:
        yield _any_release(group, pods)
        return
    restarted = [pod for of in group for one in of.changes if isinstance(one, PodsGone) for pod in one.pods]
    if len(group) > 1 and len(restarted) == len(group) and all(len(of.changes) == 1 for of in group):
        then = _then(group[0], list(dict.fromkeys(of.node for of in group)), who, pods)
        told = f"{then}; the deleted pod's replacement also gets a node"
        yield f"delete any one of these {len(restarted)} pods: {words.listed(restarted)} ({told})"
        return
    removed = [of for of in group if _codes(of) == {"remove-node-taint"}]
    tolerated = [of for of in group if _codes(of) == {"tolerate-node-taint"}]
    if len(tolerated) != 1 or len(removed) != 1:
        yield from (suggestion(of, who, pods) for of in group)
        return
    [of], [other] = tolerated, removed
    taints = [one for one in other.changes if isinstance(one, NodeTaintMet)]
    instead = f"remove the taint{'s' if len(taints) > 1 else ''} from {taints[0].tainted}"
    said = ", and ".join(_said(of))
    nodes = list(dict.fromkeys((of.node, other.node)))
    yield f"{said}, or {instead}{' instead' if len(of.changes) > len(taints) else ''} ({_then(of, nodes, who, pods)})"


def _codes(of: TriedChanges) -> set[str]:
    return {one.code for one in of.changes if isinstance(one, NodeTaintMet)}


def _any_release(group: Sequence[TriedChanges], pods: int) -> str:
    """Return the line for claims of which any one must be released, with the other changes."""
    releases = {repr(one.release): one for of in group for one in of.changes if isinstance(one, ClaimReleased)}
    claims = [words.used_claim(one.release, one.pods) for one in releases.values()]
    unused = "" if any(one.pods for one in releases.values()) else UNUSED
    others = [_change_of(one, group[0]) for one in group[0].changes if not isinstance(one, ClaimReleased)]
    said = f"release any one of these {len(claims)} claims{unused}: {words.listed(claims)}"
    then = [*([_then(group[0], [], "", pods)] if pods > 1 else []), *_about_pods(list(releases.values()))]
    return ", and ".join([*others, f"{said}{words.in_brackets('; '.join(then))}"])


UNUSED = ", which no pod uses"
_WITHOUT_PLACE = "the replacement of that pod would have no node"
_NOT_RECREATED = "nothing recreates these pods: they have no controller"


def _about_pods(releases: Sequence[ClaimReleased]) -> Iterator[str]:
    """Yield what becomes of the pods whose claims are released."""
    if any(one.pods and not one.stays for one in releases):
        yield "--moves N shows where pods could go"
    elif any(one.stays == "WithoutPlace" for one in releases):
        yield _WITHOUT_PLACE
    elif _is_recreated_by_nothing(releases):
        yield _NOT_RECREATED


MOST_UNTAINTED = 2
"""The maximum number of device taints for which the text says what to find out."""


def _untainted(found: Sequence[TriedChanges], who: str) -> Iterator[str]:
    """Yield for each taint that the claims do not tolerate where they fit when it is gone."""
    of_rules = [words.taint(one.taint) for of in found for one in of.changes if isinstance(one, TaintRuleDeleted)]
    for of in found:
        first = of.changes[0]
        if len(of.changes) == 1 and isinstance(first, TaintTolerated) and first.tainted:
            if words.taint(first.toleration) in of_rules:
                continue  # the rule says why
            has = "has" if len(first.tainted) == 1 else "have"
            since = f" (since {first.since})" if first.since else ""
            taint = words.taint(first.toleration)
            fits = words.fits(who)
            needed = first.needed if first.needed < len(first.tainted) else 0
            few = f"; it needs {'one' if needed == 1 else f'at least {needed}'} of them" if needed else ""
            devices = words.listed(first.tainted) if len(first.tainted) == 1 else by_pool(first.tainted)
            yield (
                f"find out why {devices} {has} the taint {taint}{since}: when the taint is gone, "
                + (f"{of.would_bind} of its pods can be scheduled" if of.would_bind else f"{who} {fits} on {of.node}")
                + few
            )


def change(of: SuggestedChange) -> str:
    """Return the instruction for a change."""
    match of:
        case SelectorChanged():
            return _selector(of)
        case TaintTolerated():
            taint = words.taint(of.toleration)
            return f"tolerate the taint {taint} in {words.request(of)}, if you want to use tainted devices"
        case TaintRuleDeleted():
            taint = words.taint(of.taint)
            return f"delete devicetaintrule/{of.rule}, which sets the taint {taint}, if the devices may be used"
        case VolumeFreed():
            claim = f"{of.namespace}/{of.for_}"
            return f"remove spec.claimRef from PersistentVolume {of.volume}, if claim {claim} may use its data"
        case VolumeClaimShrunk():
            also = (
                f", and StatefulSet {of.stateful_set} with volumeClaimTemplates of this size" if of.stateful_set else ""
            )
            return f"create claim {of.volume_claim} again with {of.to} instead of {of.from_}{also}"
        case PoolAwaited():
            return _pool_awaited(of)
        case CountLowered(code="count-instead-of-all"):
            every = f"all {of.from_}" if of.from_ else "all"
            return f"ask for {words.counted(of.to, 'device')} instead of {every} in {words.request(of)}{_of_each(of)}"
        case CountLowered():
            return f"ask for {of.to} instead of {of.from_} in {words.request(of)}{_of_each(of)}"
        case CapacityChanged():
            return f"{_capacity(of)} in {words.request(of)}"
        case AlternativeAdded():
            return f"add an alternative to {words.request(of)}: class {of.class_}, count {of.count}"
        case ClassChanged():
            instead = f" instead of {of.from_}" if of.from_ else ""
            return f"ask for class {of.to}{instead} in {words.request(of)}{_amount(of)}"
        case RequestDropped():
            return f"leave out {words.request(of)}"
        case ConstraintDropped():
            number = f" (#{of.constraint})" if of.constraint else ""
            return f"drop {words.asking(of.claim)}'s constraint{number} on {of.attribute}"
        case NodeLabelled() if of.runtime_class:
            labels = words.listed([f"{name}={value}" for name, value in of.labels.items()])
            return f"find out why the node lacks label {labels}, and label it once its runtime is installed"
        case NodeLabelled():
            return f"label the node {', '.join(f'{name}={value}' for name, value in of.labels.items())}"
        case NodeUncordoned():
            return f"uncordon {of.uncordon}"
        case NodeAdded():
            return f"add a node like {of.like}"
        case NodeAwaited():
            since = f" (since {of.since})" if of.since else ""
            keys = list(dict.fromkeys(one.key for one in of.taints))
            taints = f"taint{'s' if len(keys) > 1 else ''} {words.listed(keys)}"
            ends = f", which also ends pod{'s' if len(of.ends) > 1 else ''} {words.listed(of.ends)}" if of.ends else ""
            return f"find out why {of.awaited} has {taints}{since}, and {_repaired(keys)}{ends}"
        case DevicesRepaired():
            return (
                f"find out why the device plugin on {of.on} offers only {of.from_} of {of.to} {of.resource}, "
                "and repair the rest"
            )
        case NodeTaintMet(code="correct-toleration"):
            return _corrected(of)
        case NodeTaintMet(code="tolerate-node-taint"):
            to = f" to CronJob {of.cron_job}" if of.cron_job else ""
            return f"add a toleration for taint {words.taint(of.taint)}{to}"
        case NodeTaintMet():
            return f"remove taint {words.taint(of.taint)} from {of.tainted}"
        case NodeSelectorChanged():
            instead = of.label if of.to_label else of.from_
            return f"ask for a node with {of.to_label or of.label}={of.to} instead of {instead}"
        case NodeRequirementsMerged():
            return f"accept each of these values in one expression: {of.label} In [{', '.join(of.values)}]"
        case NodeBoundMoved():
            return f"ask for {of.label} {of.operator} {of.to} instead of {of.from_}, which {of.operator} excludes"
        case NodeRequirementDropped():
            return _not_required(of)
        case AffinityNamespacesAdded():
            namespaces = ", ".join(of.namespaces)
            return f"set namespaces: [{namespaces}] in the pod affinity for {of.selector or 'all pods'}"
        case PodRuleRelaxed(code="honor-taints"):
            return (
                f"spread over {of.topology_key} without the nodes that the pod does not tolerate "
                "(nodeTaintsPolicy: Honor)"
            )
        case PodRuleRelaxed(code="lower-min-domains"):
            return f"set minDomains to {of.to} instead of {of.from_} in the topology spread over {of.topology_key}"
        case PodRuleRelaxed(code="change-topology-key"):
            return f"use topologyKey {of.to_key} instead of {of.topology_key}"
        case PodRuleRelaxed(code="raise-max-skew"):
            return f"set maxSkew to {of.to} instead of {of.from_} in the topology spread over {of.topology_key}"
        case PodRuleRelaxed(code="relax-spread"):
            return f"make the topology spread over {of.topology_key} a preference (whenUnsatisfiable: ScheduleAnyway)"
        case PodRuleRelaxed(code="relax-affinity"):
            return f"prefer the pod affinity in {of.topology_key} instead of requiring it"
        case PodRuleRelaxed(code="relax-anti-affinity"):
            return f"prefer the pod anti-affinity in {of.topology_key} instead of requiring it"
        case PodRuleRelaxed():
            return f"do without host port {of.port}"
        case HostPortChanged():
            listens = ", if the program can listen on it" if of.listens else ""
            return f"use host port {of.to} instead of {of.from_}{listens}"
        case ResourceLowered():
            where = f"container {of.container}" if of.container else "spec.resources of the pod"
            return f"ask for {of.to} instead of {of.from_} {of.resource} in {where}"
        case ResourceRenamed():
            return f"ask for {of.to} instead of {of.resource}"
        case ResourceDropped():
            containers = f"container{'s' if len(of.containers) > 1 else ''} {words.listed(of.containers)}"
            return f"remove {of.resource} from {containers}{_left_to(of)}"
        case ClaimDropped():
            beside = f": {of.beside} asks for the same device" if of.beside else ""
            return f"remove entry {of.entry} ({words.asking(of.claim)}) from the pod's resourceClaims{beside}"
        case ReplicasLowered():
            return f"run {of.to} instead of {of.from_} pods"
        case ResourceServed():
            return f"have class {of.class_} serve {of.resource} (its extendedResourceName)"
        case PriorityRaised(is_new=True):
            return f"create a PriorityClass with a value above {of.value - 1}, and name it in the pods ({_CLASS_FIELD})"
        case PriorityRaised():
            return f"use PriorityClass {of.priority_class} with value {of.value}"
        case ResourceClaimed():
            return _claimed(of)
        case WorkloadStarted(code="raise-replicas"):
            return f"scale {of.kind} {of.namespace}/{of.name} to {words.counted(of.to, 'replica')}"
        case WorkloadStarted():
            return f"resume {of.kind} {of.namespace}/{of.name}"
        case PodSelectorChanged():
            return f"select {of.to} instead of {of.from_} in the {_RULES[of.rule]} {of.topology_key}"
        case RolloutLoosened():
            return f"let the rollout delete an old pod first: maxUnavailable {of.to} in deployment {of.deployment}"
        case ClaimTemplated():
            claim = f"claim {words.claim(of.shared)}"
            if of.kept_by:
                return _own_claim(of)
            return f"give each pod its own claim: {_template(of, claim)}, and name it in the pods ({_FIELD})"
        case QuotaRaised():
            return f"raise {of.resource} in ResourceQuota {of.namespace}/{of.quota} from {of.from_} to {of.to}"
        case PodsGone():
            return _pods_gone(of)
        case ClaimReleased():
            return f"release claim {words.released(of.release, of.pods)}{'' if of.pods else UNUSED}"
        case GateEnabled():
            return f"enable feature gate {of.gate}"


_REPAIRS = {
    "node.kubernetes.io/disk-pressure": "free space on its disk",
    "node.kubernetes.io/memory-pressure": "free memory on it",
    "node.kubernetes.io/pid-pressure": "end some of its processes",
}
"""What removes the taints of a node that is ready but has little left of something."""


def _repaired(keys: Sequence[str]) -> str:
    """Return what removes all of these taints."""
    if all(key in _REPAIRS for key in keys):
        return words.listed([_REPAIRS[key] for key in keys])
    return "get the node ready again"


_RULES = {"spread": "topology spread over", "affinity": "pod affinity in", "anti-affinity": "pod anti-affinity in"}
"""The words for a rule about other pods, before its topology key."""


def _left_to(of: ResourceDropped) -> str:
    """Return what gives the containers their devices, if it is not the resource that is removed."""
    if not of.uses_claim:
        return ""
    return f": {'their' if len(of.containers) > 1 else 'its'} claim asks for the same device"


def _own_claim(of: ClaimTemplated) -> str:
    """Return how the pod gets a claim of its own instead of one that other pods keep on their node."""
    pods = f"pod{'s' if len(of.kept_by) > 1 else ''} {words.listed(of.kept_by)}"
    keeps = "keep" if len(of.kept_by) > 1 else "keeps"
    where = f"{keeps} on {of.on}" if of.on else f"{'use' if len(of.kept_by) > 1 else 'uses'}"
    return (
        f"give the pod a claim of its own instead of claim {words.claim(of.shared)}, which {pods} {where}: "
        f"{_template(of, 'the claim')}, and name it in the pod ({_FIELD})"
    )


_FIELD = "resourceClaimTemplateName"


def _claimed(of: ResourceClaimed) -> str:
    """Return from which template the container gets a claim instead of an extended resource."""
    which = "the existing" if of.exists else "a new"
    asked = "" if of.exists else f" for {words.counted(of.amount, 'device')} of class {of.class_}"
    instead = f"instead of {of.resource}={of.amount} in container {of.container}"
    return f"use a ResourceClaim from {which} ResourceClaimTemplate {of.template}{asked}, {instead}"


def _template(of: ClaimTemplated, claim: str) -> str:
    """Return what to do to have a template with the spec of the claim."""
    if of.exists:
        return f"use ResourceClaimTemplate {of.template}, which has the spec of {claim}"
    return f"create ResourceClaimTemplate {of.template} with the spec of {claim}"


def _amount(of: SelectorChanged | ClassChanged) -> str:
    """Return how the devices differ in size from those that are asked for now."""
    if of.amount is None:
        return ""
    which = "the matching" if isinstance(of, SelectorChanged) else "its"
    return f"; {which} devices have {of.amount.name} {of.amount.to} instead of {of.amount.from_}"


def _of_each(of: CountLowered) -> str:
    """Return what each of the claims gets that come from one template."""
    if of.claims == 1:
        return ""
    return f" (each of the {of.claims} claims then gets {of.to})"


def _not_required(of: NodeRequirementDropped) -> str:
    if of.places == ["nodeSelector"]:
        return f"drop the node selector {of.label}={of.values[0]}"
    values = f" [{', '.join(of.values)}]" if of.values else ""
    also = " and the node selector" if "nodeSelector" in of.places else ""
    return f"drop {of.label} {of.operator}{values} from the required node affinity{also}"


def _pool_awaited(of: PoolAwaited) -> str:
    """Return where to look at the driver's pod, if its slices are for one node, and what to wait for."""
    wait = (
        f"wait until the driver publishes all slices of pool {of.pool}: the input has {of.seen} of {of.expected}, "
        "according to resourceSliceCount"
    )
    if not of.on:
        return wait
    known = next((one for one in of.driver_pods if one.pod), None)
    if known is not None:
        return f"{_look_at(known, f'on {of.on}')}, and {wait}"
    command = shlex.join(["kubectl", "get", "pods", "-A", "--field-selector", f"spec.nodeName={of.on}"])
    return f"look at the driver's pod on {of.on} ({command}), and {wait}"


def _pods_gone(of: PodsGone) -> str:
    pods = f"pod {of.pods[0]}" if len(of.pods) == 1 else f"pods {words.listed(of.pods)}"
    is_deleted = "is being deleted" if len(of.pods) == 1 else "are being deleted"
    if of.code == "restart-pods":
        fit = "its replacement then fits" if len(of.pods) == 1 else "their replacements then fit"
        return f"delete {pods}: {fit} on {words.listed(list(dict.fromkeys(of.then_on)))}"
    if of.code == "remove-pods" and of.stays == "NoController":
        return f"delete {pods} on {of.on}, which nothing recreates"
    if of.code == "remove-pods":
        return f"remove {pods} from {of.on}"
    if of.code == "await-pods":
        return _awaited(of, pods, is_deleted)
    they = "it cannot end by itself" if len(of.pods) == 1 else "they cannot end by themselves"
    return f"delete {pods} with --force, if node {of.on} is off: the node does not report, so {they}"


def _awaited(of: PodsGone, pods: str, is_deleted: str) -> str:
    """Return how long to wait for pods that are being deleted; for those that are overdue, what may keep them."""
    one = len(of.pods) == 1
    if not of.overdue:
        period = f" (grace period until {of.until})" if of.until else ""
        return f"wait until {pods} on {of.on}, which {is_deleted}{period}, {'is' if one else 'are'} gone"
    kept = f"remove {'its' if one else 'their'} finalizers ({words.listed(of.finalizers)})"
    look = kept if of.finalizers else f"look at the kubelet of {of.on}"
    ended = f"{'its grace period' if one else 'their last grace period'} ended at {of.until}"
    return f"find out why {pods} on {of.on}, which {is_deleted}, still {'exists' if one else 'exist'}: {ended}; {look}"


def _selector(of: SelectorChanged) -> str:
    whose = words.request_of(of.claim, of.request) if of.claim is not None else f"class {of.class_}"
    number = f" #{of.selector}" if of.selector else ""
    if of.code in _VERBS:
        said = f"{_VERBS[of.code]} the selector{number} of {whose} to {words.one_line(of.replacement or '')}"
        said += _amount(of)
    elif of.dropped:
        said = f"drop `{words.one_line(of.dropped)}` from the selector of {whose}"
    else:
        said = f"drop the selector of {whose}: {words.one_line(of.expression)}"
    return f"{said}{_users(of)}"


def _users(of: SelectorChanged) -> str:
    """Return the other users whose devices would change."""
    if not of.used_by:
        return ""
    return f", which {words.listed([words.user(one) for one in of.used_by])} use{'s' if len(of.used_by) == 1 else ''}"


def _capacity(of: CapacityChanged) -> str:
    if not of.to:
        return f"do not ask for capacity {of.capacity}"
    if of.code == "request-capacity" and of.also:
        amounts = {of.capacity: of.to, **of.also}
        told = words.listed([f"{to} of {name}" for name, to in amounts.items()], len(amounts))
        return f"ask for {told}, not for all that a device has,"
    if of.code == "request-capacity":
        return f"ask for {of.to} of capacity {of.capacity}, not the default {of.from_},"
    if of.from_:
        return f"ask for {of.capacity} {of.to} instead of {of.from_}"
    return f"ask for capacity {of.to} instead of {of.capacity}"
