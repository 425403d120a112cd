"""What a cluster says of its release: the version of the API server, and the gates that it reports.

The gates are the API server's: the scheduler's may differ, and only the scheduler itself tells them.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from . import gates
from .kubectl import Refusal, RequestError, Requests


class ServerVersion(NamedTuple):
    """The version of the server's program (`v1.36.2`), and the minor version that it emulates, if that is another."""

    server: str
    emulated: str


class ReportedGates(NamedTuple):
    """Gates with their values, and who reported them; none without anybody."""

    values: dict[str, bool]
    source: str


class _Version(msgspec.Struct, rename="camel"):
    git_version: str = ""
    major: str = ""
    minor: str = ""
    emulation_major: str = ""
    emulation_minor: str = ""


def version_of(requests: Requests) -> ServerVersion:
    """What /version says, empty where it may not be asked. Raises RequestError if nobody answers."""
    try:
        found = msgspec.json.decode(requests.get("/version"), type=_Version)
    except RequestError as error:
        if error.refusal in (Refusal.FORBIDDEN, Refusal.NOT_FOUND):
            return ServerVersion("", "")
        raise
    except msgspec.MsgspecError as error:
        raise RequestError(Refusal.FAILED, f"the answer to /version is none: {error}") from error
    own = (found.major, found.minor.removesuffix("+"))
    emulated = (found.emulation_major, found.emulation_minor.removesuffix("+"))
    differs = all(emulated) and emulated != own
    return ServerVersion(found.git_version, ".".join(emulated) if differs else "")


def gates_of(requests: Requests) -> ReportedGates:
    """The gates of /metrics, else those set on the command line of /flagz; none where neither may be read."""
    for path, parse in (("/metrics", gates.of_metrics), ("/flagz", gates.of_flags)):
        try:
            found = parse(requests.get(path).decode(errors="replace"))
        except RequestError:
            continue
        if found or (found is not None and path == "/flagz"):
            return ReportedGates(dict(sorted(found.items())), f"kube-apiserver {path}")
    return ReportedGates({}, "")
