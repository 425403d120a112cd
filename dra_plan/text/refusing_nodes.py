"""The nodes that reject a pod, with short descriptions of the obstacles. Nodes with the same reasons share a line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import structs

from dra_plan.api.quantity import parse
from dra_plan.documents.node_obstacles import NodeObstacle, NodeRefusalReason, RefusingNodes
from dra_plan.documents.verdict_parts import AloneVerdict
from dra_plan.documents.verdicts import DEVICES, OwnerVerdict
from dra_plan.text import words
from dra_plan.text.columns import indented
from dra_plan.text.node_obstacles import in_common, obstacle, share, taken_ports, unpublished_attribute

MOST_NAMES = 2
"""The maximum number of nodes that a line names."""

MOST_SHARES = 8
"""The maximum number of nodes with their own lines below the line of their group."""

UNEXAMINED = "devices do not fit (--node NODE says why on one of these nodes)"
"""The reason that is shown for nodes whose devices were not examined in detail."""


def node_lines(
    of: OwnerVerdict | AloneVerdict, *, asks_for_devices: bool, without_devices: bool = False, most_shares: int = 0
) -> Iterator[str]:
    """Yield a line for each group of nodes that reject the pod. The nodes that are closest to fitting come first.

    `without_devices` says that the input does not show the devices. If a few nodes differ only in what other pods leave
    available, up to `most_shares` of them have their own lines.
    """
    if of.of_all_nodes:
        claims = of.volume_claims if isinstance(of, OwnerVerdict) else []
        if claims and all(one.missing for one in claims):
            return  # the lines about the claims say so
        for reason in of.nodes[0].reasons if of.nodes else ():
            yield words.scheduler_says(reason.message)
        return
    yield from group_lines(
        of.nodes,
        asks_for_devices=asks_for_devices,
        without_devices=without_devices,
        excluded=_Excluded(of),
        most_shares=most_shares,
    )


def group_lines(
    groups: Sequence[RefusingNodes],
    *,
    asks_for_devices: bool = True,
    without_devices: bool = False,
    excluded: _Excluded | None = None,
    most_shares: int = 0,
) -> Iterator[str]:
    """Yield a line for each group of nodes, in the given order. Groups with the same reasons share a line.

    Lines for single nodes are below the line of their group.
    """
    others = not all(any(one.is_reserved for one in group.about) for group in groups)
    examined = [group for group in groups if not _is_unexamined(group)]
    is_sample = any(one.devices is not None for group in examined for one in group.about)
    say = _of_sample if is_sample else phrase
    alike: dict[tuple[str, ...], list[str]] = {}
    for group in [*examined, *filter(_is_unexamined, groups)]:
        fit = asks_for_devices and all(reason.plugin != DEVICES for reason in group.reasons)
        reserved = [phrase(reason) for reason in group.reasons if any(one.is_reserved for one in reason.about)]
        reasons = [one for one in group.reasons if not (without_devices and one.plugin == DEVICES)]
        reasons.sort(key=lambda one: not any(each.is_of_volume for each in one.about))
        if excluded is not None:
            reasons = [one for one in map(excluded.without, reasons) if one is not None]
        pinned = [obstacle(one) for reason in reasons for one in reason.about if one.is_of_daemon_set][:1]
        below = () if without_devices or pinned else _shares(group)
        below = below if len(below) <= most_shares else ()
        most_shares -= len(below)
        told = (
            pinned
            or (reserved if others else [])
            or [say(one, common=bool(below)) for one in reasons if not _is_echo(one, group)]
        )
        if not told:
            continue
        said = f"{'devices fit; ' if fit and not pinned else ''}{'; '.join(told)}"
        alike.setdefault((said, *below), []).extend(group.nodes)
    for (said, *of_nodes), nodes in alike.items():
        yield f"{words.counted(len(nodes), 'node') if of_nodes else who(nodes)}: {said}"
        yield from indented(of_nodes)


def _shares(group: RefusingNodes) -> tuple[str, ...]:
    """Return a line for each of a few nodes that differ only in what other pods leave of them."""
    found = [one for one in group.about if one.each]
    if any(one.never or one.kind not in ("Resource", "Devices") for one in group.about):
        return ()
    lines: dict[str, list[str]] = {}
    for of in found:
        name = f"{of.devices.request if of.devices is not None else of.resource}: " if len(found) > 1 else ""
        for one in of.each:
            lines.setdefault(one.node, []).append(f"{name}{share(of, one)}")
    return tuple(f"{node}: {'; '.join(said)}" for node, said in lines.items())


def _is_unexamined(group: RefusingNodes) -> bool:
    """Return whether it is not known why the devices of these nodes do not fit, because they are among many nodes."""
    return any(map(_is_unexplained, group.reasons)) and not any("/" in one.resource for one in group.about)


def _is_unexplained(reason: NodeRefusalReason) -> bool:
    return reason.plugin == DEVICES and not reason.about


def _of_sample(reason: NodeRefusalReason, *, common: bool = False) -> str:
    return UNEXAMINED if _is_unexplained(reason) else phrase(reason, common=common)


class _Excluded:
    """The obstacles that follow from requirements which no node can meet together: they are told before the nodes."""

    def __init__(self, of: OwnerVerdict | AloneVerdict) -> None:
        apart = of.volumes_apart if isinstance(of, OwnerVerdict) else None
        conflict = of.label_conflict if isinstance(of, OwnerVerdict) else None
        self._claims = [one.claim for one in apart.places] if apart is not None else []
        self._conflict = conflict

    def without(self, reason: NodeRefusalReason) -> NodeRefusalReason | None:
        """Return the reason without the excluded obstacles, or None if no obstacle is left."""
        about = [one for one in reason.about if not self._has(one)]
        return None if reason.about and not about else structs.replace(reason, about=about)

    def _has(self, one: NodeObstacle) -> bool:
        if self._conflict is not None and self._conflict.has(one):
            return True
        return one.is_of_volume and one.claim in self._claims


def _is_echo(reason: NodeRefusalReason, group: RefusingNodes) -> bool:
    """Return whether another plugin gives the same reason more clearly: for the same resource, or for the cordon."""
    of_resource = any(one.kind == "Resource" and "/" in one.resource for one in group.about)
    return _goes_with_cordon(reason, group) or (reason.plugin == DEVICES and not reason.about and of_resource)


def who(nodes: Sequence[str]) -> str:
    """Return the nodes' names, such as `gpu-1`, `3 nodes (gpu-1, gpu-2, gpu-3)` or `5 nodes (gpu-1, gpu-2, ...)`."""
    if len(nodes) == 1:
        return nodes[0]
    if len(nodes) <= MOST_NAMES + 1:
        return f"{len(nodes)} nodes ({', '.join(nodes)})"
    more = ", ..."
    return f"{words.counted(len(nodes), 'node')} ({', '.join(nodes[:MOST_NAMES])}{more})"


def phrase(reason: NodeRefusalReason, *, common: bool = False) -> str:
    """Return a phrase for the reason of a rejection, or the scheduler's message if nothing more is known.

    If `common` is set, details that differ between nodes are left out.
    """
    say = in_common if common else obstacle
    if not reason.about:
        return reason.message
    ports: dict[object, list[NodeObstacle]] = {}
    for one in reason.about:
        ports.setdefault((one.pod, tuple(one.holders), one.varies) if one.kind == "Port" else id(one), []).append(one)
    return ", ".join(say(alike[0]) if len(alike) == 1 else taken_ports(alike) for alike in ports.values())


def _goes_with_cordon(reason: NodeRefusalReason, group: RefusingNodes) -> bool:
    """Return whether it is the taint of a cordon that is already shown."""
    is_cordons = any(one.is_of_cordon for one in reason.about)
    return is_cordons and any(one.kind == "Cordoned" for other in group.reasons for one in other.about)


def is_told_elsewhere(groups: list[RefusingNodes], fitting: Sequence[str]) -> bool:
    """Return whether it is enough to explain the devices on one node.

    It is enough if all nodes have the same obstacle, the obstacle is devices, and none of the nodes is in `fitting`. It
    is not enough if a request has alternatives, if too few suitable devices are left, or if the driver does not publish
    an attribute. In these cases, the line about the nodes shows the obstacle sooner than the explanation.
    """
    if len(groups) > 1 or not only_devices(groups) or any(_is_nearly(one) for group in groups for one in group.about):
        return False
    return {*fitting}.isdisjoint(name for group in groups for name in group.nodes)


def _is_nearly(of: NodeObstacle) -> bool:
    is_short = any(one.step == "counter" for one in of.removed) or unpublished_attribute(of) is not None
    return bool(of.alternatives or of.each) or is_short


def only_devices(groups: Sequence[RefusingNodes]) -> bool:
    """Return whether devices are the only obstacle on all nodes."""
    return all(reason.plugin == DEVICES for group in groups for reason in group.reasons)


def in_vain(groups: Sequence[RefusingNodes]) -> str:
    """Return a sentence saying that waiting will not help, because even empty nodes have too little.

    Return "" unless this is certain.
    """
    never = [[one for reason in group.reasons for one in reason.about if one.never] for group in groups]
    if not never or not all(never):
        return ""
    of_resources = [[one for one in each if one.kind == "Resource"] for each in never]
    shared = {one.resource for one in of_resources[0]}.intersection(
        *({o.resource for o in e} for e in of_resources[1:])
    )
    if shared:
        resource = min(shared)
        same = [one for each in of_resources for one in each if one.resource == resource]
        largest = max((one.room for one in same), key=_number)
        wanted = same[0].need
        any_more = f"more than {words.amount(resource, wanted, largest)}" if largest != "0" else "any"
        asks = f"it requests {words.need(resource, wanted)} {resource}"
        return f"Waiting will not help: {asks}, and no node has {any_more}."
    devices = [one for each in never for one in each if one.devices is not None]
    if any(one.devices is not None and one.devices.name == "driver" for one in devices):
        return ""  # a driver that starts publishes its devices
    if any(one.not_ready for one in devices):
        return ""
    requests = {one.devices.request for one in devices if one.devices is not None and one.room}
    if len(devices) >= len(groups) and len(requests) == 1:
        need = next(one.devices.need for one in devices if one.devices is not None and one.room)
        room = max(int(one.room) for one in devices if one.room)
        name = min(requests)
        whose = name if "." in name else f"request {name}"  # an extended resource, or a request
        what = f"{whose} needs {words.counted(need or 0, 'device')}"
        more = "no node has any that matches" if room == 0 else f"no node has more than {room} that match"
        return f"Waiting will not help: {what}, and {more}."
    return ""


def _number(text: str) -> int:
    return parse(text).nano
