"""What a snapshot could not list, as notices: what is not there counts as not there, so it has to be said.

Resources that a server does not have lack nothing, but without resource.k8s.io there are no devices at all.
"""

from __future__ import annotations

from collections.abc import Iterator

from dra_plan.api.inventory import FORBIDDEN, NOT_SERVED, ClusterInfo, Notice, UnlistedKind

_GROUP = "resource.k8s.io"
_OF_DEVICES = frozenset(f"{name}.{_GROUP}" for name in ("resourceslices", "deviceclasses", "resourceclaims"))


def notices(info: ClusterInfo) -> Iterator[Notice]:
    """A notice for each group of the API that may not be listed, and for each list that failed."""
    forbidden: dict[str, list[str]] = {}
    for entry in info.not_listed:
        if entry.reason == FORBIDDEN:
            plural, _, group = entry.resource.partition(".")
            forbidden.setdefault(group, []).append(plural)
    for number, (group, plurals) in enumerate(forbidden.items()):
        whole_role = "" if number else " (`dra-plan snapshot --print-rbac` prints all that are needed)"
        yield Notice("not-listed", _forbidden(group, plurals) + whole_role)
    for entry in info.not_listed:
        if entry.reason not in (FORBIDDEN, NOT_SERVED):
            yield Notice("not-listed", _failed(entry))
    if {entry.resource for entry in info.not_listed if entry.reason == NOT_SERVED} >= _OF_DEVICES:
        yield Notice(
            "not-served",
            f"the cluster does not serve {_GROUP}, so it has no slices, classes and claims: Dynamic Resource Allocation"
            " is switched off there, or it is older than Kubernetes 1.31",
        )


def rule(group: str, plurals: list[str]) -> str:
    """The rule that allows resources of a group to be listed, as it stands in a role."""
    return f'{{apiGroups: ["{group}"], resources: [{", ".join(plurals)}], verbs: [list]}}'


def _forbidden(group: str, plurals: list[str]) -> str:
    names = ", ".join(f"{plural}.{group}" if group else plural for plural in plurals)
    return (
        f"{names}: this user may not list them, so there are none here; the rule that allows it: {rule(group, plurals)}"
    )


def _failed(entry: UnlistedKind) -> str:
    said = f": {entry.message}" if entry.message else ""
    return f"{entry.resource}: could not be read to the end, so there are none here{said}"
