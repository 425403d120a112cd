"""Notices about the target and about claim sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dra_plan.api.notice import Notice
from dra_plan.claimsets.sets import ClaimSet
from dra_plan.releases import Target


def about(claim_set: ClaimSet) -> tuple[str, str]:
    """The object and the source of a notice about a claim set."""
    source = str(claim_set.origin) if claim_set.origin is not None else ""
    if claim_set.owner is not None:
        return str(claim_set.owner), source
    return (f"ResourceClaim {claim_set.claims[0].key}" if claim_set.claims else ""), source


def target_notices(target: Target, nodes: Sequence[Any]) -> list[Notice]:
    """What to know about the target itself: random order upstream, kubelets of another release."""
    found = list(target.notices)
    if not target.ordered:
        order = "name" if target.rules.sorted else "input"
        found.append(
            Notice(
                "order-random-upstream",
                f"{target.version} ({target.variant}) takes pools in random order; they are taken in {order} order"
                " here, so each allocation is one of several possible",
            )
        )
    found += _kubelet_notices(target, nodes)
    return found


def _kubelet_notices(target: Target, nodes: Sequence[Any]) -> list[Notice]:
    others: dict[str, list[str]] = {}
    for node in nodes:
        version = node.status.node_info.kubelet_version
        minor = ".".join(version.removeprefix("v").split(".")[:2])
        if version and minor != target.version:
            others.setdefault(minor, []).append(node.metadata.name)
    return [
        Notice(
            "kubelet-version",
            f"{_some(names)} {'runs' if len(names) == 1 else 'run'} kubelet {minor}, the answer is for {target.version}"
            f" (--kubernetes-version {minor})",
            f"Node {names[0]}",
        )
        for minor, names in sorted(others.items())
    ]


def _some(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
