"""Labels that a node lacks to reach more devices."""

from __future__ import annotations

from collections.abc import Iterator

from dra_plan.allocator.pools import targets
from dra_plan.api.core import NodeSelector, NodeSelectorTerm
from dra_plan.api.resource import ResourceSliceSpec
from dra_plan.explanation.placement import Placement

MOST = 4
"""Sets of labels to try."""


def missing_labels(placement: Placement) -> list[dict[str, str]]:
    """Labels with which the node would match the node selector of a slice, or of a device, each set once."""
    found: list[dict[str, str]] = []
    for slice_ in placement.view.gatherer.shared_slices:
        spec = slice_.object.spec
        if (spec.node_selector is None or targets(slice_, placement.node)) and not spec.per_device_node_selection:
            continue
        for selector in _selectors(spec):
            for term in selector.node_selector_terms:
                labels = _satisfying(term, placement.node.metadata.labels or {})
                if labels and labels not in found:
                    found.append(labels)
                if len(found) == MOST:
                    return found
    return found


def _selectors(spec: ResourceSliceSpec) -> Iterator[NodeSelector]:
    if spec.node_selector is not None:
        yield spec.node_selector
    if spec.per_device_node_selection:
        yield from (device.node_selector for device in spec.devices if device.node_selector is not None)


def _satisfying(term: NodeSelectorTerm, present: dict[str, str]) -> dict[str, str] | None:
    """The labels that are missing for a term of `In` and `Exists`; None for a term that labels alone can't satisfy."""
    if term.match_fields or not term.match_expressions:
        return None
    labels: dict[str, str] = {}
    for requirement in term.match_expressions:
        if requirement.operator == "In" and requirement.values:
            if present.get(requirement.key) not in requirement.values:
                labels[requirement.key] = requirement.values[0]
        elif requirement.operator == "Exists":
            if requirement.key not in present:
                labels[requirement.key] = "true"
        else:
            return None
    return labels
