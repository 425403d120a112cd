"""The rights that a snapshot needs: the ClusterRole that suffices, and gives no more."""

from __future__ import annotations

from .resources import wanted

GATES = ("/metrics", "/flagz")
"""Paths that say which gates the API server has; without them a release's defaults stand in."""
NAME = "dra-plan-snapshot"


def cluster_role() -> str:
    """The ClusterRole, as YAML."""
    groups: dict[str, list[str]] = {}
    for kind in wanted():
        groups.setdefault(kind.group, []).append(kind.plural)
    lines = ["apiVersion: rbac.authorization.k8s.io/v1", "kind: ClusterRole", "metadata:", f"  name: {NAME}", "rules:"]
    for group, plurals in sorted(groups.items()):
        lines += [f'- apiGroups: ["{group}"]', f"  resources: [{', '.join(plurals)}]", "  verbs: [list]"]
    lines += [f"- nonResourceURLs: [{', '.join(GATES)}]", "  verbs: [get]"]
    return "\n".join(lines) + "\n"
