"""On which nodes a new volume can be made for a claim: by its class, allowed topologies and published capacities."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dra_plan.api.meta import LabelSelector
from dra_plan.api.quantity import parse
from dra_plan.api.selectors import labels_match
from dra_plan.api.storage import CSIStorageCapacity, StorageClass

from .volumeobjects import Claim
from .volumestore import VolumeStore

BIND_CONFLICT = "node(s) didn't find available persistent volumes to bind"
NO_SPACE = "node(s) did not have enough free storage"

_NO_PROVISIONER = "kubernetes.io/no-provisioner"


class Provisioning:
    """What decides where a volume can be made for one claim. Neither other claims nor other pods are subtracted."""

    def __init__(self, store: VolumeStore, claim: Claim) -> None:
        storage_class = store.class_of(claim)
        self._class = storage_class
        self._room: _Room | None = None
        """Where there is room; None if nobody asks, because the driver does not publish capacities."""
        if storage_class is None:
            return
        driver = store.csi_driver(storage_class.provisioner)
        if claim.request is not None and driver is not None and driver.spec.storage_capacity:
            size, name = claim.request.units, storage_class.metadata.name
            self._room = _Room(
                capacity.node_topology
                for capacity in store.capacities
                if capacity.storage_class_name == name
                and _most(capacity) >= size
                and capacity.node_topology is not None
            )

    def problem(self, labels: Mapping[str, str]) -> str:
        """Why no volume can be made on a node with these labels, or ""."""
        if self._class is None or self._class.provisioner in ("", _NO_PROVISIONER):
            return BIND_CONFLICT
        if not _allows(self._class, labels):
            return BIND_CONFLICT
        return "" if self._room is None or self._room.is_on(labels) else NO_SPACE


class _Room:
    """Nodes selected by any of several selectors. Those that ask for one label only, as most do, are looked up."""

    def __init__(self, selectors: Iterable[LabelSelector]) -> None:
        self._values: dict[str, set[str]] = {}
        self._others: list[LabelSelector] = []
        for selector in selectors:
            wanted = selector.match_labels or {}
            if len(wanted) == 1 and not selector.match_expressions:
                [(key, value)] = wanted.items()
                self._values.setdefault(key, set()).add(value)
            else:
                self._others.append(selector)

    def is_on(self, labels: Mapping[str, str]) -> bool:
        """Whether a node with these labels is selected."""
        return any(labels.get(key) in values for key, values in self._values.items()) or any(
            labels_match(selector, labels) for selector in self._others
        )


def _allows(storage_class: StorageClass, labels: Mapping[str, str]) -> bool:
    terms = storage_class.allowed_topologies
    return not terms or any(
        term.match_label_expressions and all(labels.get(e.key) in e.values for e in term.match_label_expressions)
        for term in terms
    )


def largest_volume(capacity: CSIStorageCapacity) -> int | None:
    """The size of the largest volume that can be made, None if that is not said."""
    limit = capacity.maximum_volume_size if capacity.maximum_volume_size is not None else capacity.capacity
    return None if limit is None else parse(limit).units


def _most(capacity: CSIStorageCapacity) -> int:
    most = largest_volume(capacity)
    return -1 if most is None else most
