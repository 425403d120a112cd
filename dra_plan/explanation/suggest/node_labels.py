"""Node labels that slices and pools require but that a node lacks."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from msgspec.structs import replace

from dra_plan.allocator.pools import PoolSlice, targets
from dra_plan.api.core import NodeSelector, NodeSelectorTerm
from dra_plan.api.resource import ResourceSliceSpec
from dra_plan.documents.base import PoolName
from dra_plan.documents.stories import NearSlice, PoolElsewhere
from dra_plan.explanation.placement import Placement
from dra_plan.near import misspelt

MOST_LABELS = 4
"""The maximum number of label sets that are tried."""


def missing_labels(placement: Placement) -> list[dict[str, str]]:
    """Return the sets of labels that would make the node match the node selector of a slice or device.

    Each set occurs only once.
    """
    found: list[dict[str, str]] = []
    for _, labels in _unselected(placement):
        if labels not in found and _is_missing(placement, labels) and _keeps_slices(placement, labels):
            found.append(labels)
        if len(found) == MOST_LABELS:
            break
    return found


def _unselected(placement: Placement) -> Iterator[tuple[PoolSlice, dict[str, str]]]:
    """Yield slices whose node selector does not match the node, each with the labels that it lacks for a term."""
    for slice_ in placement.view.gatherer.shared_slices:
        spec = slice_.object.spec
        if (spec.node_selector is None or targets(slice_, placement.node)) and not spec.per_device_node_selection:
            continue
        for selector in _selectors(spec):
            for term in selector.node_selector_terms:
                labels = _satisfying(term, placement.node.metadata.labels or {})
                if labels:
                    yield slice_, labels


def _is_missing(placement: Placement, labels: dict[str, str]) -> bool:
    """Return whether the node lacks these labels, or has similar values: other values say where the node is."""
    present = placement.node.metadata.labels or {}
    return all(key not in present or misspelt(present[key], [value]) is not None for key, value in labels.items())


def _keeps_slices(placement: Placement, labels: dict[str, str]) -> bool:
    """Return whether all slices that reach the node still do so with these labels: its pods may have their devices."""
    present = placement.node.metadata.labels or {}
    if labels.keys().isdisjoint(present):
        return True
    changed = replace(placement.node, metadata=replace(placement.node.metadata, labels={**present, **labels}))
    shared = (one for one in placement.view.gatherer.shared_slices if targets(one, placement.node))
    return all(targets(one, changed) for one in shared)


def near_slices(placement: Placement) -> list[NearSlice]:
    """Return the slices that require a label value that is similar to the node's value."""
    present, found = placement.node.metadata.labels or {}, list[NearSlice]()
    for slice_, labels in _unselected(placement):
        [(label, wanted), *more] = labels.items()
        if more or misspelt(present.get(label, ""), [wanted]) is None:
            continue
        pool = slice_.object.spec.pool.name
        found.append(NearSlice(slice=slice_.name, pool=pool, label=label, wanted=wanted, found=present[label]))
    return found[:MOST_LABELS]


def pools_elsewhere(placement: Placement, texts: Collection[str]) -> list[PoolElsewhere]:
    """Return the pools that the node can't reach because it lacks the labels that they require.

    If `texts` contains names of drivers, only the pools of these drivers are returned.
    """
    named = {pool.driver for pool in placement.view.gatherer.slices}.intersection(texts)
    found: dict[PoolName, PoolElsewhere] = {}
    for slice_, labels in _unselected(placement):
        pool = PoolName(driver=slice_.object.spec.driver, pool=slice_.object.spec.pool.name)
        if not named or pool.driver in named:
            wanted = ",".join(f"{key}={value}" for key, value in sorted(labels.items()))
            found.setdefault(pool, PoolElsewhere(pool=pool, labels=wanted))
    return list(found.values())[:MOST_LABELS]


def _selectors(spec: ResourceSliceSpec) -> Iterator[NodeSelector]:
    if spec.node_selector is not None:
        yield spec.node_selector
    if spec.per_device_node_selection:
        yield from (device.node_selector for device in spec.devices if device.node_selector is not None)


def _satisfying(term: NodeSelectorTerm, present: dict[str, str]) -> dict[str, str] | None:
    """Return the labels missing for a term of `In` and `Exists`; None for a term that labels alone can't satisfy."""
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
