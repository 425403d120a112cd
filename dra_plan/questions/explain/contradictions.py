"""`explain`: requirements that no node can meet together, whatever its labels.

They are in the pod's node selector and affinity, or in the topology of two of its volumes. Neither a new node nor
waiting helps.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, product
from typing import NamedTuple

from dra_plan.api.core import NodeSelectorRequirement, Pod
from dra_plan.api.inventory import Inventory
from dra_plan.api.selectors import requirement_holds
from dra_plan.api.storage import StorageClass
from dra_plan.documents.verdict_parts import LabelConflict
from dra_plan.documents.volume_needs import VolumePlace, VolumesApart
from dra_plan.scheduler.cluster.pod_volumes import pod_volumes
from dra_plan.scheduler.cluster.volumes import WAITS, Claim, migrated_source
from dra_plan.scheduler.plugins.node_affinity import required_terms

Term = Sequence[NodeSelectorRequirement]
"""Requirements that must all be met."""


def conflict(term: Term) -> list[NodeSelectorRequirement]:
    """Return the requirements for a label that no value of the label can meet together, or [] if there are none."""
    by_key: dict[str, list[NodeSelectorRequirement]] = {}
    for one in term:
        by_key.setdefault(one.key, []).append(one)
    for asked in by_key.values():
        listed = [one for one in asked if one.operator == "In"]
        absent = [one for one in asked if one.operator == "DoesNotExist"]
        some = [one for one in asked if one.operator in ("Exists", "In", "Gt", "Lt")]
        if absent and some:
            return [some[0], absent[0]]
        candidates = listed[0].values if listed else []
        if listed and not any(_all_hold(asked, value) for value in candidates):
            return _deciding(listed[0], asked)
    return []


def _all_hold(asked: Iterable[NodeSelectorRequirement], value: str) -> bool:
    return all(requirement_holds(one.operator, one.values, value) for one in asked)


def _deciding(
    first: NodeSelectorRequirement, asked: Sequence[NodeSelectorRequirement]
) -> list[NodeSelectorRequirement]:
    """Return two of the requirements if these exclude each other, else all."""
    for one, other in combinations(asked, 2):
        both = [one, other]
        if first in both and not any(_all_hold(both, value) for value in first.values):
            return both
    return list(asked)


def text(of: NodeSelectorRequirement) -> str:
    """Return the requirement as text, such as `zone=a`, `zone in (a, b)`, `zone not in (a)` or `no label zone`."""
    values = ", ".join(of.values)
    match of.operator:
        case "In" if len(of.values) == 1:
            return f"{of.key}={values}"
        case "In" | "NotIn":
            return f"{of.key} {'in' if of.operator == 'In' else 'not in'} ({values})"
        case "Exists" | "DoesNotExist":
            return f"{'a' if of.operator == 'Exists' else 'no'} label {of.key}"
    return f"{of.key} {'above' if of.operator == 'Gt' else 'below'} {values}"


# -- the pod's own requirements ----------------------------------------------------------------------------------------


def label_conflict(pod: Pod) -> LabelConflict | None:
    """Return the pod's node requirements if every term contradicts itself, or None."""
    selected = selector_of(pod)
    required = required_terms(pod)
    terms = [term.match_expressions for term in required.node_selector_terms] if required is not None else [[]]
    found = [conflict([*selected, *term]) for term in terms]
    if not found or not all(found):
        return None
    first = found[0]
    by_selector = [one for one in first if one in selected]
    return LabelConflict(label=first[0].key, wants=[text(one) for one in first], by_selector=bool(by_selector))


def selector_of(pod: Pod) -> list[NodeSelectorRequirement]:
    """Return the pod's node selector as requirements."""
    return [NodeSelectorRequirement(key, "In", [value]) for key, value in pod.spec.node_selector.items()]


# -- its volumes -------------------------------------------------------------------------------------------------------


class _Reach(NamedTuple):
    """Where the volume of a claim is, or can be made."""

    claim: str
    storage_class: StorageClass | None
    terms: list[Term]


def volumes_apart(inventory: Inventory, pod: Pod) -> VolumesApart | None:
    """Return two of the pod's volume claims whose volumes cannot be used on the same node, or None."""
    for one, other in combinations(_reaches(inventory, pod), 2):
        found = [conflict([*mine, *theirs]) for mine, theirs in product(one.terms, other.terms)]
        if found and all(found):
            label = found[0][0].key
            classes = [each.storage_class for each in (one, other) if each.storage_class is not None]
            at_once = [each for each in classes if each.volume_binding_mode != WAITS]
            makers = {each.provisioner for each in classes}
            waiting = [each for each in inventory.storage_classes if each.volume_binding_mode == WAITS]
            return VolumesApart(
                label=label,
                places=[_place(each, label) for each in (one, other)],
                at_once=sorted({each.metadata.name for each in at_once}),
                waiting=[each.metadata.name for each in waiting if each.provisioner in makers] if at_once else [],
            )
    return None


def _place(of: _Reach, label: str) -> VolumePlace:
    values = [value for term in of.terms for one in term if one.key == label for value in one.values]
    return VolumePlace(claim=of.claim, values=list(dict.fromkeys(values)))


def _reaches(inventory: Inventory, pod: Pod) -> Iterator[_Reach]:
    namespace = pod.metadata.namespace
    claims = {one.metadata.name: one for one in inventory.volume_claims if one.metadata.namespace == namespace}
    volumes = {one.metadata.name: one for one in inventory.volumes}
    classes = {one.metadata.name: one for one in inventory.storage_classes}
    for use in pod_volumes(pod).claims:
        if use.name not in claims:
            continue
        claim = Claim(claims[use.name])
        made_by, volume = classes.get(claim.class_name), volumes.get(claim.volume_name)
        terms: list[Term] = []
        if volume is not None and volume.spec.node_affinity is not None and migrated_source(volume) is None:
            required = volume.spec.node_affinity.required
            terms = [one.match_expressions for one in required.node_selector_terms] if required is not None else []
        elif not claim.volume_name and made_by is not None:
            terms = [
                [NodeSelectorRequirement(one.key, "In", one.values) for one in term.match_label_expressions]
                for term in made_by.allowed_topologies
            ]
        if terms:
            yield _Reach(use.name, made_by, terms)
