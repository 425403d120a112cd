"""Texts about device taints that evict pods."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dra_plan.documents.devices import EvictingDevice
from dra_plan.text import words


def of_devices(found: Iterable[tuple[str, EvictingDevice]]) -> Iterator[str]:
    """Yield a sentence for each device taint, naming the pods that it evicts.

    `found` contains pods and their devices.
    """
    pods: dict[str, list[str]] = {}
    for pod, device in found:
        pods.setdefault(_said(device), []).append(pod)
    for said, named in pods.items():
        yield f"{words.listed(named)}: {said}."


def _said(of: EvictingDevice) -> str:
    setter = f", which rule {of.rule} sets" if of.rule else ""
    gate = f"; feature gate {of.gate} is on, and was off before" if of.gate else ""
    return f"device {of.device} has taint {words.taint(of.taint)}{setter}{gate}"
