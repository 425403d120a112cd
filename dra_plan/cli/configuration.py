"""Reads KubeSchedulerConfigurations and events files."""

from __future__ import annotations

from typing import Any


def read_configuration(path: str, option: str = "--config") -> dict[str, Any]:
    """Return the decoded KubeSchedulerConfiguration in a file. `option` is the option that errors name.

    Raises UsageError unless the file contains exactly one KubeSchedulerConfiguration, and ManifestErrors for fields
    that kube-scheduler rejects.
    """
    from dra_plan.errors import UsageError
    from dra_plan.manifests.faults import Fault, ManifestErrors
    from dra_plan.manifests.load import load_items
    from dra_plan.manifests.paths import render
    from dra_plan.scheduler import config
    from dra_plan.scheduler.config import unknown_fields

    found = load_items([path])
    if len(found) != 1:
        raise UsageError(f"{option} {path}: expected one {config.KIND}, found {len(found)} documents")
    [item] = found
    document: dict[str, Any] = item.value
    config.check_kind(document)
    unknown = unknown_fields(document)
    if unknown:
        places = zip(unknown, item.place.lines(unknown), strict=True)
        raise ManifestErrors([Fault(path, config.UNKNOWN, line, path=render(field)) for field, line in places])
    return document


def read_events(path: str | None) -> list[Any]:
    """Return the decoded lines of an events file, or nothing if `path` is None.

    Raises InputError, with the line number, for invalid JSON.
    """
    if path is None:
        return []
    from dra_plan.manifests.json_lines import read_lines

    return read_lines(path)
