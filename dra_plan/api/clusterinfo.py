"""dra-plan/v1alpha1 ClusterInfo: what a snapshot says of the cluster that it was taken of."""

from __future__ import annotations

from .base import Object

API_VERSION, KIND = "dra-plan/v1alpha1", "ClusterInfo"

FORBIDDEN, NOT_SERVED, FAILED = "Forbidden", "NotServed", "Failed"
"""Why a resource was not listed: no right to, the server does not have it, or no whole answer came."""


class UnlistedKind(Object, frozen=True):
    """A resource (`resourceslices.resource.k8s.io`) that could not be listed, why, and what the server said."""

    resource: str = ""
    reason: str = ""
    message: str = ""


class ClusterInfo(Object, frozen=True):
    """The version of the API server (`v1.36.2`), the gates that it reports, the time, and what could not be listed.

    `emulation_version` (`1.35`) is set where the server behaves as an older minor version than its own;
    `feature_gates_from` says who reported the gates; `anonymized`, whether names are pseudonyms.
    """

    api_version: str = API_VERSION
    kind: str = KIND
    server_version: str = ""
    emulation_version: str = ""
    feature_gates: dict[str, bool] = {}
    feature_gates_from: str = ""
    time: str = ""
    anonymized: bool = False
    not_listed: list[UnlistedKind] = []
