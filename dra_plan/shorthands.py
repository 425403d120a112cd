"""One question to plain objects, in one call: each function is short for a method of `Cluster`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Unpack

from . import releases
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
    """The release, and what is asked."""


class ExplainingOptions(ReleaseOptions, ExplainOptions, total=False):
    """The release, and what is asked."""


class SchedulingOptions(ReleaseOptions, ScheduleOptions, total=False):
    """The release, and what is asked."""


class ValidatingOptions(QuirkOptions, RuleOptions, total=False):
    """The release, the rules, and what was there before."""

    recursive: bool
    against: FileOrObject | Iterable[FileOrObject] | None


@spelled_out
def allocate(objects: Objects, *owners: str, **options: Unpack[AllocatingOptions]) -> AllocationPlan:
    """Plans the claim sets of plain Kubernetes objects, which are left as they are: see `Cluster.allocate`.

    Raises UsageError for an unknown version, gate or node, InputError for what can't be decoded.
    """
    release, asked = _parted(options)
    return Cluster.of(objects, **release).allocate(*owners, **asked)


@spelled_out
def explain(objects: Objects, *owners: str, **options: Unpack[ExplainingOptions]) -> Explanation:
    """Why the claim sets of plain objects fit or do not: see `Cluster.explain`. Raises as `allocate` does."""
    release, asked = _parted(options)
    return Cluster.of(objects, **release).explain(*owners, **asked)


@spelled_out
def gather_pools(objects: Objects, node: Names = None, **release: Unpack[ReleaseOptions]) -> PoolList:
    """The pools of plain objects, of all nodes or of some: see `Cluster.pools`. Raises as `allocate` does."""
    return Cluster.of(objects, **release).pools(node)


@spelled_out
def schedule(objects: Objects, *owners: str, **options: Unpack[SchedulingOptions]) -> SchedulePlan:
    """Schedules the pods of plain Kubernetes objects, which are left as they are: see `Cluster.schedule`.

    `api_server` is by default the one with which most outcomes were recorded, unless defects are repaired: it shows
    finished pods to the scheduler, which a real one does not. Raises UsageError for what can't be chosen, InputError
    for what can't be decoded.
    """
    from dra_plan.scheduler.simulation import REAL, RECORDED

    release, asked = _parted(options)
    if asked.get("api_server") is None:
        asked["api_server"] = RECORDED if release.get("quirks", "upstream") == "upstream" else REAL
    return Cluster.of(objects, **release).schedule(*owners, **asked)


@spelled_out
def validate(objects: FileOrObject | Iterable[FileOrObject], **options: Unpack[ValidatingOptions]) -> ValidationReport:
    """What is wrong with objects (plain dicts) or with the manifests of paths, or both: see `Cluster.validate`.

    Objects that `against`, which is given in the same way, has too are judged as updates of these. `runtime_config`
    is that of the API server, `{}` its default: which versions it serves of those that the release can; None: all.

    Raises InputError (`ManifestErrors`, with every fault) for what can't be read as documents, UsageError for an
    unknown version, gate, quirks or code. What a document says is never an error: it becomes findings.
    """
    from dra_plan.questions.validate.answer import report

    recursive, against = options.get("recursive", False), options.get("against")
    reading = _reading(objects, "objects", recursive=recursive)
    old = () if against is None else _reading(against, "against", recursive=recursive).subjects
    version = options.get("kubernetes_version") or releases.NEWEST
    target = target_of(version, options.get("feature_gates"), options.get("quirks", "upstream"))
    return report(
        reading,
        target,
        selection(options),
        ignore_unknown=truth(options.get("ignore_unknown", False), "ignore_unknown"),
        against=old,
        runtime_config=options.get("runtime_config"),
    )


def _parted(options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The release, and what is asked."""
    release = {name: options[name] for name in ReleaseOptions.__annotations__ if name in options}
    return release, {name: value for name, value in options.items() if name not in release}


def _reading(given: FileOrObject | Iterable[FileOrObject], argument: str, *, recursive: bool) -> Reading:
    """What paths and objects say. UsageError, naming the argument, for anything else."""
    from dra_plan.validation.reading import Reading, of_objects, read

    single = isinstance(given, str | os.PathLike | Mapping)
    each: list[Any] = [given] if single else list_of(given, argument, "paths and objects")
    for one in each:
        required(one, (str, os.PathLike, Mapping), argument, "paths and objects")
    paths = [one for one in each if isinstance(one, str | os.PathLike)]
    reading = read(paths, recursive=recursive) if paths else Reading()
    reading.subjects += of_objects([one for one in each if isinstance(one, Mapping)])
    return reading
