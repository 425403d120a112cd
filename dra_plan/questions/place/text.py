"""`place -o table`, `-o wide`, `-o name`, and `-o patches`, which restricts pods to the nodes of a placement.

Each patch has comments about its limits: the affinity of an existing pod cannot be changed unless the pod has
scheduling gates, and all pods of a workload share one template.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dra_plan import shown
from dra_plan.documents.base import ObjectName
from dra_plan.documents.obstacles import CopyObstacle, NextCopy
from dra_plan.questions.place.document import ImpossibilityProof, PlacedPodEntry, PlacementDocument, PodMaker
from dra_plan.text import formats, refusals, structured
from dra_plan.text.columns import Paragraph, Part, Screen, Table
from dra_plan.text.devices import devices_of
from dra_plan.text.folding import device_cell
from dra_plan.text.formats import Format, Formats
from dra_plan.text.naming import device_name, target
from dra_plan.text.words import MOST, cell, counted, listed, scheduler_says

_TEMPLATES: dict[str, tuple[str, ...]] = {
    "Deployment": ("template",),
    "ReplicaSet": ("template",),
    "ReplicationController": ("template",),
    "StatefulSet": ("template",),
    "Job": ("template",),
    "CronJob": ("jobTemplate", "spec", "template"),
}
"""The path to the pod template of a workload, below its spec."""


_REPLACED = "Its running pods are replaced as well."


_STAY = "Its existing pods do not change: delete the pending ones."


_EFFECTS = {
    "Deployment": _REPLACED,
    "StatefulSet": _REPLACED,
    "ReplicaSet": _STAY,
    "ReplicationController": _STAY,
    "Job": ("The template of a Job can be changed only while it is suspended; otherwise recreate the Job."),
    "CronJob": "It applies to Jobs that are created later.",
}


_HEAD = (
    "Strategic merge patches that keep pods on the nodes of this placement, one for each pod or "
    "workload.\nApply them to workloads, and to pods with scheduling gates and without a required "
    "node affinity:\n  kubectl apply --server-side --force-conflicts -f FILE\nThe affinity of any "
    "other existing pod cannot change. Recreate each pod with its own patch:\n  kubectl get pod "
    "NAME -o yaml | kubectl patch --local -f - --patch-file PATCH -o yaml | kubectl replace "
    "--force -f -\nThe scheduler chooses the devices on a node itself. Run `dra-plan schedule` on "
    "the patched pods to see its choice."
)


def patches(document: PlacementDocument) -> str:
    """Return the placement as a stream of YAML patches, or only comments if there is no placement."""
    if not document.placed:
        return _comment(f"{document.outcome}: the pods cannot all be placed, so there is nothing to apply.")
    parts = [_comment(_HEAD)]
    makers: dict[tuple[str, PodMaker], list[PlacedPodEntry]] = {}
    for entry in document.placed:
        if entry.made_by is None:
            parts.append(_part([f"pod/{entry.namespace}/{entry.name}: on {entry.node}."], _patched_pod(entry)))
        else:
            makers.setdefault((entry.namespace, entry.made_by), []).append(entry)
    for (namespace, maker), entries in makers.items():
        parts.append(_part(list(_words(maker, entries)), _workload(namespace, maker, entries)))
    return "".join(parts)


def _part(words: list[str], patch: dict[str, Any] | None) -> str:
    told = _comment("\n".join(words))
    return f"---\n{told}{structured.yaml(patch)}" if patch is not None else told


def _comment(text: str) -> str:
    return "".join(f"# {shown.line(line)}\n" for line in text.split("\n"))


def _words(maker: PodMaker, entries: list[PlacedPodEntry]) -> Iterator[str]:
    name = f"{maker.kind.lower()}/{entries[0].namespace}/{maker.name}"
    nodes = _nodes(entries)
    where = listed([f"{counted(sum(e.node == node for e in entries), 'pod')} on {node}" for node in nodes], len(nodes))
    if maker.kind not in _TEMPLATES:
        yield f"{name}: no patch, because it is not known where this kind has its pod template."
        yield f"Its pods: {where}."
        return
    yield f"{name}: {where}."
    if len(nodes) > 1:
        yield (
            "Its pods share one template, which keeps them on these nodes. The scheduler chooses the node of each pod."
        )
    yield _EFFECTS[maker.kind]


def _nodes(entries: list[PlacedPodEntry]) -> list[str]:
    return list(dict.fromkeys(entry.node for entry in entries))


def _patched_pod(entry: PlacedPodEntry) -> dict[str, Any]:
    metadata = {"name": entry.name, "namespace": entry.namespace}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": _kept_to([entry.node])}


def _workload(namespace: str, maker: PodMaker, entries: list[PlacedPodEntry]) -> dict[str, Any] | None:
    if maker.kind not in _TEMPLATES:
        return None
    spec: dict[str, Any] = {"spec": _kept_to(_nodes(entries))}
    for field in reversed(_TEMPLATES[maker.kind]):
        spec = {field: spec}
    metadata = {"name": maker.name, "namespace": namespace}
    return {"apiVersion": maker.api_version, "kind": maker.kind, "metadata": metadata, "spec": spec}


def _kept_to(nodes: list[str]) -> dict[str, Any]:
    """Return a required affinity for one of the nodes. By name, a term has one node (API validation of matchFields)."""
    terms = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]} for node in nodes]
    required = {"nodeSelectorTerms": terms}
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}}


AT_ONCE = "can run at the same time"


def table(document: PlacementDocument, _screen: Screen | None) -> list[Part]:
    """Return the verdict, followed by the placement or the proof that there is none."""
    return [*_verdict(document), *_placed(document, wide=False), target(document)]


def wide(document: PlacementDocument, _screen: Screen | None) -> list[Part]:
    """Return the same content as `table`, with the names of all devices."""
    return [*_verdict(document), *_placed(document, wide=True), target(document)]


def _verdict(document: PlacementDocument) -> Iterator[Part]:
    yield from refusals.paragraphs(document.refusals)
    pods = counted(document.pods, "pod")
    if document.outcome == "Refused":
        others = f"; the other {pods} {AT_ONCE}" if document.pods else ""
        yield f"Refused: the API server rejects some of these objects{others}."
    elif document.outcome == "Placed":
        placed = len(document.placed)
        if placed == document.pods:
            yield f"Placed: {pods}{', which can all run together' if document.pods > 1 else ''}."
        else:
            yield f"Placed: {placed} of {pods}, which can run together and are as many as the group needs."
    elif document.outcome == "Impossible":
        yield f"Impossible: {_at_most(document.pods, document.at_most)}."
    else:
        yield f"Undecided: {_between(document)}."
    if document.cut_short:
        yield "The search was cut short. These are the bounds found so far."
    yield from _groups(document)
    if document.proof is not None:
        yield proof(document.proof, gangs=bool(document.groups), asked=document.pods)
    if document.refused_afterwards:
        yield Paragraph(list(_refused(document)))
    yield from _priorities(document)
    yield from _scheduler(document)


def _between(document: PlacementDocument) -> str:
    """Return the known bounds if neither a placement nor a proof was found."""
    pods, least, most = document.pods, document.at_least, document.at_most
    if most < pods:
        some = f"at least {least} and " if least else ""
        return f"of {counted(pods, 'pod')} {some}at most {most} {AT_ONCE}"
    if pods == 1:
        return "whether the pending pod can run is unknown"
    some = f"; at least {least} can" if least else ""
    return f"whether all {pods:,} pods can run at the same time is unknown{some}"


def _at_most(pods: int, most: int) -> str:
    if most == 0:
        return "the pending pod cannot run" if pods == 1 else f"none of {counted(pods, 'pod')} can run"
    return f"no more than {most} of {counted(pods, 'pod')} {AT_ONCE}"


MOST_PODS = 8
"""The maximum number of pods named in a proof."""


def proof(of: ImpossibilityProof, *, gangs: bool, asked: int = 0) -> Paragraph:
    """Return which pods cannot be placed together, and why.

    `asked` is the number of pods that were to be placed. If `gangs` is set, the text says that the set may have parts
    of gangs.
    """
    names = listed([_pod(pod) for pod in (*of.pods, *of.alike)], MOST_PODS)
    if of.group is not None:
        lines = [f"Too few pods of podgroup {_pod(of.group)} were selected: {names}."]
        return Paragraph([*lines, *(f"  {line}" for line in (of.message,) if line)])
    if len(of.pods) == 1:
        fits = f"None of these {len(of.alike) + 1} pods fits, even alone: {names}." if of.alike else ""
        lines = [fits, f"{_pod(of.left)} does not fit:"] if fits else [f"{names} does not fit, even alone:"]
    else:
        parts = ", counting parts of gangs" if of.minimal and gangs else ""
        number = len(of.pods) + len(of.alike)
        more = asked - number
        rest = f" The other {'pod makes' if more == 1 else f'{more} pods make'} no difference." if more > 0 else ""
        lines = [
            f"{_together(len(of.pods), len(of.alike), minimal=of.minimal)}{parts}: {names}.{rest}",
            f"With {of.together} of these pods placed, {_pod(of.left)} does not fit:",
        ]
    return Paragraph([*lines, *(f"  {line}" for line in _in_the_way(of))])


def _together(pods: int, alike: int, *, minimal: bool) -> str:
    """Return that these pods cannot run at the same time, and that all of them but any one can if this is known."""
    if alike:
        return f"No more than {pods - 1} of these {pods + alike} pods can run at the same time"
    if not minimal:
        return f"These {pods} pods cannot run at the same time"
    if pods == FEWEST:
        return "Either of these pods can run, but not both"
    return f"Any {pods - 1} of these {pods} pods can run at the same time, but not all {pods}"


FEWEST = 2
"""The minimum number of pods that can block each other."""


def _in_the_way(proof: ImpossibilityProof) -> Iterator[str]:
    yield scheduler_says(proof.message)
    if proof.in_the_way is not None:
        for obstacle in proof.in_the_way.obstacles:
            yield from _obstacle(obstacle, proof.in_the_way)


def _obstacle(of: CopyObstacle, told: NextCopy) -> Iterator[str]:
    nodes = counted(of.nodes_with_copies + of.other_nodes, "node")
    if of.kind == "Resource":
        yield f"{of.resource} on {nodes}: {of.need} needed, at most {of.left} left"
    elif of.kind == "Devices" and told.leading:
        reasons = [f"{cell(one)} on {counted(one.nodes, 'node')}" for one in told.leading[:MOST]]
        yield f"not enough suitable devices on {nodes}: {', '.join(reasons)}"


_FEW_GROUPS = 3


def _groups(document: PlacementDocument) -> Iterator[Part]:
    """Yield a sentence for each of a few groups, or a table of many."""
    if len(document.groups) <= _FEW_GROUPS:
        lines = [
            (f"podgroup {group.namespace}/{group.name} needs {group.needed} pending pods, and has {group.placed}.")
            for group in document.groups
        ]
        if lines:
            yield Paragraph(lines)
        return
    made = Table(("GROUP", "PODS", "NEEDED", "PLACED"), flexible=(0,))
    for group in document.groups:
        made.add(f"{group.namespace}/{group.name}", str(group.pods), str(group.needed), str(group.placed))
    yield made


def _refused(document: PlacementDocument) -> Iterator[str]:
    yield ("Filters that look at other pods or at volumes are checked after a placement is found. They reject:")
    for one in document.refused_afterwards:
        yield f"  {one.namespace}/{one.name} on {one.node}: {one.plugin}: {one.message}"


def _priorities(document: PlacementDocument) -> Iterator[Part]:
    gangs = any(level.groups for level in document.priorities)
    made = Table(("PRIORITY", *(("GROUPS", "STARTED", "AT MOST") if gangs else ()), "PODS", "PLACED", "AT MOST"))
    for level in document.priorities:
        groups = (level.groups, level.started, level.at_most_started) if gangs else ()
        made.add(*map(str, (level.priority, *groups, level.pods, level.placed, level.at_most)))
    if made.rows:
        yield made


_MORE = {
    True: "no placement binds more.",
    False: "a placement that binds more exists.",
    None: ("whether more fit is unknown."),
}
_BETTER = {
    True: "no placement is better.",
    False: "a better one exists.",
    None: "whether a better one exists is unknown.",
}


def _scheduler(document: PlacementDocument) -> Iterator[str]:
    told = document.scheduler
    if told is None:
        return
    gangs = sum(level.groups for level in document.priorities)
    starts = f" and start {told.started} of {counted(gangs, 'group')}" if gangs else ""
    is_plain = not gangs and len(document.priorities) <= 1
    yield f"kube-scheduler would bind {told.bound} of them{starts}; {(_MORE if is_plain else _BETTER)[told.is_best]}"


def _placed(document: PlacementDocument, *, wide: bool) -> Iterator[Part]:
    made = Table(("NODE", "POD", "DEVICES"), grouped=1, flexible=(1, 2))
    order = {node: place for place, node in enumerate(dict.fromkeys(entry.node for entry in document.placed))}
    for entry in sorted(document.placed, key=lambda each: order[each.node]):
        made.add(entry.node, f"{entry.namespace}/{entry.name}", _devices(entry, wide=wide))
    if made.rows:
        yield made
    if document.left:
        yield f"Not placed: {listed([_pod(pod) for pod in document.left])}."


def _devices(entry: PlacedPodEntry, *, wide: bool) -> str:
    """Return the devices of a pod."""
    if wide:
        results = [result for claim in entry.claims for result in claim.allocation.devices.results]
        return device_cell(map(device_name, results), entry.node)
    return devices_of(entry.claims)


def device_lines(entry: PlacedPodEntry) -> Iterator[str]:
    """Yield a line for each device that the pod's claims get, with the claim and the request."""
    for claim in entry.claims:
        for result in claim.allocation.devices.results:
            yield f"{device_name(result)}: claim {claim.name}, request {result.request}"


def _pod(pod: ObjectName) -> str:
    return f"{pod.namespace}/{pod.name}"


def names(document: PlacementDocument) -> str:
    """Return a line of the form `pod/NAMESPACE/NAME node/NODE` for each placed pod."""
    return "".join(
        shown.line(f"pod/{entry.namespace}/{entry.name} node/{entry.node}") + "\n" for entry in document.placed
    )


FORMATS = Formats(table=table, wide=wide, name=names, others={"patches": patches})


def parse(option: str) -> Format[PlacementDocument]:
    """Return the format for `-o OPTION`. Raises UsageError for an unknown format or a malformed template."""
    return formats.parse(option, FORMATS)
