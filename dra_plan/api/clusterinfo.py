"""dra-plan/v1alpha1 ClusterInfo: what a snapshot says of the cluster that it was taken of."""

from __future__ import annotations

from .base import Object

API_VERSION, KIND = "dra-plan/v1alpha1", "ClusterInfo"


class UnlistedKind(Object, frozen=True):
    """A resource that could not be listed, and why."""

    resource: str = ""
    reason: str = ""


class ClusterInfo(Object, frozen=True):
    """The version of the API server (`v1.36.2`), the gates that it reports, the time, and what could not be listed."""

    api_version: str = API_VERSION
    kind: str = KIND
    server_version: str = ""
    feature_gates: dict[str, bool] = {}
    time: str = ""
    not_listed: list[UnlistedKind] = []
