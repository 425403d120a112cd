"""Build typed objects from plain dicts, for Python programs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dra_plan.api.inventory import Inventory

from .collect import Collector
from .places import Place


def from_dicts(objects: Iterable[dict[str, Any]], *, namespace: str = "default") -> Inventory:
    """Return the typed objects in order, including those in Lists. The dicts are not changed.

    Objects without a namespace are put into `namespace`, and repeated objects are kept. Raises `ManifestErrors`, a
    subclass of `InputError`, with every fault if any object cannot be decoded.
    """
    collector = Collector(namespace=namespace)
    for index, value in enumerate(objects):
        collector.add(value, Place(f"objects[{index}]"))
    return collector.finish()
