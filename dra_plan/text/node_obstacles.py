"""The wording of a single obstacle on nodes: resources, devices, taints, labels, affinity or volumes."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence

from msgspec import structs

from dra_plan.api.well_known import AUTOSCALER_DELETES, HOSTNAME, NOT_READY, NOW_CALLED, UNSCHEDULABLE
from dra_plan.documents.devices import DecidingClause, RemovedDevices
from dra_plan.documents.node_obstacles import (
    FoundLabel,
    NodeObstacle,
    NodeRefusalReason,
    NodeShare,
    PodSource,
    RefusingNodes,
    RequirementOrigin,
    ResourceUser,
    ShortAlternative,
)
from dra_plan.documents.stories import PoolElsewhere
from dra_plan.documents.verdict_parts import LabelConflict
from dra_plan.documents.verdicts import DEVICES
from dra_plan.explanation.hints import found_lines, unequal_types, wanted
from dra_plan.explanation.suggest.admissions import is_of_condition
from dra_plan.text import words
from dra_plan.text.devices import removed
from dra_plan.text.obstacles import conflict, values_of


def obstacle(of: NodeObstacle) -> str:
    """Return a phrase that describes an obstacle."""
    return _WORDS[of.kind](of)


def in_common(of: NodeObstacle) -> str:
    """Return a phrase that describes an obstacle, without details that differ between nodes."""
    return obstacle(structs.replace(of, users=[], holders=[], removed=[], on=""))


def share(of: NodeObstacle, one: NodeShare) -> str:
    """Return what one of the nodes has left, and which pods use the rest."""
    if of.kind == "Devices":
        told = "; ".join(map(_removed, one.removed))
        return f"{one.left if one.left != '0' else 'none'} available{f' ({told})' if told else ''}"
    having = [_having(one)] if one.holders else []
    told = words.listed([*having, *(_user(user, of) for user in one.users)])
    return f"{_amount(of, one.left)} free{f' ({told})' if told else ''}"


def in_short(of: RefusingNodes) -> str:
    """Return the subjects of all reasons why the nodes reject the pod, in a few words.

    For a reason without a subject, the scheduler's words are used.
    """
    said = [part for reason in of.reasons for part in [*map(_short, reason.about)] or [_untold(reason)]]
    cordoned = any(one.kind == "Cordoned" for one in of.about)
    return ", ".join(part for part in dict.fromkeys(said) if not (cordoned and UNSCHEDULABLE.key in part))


def _untold(reason: NodeRefusalReason) -> str:
    """Return what is known of a reason without a subject: it is about devices, or the scheduler's words."""
    return "devices" if reason.plugin == DEVICES else reason.message


def of_node(of: RefusingNodes, labels: Mapping[str, str]) -> str:
    """Return all reasons why a node of the group rejects the pod. `labels` are the labels of this node."""
    told = [_of_node(one, labels) for one in of.about] + [_untold(one) for one in of.reasons if not one.about]
    return "; ".join(dict.fromkeys(told))


def _of_node(of: NodeObstacle, labels: Mapping[str, str]) -> str:
    if of.kind == "Devices":
        return f"devices: {_short(of)}"
    if of.kind == "Label" and of.label in labels:
        of = structs.replace(of, found=[FoundLabel(value=labels[of.label], nodes=1)], without=0, values_found=1)
    elif of.kind == "Label" and of.label != "metadata.name":
        of = structs.replace(of, found=[], without=1, values_found=0)
    return obstacle(of)


def _short(of: NodeObstacle) -> str:
    match of.kind:
        case "Resource":
            return of.resource
        case "Devices":
            return words.phrase(of.devices) if of.devices is not None else "devices"
        case "Taint":
            return f"taint {words.taint(of.taint)}" if of.taint is not None else "taint"
        case "Label" | "Cordoned" | "NodeName":
            return f"label {of.label}" if of.kind == "Label" else obstacle(of)
        case "Affinity":
            return "pod affinity" if of.term == "affinity" else "pod anti-affinity"
        case "Port":
            return f"host port {of.port}/{of.protocol}"
        case "Spread":
            return "topology spread"
    return "volumes"


def _resource(of: NodeObstacle) -> str:
    if of.resource == "pods":
        full = f": it has {of.room} of {of.room}" if of.room else ""
        return f"no room for another pod{full}{' (finished pods do not count)' if of.finished else ''}"
    if of.unhealthy and of.room == "0":
        return f"{of.resource}: needs {of.need}, the device plugin offers 0 of {of.unhealthy} (it is down, or they are)"
    if of.room in ("", "0"):
        near = f"; there is {of.near}" if of.near else ""
        return f"{of.resource}: needs {of.need}, the node has none{near}"
    least = f"{_amount(of, of.left_from)} to " if of.left_from else ""
    left = _amount(of, of.left)
    need = (
        f"{words.need(of.resource, of.need)} ({', '.join(of.parts)})" if of.parts else words.need(of.resource, of.need)
    )
    if of.promised and not of.on:
        least, left = "", _amount(of, of.free)
    said = f"{of.resource}: needs {need}, {least}{left} of {_amount(of, of.room)} free"
    if of.unhealthy:
        said += f" (the node has {of.unhealthy}; its device plugin reports {_lost(of)} as unhealthy)"
    where = f"on {of.on}: " if of.on else ""
    if of.promised:
        free = f"{_amount(of, of.free)} {'is' if of.free == '1' else 'are'} free, " if of.on else ""
        return f"{said} ({where}{free}but {_promise(of)})" if of.on else f"{said}, but {_promise(of)}"
    if of.holders:
        return f"{said} ({where}{_having(of)})"
    return f"{said} ({where}{words.listed([_user(one, of) for one in of.users])})" if of.users else said


def _having(of: NodeObstacle | NodeShare) -> str:
    """Return who has the rest of an extended resource; many pods of one workload are only counted."""
    if of.holders_of and len(of.holders) > words.NAMES:
        return f"{len(of.holders)} pods of {of.holders_of} have the rest"
    return f"{words.listed(of.holders)} {_has(of.holders)} the rest"


def _amount(of: NodeObstacle, amount: str) -> str:
    return words.amount(of.resource, of.need, amount)


def _lost(of: NodeObstacle) -> str:
    """Return the number of unhealthy devices of a device plugin."""
    numbers = (of.unhealthy, of.room)
    return str(int(of.unhealthy) - int(of.room)) if all(map(str.isdecimal, numbers)) else "the others"


def _promise(of: NodeObstacle) -> str:
    """Return the pods that are nominated to a node, and what they take of it."""
    names = [f"{one.pod} (priority {one.priority})" if not of.on else one.pod for one in of.promised]
    amounts = [_amount(of, one.amount) for one in of.promised]
    is_are, takes = ("is", "takes") if len(names) == 1 else ("are", "take")
    return f"{words.listed(names)} {is_are} nominated to it and {takes} {words.listed(amounts)}"


def _user(user: ResourceUser, of: NodeObstacle) -> str:
    state = f" and {_STATES[user.state]}" if user.state else ""
    return f"{user.pod} requests {_amount(of, user.amount)}{state}"


_STATES = {"Leaving": "is being deleted", "Stuck": "is being deleted, but its node does not report"}
"""What is said of a pod that is being deleted."""


def _state(of: NodeObstacle) -> str:
    """Return that the pod in the way is being deleted, as the end of a sentence about it."""
    return f"; that pod {_STATES[of.state]}" if of.state else ""


def _has(names: Sequence[str]) -> str:
    return "has" if len(names) == 1 else "have"


def _devices(of: NodeObstacle) -> str:
    if of.deciding is not None and of.devices is not None:
        needs, where = f"{of.devices.request} needs {of.devices.need}", f"on {of.on}: " if of.on else ""
        return f"devices: {needs}, no device matches: {where}{_unmet(of.deciding)}"
    if (lacking := unpublished_attribute(of)) is not None:
        return f"devices: {_unpublished(lacking)}"
    if of.room and of.devices is not None:
        why = f" ({words.phrase(of.devices)})" if of.devices.class_ or of.devices.code == "selector-false" else ""
        match = {"0": f"no device on it matches{why}", "1": "only 1 on it matches"}.get(
            of.room, f"at most {of.room} on it match"
        )
        return f"devices: {of.devices.request} needs {of.devices.need}, {match}"
    said = words.cell(of.devices) if of.devices is not None else ""
    if of.together is not None and of.devices is not None:
        said = conflict(of.together, f"on {of.on}: " if of.on else "") or said
    if of.devices is not None and (of.removed or of.each) and of.devices.left is not None:
        told = "; ".join(map(_removed, of.removed))
        least = f"{of.devices.left_from} to " if of.devices.left_from is not None else ""
        first = f"on {of.on}: " if of.on else ""
        left = f"{least}{of.devices.left or 'none'}"
        said = f"{of.devices.request} needs {of.devices.need}, {left} available"
        said += f" ({first}{told})" if told else ""
    said += "".join(f"; {_alternative(one)}" for one in of.alternatives)
    for each in of.missing_drivers:
        said = f"driver {each.driver} publishes none here, but for {words.counted(each.nodes, 'other node')}"
    if of.pools:
        several = of.devices is not None and of.devices.nodes > 1
        said += f"{', such as ' if several else ': '}{words.listed([one.pool for one in of.pools])}"
    if of.pools_elsewhere:
        said += f" ({_elsewhere(of.pools_elsewhere)})"
    if of.not_ready:
        whose = (
            f"the pod of driver {of.driver} on it, {of.not_ready},"
            if of.driver
            else f"pod {of.not_ready} of a DaemonSet on it"
        )
        said += f"; {whose} is not ready"
    return f"devices: {said}{', because pods that come first take some' if of.taken_before else ''}"


def unpublished_attribute(of: NodeObstacle) -> RemovedDevices | None:
    """Return the devices whose driver never publishes the attribute of a constraint, if this is the only obstacle."""
    if len(of.removed) != 1 or of.devices is None or of.devices.left or of.alternatives:
        return None
    [one] = of.removed
    lacks = one.compared is not None and len(one.compared.drivers) == 1 and not one.compared.drivers[0].having
    return one if lacks else None


def _unpublished(of: RemovedDevices) -> str:
    """Return which requests a constraint ties, and who publishes the attribute that it compares."""
    compared = of.compared
    if compared is None:
        return ""
    values = values_of(of.attribute, distinct=compared.distinct)
    names = words.listed(compared.requests)
    whose = names if len(compared.requests) > 1 else f"all devices of {names}"
    [driver] = compared.drivers
    publishes = f"publishes it on none of its {driver.devices} devices"
    publishes = "does not publish it on its only device" if driver.devices == 1 else publishes
    do = "does" if len(compared.publishers) == 1 else "do"
    others = f" ({words.listed(compared.publishers)} {do})" if compared.publishers else ""
    which = "" if compared.is_only else f" (constraint #{of.constraint})"
    return f"{whose} must have {values}{which}, and driver {driver.driver} {publishes}{others}"


def sources(of: Sequence[RefusingNodes]) -> list[str]:
    """Return sentences naming the workloads that should run the pods that an affinity term selects but no node has."""
    absent = (one for group in of for one in group.about if one.absent)
    return list(dict.fromkeys(_source(source, one.selector) for one in absent for source in one.sources))


def _source(of: PodSource, selector: str) -> str:
    name, labels = f"{of.kind} {of.namespace}/{of.name}", selector or "such labels"
    if of.kind == "Pod":
        return f"{name} has {labels}, but it is Pending too."
    lacks = {
        "NoReplicas": "it has 0 replicas",
        "Suspended": "it is suspended",
        "Pending": f"its pod {of.pod} is Pending too"
        if of.pods == 1
        else f"its {of.pods} pods, such as {of.pod}, are Pending too",
        "NoPods": "it has none now",
    }
    return f"{name} creates pods with {labels}, but {lacks[of.state]}."


def upgrades(of: Sequence[RefusingNodes]) -> list[str]:
    """Return sentences saying which drivers may publish a missing attribute in newer versions."""
    found = filter(None, (unpublished_attribute(one) for group in of for one in group.about))
    told = [
        f"Check whether a newer version of driver {one.compared.drivers[0].driver} publishes {one.attribute}."
        for one in found
        if one.compared is not None and one.compared.publishers
    ]
    return list(dict.fromkeys(told))


def _unmet(of: DecidingClause) -> str:
    """Return the values that devices have under the only name in the clause, and what the clause requires."""
    [found] = of.found
    said = unequal_types(of.clause, found) or "; ".join(found_lines(found))
    return f"{said}; the selector wants {wanted(of.clause)}" if found.problem is None else said


_OF_DEVICE = frozenset(
    [
        *("pool-unusable", "in-use", "taken-already", "binding-conditions-off", "other-node", "counters-off"),
        *("attribute-missing", "led-nowhere"),
    ]
)
"""The reasons whose words continue a number of devices, such as `3 in use`. Other words are sentences of their own."""


def _removed(of: RemovedDevices) -> str:
    """Return the number of devices that the request could mean, and why it cannot have them."""
    count = of.count if of.wanted is None else of.wanted
    number = str(count) if of.code in _OF_DEVICE else f"{words.counted(count, 'device')}:"
    return f"{number} {removed(structs.replace(of, count=count))}"


def _alternative(of: ShortAlternative) -> str:
    left = f"{of.left or 'none'} available" if of.matches else "no device matches"
    return f"{of.request} needs {of.need}, {left}"


def _elsewhere(of: Sequence[PoolElsewhere]) -> str:
    """Return the pools that are for other nodes, with the labels that they want."""
    labels: dict[str, list[str]] = {}
    for one in of:
        labels.setdefault(one.labels, []).append(one.pool.pool)
    return "; ".join(
        f"those of {'pool' if len(pools) == 1 else 'pools'} {words.listed(pools)} are for nodes with {wanted}"
        for wanted, pools in labels.items()
    )


def _taint(of: NodeObstacle) -> str:
    other = f" (the pod tolerates {of.near})" if of.near else ""
    if of.taint is None:
        return ""
    of_agent = _OF_AGENT if of.taint.key.endswith(NOT_READY) else ""
    meaning = _TAINTS.get(of.taint.key.rpartition("/")[2], of_agent) if is_of_condition(of.taint.key) else ""
    meaning += f": {of.message}" if meaning and of.message else ""
    others = f" and {words.listed([words.taint(one) for one in of.more_taints])}" if of.more_taints else ""
    return f"taint{'s' if others else ''} {words.taint(of.taint)}{f' ({meaning})' if meaning else other}{others}"


_OF_AGENT = "an agent on the node is not ready; it removes the taint when it is"

_TAINTS = {
    "not-ready": "the node is not ready",
    "unreachable": "its kubelet no longer reports to the API server",
    "out-of-service": "the node is shut down",
    "memory-pressure": "its memory is nearly used up",
    "disk-pressure": "its disk is nearly full",
    "pid-pressure": "it has nearly no process IDs left",
    "network-unavailable": "its network is not set up",
    "uninitialized": "its cloud provider has not set it up yet",
    "shutdown": "the machine is shut down",
    AUTOSCALER_DELETES: "the Cluster Autoscaler is deleting this node",
    "disrupted": "Karpenter is removing this node",
    "disruption": "Karpenter is removing this node",
    "unregistered": "Karpenter has not registered this node yet",
}
"""What taints set by controllers say about the node, by the name in the taint's key."""


def _label(of: NodeObstacle) -> str:
    key = "name" if of.label == "metadata.name" else of.label
    if key == "name" and of.operator == "In":
        pinned = f"{of.near} wants it on" if of.near else "it may only run on"
        return f"{pinned} node {' or '.join(of.values)}"
    if key == HOSTNAME and of.operator == "In" and not of.near:
        return f"wants {_wanted(of, key)}"
    there = [f"{key}={found.value}{_on(found.nodes, of)}" for found in of.found]
    there += [f"no label {key}{_on(of.without, of)}"] if of.without else []
    there += [f"{more} more"] if (more := of.values_found - len(of.found)) > 0 else []
    meant = f" (did you mean {of.near}?)" if of.near else ""
    near = _now(of) if NOW_CALLED.get(key) == of.near else meant
    near += f" ({_origin(of.origin)})" if of.origin is not None else ""
    return f"wants {_wanted(of, key)}{near}" + (f", has {words.listed(there, len(there))}" if there else "")


def _origin(of: RequirementOrigin) -> str:
    if of.annotation:
        return f"set by annotation {of.annotation} of namespace {of.namespace}"
    adds = f"RuntimeClass {of.runtime_class} adds it"
    if not of.controller:
        return adds
    shown = shlex.join(["kubectl", "get", "runtimeclass", of.runtime_class, "-o", "yaml"])
    probably = f": probably {adds}: {shown}" if of.runtime_class else ""
    return f"{of.controller} does not ask for it{probably}"


def _on(nodes: int, of: NodeObstacle) -> str:
    """Return the number of nodes, if nodes differ."""
    return f" on {nodes}" if len(of.found) + bool(of.without) > 1 else ""


def _wanted(of: NodeObstacle, key: str) -> str:
    match of.operator:
        case "In":
            return f"{key}={' or '.join(of.values)}"
        case "NotIn":
            return f"{key} instead of {' or '.join(of.values)}"
        case "Exists":
            return f"a label {key}"
        case "DoesNotExist":
            return f"no label {key}"
        case "Gt" | "Lt":
            return f"{key} {'above' if of.operator == 'Gt' else 'below'} {''.join(of.values)}"
    return f"{key} {of.operator} {words.listed(of.values)}"


def taken_ports(alike: Sequence[NodeObstacle]) -> str:
    """Return the host ports that are taken and the pods that take them. The same pods must take all of these ports."""
    first, ports = alike[0], [f"{one.port}/{one.protocol}" for one in alike]
    taken = "host port {} is taken" if len(ports) == 1 else "host ports {} are taken"
    by = f"pods {words.listed(first.holders)}" if first.varies else f"pod {first.pod}"
    return f"{taken.format(words.listed(ports))} by {by}{_state(first)}"


def _where(of: NodeObstacle, where: str) -> str:
    """Return a term's domain, or words for the domains of several nodes."""
    if not of.varies:
        return f"in {where}"
    return "on the same node" if of.topology_key == HOSTNAME else f"in their {of.topology_key}"


def _lacks_key(of: NodeObstacle) -> str:
    return f"{'no' if of.nowhere else 'the'} node has {'the' if of.nowhere else 'no'} label {of.topology_key}{_now(of)}"


def _now(of: NodeObstacle) -> str:
    """Return the label that replaced the one that the pod names, in brackets."""
    return f" (replaced by {of.near})" if of.near else ""


def _affinity(of: NodeObstacle) -> str:
    key, where = of.topology_key, f"{of.topology_key}={of.domain}"
    if not of.domain:
        return f"pod affinity: {_lacks_key(of)}"
    pods = f"with {of.selector}" if of.selector else "that its term selects"
    if of.term == "affinity":
        other = f"; namespace {words.listed(of.elsewhere)} has such pods" if of.elsewhere else ""
        if of.finished:
            verb, count = ("has", "it does") if len(of.finished) == 1 else ("have", "they do")
            other = f" ({words.listed(of.finished)} {verb} finished, so {count} not count){other}"
        meant = f" (did you mean {of.near}?)" if of.near else ""
        where = "on any node" if of.absent and not of.elsewhere else _where(of, where)
        return f"pod affinity: no pod {pods} {where}{meant}{other}"
    if of.term == "existing":
        mine = f"pods {pods} such as this one"
        if of.varies:
            return (
                f"a pod {_where(of, where)} ({of.domain}: {of.pod}) keeps {mine} away (its anti-affinity){_state(of)}"
            )
        return f"pod {of.pod} keeps {mine} away from {where} (its anti-affinity){_state(of)}"
    if of.varies and key == HOSTNAME:
        return f"pod anti-affinity: each already has a pod {pods} ({of.domain}: {of.pod}){_state(of)}"
    if of.varies:
        return f"pod anti-affinity: a pod {pods} is in their {key} ({of.domain}: {of.pod}){_state(of)}"
    return f"pod anti-affinity: pod {of.pod} ({of.selector or 'of its term'}) is in {where}{_state(of)}"


def _spread(of: NodeObstacle) -> str:
    if not of.domain:
        return f"topology spread: {_lacks_key(of)}"
    which = f"with {of.selector}" if of.selector else "that count"
    there = f"{of.topology_key}={of.domain} has {words.counted(of.pods, 'pod')} {which}"
    if of.varies:
        whose = f": {_counted(of)}" if of.counted else ""
        there = f"too many pods {which} in their {of.topology_key} ({of.domain} has {of.pods}{whose})"
    elif of.counted:
        there += f" ({_counted(of)})"
    if of.min_domains:
        few = f"minDomains is {of.min_domains} and there {'is' if of.domains == 1 else 'are'} only {of.domains}"
        return f"topology spread: {there}; {few}, so the emptiest counts as {of.least}, and maxSkew is {of.max_skew}"
    emptiest = f"{of.emptiest} has only" if of.emptiest else "the emptiest has"
    why = ""
    if of.tainted:
        nodes = "its only node has a taint" if of.tainted == 1 else f"all of its {of.tainted} nodes have taints"
        why = f" ({nodes} that the pod does not tolerate)"
    elif of.useless:
        why = f" (no node in it has the {words.listed(of.useless)} that the pod needs)"
    itself = "; the pod itself does not count" if of.excludes_itself else ""
    return f"topology spread: {there}, {emptiest} {of.least}{why}, and maxSkew is {of.max_skew}{itself}"


def _counted(of: NodeObstacle) -> str:
    """Return whose pods a spread counts; those of the pod's own workload come last."""
    more = of.pods - sum(one.pods for one in of.counted)
    told = [
        f"pod {one.name}" if one.kind == "Pod" else f"{one.pods} of {one.name}" for one in of.counted if not one.own
    ]
    told += [f"{more} of others"] if more else []
    told += [f"{one.pods or 'none'} of {one.name}" for one in of.counted if one.own]
    return words.listed(told, len(told))


def _volume(of: NodeObstacle) -> str:
    labels = words.listed(of.values)
    if of.volume:
        only = f": volume {of.volume} is only for nodes with {labels}" if labels else ""
        return f"the volume of claim {of.claim} cannot be used there{only}"
    if of.need:
        left = f"at most {_of_storage(of, of.left)}" if of.left_from else _of_storage(of, of.left)
        return f"claim {of.claim}: needs {words.need(of.resource, of.need)} of storage, {left} free"
    only = f": StorageClass {of.storage_class} makes it only on nodes with {labels}" if labels else ""
    return f"claim {of.claim} cannot get a volume there{only}"


def _of_storage(of: NodeObstacle, left: str) -> str:
    return words.amount(of.resource, of.need, left)


def _volume_in_use(of: NodeObstacle) -> str:
    if of.claim:
        rule = "and only one pod may use it (ReadWriteOncePod)"
        return f"volume claim {of.claim} is in use by pod {of.pod}, {rule}{_state(of)}"
    by = f"(for example by pod {of.pod})" if of.varies else f"by pod {of.pod}"
    return f"a disk ({of.volume}) is in use there {by}{_state(of)}"


def _volume_limit(of: NodeObstacle) -> str:
    left = f"at most {of.left}" if of.left_from else of.left
    return f"volumes of driver {of.resource}: needs {of.need} more, {left} of {of.room} free"


def label_conflict(of: LabelConflict) -> str:
    """Return a sentence saying that no node can meet the pod's requirements for a label."""
    whose = "nodeSelector and node affinity ask" if of.by_selector else "node affinity asks"
    both = "both" if len(of.wants) == 2 else "all of these"
    rule = "both must hold" if of.by_selector else "all expressions of a term must hold"
    return f"Its {whose} for {' and '.join(of.wants)}: no node can have {both} ({rule}). Waiting will not help."


_WORDS: dict[str, Callable[[NodeObstacle], str]] = {
    "Resource": _resource,
    "Devices": _devices,
    "Taint": _taint,
    "Cordoned": lambda _of: "cordoned",
    "NodeName": lambda of: f"the pod names node {''.join(of.values)}",
    "Label": _label,
    "Port": lambda of: taken_ports([of]),
    "Affinity": _affinity,
    "Spread": _spread,
    "Volume": _volume,
    "VolumeInUse": _volume_in_use,
    "VolumeLimit": _volume_limit,
}
