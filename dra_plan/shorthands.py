"""One question to plain objects, in one call: each function is short for a method of `Cluster`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from . import releases
from .arguments import Names, Objects, list_of, names, required, target_of, truth
from .cluster import Cluster

if TYPE_CHECKING:
    from dra_plan.planner.allocation import AllocationPlan
    from dra_plan.planner.explanation import Explanation
    from dra_plan.planner.pool_list import PoolList
    from dra_plan.planner.scheduling import SchedulePlan
    from dra_plan.planner.validation import ValidationReport
    from dra_plan.scheduler.framework.interface import Registry
    from dra_plan.validation.reading import Reading

FileOrObject = str | os.PathLike[str] | Mapping[str, Any]
"""A path, or an object as a plain dict."""


def allocate(
    objects: Objects,
    *,
    kubernetes_version: str | None = None,
    feature_gates: Mapping[str, bool] | None = None,
    quirks: str = "upstream",
    nodes: Names = None,
    together: bool = False,
    devices_only: bool = False,
    explain: bool = False,
    max_steps: int | None = None,
    jobs: int = 1,
) -> AllocationPlan:
    """Plans the claim sets of plain Kubernetes objects, which are left as they are: see `Cluster.allocate`.

    Raises UsageError for an unknown version, gate or node, InputError for what can't be decoded.
    """
    cluster = Cluster.of(objects, kubernetes_version=kubernetes_version, feature_gates=feature_gates, quirks=quirks)
    return cluster.allocate(
        nodes=nodes,
        together=together,
        devices_only=devices_only,
        explain=explain,
        max_steps=max_steps,
        jobs=jobs,
    )


def explain(
    objects: Objects,
    *owners: str,
    kubernetes_version: str | None = None,
    feature_gates: Mapping[str, bool] | None = None,
    quirks: str = "upstream",
    nodes: Names = None,
    devices: Names = None,
    together: bool = False,
    devices_only: bool = False,
    max_steps: int | None = None,
) -> Explanation:
    """Why the claim sets of plain objects fit or do not: see `Cluster.explain`. Raises as `allocate` does."""
    cluster = Cluster.of(objects, kubernetes_version=kubernetes_version, feature_gates=feature_gates, quirks=quirks)
    return cluster.explain(
        *owners,
        devices=devices,
        nodes=nodes,
        together=together,
        devices_only=devices_only,
        max_steps=max_steps,
    )


def gather_pools(
    objects: Objects,
    node: Names = None,
    *,
    kubernetes_version: str | None = None,
    feature_gates: Mapping[str, bool] | None = None,
    quirks: str = "upstream",
) -> PoolList:
    """The pools of plain objects, of all nodes or of some: see `Cluster.pools`. Raises as `allocate` does."""
    cluster = Cluster.of(objects, kubernetes_version=kubernetes_version, feature_gates=feature_gates, quirks=quirks)
    return cluster.pools(node)


def schedule(
    objects: Objects,
    *,
    kubernetes_version: str | None = None,
    feature_gates: Mapping[str, bool] | None = None,
    quirks: str = "upstream",
    config: Mapping[str, Any] | None = None,
    then: Iterable[Cluster | Objects] = (),
    trace: bool = False,
    explain: bool = False,
    max_steps: int | None = None,
    timeout: float | None = None,
    api_server: str | None = None,
    order: str | None = None,
    plugins: Registry | None = None,
    settle: bool = False,
    events: Iterable[Mapping[str, Any]] = (),
) -> SchedulePlan:
    """Schedules the pods of plain Kubernetes objects, which are left as they are: see `Cluster.schedule`.

    `api_server` is by default the one with which most outcomes were recorded, unless defects are repaired: it shows
    finished pods to the scheduler, which a real one does not. Raises UsageError for what can't be chosen, InputError
    for what can't be decoded.
    """
    from dra_plan.scheduler.simulation import REAL, RECORDED

    cluster = Cluster.of(objects, kubernetes_version=kubernetes_version, feature_gates=feature_gates, quirks=quirks)
    if api_server is None:
        api_server = RECORDED if quirks == "upstream" else REAL
    return cluster.schedule(
        config=config,
        then=then,
        trace=trace,
        explain=explain,
        max_steps=max_steps,
        timeout=timeout,
        api_server=api_server,
        order=order,
        plugins=plugins,
        settle=settle,
        events=events,
    )


def validate(
    objects: FileOrObject | Iterable[FileOrObject],
    *,
    kubernetes_version: str = releases.NEWEST,
    feature_gates: Mapping[str, bool] | None = None,
    quirks: str = "upstream",
    select: Names = None,
    ignore: Names = None,
    ignore_unknown: bool = False,
    recursive: bool = False,
    against: FileOrObject | Iterable[FileOrObject] | None = None,
    runtime_config: Mapping[str, bool] | None = None,
) -> ValidationReport:
    """What is wrong with objects (plain dicts) or with the manifests of paths, or both: see `Cluster.validate`.

    Objects that `against`, which is given in the same way, has too are judged as updates of these. `runtime_config`
    is that of the API server, `{}` its default: which versions it serves of those that the release can; None: all.

    Raises InputError (`ManifestErrors`, with every fault) for what can't be read as documents, UsageError for an
    unknown version, gate, quirks or code. What a document says is never an error: it becomes findings.
    """
    from dra_plan.planner.validation import report
    from dra_plan.validation.registry import ALL, RuleSelection

    reading = _reading(objects, "objects", recursive=recursive)
    old = () if against is None else _reading(against, "against", recursive=recursive).subjects
    target = target_of(kubernetes_version, feature_gates, quirks)
    selection = RuleSelection(names(select, "select") or (ALL,), names(ignore, "ignore"))
    passed_over = truth(ignore_unknown, "ignore_unknown")
    return report(reading, target, selection, ignore_unknown=passed_over, against=old, runtime_config=runtime_config)


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
