"""Sentences about the volumes of a pod's claims: where a volume can be used, or why a claim has no volume."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from dra_plan.api.well_known import HOSTNAME, SELECTED_NODE
from dra_plan.documents.volume_needs import PodlessWorkload, UnmatchedVolume, VolumeClaimNeeds, VolumesApart
from dra_plan.text import words
from dra_plan.text.naming import scale_up, workload_name
from dra_plan.text.placed import unready_sentence


def volume_claim(of: VolumeClaimNeeds, namespace: str) -> str:
    """Return the nodes on which the claim's volume can be used, or why the claim gets no volume."""
    claim = f"PersistentVolumeClaim {of.name}"
    if of.volume:
        return " ".join(_of_its_volume(claim, of))
    if of.missing:
        near = f" Did you mean {of.near}?" if of.near else ""
        return f"{claim} does not exist.{near}" + (f" {_remade(of)}" if of.stateful_set else "")
    if of.class_missing:
        near = f" Did you mean {of.near}?" if of.near else f" The input has {words.listed(of.classes)}."
        return f"{claim}: StorageClass {of.storage_class} does not exist.{near} {_remade(of)}"
    if of.waits and of.provisions:
        return " ".join(_awaited(claim, of, namespace))
    return " ".join(_unbound(claim, of, namespace))


def _awaited(claim: str, of: VolumeClaimNeeds, namespace: str) -> Iterator[str]:
    """Yield the sentences about a claim whose volume is created when the pod has a node, or is being created."""
    if of.selected_node and of.nowhere:
        yield (
            f"{claim} waits for a volume for node {of.selected_node}, and there is no such node. If it is gone for "
            f"good, remove the annotation: {_unselecting(of.name, namespace)}"
        )
        return
    where = f" on nodes with {words.listed(of.labels)}" if of.labels else " for the node of the pod"
    if of.selected_node:
        where = f" for {of.selected_node}, where the pod then runs"
    if not of.is_awaited:
        yield f"{claim}: StorageClass {of.storage_class} makes its volume{where}."
        return
    yield f"{claim}: {_whom(of)} has to create its volume{where}."
    yield from _provisioner(of, namespace)


def _unselecting(name: str, namespace: str) -> str:
    return shlex.join(["kubectl", "annotate", "pvc", name, "-n", namespace, f"{SELECTED_NODE}-"])


# -- a claim that names its volume -------------------------------------------------------------------------------------


def _of_its_volume(claim: str, of: VolumeClaimNeeds) -> Iterator[str]:
    """Yield why the claim is not bound to its volume, where the volume can be used, and what to do if nowhere."""
    if of.volume_missing:
        yield f"{claim}: its volume {of.volume} does not exist. {_again(of)}"
        return
    said = f"olume {of.volume} can only be used on nodes with {words.listed(of.labels)}"
    if of.pending and of.volumes:
        yield _not_bound(claim, of, of.volumes[0])
        if of.labels:
            yield f"V{said}{', and there is no such node' if of.nowhere else ''}."
        if of.volumes[0].faults == ["held"] and of.volumes[0].uid:
            yield _freed(of.volumes[0])
    elif of.nowhere:
        yield f"{claim}: v{said}, and there is no such node. Bring it back, or add one. {_again(of)}"
    else:
        yield f"{claim}: v{said}."


def _not_bound(claim: str, of: VolumeClaimNeeds, volume: UnmatchedVolume) -> str:
    """Return why the volume controller does not bind the claim to the volume that it names."""
    if not volume.faults:
        return f"{claim} names volume {volume.name}, which matches: the volume controller binds it."
    return f"{claim} names volume {volume.name}, and is not bound to it: {'; '.join(_faults(volume, of))}."


def _freed(volume: UnmatchedVolume) -> str:
    """Return how a claim gets a volume that is reserved for an earlier claim with the same name."""
    patch = """'[{"op": "remove", "path": "/spec/claimRef"}]'"""
    return (
        "If the new claim may use its data, remove spec.claimRef: "
        f"kubectl patch pv {shlex.quote(volume.name)} --type json -p {patch}"
    )


def _again(of: VolumeClaimNeeds) -> str:
    """Return what becomes of the claim if its volume is gone: whether an equal claim gets another volume."""
    gone = "" if of.volume_missing else "If it is gone for good, "
    anew = "delete claim and pod and create them again (a StatefulSet does)"
    made = f"StorageClass {of.storage_class}"
    match of.again:
        case "provisioned":
            said = f"{gone}{anew}: the new claim gets an empty volume."
        case "free-volume":
            said = f"{gone}{anew}: the new claim gets volume {of.free}, or another one that is free."
        case "class-missing":
            said = f"{gone}create {made} first, which does not exist; then {anew}."
        case "no-node":
            said = f"A new claim gets no volume: no node is in the allowedTopologies of {made}."
        case "no-volume":
            whose = f"{made} makes no volumes (kubernetes.io/no-provisioner)" if of.storage_class else "It has no class"
            none = "no free PersistentVolume matches the claim"
            said = f"{whose}, and {none}: {gone[:1].lower()}{gone[1:]}create one{_of_size(of)} first; then {anew}."
        case _:
            said = f"{gone}{anew}, if {made} creates volumes."
    return words.capital(said)


def _of_size(of: VolumeClaimNeeds) -> str:
    return f" of at least {of.size}" if of.size else ""


_CLASS_STAYS = "The class of a claim cannot be changed: create this class, or create the claim again with another."


def _remade(of: VolumeClaimNeeds) -> str:
    """Return how a claim of a StatefulSet gets another class, or that its controller creates it."""
    made = f"StatefulSet {of.stateful_set} creates it from its volumeClaimTemplates"
    if not of.template_class:
        return f"{made}." if of.missing else _CLASS_STAYS
    if of.missing:
        made += f", with StorageClass {of.template_class}, which is missing"
    gone = "the StatefulSet" if of.missing else "the claim and the StatefulSet"
    return (
        f"{made}. Create this class. To use another one, delete {gone} (with --cascade=orphan, which keeps the pods), "
        "and create the StatefulSet again: its volumeClaimTemplates cannot be edited."
    )


# -- two volumes that no node reaches ----------------------------------------------------------------------------------


def volumes_apart(of: VolumesApart) -> Iterator[str]:
    """Yield sentences saying that no node can reach both volumes, why not, and what can be done."""
    places = "; ".join(f"{one.claim}: {words.listed(one.values)}" for one in of.places)
    yield f"Its volumes are {_apart(of.label)} ({places}): no node can reach both. Waiting will not help."
    again = "Create one of these claims again (its new volume is empty)"
    if not of.at_once:
        yield f"{again}, so that both volumes are in the same place."
        return
    such = f", such as {words.listed(of.waiting)}" if of.waiting else ""
    bind = "binds" if len(of.at_once) == 1 else "bind"
    yield (
        f"StorageClass {words.listed(of.at_once)} {bind} a claim at once, wherever its pod can run "
        f"(volumeBindingMode Immediate). {again}, with a class that waits for the pod (WaitForFirstConsumer){such}."
    )


def _apart(label: str) -> str:
    if label == HOSTNAME:
        return "on different nodes"
    kind = label.rpartition("/")[2]
    return f"in different {kind}s" if kind in ("zone", "region") else f"for nodes with different {label}"


# -- claims without a volume -------------------------------------------------------------------------------------------


MOST_CLASSES = 3
"""The maximum number of StorageClasses that are named as values."""


def _unbound(claim: str, of: VolumeClaimNeeds, namespace: str) -> Iterator[str]:
    """Yield the sentences about a claim to which no volume is bound, and for which none is created on a pod's node."""
    matching = [one for one in of.volumes if not one.faults]
    if matching and of.waits:
        where = f" on nodes with {words.listed(matching[0].labels)}" if matching[0].labels else ""
        yield f"{claim}: StorageClass {of.storage_class} creates no volumes; volume {matching[0].name} matches{where}."
        yield from _free(of)
        return
    if matching:
        yield f"{claim} has no volume yet, but volume {matching[0].name} matches: the volume controller binds it."
        return
    if of.awaits_default:
        yield f"{claim} names no StorageClass; the volume controller gives it the default, {of.default_class}."
        yield "This takes up to a minute."
        return
    if of.classless and of.classes:
        yield f"{claim} names no StorageClass, and none is the default (the input has {words.listed(of.classes)})."
        few = f"storageClassName {' or '.join(of.classes)}"
        named = few if len(of.classes) <= MOST_CLASSES else "one of them as storageClassName"
        yield f"Make one the default, or create claim {of.name} again with {named}."
    elif of.provisions is False:
        first = "" if of.volumes else f" Create a PersistentVolume of this class{_of_size(of)} first."
        yield f"{claim} has no volume, and StorageClass {of.storage_class} creates none.{first}"
    elif of.provisioner:
        yield f"{claim} has no volume yet: {_whom(of)} has to create it (StorageClass {of.storage_class})."
    else:
        whose = f"StorageClass {of.storage_class}" if of.storage_class else "no StorageClass"
        yield f"{claim} has no volume yet ({whose}): {_describe(of, namespace)} says why."
    for one in of.volumes:
        if of.provisioner and "held" in one.faults and not one.uid:
            continue  # the volumes of other claims are no choice for one that gets its own
        yield f"Volume {one.name} does not match: {'; '.join(_faults(one, of))}."
        if set(one.faults) <= {"held", "phase"} and one.uid:
            yield _freed(one)
    if of.provisioner:
        yield from _provisioner(of, namespace)


def _free(of: VolumeClaimNeeds) -> Iterator[str]:
    """Yield why free volumes beside the matching one do not match, those that are only too small together."""
    small = [one for one in of.volumes if one.faults == ["small"]]
    if small:
        names = [f"{one.name} ({', '.join([one.size or 'no capacity', *one.labels])})" for one in small]
        which = f"Volumes {words.listed(names)} are free, but" if len(small) > 1 else f"Volume {names[0]} is free, but"
        yield f"{which} too small: the claim requests {of.size}."
    for one in of.volumes:
        if one.faults and one not in small:
            yield f"Volume {one.name} is free, but does not match: {'; '.join(_faults(one, of))}."


def _whom(of: VolumeClaimNeeds) -> str:
    return f"provisioner {of.provisioner}"


def _provisioner(of: VolumeClaimNeeds, namespace: str) -> Iterator[str]:
    """Yield why the provisioner's pods are not ready; if this is not known, the command that shows its messages."""
    if len(of.provisioner_pods) > 1:
        yield "None of its pods is ready."
    yield from map(unready_sentence, of.provisioner_pods[:1])
    if of.provisioner_workload is not None:
        yield _podless(of.provisioner_workload)
    elif not of.provisioner_pods:
        yield f"Its messages: {_describe(of, namespace)}"


def _podless(of: PodlessWorkload) -> str:
    """Return that a workload has no pods and, if it should have none, the command that gives it one."""
    name = workload_name(of)
    if of.replicas:
        return f"{name} should have {words.counted(of.replicas, 'pod')}, and has none."
    return f"{name} has 0 replicas: {scale_up(of)}"


def _describe(of: VolumeClaimNeeds, namespace: str) -> str:
    return shlex.join(["kubectl", "describe", "pvc", of.name, "-n", namespace])


def _faults(one: UnmatchedVolume, of: VolumeClaimNeeds) -> Iterator[str]:
    for fault in one.faults:
        if fault == "held" and one.phase == "Released":
            whose = f"a deleted claim with the same name (uid {one.uid})" if one.uid else f"deleted claim {one.holder}"
            yield f"it is Released, and still reserved for {whose}"
        elif fault == "held" and one.uid:
            yield f"it is reserved for an earlier claim with the same name (uid {one.uid})"
        elif fault == "held":
            yield f"it is reserved for claim {one.holder}"
        elif fault == "small":
            yield f"it has {one.size or 'no capacity'}, and the claim requests {of.size}"
        elif fault == "class":
            own, other = (f"StorageClass {name}" if name else "none" for name in (one.storage_class, of.storage_class))
            yield f"its class is {own}, and that of the claim {other}"
        elif fault != "phase" or "held" not in one.faults:
            yield _FAULTS[fault].format(phase=one.phase or "unknown")


_FAULTS = {
    "form": "its volumeMode or volumeAttributesClassName differs",
    "deleted": "it is being deleted",
    "phase": "its phase is {phase}, not Available",
    "selector": "its labels do not match the claim's selector",
    "access-modes": "it lacks an access mode of the claim",
}
