"""The differences between two states: claim sets and their nodes, pods, pools, allocated devices and selectors."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import structs

from dra_plan.allocator import Outcome, PoolID, View
from dra_plan.api.core import Pod
from dra_plan.api.resource import Device, ResourceClaim
from dra_plan.api.workloads import AnyWorkload
from dra_plan.claims.sets import ClaimSet
from dra_plan.controllers.state import DeviceWithTaint
from dra_plan.documents.base import ObjectName
from dra_plan.documents.claim_sets import PlannedClaimSet, PlannedNode
from dra_plan.documents.devices import (
    ChangedPool,
    ChangedValue,
    ClaimHolder,
    EvictingDevice,
    TaintName,
    claim_holder,
)
from dra_plan.documents.refusals import OverQuota
from dra_plan.documents.scheduling import ScheduledPod
from dra_plan.questions.allocate.answer import AllocationPlan
from dra_plan.questions.diff.document import (
    ChangedClaimSet,
    ChangedNode,
    ChangedPod,
    ComparedPod,
    ComparedSet,
    DiffReason,
    HeldDevice,
    HeldDeviceChange,
    PodChange,
    PodEnding,
    SetChange,
)
from dra_plan.questions.schedule.answer import SchedulePlan
from dra_plan.questions.schedule.document import ScheduleDocument
from dra_plan.scheduler.clock import known_time
from dra_plan.scheduler.simulate import in_order

Key = tuple[object, ...]


def changed_claim_sets(
    before: AllocationPlan, after: AllocationPlan, why: Callable[[ClaimSet], list[DiffReason]]
) -> Iterator[ChangedClaimSet]:
    """Yield the claim sets whose results differ. New claim sets come last.

    `why` returns the reasons for a difference.
    """
    old, new = _by_key(before), _by_key(after)
    for key in dict.fromkeys((*old, *new)):
        was, now = (found[1] if found is not None else None for found in (old.get(key), new.get(key)))
        change = _change(was, now)
        if change is not None:
            claim_set = (new.get(key) or old[key])[0]
            yield structs.replace(
                _told(change, was, now), reasons=why(claim_set) if was and now and change != "Undecided" else []
            )


def _by_key(plan: AllocationPlan) -> Mapping[Key, tuple[ClaimSet, PlannedClaimSet]]:
    """Return claim sets and their answers, by owner and part; sets without an owner by their claims."""
    answers = zip(plan.claim_sets, plan.document.claim_sets, strict=True)
    return {_key(answer): (asked.claim_set, answer) for asked, answer in answers}


def _key(one: PlannedClaimSet) -> Key:
    if one.owner is not None:
        return one.owner.kind, one.owner.namespace, one.owner.name, one.part
    return tuple((claim.namespace, claim.name) for claim in one.claims)


def _change(before: PlannedClaimSet | None, after: PlannedClaimSet | None) -> SetChange | None:
    if before is None or after is None:
        return "New" if before is None else "Gone"
    if _undecided(before, after):
        return "Undecided"
    if before.outcome is not after.outcome and Outcome.FITS in (before.outcome, after.outcome):
        return "Lost" if before.outcome is Outcome.FITS else "Gained"
    old, new = set(before.fitting_nodes), set(after.fitting_nodes)
    if old != new:
        if len(old) == len(new):
            return "OtherNodes"
        return "FewerNodes" if len(old) > len(new) else "MoreNodes"
    return _of_nodes(before, after)


def _undecided(before: PlannedClaimSet, after: PlannedClaimSet) -> bool:
    """Return whether one state does not determine if the set fits, or if it fits on a node of the other state.

    An error that ends the attempt is certain, whatever the devices of nodes would give. If the input lacks deciding
    objects, nothing is certain.
    """
    sides = (before, after)
    if any(side.outcome in (Outcome.UNDECIDED, Outcome.UNKNOWN) for side in sides):
        return True
    cut_short = {node.name for side in sides for node in side.nodes if node.outcome is Outcome.UNDECIDED}
    return not cut_short.isdisjoint({*before.fitting_nodes} ^ {*after.fitting_nodes})


def _of_nodes(before: PlannedClaimSet, after: PlannedClaimSet) -> SetChange | None:
    """Return the change of a set that fits on the same nodes.

    The devices of a node that excludes the pod in any case do not count as a difference.
    """
    others = {node.name: node for node in after.nodes if not node.excluded_by}
    pairs = [(node, others[node.name]) for node in before.nodes if node.name in others and not node.excluded_by]
    if any(devices(old) != devices(new) for old, new in pairs):
        return "OtherDevices"
    if any(allocation(old) != allocation(new) for old, new in pairs):
        return "OtherAllocation"
    said = [(old.outcome, old.message) != (new.outcome, new.message) for old, new in pairs]
    return "OtherMessage" if any(said) or before.outcome is not after.outcome else None


def _told(change: SetChange, before: PlannedClaimSet | None, after: PlannedClaimSet | None) -> ChangedClaimSet:
    one = after if after is not None else before
    assert one is not None
    return ChangedClaimSet(
        owner=one.owner,
        claims=one.claims,
        part=one.part,
        change=change,
        before=_state(before),
        after=_state(after),
        nodes=list(_nodes(before, after)),
        reasons=[],
    )


def _state(one: PlannedClaimSet | None) -> ComparedSet | None:
    if one is None:
        return None
    decisive = sorted(one.nodes, key=lambda node: node.outcome is not one.outcome)
    messages = list(dict.fromkeys(message for message in map(refusal, decisive) if message))
    return ComparedSet(outcome=one.outcome, fitting_nodes=one.fitting_nodes, messages=messages)


def _nodes(before: PlannedClaimSet | None, after: PlannedClaimSet | None) -> Iterator[ChangedNode]:
    old, new = _nodes_of(before), _nodes_of(after)
    for name in dict.fromkeys((*old, *new)):
        was, now = old.get(name), new.get(name)
        if was is None or now is None or _answer(was) != _answer(now):
            yield ChangedNode(name=name, before=said(was, now), after=said(now, was))


def _nodes_of(one: PlannedClaimSet | None) -> Mapping[str, PlannedNode]:
    return {} if one is None else {node.name: node for node in one.nodes}


def _answer(node: PlannedNode) -> object:
    return refusal(node) if node.excluded_by else (node.outcome, node.message, allocation(node))


MOST_VALUES = 3
"""The maximum number of values shown of an allocation."""


def devices(node: PlannedNode) -> list[tuple[str, str, str, str]]:
    """Return the request, driver, pool and name of each device that the claims get on the node."""
    return [
        (result.request, result.driver, result.pool, result.device)
        for claim in node.claims
        for result in claim.allocation.devices.results
    ]


def allocation(node: PlannedNode) -> list[Any]:
    """Return the whole allocation as plain values, without share IDs, which are random."""
    plain: list[Any] = msgspec.to_builtins(node.claims)
    for claim in plain:
        for result in claim["allocation"]["devices"].get("results", ()):
            result.pop("shareID", None)
    return plain


def refusal(node: PlannedNode) -> str:
    """Return why the claim set does not fit on the node, or "" if it fits.

    If filters reject the node, this is the message of the first one.
    """
    return node.excluded_by[0].message if node.excluded_by else node.message


def said(node: PlannedNode | None, other: PlannedNode | None) -> str | None:
    """Return the devices that a claim set gets on the node, or why it does not fit.

    If it gets the same devices in the `other` state, the differing values are added in brackets.
    """
    if node is None:
        return None
    if node.excluded_by or node.outcome is not Outcome.FITS:
        return refusal(node)
    names = ", ".join("/".join(names[1:]) for names in devices(node))
    if other is None or devices(node) != devices(other):
        return names
    values, others = (dict(_values(allocation(each))) for each in (node, other))
    fields = [field for field in dict.fromkeys((*values, *others)) if values.get(field) != others.get(field)]
    told = [f"{field}: {values.get(field, 'none')}" for field in fields[:MOST_VALUES]]
    told += [f"{len(fields) - MOST_VALUES} other values"] if len(fields) > MOST_VALUES else []
    return f"{names} ({', '.join(told)})" if told else names


def _values(plain: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield every value with its field; those of a device after its name."""
    if isinstance(plain, dict):
        for name, value in plain.items():
            yield from _values(value, _field(path, name))
    elif isinstance(plain, list):
        for index, value in enumerate(plain):
            device = value.get("device") if isinstance(value, dict) else None
            yield from _values(value, f"{device}" if device else f"{path}[{index}]")
    else:
        yield path, plain if isinstance(plain, str) else msgspec.json.encode(plain).decode()


def _field(path: str, name: str) -> str:
    return name if name in ("allocation", "devices", "results") else f"{path} {name}" if path else name


PodKey = tuple[str, str]
"""The namespace and name of a pod."""


def changed_pods(
    old: Mapping[PodKey, ComparedPod], new: Mapping[PodKey, ComparedPod], asked: Callable[[str, str], bool]
) -> Iterator[ChangedPod]:
    """Yield the selected pods that differ. New pods come last."""
    holders, held = _holders(new), _holders(old)
    for key in (each for each in dict.fromkeys((*old, *new)) if asked(*each)):
        change = _pod_change(old.get(key), new.get(key))
        if change is not None:
            namespace, name = key
            yield ChangedPod(
                namespace=namespace,
                name=name,
                change=change,
                before=old.get(key),
                after=new.get(key),
                taken_by=_takers(key, old, holders) if change != "Undecided" else [],
                freed_by=_takers(key, new, held) if change != "Undecided" else [],
            )


def _holders(states: Mapping[PodKey, ComparedPod]) -> Mapping[str, list[PodKey]]:
    found: dict[str, list[PodKey]] = defaultdict(list)
    for key, state in states.items():
        for device in state.devices:
            found[device].append(key)
    return found


def _takers(pod: PodKey, here: Mapping[PodKey, ComparedPod], holders: Mapping[str, list[PodKey]]) -> list[ObjectName]:
    """Return the pods that in the other state have devices which this pod has here, and which lack them here."""
    has = here[pod].devices if pod in here else []
    takers = ((taker, device) for device in has for taker in holders.get(device, ()))
    others = (taker for taker, device in takers if taker not in here or device not in here[taker].devices)
    return [ObjectName(kind="Pod", namespace=space, name=name) for space, name in dict.fromkeys(others)]


def pod_states(document: ScheduleDocument) -> Mapping[PodKey, ComparedPod]:
    """Return the state of each pod that the scheduler handles. Pods that have finished are left out."""
    devices = _devices(document)
    return {(pod.namespace, pod.name): _pod_state(pod, devices) for pod in document.pods if pod.outcome != "Skipped"}


def _devices(document: ScheduleDocument) -> Mapping[tuple[str, str], list[str]]:
    """Return DRIVER/POOL/DEVICE by namespace and name of the pods for which they are reserved."""
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for claim in document.claims:
        if claim.allocation is None:
            continue
        names = [f"{each.driver}/{each.pool}/{each.device}" for each in claim.allocation.devices.results]
        for user in claim.reserved_for:
            found[claim.namespace, user.name] += names
    return found


def _pod_state(pod: ScheduledPod, devices: Mapping[tuple[str, str], list[str]]) -> ComparedPod:
    return ComparedPod(
        outcome=pod.outcome,
        node_name=pod.node_name,
        devices=devices.get((pod.namespace, pod.name), []),
        message=pod.message or pod.waiting or None,
        running=pod.outcome == "Bound" and not pod.attempts,
        undecided=pod.is_undecided,
    )


def _pod_change(before: ComparedPod | None, after: ComparedPod | None) -> PodChange | None:
    if before is None or after is None:
        return "New" if before is None else "Gone"
    if before.undecided or after.undecided:
        return "Undecided"
    was, now = before.outcome == "Bound", after.outcome == "Bound"
    if was is not now:
        return "Lost" if was else "Gained"
    if before.node_name != after.node_name:
        return "OtherNode"
    if before.devices != after.devices:
        return "OtherDevices"
    if was and after.ended is not None and before.ended is None:
        return "Restarted"
    return "OtherMessage" if (before.outcome, before.message) != (after.outcome, after.message) else None


def changed_pools(before: View, after: View) -> Iterator[ChangedPool]:
    """Yield the pools whose newest generations differ. New pools come last."""
    if before.slices is after.slices:
        return
    old, new = before.gatherer, after.gatherer
    for pool in dict.fromkeys((*old.slices, *new.slices)):
        if pool not in old.slices or pool not in new.slices:
            yield ChangedPool(driver=pool.driver, pool=pool.pool, change="Gone" if pool in old.slices else "New")
        else:
            yield from _changed(pool, published(before, pool), published(after, pool))


def published(view: View, pool: PoolID) -> dict[str, Device]:
    """Return the devices of the pool's newest generation, by name."""
    newest = view.gatherer.newest(pool)
    return {device.name: device for slice_ in newest.slices for device in slice_.object.spec.devices}


def _changed(pool: PoolID, before: Mapping[str, Device], after: Mapping[str, Device]) -> Iterator[ChangedPool]:
    gone = [name for name in before if name not in after]
    new = [name for name in after if name not in before]
    values: dict[str, list[tuple[str | None, str | None]]] = {}
    for name, device in before.items():
        if name in after and device != after[name]:
            for field, change in _pool_values(device, after[name]):
                values.setdefault(field, []).append(change)
    if gone or new or values:
        yield ChangedPool(
            driver=pool.driver,
            pool=pool.pool,
            change="Changed",
            devices_gone=gone,
            devices_new=new,
            values=[
                ChangedValue(field=field, devices=len(changes), before=changes[0][0], after=changes[0][1])
                for field, changes in values.items()
            ],
        )


def _pool_values(before: Device, after: Device) -> Iterator[tuple[str, tuple[str | None, str | None]]]:
    """Yield fields of a device that differ; attributes and capacities one by one."""
    old, new = _fields(before), _fields(after)
    for field in dict.fromkeys((*old, *new)):
        if old.get(field) != new.get(field):
            yield field, (old.get(field), new.get(field))


def _fields(device: Device) -> dict[str, str]:
    plain: dict[str, Any] = msgspec.to_builtins(device)
    plain.pop("name", None)
    found = {}
    for field, value in plain.items():
        if field in ("attributes", "capacity"):
            found.update({f"{field}.{name}": _text(inner) for name, inner in value.items()})
        elif value not in (None, [], {}):
            found[field] = _text(value)
    return found


def _text(value: Any) -> str:
    """Return the value as JSON; that of an attribute or a capacity without the name of its type."""
    if isinstance(value, dict):
        value = {name: inner for name, inner in value.items() if inner not in (None, [], {})}
        if len(value) == 1:
            [value] = value.values()
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


Asked = Callable[[ClaimHolder], bool]
"""Returns whether a claim is selected, given the claim and the pods that may use it."""


def held_devices(pools: Iterable[ChangedPool], before: View, after: View, asked: Asked) -> Iterator[HeldDevice]:
    """Yield the allocated devices that only one of the states publishes. `pools` are the pools that differ.

    A lost device is still allocated in the second state, but no longer published. A gained device is already allocated
    in the first state, but published only in the second.
    """
    gone: dict[PoolID, set[str]] = {}
    new: dict[PoolID, set[str]] = {}
    for pool in pools:
        key = PoolID(pool.driver, pool.pool)
        gone[key] = set(published(before, key) if pool.change == "Gone" else pool.devices_gone)
        new[key] = set(published(after, key) if pool.change == "New" else pool.devices_new)
    yield from _held("Lost", gone, after.claims, asked)
    yield from _held("Gained", new, before.claims, asked)


def _held(
    change: HeldDeviceChange, devices: Mapping[PoolID, set[str]], claims: Iterable[ResourceClaim], asked: Asked
) -> Iterator[HeldDevice]:
    if not any(devices.values()):
        return
    for claim in claims:
        if claim.allocation is None:
            continue
        results = [(PoolID(each.driver, each.pool), each.device) for each in claim.allocation.devices.results]
        found = [(pool, device) for pool, device in dict.fromkeys(results) if device in devices.get(pool, ())]
        if not found:
            continue
        holder = claim_holder(claim)
        if asked(holder):
            for pool, device in found:
                yield HeldDevice(change=change, driver=pool.driver, pool=pool.pool, device=device, holder=holder)


def followed_states(plan: SchedulePlan) -> Mapping[PodKey, ComparedPod]:
    """Return the state of each pod, by its initial name. If the cluster has settled, this includes how pods ended.

    A pod that has been replaced has the state of its replacement, which is not listed separately because its name may
    be a placeholder.
    """
    states, settled = pod_states(plan.document), plan.settled
    if settled is None:
        return states
    over = settled.over_quota
    told = {
        key: _refused(state, settled.claims_refused.get(key) or settled.why_not_made.get(key, ""), over.get(key, ()))
        for key, state in states.items()
    }
    for key, (ended, heir) in settled.places.items():
        expected = heir or settled.refused_heirs.get(key)
        place = told.pop((expected.metadata.namespace, expected.metadata.name), None) if expected is not None else None
        told[key] = structs.replace(
            place if place is not None else _without_heir(ended.pod, settled.state.inventory.workloads),
            ended=PodEnding(
                by=ended.cause.by,
                second=round(max(0.0, ended.moment - settled.server.start), 1),
                time=known_time(ended.moment, settled.server.start),
                recreated_as=heir.metadata.name if heir is not None else "",
                endless=key in settled.evicted_endlessly,
                device=_tainted(ended.taint),
            ),
        )
    return told


def _tainted(of: DeviceWithTaint | None) -> EvictingDevice | None:
    if of is None:
        return None
    taint = TaintName(key=of.taint.key, value=of.taint.value or "", effect=of.taint.effect)
    return EvictingDevice(device=of.device, taint=taint, rule=of.rule)


def _without_heir(pod: Pod, workloads: Sequence[AnyWorkload]) -> ComparedPod:
    """Return a pod that ended and that its controller has not tried to create yet.

    An ordered StatefulSet waits for the earlier pods.
    """
    owner = pod.metadata.controller
    if owner is not None and owner.kind == "StatefulSet":
        key = owner.kind, pod.metadata.namespace, owner.name
        if any((each.kind, each.metadata.namespace, each.metadata.name) == key for each in workloads):
            return structs.replace(_GONE, outcome="Gated", message=in_order(owner.name))
    return _GONE


_GONE = ComparedPod(outcome="Ended", node_name=None, devices=[], message=None)


def _refused(state: ComparedPod, message: str, over: Iterable[OverQuota]) -> ComparedPod:
    """Return a pod without a node after its rejection, or that of a claim of it, with the API server's message."""
    if state.node_name is not None or not (message or over):
        return state
    return structs.replace(state, message=message or state.message, over_quota=[*over])
