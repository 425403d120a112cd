"""`maintain -o table`, `-o wide`, `-o markdown` and `-o name`: a row per wave, or why no order was found."""

from __future__ import annotations

from collections.abc import Iterator

from dra_plan import shown
from dra_plan.questions.maintain.document import MaintenanceDocument, Stop
from dra_plan.text.columns import Part, Screen, Table
from dra_plan.text.folding import device_cell
from dra_plan.text.formats import Format, Formats, choose, of_tables, whole
from dra_plan.text.markdown import markdown_parts
from dra_plan.text.naming import target, why_undecided
from dra_plan.text.preemption import without
from dra_plan.text.selectors import failing_selectors
from dra_plan.text.words import counted, listed


def table(document: MaintenanceDocument, _screen: Screen | None) -> list[Part]:
    """Return a table with one row per wave, which includes the number of pods that move."""
    made = Table(("WAVE", "NODES", "MOVED", "TO"), flexible=(1, 3))
    for number, wave in enumerate(document.waves, 1):
        where = listed(sorted({pod.to_node for pod in wave.moved}), 4) if wave.moved else ""
        made.add(str(number), listed([named(document, name) for name in wave.nodes], 6), str(len(wave.moved)), where)
    return [*([made] if made.rows else []), *_sentences(document), target(document)]


def wide(document: MaintenanceDocument, _screen: Screen | None) -> list[Part]:
    """Return a table with one row per pod that moves, which includes the devices of its replacement."""
    made = Table(("WAVE", "NODE", "POD", "TO", "DEVICES"), grouped=2, flexible=(2, 4))
    for number, wave in enumerate(document.waves, 1):
        for name in wave.nodes:
            moved = [pod for pod in wave.moved if pod.from_node == name]
            for pod in moved:
                devices = device_cell(pod.devices, pod.to_node)
                made.add(str(number), named(document, name), f"{pod.namespace}/{pod.name}", pod.to_node, devices)
            if not moved:
                made.add(str(number), named(document, name), "", "", "")
    return [*([made] if made.rows else []), *_sentences(document), *recreated(document), target(document)]


def recreated(document: MaintenanceDocument) -> Iterator[str]:
    """If a pod moves more than once, yield a sentence about the names of recreated pods."""
    moved = [(pod.namespace, pod.name) for wave in document.waves for pod in wave.moved]
    if len(set(moved)) < len(moved):
        yield "Recreated pods are listed under the names of the pods that they replace."


def named(document: MaintenanceDocument, node: str) -> str:
    """Return the node's name, marked if the node is a surge node."""
    return f"{node} (surge)" if node in document.surge else node


def _sentences(document: MaintenanceDocument) -> Iterator[str]:
    if document.outcome == "Possible":
        yield (
            f"{headline(document)}, in this order. All evicted pods are rescheduled, "
            "and every PodDisruptionBudget is respected."
        )
    else:
        yield no_order(document)
    yield from _changes(document)
    yield from broken_selectors(document)
    if document.stop is not None:
        yield from _of_stop(document.stop)
        if document.stop.lacks_room and not (document.surge or document.stop.not_made_anew):
            yield f"A temporary node may make enough room: --surge 1={document.stop.node}."


def _of_stop(stop: Stop) -> Iterator[str]:
    """Yield why the attempt stops: first the pods that stop every attempt."""
    bare = [f"{pod.namespace}/{pod.name}" for pod in stop.not_made_anew]
    if bare:
        names = listed([f"{pod.namespace}/{pod.name} (on {pod.node})" for pod in stop.not_made_anew], 4)
        them, options = "it" if len(bare) == 1 else "them", " ".join(f"--without pod/{name}" for name in bare[:4])
        yield f"No order can evict {names}: no controller recreates {them}. To leave {them} out: {options}."
    if stop.pod not in bare or stop.done:
        yield f"{stopped(stop)}."
    yield from beside(stop)


def broken_selectors(document: MaintenanceDocument) -> Iterator[str]:
    """Yield sentences about the selectors that would fail, or match no device, once all nodes have returned."""
    lost = [user for each in document.selectors if each.lost for user in each.used_by]
    if lost:
        users = listed([f"{user.kind.lower()}/{user.name}" for user in lost], 4)
        yield (
            f"Once all nodes are back, the selector{'' if len(lost) == 1 else 's'} of {users} would match no device:"
            " running pods keep their devices, but new pods cannot get any."
        )
    said = failing_selectors(document.selectors)
    yield from (f"Once all nodes are back: {each[0].lower()}{each[1:]}" for each in said)


def headline(document: MaintenanceDocument) -> str:
    """Return a sentence that states in how many waves the nodes can be drained, or that there is no order.

    The sentence has no full stop.
    """
    if document.outcome != "Possible":
        return no_order(document).rstrip(".")
    surge = set(document.surge)
    waves = [wave for wave in document.waves if surge.isdisjoint(wave.nodes)]
    nodes = counted(sum(len(wave.nodes) for wave in waves), "node")
    return f"{nodes} can be drained in {counted(len(waves), 'wave')}"


def _changes(document: MaintenanceDocument) -> Iterator[str]:
    """Yield the temporary nodes, and the nodes that return changed."""
    if document.surge:
        are = "is" if len(document.surge) == 1 else "are"
        names = listed(document.surge, 4)
        yield f"Surge: {names} {are} added before the first wave, drained last, and then removed."
    back = [node for wave in document.waves for node in wave.given_back]
    new = [node for node in back if node.slices]
    if new:
        devices = counted(sum(len(node.devices) for node in new), "device")
        yield f"{counted(len(new), 'node')} {'comes' if len(new) == 1 else 'come'} back with new slices ({devices})."
    versions = sorted({node.kubelet_version for node in back if node.kubelet_version})
    if versions:
        yield f"{counted(len(back), 'node')} {'comes' if len(back) == 1 else 'come'} back with kubelet {versions[0]}."


def no_order(document: MaintenanceDocument) -> str:
    """Return a sentence that states that no order exists, or that none was found."""
    drains = counted(document.tried, "drain")
    if document.outcome == "Impossible" and document.stop is not None and document.stop.not_made_anew:
        return "No order drains these nodes safely."
    if document.outcome == "Impossible":
        return f"No order drains these nodes safely: all orders were tried ({drains})."
    if document.stop is not None and document.stop.reason == "NotKnown":
        return f"Undecided: no order was found in {drains}, because {why_undecided(document)}."
    return f"Undecided: no order was found in {drains}, and not all orders were tried."


def beside(stop: Stop) -> Iterator[str]:
    """Yield sentences about other pods: pending pods scheduled before the stop, and pods that the last drain moved."""
    if stop.started:
        names = listed([f"{pod.namespace}/{pod.name} (on {pod.node})" for pod in stop.started], 4)
        them = "it" if len(stop.started) == 1 else "them"
        yield f"Before that, pending pods were scheduled: {names}. --without pod/NAMESPACE/NAME leaves {them} out."
    moved = [f"{pod.namespace}/{pod.name} (to {pod.to_node})" for pod in stop.moved]
    if moved and stop.reason == "NoPlace":
        yield f"In this drain, other pods moved first: {listed(moved, 4)}."


def stopped(stop: Stop) -> str:
    """Return the point at which the best attempt stopped, and why, without a full stop."""
    after = f"After {listed(stop.done, 6)} the" if stop.done else "The"
    said = f"{after} drain of {stop.node} stops at pod {stop.pod}"
    match stop.reason:
        case "Budget":
            return f"{said}: budget {stop.budget} protects it (one more replica, or a lower budget, would help)"
        case "NotMadeAnew":
            return f"{said}: no controller recreates it"
        case "NotKnown":
            return f"{said}, which may not be schedulable: {without(stop.message)}".rstrip(".")
        case "NoNewDevices":
            back = f"{after} drain of {stop.node} works, but the node returns with other devices, and pod {stop.pod}"
            return f"{back}, which is not evicted, gets none of them: {without(stop.message)}".rstrip(".")
    no_place = "which could not be scheduled"
    return f"{said}, {no_place}: {without(stop.message)}".rstrip(".")


def names(document: MaintenanceDocument) -> str:
    """Return a line of the form `WAVE NODE` for each node."""
    lines = [f"{number} {name}" for number, wave in enumerate(document.waves, 1) for name in wave.nodes]
    return "".join(f"{shown.line(line)}\n" for line in lines)


def markdown(document: MaintenanceDocument, screen: Screen | None) -> str:
    """Return the table as Markdown."""
    return markdown_parts(table(document, screen))


FORMATS = Formats(table=table, wide=wide, name=names)


def parse(option: str) -> Format[MaintenanceDocument]:
    """Return the format for `-o OPTION`. Raises UsageError for an unknown format or a malformed template."""
    return choose(option, {**of_tables(FORMATS), "markdown": whole(markdown)})
