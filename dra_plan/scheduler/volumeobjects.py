"""Volumes and claims on them as scheduling compares them: each made once of its object, with what follows from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from dra_plan.api.core import NodeSelector, NodeSelectorRequirement
from dra_plan.api.meta import ObjectMeta
from dra_plan.api.quantity import Quantity, parse
from dra_plan.api.selectors import requirement_holds, term_problems
from dra_plan.api.storage import PersistentVolume, PersistentVolumeClaim, StorageClass
from dra_plan.api.well_known import BIND_COMPLETED, CLASS_ANNOTATION, HOSTNAME, SELECTED_NODE

from .volumemigration import migrated_source

READ_WRITE_ONCE_POD = "ReadWriteOncePod"
WAITS = "WaitForFirstConsumer"

_NOTHING = parse("0")

ClaimKey = tuple[str, str]
"""(namespace, name) of a claim."""


def claim_text(name: str) -> str:
    """A claim for a volume, as Kubernetes writes it in messages."""
    return f'persistentvolumeclaim "{name}"'


def _class_name(metadata: ObjectMeta, name: str | None) -> str:
    annotated = (metadata.annotations or {}).get(CLASS_ANNOTATION)
    return annotated if annotated is not None else name or ""


class VolumeReach:
    """The nodes from which a volume can be used, by their labels alone: fields, such as the name, are not looked at."""

    def __init__(self, required: NodeSelector | None) -> None:
        self._terms: list[Sequence[NodeSelectorRequirement]] | None = None
        if required is not None:
            self._terms = [
                term.match_expressions
                for term in required.node_selector_terms
                if (term.match_expressions or term.match_fields) and next(term_problems(term), None) is None
            ]
        self._keys = sorted({r.key for term in self._terms or () for r in term})
        self._known: dict[object, bool] = {}
        """Answers by the values of the labels that are asked for: nodes have few different ones."""

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether a node with these labels will do; without any affinity every node does."""
        if self._terms is None:
            return True
        if self.hosts is not None and labels.get(HOSTNAME) not in self.hosts:
            return False
        keys = self._keys
        values = labels.get(keys[0]) if len(keys) == 1 else tuple(map(labels.get, keys))
        known = self._known.get(values)
        if known is None:
            known = self._known[values] = any(
                all(requirement_holds(r.operator, r.values, labels.get(r.key)) for r in term) for term in self._terms
            )
        return known

    @cached_property
    def hosts(self) -> frozenset[str] | None:
        """The only host names that can match, None if that can't be said."""
        found: set[str] = set()
        for term in [()] if self._terms is None else self._terms:
            named = next((r.values for r in term if r.key == HOSTNAME and r.operator == "In"), None)
            if named is None:
                return None
            found.update(named)
        return frozenset(found)


class Volume:
    """A PersistentVolume."""

    def __init__(self, pv: PersistentVolume) -> None:
        self.object = pv
        self.name = pv.metadata.name
        self.class_name = _class_name(pv.metadata, pv.spec.storage_class_name)

    @cached_property
    def size(self) -> Quantity:
        """How much fits into it."""
        text = self.object.spec.capacity.get("storage")
        return _NOTHING if text is None else parse(text)

    @cached_property
    def form(self) -> tuple[str, str]:
        """Mode and attributes class, in which a claim has to agree with its volume."""
        spec = self.object.spec
        return spec.volume_mode or "Filesystem", spec.volume_attributes_class_name or ""

    @cached_property
    def is_migrated(self) -> bool:
        """Whether a CSI driver serves what the object describes as a disk of the tree."""
        return migrated_source(self.object) is not None

    @cached_property
    def affinity(self) -> VolumeReach:
        """The nodes that it can be used from."""
        affinity = self.object.spec.node_affinity
        return VolumeReach(affinity.required if affinity is not None else None)

    def is_for(self, claim: Claim) -> bool:
        """Whether the volume is set aside for the claim."""
        reference = self.object.spec.claim_ref
        if reference is None or (reference.namespace, reference.name) != claim.key:
            return False
        return reference.uid in ("", claim.uid)


class Claim:
    """A PersistentVolumeClaim."""

    def __init__(self, pvc: PersistentVolumeClaim) -> None:
        self.object = pvc
        self.key: ClaimKey = (pvc.metadata.namespace, pvc.metadata.name)
        self.uid = pvc.metadata.uid or f"volumeclaim:{pvc.key}"
        self.class_name = _class_name(pvc.metadata, pvc.spec.storage_class_name)
        self.volume_name = pvc.spec.volume_name

    @cached_property
    def form(self) -> tuple[str, str]:
        """Mode and attributes class, in which a volume has to agree with the claim."""
        spec = self.object.spec
        return spec.volume_mode or "Filesystem", spec.volume_attributes_class_name or ""

    @property
    def name(self) -> str:
        """The claim's name, without its namespace."""
        return self.key[1]

    @property
    def annotations(self) -> Mapping[str, str]:
        """The claim's annotations."""
        return self.object.metadata.annotations or {}

    @property
    def is_bound(self) -> bool:
        """Whether the claim has its volume for good; the phase does not matter."""
        return bool(self.volume_name) and BIND_COMPLETED in self.annotations

    def waits(self, storage_class: StorageClass | None) -> bool:
        """Whether the claim gets its volume when a pod wants it; its class is given."""
        return not self.volume_name and storage_class is not None and storage_class.volume_binding_mode == WAITS

    @cached_property
    def selected_node(self) -> str | None:
        """The node for which the claim's volume is being made; None if that is not so."""
        return self.annotations.get(SELECTED_NODE)

    @cached_property
    def request(self) -> Quantity | None:
        """How much storage the claim asks for, None if it does not say."""
        text = self.object.spec.resources.requests.get("storage")
        return None if text is None else parse(text)

    @cached_property
    def size(self) -> Quantity:
        """How much storage the claim asks for at least."""
        return self.request if self.request is not None else _NOTHING

    @property
    def is_exclusive(self) -> bool:
        """Whether only one pod may use the claim (ReadWriteOncePod)."""
        return READ_WRITE_ONCE_POD in self.object.spec.access_modes
