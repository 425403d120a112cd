"""The verdict on a pod, workload or claim: the headline, its basis, and the result with other feature gates."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from dra_plan.allocator import Outcome
from dra_plan.controllers.over_quota import in_words
from dra_plan.documents.base import listing
from dra_plan.documents.claim_sets import ClaimSetSummary
from dra_plan.documents.devices import ClaimHolder
from dra_plan.documents.node_obstacles import NodeObstacle
from dra_plan.documents.refusals import RefusalFinding
from dra_plan.documents.stories import SharedClaim
from dra_plan.documents.verdict_parts import (
    AloneVerdict,
    AwaitedCondition,
    ChangedReason,
    ClaimableDevices,
    ClaimOfLostNode,
    GatedVerdict,
    LastMessage,
    LeavingClaim,
)
from dra_plan.documents.verdicts import DEVICES, GOOD, OwnerVerdict
from dra_plan.documents.volume_needs import VolumeClaimNeeds
from dra_plan.text import words
from dra_plan.text.columns import Lines, indented
from dra_plan.text.headlines import admission, headline, none_of, with_gates, without_gates
from dra_plan.text.naming import object_name, scale_up
from dra_plan.text.node_obstacles import label_conflict, sources, upgrades
from dra_plan.text.placed import unready_sentence
from dra_plan.text.refusing_nodes import (
    MOST_SHARES,
    in_vain,
    is_told_elsewhere,
    node_lines,
    only_devices,
    who,
)
from dra_plan.text.rivals import only_some, other
from dra_plan.text.volume_claims import volume_claim, volumes_apart

MOST_EVICTIONS = 3
"""The maximum number of a workload's evicted pods that are listed."""


UNTOLD = ("Bound", "Finished")
"""The verdicts that are shown with the devices that the owner already has."""


WITH_DEVICES = ("WouldBind", "WouldPreempt", "Suspended")
"""The verdicts that are shown with the devices that the pod would get."""


def verdict_lines(alike: Sequence[OwnerVerdict], devices: ClaimSetSummary | None = None) -> Lines:
    """Yield the verdict and its basis: findings, missing objects, and the obstacles on each node.

    `alike` contains verdicts that differ only in names. `devices` says where the claims fit.
    """
    of = alike[0]
    yield headline(alike)
    yield from indented(_below(of))
    if of.verdict == "Suspended" and devices is not None:
        yield "  What one of its pods would get if it started now:"
    fitting = devices.fitting_nodes if devices is not None else []
    if of.verdict == "Held" and fitting and of.held_by != "BindingConditions":
        yield f"  Its devices would fit on {words.listed(fitting)}."
    if of.verdict != "Unknown" and not (of.missing and of.of_all_nodes):
        yield from indented(_excluding(of))
        told = [one.claim for one in of.volumes_apart.places] if of.volumes_apart is not None else []
        told += {*_placed_claims(of)} - {one.name for one in of.volume_claims if one.nowhere or one.pending}
        needs = [one for one in of.volume_claims if one.name not in told]
        own = [volume_claim(one, of.namespace) for one in needs if one.volume and _keeps_off(of, one)]
        yield from (f"  {one}" for one in own)
        yield from indented(_in_the_way(of, devices))
        yield from (f"  {volume_claim(one, of.namespace)}" for one in needs if not one.volume and one.is_told)
    if of.with_gates is not None:
        yield from indented(_gated(alike, of.with_gates))
    if of.freed is not None:
        yield f"  {_freed(of, of.freed)}"
        yield from indented(_in_the_way(of.freed, devices if of.verdict != "Refused" else None))
    yield from (f"  {words.absent(one)}" for one in of.absent)
    yield from indented(map(_claimable, of.claimable))
    yield from indented(_agents(of))
    yield from indented(sources(of.told_nodes))
    yield from indented(upgrades(of.told_nodes))
    yield from indented(map(_shared, of.shared_claims))
    yield from indented(map(_left_over, of.left_over))
    is_in_vain = of.volumes_apart is not None or of.label_conflict is not None
    are_all = not of.nodes or sum(len(each.nodes) for each in of.nodes) >= of.total_nodes  # not if --node chooses some
    if of.verdict == "Unschedulable" and are_all and not is_in_vain and (said := in_vain(of.told_nodes)):
        yield f"  {said}"


def _agents(of: OwnerVerdict) -> list[str]:
    """Return why the agents are not ready that would remove a taint of their nodes."""
    agents = (one.agent for group in of.told_nodes for one in group.about if one.agent is not None)
    told = ((one.node, unready_sentence(one, whose="")) for one in agents)
    return list(dict.fromkeys(f"On {node}, {said[:1].lower()}{said[1:]}" for node, said in told))


def _claimable(of: ClaimableDevices) -> str:
    """Return that devices are free where the pod's extended resource is lacking."""
    is_one = of.devices == 1
    devices = words.counted(of.devices, "device") if of.devices else "Devices"
    where = words.listed(of.nodes) if len(of.nodes) <= MOST_NAMED else words.counted(len(of.nodes), "node")
    return f"{devices} of class {of.class_} {'is' if is_one else 'are'} free on {where}, for pods with a ResourceClaim."


MOST_NAMED = 2
"""The maximum number of nodes with free devices that are named."""


def _placed_claims(of: OwnerVerdict) -> Iterator[str]:
    """Yield the claims whose lines about nodes say where their volumes can be."""
    if of.of_all_nodes:
        return
    others = (group for group in of.told_nodes if not any(one.is_reserved for one in group.about))
    yield from (one.claim for group in others for one in group.about if one.kind == "Volume" and one.values)


def _keeps_off(of: OwnerVerdict, claim: VolumeClaimNeeds) -> bool:
    """Return whether the claim is not bound, or its volume cannot be used on some node, or it is not known on which."""
    if claim.pending or claim.volume_missing:
        return True
    if of.of_all_nodes:
        return bool(claim.labels) and (claim.nowhere or not any(one.is_open for one in of.volume_claims))
    about = [one for group in of.told_nodes for one in group.about]
    return bool(claim.labels) and any(one.is_of_volume and one.claim == claim.name for one in about)


def _shared(of: SharedClaim) -> str:
    where = f", and can run only on {of.node}" if of.node else ""
    return (
        f"The {of.pods} pods of {of.by.kind.lower()} {of.by.name} all name claim {of.claim}, so they share its "
        f"devices{where}."
    )


def _excluding(of: OwnerVerdict) -> Iterator[str]:
    """Yield the requirements that no node can meet together."""
    if of.volumes_apart is not None:
        yield from volumes_apart(of.volumes_apart)
    if of.label_conflict is not None:
        yield label_conflict(of.label_conflict)


def _left_over(of: ClaimHolder) -> str:
    """Return what to do about a claim whose pods are not in the input."""
    is_one = len(of.pods) == 1
    pods = f"{'pod' if is_one else 'pods'} {words.listed(of.pods)}, which {'is' if is_one else 'are'} not in the input"
    gone = "that pod is" if is_one else "they are"
    return f"Claim {words.claim(of)} is reserved for {pods}. If {gone} gone, delete the claim."


def _in_the_way(of: OwnerVerdict | AloneVerdict, devices: ClaimSetSummary | None) -> Iterator[str]:
    """Yield the obstacles on each node, unless the device stories contain all of them."""
    unknown = isinstance(of, OwnerVerdict) and bool(of.missing)
    if devices is not None and is_told_elsewhere(of.nodes, devices.fitting_nodes):
        return
    is_searched = devices is not None and devices.outcome in (Outcome.FITS, Outcome.DOES_NOT_FIT)
    yield from node_lines(
        of, asks_for_devices=is_searched and not unknown, without_devices=unknown, most_shares=MOST_SHARES
    )


def _gated(alike: Sequence[OwnerVerdict], then: GatedVerdict) -> Iterator[str]:
    """Yield on what the result with the gates depends, the obstacles with them, and how to ask with them."""
    several = len(then.gates) > 1
    gates = f"{'gates' if several else 'gate'} {words.listed(then.gates)}"
    them, are = ("they", "are") if several else ("it", "is")
    if alike[0].depends_on_gates:
        yield f"This is so if {gates} {are} on, as the input suggests ({then.signs})."
        yield f"If {them} {are} off, as by default, {without_gates(alike)}."
        if then.nodes:
            yield f"With the {'gates' if several else 'gate'} on:"
    else:
        result = f"{with_gates(alike[0], then)}{':' if then.nodes else '.'}"
        yield f"The {gates} {are} probably on ({then.signs}). Then {result}"
    yield from node_lines(then, asks_for_devices=True)
    yield f"For the whole answer: --feature-gates {','.join(f'{gate}=true' for gate in then.gates)}"


def _freed(of: OwnerVerdict, then: AloneVerdict) -> str:
    """Return the outcome for a pod without its blocker, or without the volumes that exclude all nodes."""
    it = "one of its pods" if of.verdict == "Suspended" or (of.verdict == "Refused" and of.kind != "Pod") else "it"
    refused = f"no node could take {it} (0 of {of.total_nodes:,}):"
    match of.held_by:
        case "SchedulingGates":
            when = f"Without {'its gates' if len(of.held) > 1 else 'the gate'}"
        case "OtherScheduler":
            when = "If kube-scheduler scheduled it"
        case "MissingClaim":
            when = "Besides"
        case _ if of.verdict == "Refused":
            when = "With the label"
        case _ if of.verdict == "Suspended":
            when = "If it started now"
        case _:
            given = [one.default_class for one in of.volume_claims if one.awaits_default]
            when = "Whatever its volumes need" if of.missing else "Without its volumes"
            when = f"With StorageClass {given[0]}" if given and not of.missing else when
            when = "Besides" if of.refused_by == [DEVICES] else when
    if then.verdict == "Unschedulable":
        return f"{when}, {refused}"
    evicts = " after evicting others" if then.verdict == "WouldPreempt" else ""
    now = "" if of.verdict == "Suspended" else " now"
    return f"{when}, {it} would be bound to {then.node_name}{now}{evicts}."


def verdict_line(alike: Sequence[OwnerVerdict]) -> str:
    """Return the verdict in one line, with the obstacles on the nodes that are closest to fitting."""
    of = alike[0]
    if of.verdict != "Unschedulable" or not of.nodes or of.first or of.evicted_for:
        return headline(alike)
    nearest = next(node_lines(of, asks_for_devices=False), "")
    return f"{headline(alike).removesuffix('.')}. {nearest}"


def _lost(of: ClaimOfLostNode) -> str:
    """Return what keeps a claim allocated whose node is gone."""
    if not of.pods:
        return f"Claim {of.claim} is freed when no pod is in its reservedFor any more."
    is_one = len(of.pods) == 1
    said = f"{'Pod' if is_one else 'Pods'} {words.listed(of.pods)} {'has' if is_one else 'have'} it"
    said += f" and {'is' if is_one else 'are'} being deleted" if of.deleted else ""
    if of.finalizers:
        it = "it exists" if is_one else "they exist"
        said += f"; {it} until finalizers are removed, also with --force: {words.listed(of.finalizers)}"
    return f"{said}."


def _leaving(of: LeavingClaim) -> str:
    """Return until when a claim exists, and what to do then."""
    pods = f"pod {of.pods[0]} ends" if len(of.pods) == 1 else f"pods {words.listed(of.pods)} end"
    until = f"Claim {of.name} exists until {pods}. " if of.pods else ""
    if of.generated:
        return (
            f"{until}No pod can use it any more. Delete the pod: its controller creates another one, with a new claim."
        )
    return f"{until}No pod can begin to use it. When it is gone, create it again, or have the pod name another claim."


def _gate_controllers(of: OwnerVerdict, is_of_kueue: bool) -> Iterator[str]:
    """Yield that the controller which should remove the gates does not run, and what is wrong with its pods."""
    if is_of_kueue:
        yield "Kueue's controller is not running. Until it runs, Kueue admits nothing."
    else:
        yield f"The controller that should remove the gate{'s' if len(of.held) > 1 else ''} does not seem to run."
    yield from (unready_sentence(one, whose="") for one in of.gate_controllers)


def _other_scheduler(of: OwnerVerdict) -> Iterator[str]:
    """Yield how to start the pod's scheduler, what is wrong with its pods, or where it says why the pod waits."""
    if of.running_schedulers:
        yield "The scheduler's log should say why the pod is Pending:"
    for pod in of.running_schedulers:
        namespace, _, name = pod.partition("/")
        yield f"  {shlex.join(['kubectl', 'logs', '-n', namespace, name])}"
    yield from (unready_sentence(one, whose="") for one in of.scheduler_pods)
    if of.running_schedulers or of.scheduler_pods:
        return
    if of.scheduler_workload is None:
        yield from (f"To look for its pods: kubectl get pods -A | grep -e {shlex.quote(name)}" for name in of.held)
    elif of.scheduler_workload.replicas:
        where = of.scheduler_workload
        describe = shlex.join(["kubectl", "describe", where.kind.lower(), where.name, "-n", where.namespace])
        yield f"It should have {words.counted(where.replicas, 'pod')}. To see why it has none: {describe}"
    else:
        yield "To start it (not tried: dra-plan does not simulate other schedulers):"
        yield f"  {scale_up(of.scheduler_workload)}"


def _queue_lines(of: OwnerVerdict) -> Iterator[str]:
    """Yield whether the queue exists, and where Kueue says what a workload is waiting for."""
    if of.queues:
        meant = f" Did you mean {of.near_queue}?" if of.near_queue else f" There are: {words.listed(of.queues)}."
        yield f"Namespace {of.namespace} has no LocalQueue {of.queue}, so Kueue never admits it.{meant}"
        return
    if of.queue_message:
        yield f"Kueue says: {words.one_line(of.queue_message)}"
        return
    shown = f"kubectl describe workloads.kueue.x-k8s.io -n {of.namespace} shows what each workload is waiting for."
    if of.queue_exists:
        yield shown
        return
    yield f"If there is no such LocalQueue in namespace {of.namespace}, it is never admitted. {shown}"


def _forbidden(of: OwnerVerdict) -> Lines:
    """Yield who uses the quota, and the API server's message about pods that it does not create."""
    if of.over:
        yield f"{words.capital(in_words(of.over, of.namespace))}."
    yield of.message
    for each in of.defaulted:
        yield (
            f"Container {each.container} does not request {each.resource}: "
            f"LimitRange {each.limit_range} sets {each.amount}."
        )
    if of.over:
        is_amount = any("." in each.resource or each.resource in ("cpu", "memory") for each in of.over)
        yield f"{'Request less, raise' if is_amount else 'Raise'} the quota, or delete objects that it counts."


FAILED_CREATION = "FailedResourceClaimCreation"
"""The reason of events with which kube-controller-manager reports that it could not create a claim."""


def _uncreated(of: OwnerVerdict) -> Iterator[str]:
    """Yield what creates the claims of a pod that do not exist yet, and what to look at if it does not."""
    is_one = len(of.uncreated) == 1
    them = "it from template" if is_one else "them from templates"
    creates = f"kube-controller-manager creates {them} {words.listed(of.uncreated)}."
    if of.claim_creators:
        yield creates
        yield from map(unready_sentence, of.claim_creators)
    elif of.overdue:
        yield f"{creates} The {'claim' if is_one else 'claims'} should have been created seconds after the pod."
        command = ["kubectl", "get", "events", "-n", of.namespace, "--field-selector", f"reason={FAILED_CREATION}"]
        yield f"Look for the reason: {shlex.join(command)}"
    else:
        yield (
            f"{creates} If that takes more than a few seconds, look at the events of the pod and "
            "at the pods of kube-controller-manager."
        )


def _below(of: OwnerVerdict) -> Iterator[str]:
    """Yield the basis of the verdict, except the nodes."""
    for finding in of.findings:
        yield from _finding(finding)
    if of.forbidden:
        yield from _forbidden(of)
    if of.verdict == "Held" and of.held_by == "PodGroup" and of.waiting:
        yield words.scheduler_says(of.waiting)
    if of.verdict == "Stuck":
        yield (
            "Claims get devices when the scheduler binds the pod. This pod already has a node, from "
            "its nodeName or from a scheduler without support for claims. Delete it, and let "
            "kube-scheduler choose the node."
        )
    if of.missing and of.verdict != "Unknown":
        what = next((what for kind, what in _OF_KINDS.items() if kind in of.missing), "volumes")
        yield f"Its {what} are not known: the input has no {none_of(of.missing)}."
        yield f"Add the output of: {listing(of.missing)}"
    if of.verdict == "Unknown":
        yield from _unknown_lines(of)
    if of.held_by == "OtherScheduler":
        yield from _other_scheduler(of)
    if of.uncreated:
        yield from _uncreated(of)
    yield from map(_lost, of.lost_claims)
    for leaving in of.leaving_claims:
        yield _leaving(leaving)
    is_of_kueue = of.verdict == "Suspended" or bool(admission(of))
    if of.gate_controllers:
        yield from _gate_controllers(of, is_of_kueue)
    if of.queue and is_of_kueue:
        yield from _queue_lines(of)
    for each in of.awaited:
        yield _awaited(each)
    if of.spared:
        place, others = of.spared[0].node_name, words.listed([other(pod) for pod in of.spared])
        yield f"It could preempt {others} on {place}, but its preemptionPolicy is Never."
        yield "With a PriorityClass whose preemptionPolicy is PreemptLowerPriority, it would do so (this was tested)."
    if of.after_rollout:
        yield f"Its Deployment's update will delete an old pod first; then it fits on {of.after_rollout}."
    if of.until:
        them, period = (
            ("It is", "its grace period ends") if len(of.held) == 1 else ("They are", "their grace periods end")
        )
        yield f"{them} already being deleted, with a lower priority; {period} at {of.until}."
    if of.never_together and of.alone is not None:
        yield only_some(of.alone.would_bind, of.pods)
    if of.priority is not None and (said := _no_preemption(of, of.priority)):
        yield said
    if of.low_priority is not None:
        yield f"Its priority is {of.low_priority}, below the default of 0: it preempts no ordinary pod."
    if of.kubelet:
        yield (
            f"The kubelet of {of.node_name} is {of.kubelet}, older than the control plane. If it "
            "does not support such claims, the pod does not start."
        )
    if of.last_message is not None:
        yield _last(of, of.last_message)
    if of.not_tried:
        yield f"{words.counted(of.not_tried, 'pod')} were not tried."


_OF_KINDS = {"resourceslices": "devices", "deviceclasses": "devices", "resourceclaims": "claims"}
"""What is not known of a pod if the input lacks these kinds; without any of them, its volumes."""


def _unknown_lines(of: OwnerVerdict) -> Iterator[str]:
    """Yield how to get what is missing, and the obstacles that are known without it."""
    if "resourceclaims" in of.missing:  # the pod says that its claims exist
        yield f"Add the output of: {listing(of.missing)}"
        return
    some = none_of(of.missing) if of.unready_pods else "any"
    yield f"If the cluster has {some}, add the output of: {listing(of.missing)}"
    if "resourceslices" in of.missing:
        yield "If it has none, either the cluster has no nodes with such devices yet, or their driver is not running."
    if of.missing != ["resourceslices"] or of.of_all_nodes:
        return
    known = list(node_lines(of, asks_for_devices=False, without_devices=True))
    if known:
        yield "Already known, whatever the slices contain:"
        yield from indented(known)
        others = [name for group in of.nodes if only_devices([group]) for name in group.nodes]
        yield from [f"Only the devices are unknown on {who(others)}."] if others else []


def _no_preemption(of: OwnerVerdict, priority: int) -> str:
    """Return why a pod with a priority preempts nothing on nodes where other pods alone leave no room."""
    full = [group for group in of.nodes if all(one.is_of_room for one in group.about or [_NOTHING])]
    if full and not any(group.lower_priority for group in full):
        least = min((group.priority for group in full if group.priority is not None), default=None)
        where = who([name for group in full for name in group.nodes])
        return f"Its priority of {priority} preempts nothing on {where}: the lowest priority there is {least}."
    if full and of.alone is None:
        several = "pods" if sum(group.lower_priority for group in full) > 1 else "pod"
        where = who([name for group in full for name in group.nodes if group.lower_priority])
        even = f"even without the {several} of lower priority on {where}, it would not fit"
        return f"Its priority of {priority} does not help: {even}."
    held = [one for group in of.nodes for one in group.about if any(each.step == "in-use" for each in one.removed)]
    if held and not full:
        return f"Its priority of {priority} does not help: kube-scheduler preempts no pod for its devices."
    return ""


_NOTHING = NodeObstacle(kind="NodeName")
"""An unknown obstacle."""


def _awaited(of: AwaitedCondition) -> str:
    """Return the condition of a device, and its reason and message."""
    because = ": ".join(filter(None, (of.reason, words.one_line(of.message))))
    why = f" ({because})" if because else ""
    if of.failed:
        return (
            f"Device {of.device} (claim {of.claim}) reports {of.condition}{why}. The scheduler gives it up and tries "
            "again; if the report stays, look at its driver."
        )
    state = f"is {of.status} now" if of.status else "has not been reported"
    return (
        f"Device {of.device} (claim {of.claim}) waits for condition {of.condition}, which {state}{why}. Its driver or "
        "controller has to set it; after a timeout, the scheduler gives the device up and tries again."
    )


def _last(of: OwnerVerdict, last: LastMessage) -> str:
    """Return the last message of the cluster, and whether the answer is the same now."""
    if last.seconds_ago is not None:
        when = f", {_age(last.seconds_ago)} ago"
    else:
        when = f", at {last.time}" if last.time else ""
    if last.same_today and of.held_by != "Preemption":
        return f"The cluster last said the same{when}."
    said = f"The cluster last said{when}: {last.message}"
    if last.changed:
        now = f"{said.removesuffix('.')}. Now: {', '.join([_since(one) for one in last.changed])}."
        if not of.unread:
            return now
        return f"{now} The input has no {words.listed(of.unread)}: add the output of {listing(of.unread)}"
    if of.partial:
        missing = f"{said.removesuffix('.')}. So the missing {words.listed(of.partial)} probably"
        if _HOLDING.issuperset(of.partial):
            return f"{missing} hold what it needs: the warning says how to add them."
        return f"{missing} say why: add the output of {listing(of.partial)}"
    if of.verdict not in GOOD or of.depends_on_gates:
        return said
    if of.kind != "Pod":
        return f"{said.removesuffix('.')}. Now they would be created."
    if of.uncreated or any(one.given_up for one in of.volume_claims):
        return said
    return f"{said.removesuffix('.')}. It would fit now."


_HOLDING = frozenset(["pods", "resourceclaims"])
"""The kinds of objects that hold devices, cpu or memory."""


def _since(of: ChangedReason) -> str:
    """Return `"Insufficient cpu" on 3 nodes (was 2)`."""
    now = f"on {words.counted(of.nodes, 'node')}" if of.nodes else "on no node"
    return f'"{of.reason}" {now} (was {of.before})'


def _age(seconds: int) -> str:
    """Return a time in its largest unit, rounded down."""
    for unit, length in (("day", 86400), ("hour", 3600), ("minute", 60)):
        if seconds >= length:
            return words.counted(seconds // length, unit)
    return words.counted(seconds, "second")


def eviction_lines(of: OwnerVerdict) -> Iterator[str]:
    """Yield the running pods that taints will evict, each with the time of its eviction."""
    for each in of.evictions[:MOST_EVICTIONS]:
        who = "It is" if of.kind == "Pod" else f"Pod {each.pod} is"
        what = f"device {each.device} (claim {each.claim})" if each.device is not None else f"node {each.node}"
        rule = f", set by DeviceTaintRule {each.rule}" if each.rule else ""
        when = words.when(each.second, each.time)
        yield f"{who} going to be evicted {when}: taint {words.taint(each.taint)} of {what}{rule}."
    more = len(of.evictions) - MOST_EVICTIONS
    if more > 0:
        yield f"{words.counted(more, 'more pod')} of it {'is' if more == 1 else 'are'} going to be evicted."


def _finding(of: RefusalFinding) -> Iterator[str]:
    """Yield the problem, its position, and the fix."""
    where = f" ({of.file}{f':{of.line}' if of.line else ''})" if of.file else ""
    yield f"{f'{of.field}: ' if of.field else ''}{of.message} [{of.code}]"
    yield f"  In {object_name(of.object)}{where}."
    yield f"  {of.fix.removesuffix('.')}: {of.suggestion}" if of.suggestion else f"  {of.fix}"
