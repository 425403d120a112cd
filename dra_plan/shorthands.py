"""Functions that answer one question about plain objects. Each is a shortcut for a method of `Cluster`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Unpack

from .arguments import Objects, list_of, required, target_of, truth
from .cluster import Cluster
from .options import Names, QuirkOptions, ReleaseOptions, spelled_out
from .questions.allocate.ask import AllocateOptions
from .questions.explain.ask import ExplainOptions
from .questions.schedule.ask import ScheduleOptions
from .questions.validate.ask import RuleOptions, selection

if TYPE_CHECKING:
    from dra_plan.questions.allocate.answer import AllocationPlan
    from dra_plan.questions.explain.answer import Explanation
    from dra_plan.questions.pools.answer import PoolList
    from dra_plan.questions.schedule.answer import SchedulePlan
    from dra_plan.questions.validate.answer import ValidationReport
    from dra_plan.validation.reading import Reading

FileOrObject = str | os.PathLike[str] | Mapping[str, Any]
"""A path, or an object as a plain dict."""


class AllocatingOptions(ReleaseOptions, AllocateOptions, total=False):
    """The options of `allocate` and the options that select the release."""


class ExplainingOptions(ReleaseOptions, ExplainOptions, total=False):
    """The options of `explain` and the options that select the release."""


class SchedulingOptions(ReleaseOptions, ScheduleOptions, total=False):
    """The options of `schedule` and the options that select the release."""


class ValidatingOptions(QuirkOptions, RuleOptions, total=False):
    """The options of `validate`: the release, the rules, and the objects before an update."""

    recursive: bool
    against: FileOrObject | Iterable[FileOrObject] | None


@spelled_out
def allocate(objects: Objects, *owners: str, **options: Unpack[AllocatingOptions]) -> AllocationPlan:
    """Plan the claim sets of these Kubernetes objects, which are dicts and are not modified.

    See `Cluster.allocate`. Raises UsageError for an unknown version, feature gate or node, and InputError for objects
    that cannot be decoded.
    """
    release, asked = _parted(options)
    return Cluster.of(objects, **release).allocate(*owners, **asked)


@spelled_out
def explain(objects: Objects, *owners: str, **options: Unpack[ExplainingOptions]) -> Explanation:
    """Explain why the claim sets of these objects, which are dicts, fit or do not fit. See `Cluster.explain`.

    Raises UsageError and InputError in the same cases as `allocate`.
    """
    release, asked = _parted(options)
    return Cluster.of(objects, **release).explain(*owners, **asked)


@spelled_out
def gather_pools(objects: Objects, node: Names = None, **release: Unpack[ReleaseOptions]) -> PoolList:
    """Return the pools in these objects, which are dicts, for all nodes or for the given nodes. See `Cluster.pools`.

    Raises UsageError and InputError in the same cases as `allocate`.
    """
    return Cluster.of(objects, **release).pools(node)


@spelled_out
def schedule(objects: Objects, *owners: str, **options: Unpack[SchedulingOptions]) -> SchedulePlan:
    """Schedule the pods in these Kubernetes objects, which are dicts and are not modified.

    See `Cluster.schedule`. If `quirks` is "upstream" (the default), `api_server` is "recorded" by default: this API
    server also shows finished pods to the scheduler. For other values of `quirks`, the default is "real". Raises
    UsageError for invalid options, and InputError for objects that cannot be decoded.
    """
    from dra_plan.scheduler.simulation import REAL, RECORDED

    release, asked = _parted(options)
    if asked.get("api_server") is None:
        asked["api_server"] = RECORDED if release.get("quirks", "upstream") == "upstream" else REAL
    return Cluster.of(objects, **release).schedule(*owners, **asked)


@spelled_out
def validate(objects: FileOrObject | Iterable[FileOrObject], **options: Unpack[ValidatingOptions]) -> ValidationReport:
    """Return the problems in objects (as dicts), in manifest files, or in both.

    See `Cluster.validate`. `against` takes values of the same types. Objects that are also in `against` are validated
    as updates. `runtime_config` selects the API versions that the API server serves. An empty dict means the default
    versions, and None means all versions of the release.

    Raises InputError for input that cannot be parsed. The error is a `ManifestErrors`, which lists every problem.
    Raises UsageError for an unknown version, feature gate, `quirks` value or code. Problems inside a parsed document
    are returned as findings.
    """
    from dra_plan.questions.validate.answer import report

    recursive, against = options.get("recursive", False), options.get("against")
    reading = _reading(objects, "objects", recursive=recursive)
    old = () if against is None else _reading(against, "against", recursive=recursive).subjects
    version, gates = options.get("kubernetes_version"), options.get("feature_gates")
    target = target_of(reading.cluster(), version, gates, options.get("quirks", "upstream"))
    return report(
        reading,
        target,
        selection(options),
        ignore_unknown=truth(options.get("ignore_unknown", False), "ignore_unknown"),
        against=old,
        runtime_config=options.get("runtime_config"),
    )


def _parted(options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split the options into those of the release and those of the question."""
    release = {name: options[name] for name in ReleaseOptions.__annotations__ if name in options}
    return release, {name: value for name, value in options.items() if name not in release}


def _reading(given: FileOrObject | Iterable[FileOrObject], argument: str, *, recursive: bool) -> Reading:
    """Return the manifests of paths and objects. Raises UsageError, naming the argument, for anything else."""
    from dra_plan.validation.reading import Reading, of_objects, read

    single = isinstance(given, str | os.PathLike | Mapping)
    each: list[Any] = [given] if single else list_of(given, argument, "paths and objects")
    for one in each:
        required(one, (str, os.PathLike, Mapping), argument, "paths and objects")
    paths = [one for one in each if isinstance(one, str | os.PathLike)]
    reading = read(paths, recursive=recursive) if paths else Reading()
    reading.subjects += of_objects([one for one in each if isinstance(one, Mapping)])
    return reading
