"""The sentences about the volumes for a pod's claims: where a volume can be used, or why a claim has no volume."""

from __future__ import annotations

from collections.abc import Iterator

from dra_plan.api.well_known import HOSTNAME
from dra_plan.documents.volume_needs import UnmatchedVolume, VolumeClaimNeeds, VolumesApart
from dra_plan.text import words


def volume_claim(of: VolumeClaimNeeds) -> str:
    """Return the nodes on which the claim's volume can be used, or the reason why the claim gets no volume."""
    claim = f"PersistentVolumeClaim {of.name}"
    if of.volume:
        said = f"{claim}: volume {of.volume} can only be used on nodes with {words.listed(of.labels)}"
        return f"{said}, and there is no such node. {_OF_NO_NODE}" if of.nowhere else f"{said}."
    if of.missing:
        near = f" Did you mean {of.near}?" if of.near else ""
        return f"{claim} does not exist.{near}" + (f" {_remade(of)}" if of.stateful_set else "")
    if of.class_missing:
        near = f" Did you mean {of.near}?" if of.near else f" The input has {words.listed(of.classes)}."
        return f"{claim}: StorageClass {of.storage_class} does not exist.{near} {_remade(of)}"
    if of.waits:
        where = f" on nodes with {words.listed(of.labels)}" if of.labels else " when the pod has a node"
        return f"{claim}: StorageClass {of.storage_class} makes its volume{where}."
    return " ".join(_unbound(claim, of))


_OF_NO_NODE = (
    "Bring it back, or add one. If it is gone for good, delete claim and pod and create them again "
    "(a StatefulSet does): the new claim gets an empty volume."
)


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
    """Yield sentences that say that no node can reach both volumes, why the volumes are apart, and what to do."""
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


def _unbound(claim: str, of: VolumeClaimNeeds) -> Iterator[str]:
    """Yield the sentences about a claim that the volume controller has not bound, and for which no pod is awaited."""
    matching = [one for one in of.volumes if not one.faults]
    if matching:
        yield f"{claim} has no volume yet, but volume {matching[0].name} matches: the volume controller binds it."
        return
    if of.classless and of.default_class:
        yield f"{claim} names no StorageClass; the volume controller gives it the default, {of.default_class}."
        return
    if of.classless and of.classes:
        yield f"{claim} names no StorageClass, and none is the default (the input has {words.listed(of.classes)})."
        yield "Make one the default, or create the claim again with its name."
    elif of.provisions is False:
        yield f"{claim} has no volume, and StorageClass {of.storage_class} creates none."
    else:
        whose = f"StorageClass {of.storage_class}" if of.storage_class else "no StorageClass"
        yield f"{claim} has no volume yet ({whose}): kubectl describe pvc {of.name} says why."
    for one in of.volumes:
        yield f"Volume {one.name} does not match: {'; '.join(_faults(one, of))}."
        if one.faults[0] == "held" and one.holder.endswith(f"/{of.name}") and one.phase == "Released":
            yield (
                f"If the new claim may use its data, remove spec.claimRef from {one.name}; "
                "if not, delete the volume and create it again."
            )


def _faults(one: UnmatchedVolume, of: VolumeClaimNeeds) -> Iterator[str]:
    for fault in one.faults:
        if fault == "held" and one.phase == "Released":
            yield f"it is Released, and still reserved for a deleted claim ({one.holder})"
        elif fault == "held":
            yield f"it is reserved for claim {one.holder}"
        elif fault == "small":
            yield f"it has {one.size or 'no capacity'}, and the claim requests {of.size}"
        elif fault != "phase" or "held" not in one.faults:
            yield _FAULTS[fault].format(phase=one.phase or "unknown")


_FAULTS = {
    "form": "its volumeMode or volumeAttributesClassName differs",
    "deleted": "it is being deleted",
    "phase": "its phase is {phase}, not Available",
    "selector": "its labels do not match the claim's selector",
    "access-modes": "it lacks an access mode of the claim",
}
