"""How every command that plans begins: its options tell which cluster is meant, how it is changed, and who is asked.

A command declares these options, so that its help shows them, and leaves reading them to this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import typer

from . import live, options, whatif
from .arguments import nothing_to_read, refuse_missing_files, tell_apart
from .loading import load_cluster

if TYPE_CHECKING:
    from dra_plan.api.meta import LabelSelector
    from dra_plan.cluster import Cluster


OPENED = "dra_plan.opened"
"""Where a command leaves what it was asked about."""


class Opened(NamedTuple):
    """What a command works with."""

    cluster: Cluster
    """Changed as the what-if options say."""
    owners: list[str]
    """Names of pods, workloads and claims."""
    namespace: str | None
    """The namespace that is chosen, or in which the names are; None for all."""
    selector: LabelSelector | None


def opened(context: typer.Context) -> Opened:
    """The cluster that the command's paths and options mean, and who is asked about.

    Raises UsageError for options that can't be read and for edits that can't be made, InputError for what can't be
    loaded.
    """
    given = context.params
    selector = selected(context)
    filenames = given.get("filenames")
    may_ask = live.asked(context).wanted or live.is_plugin()
    paths, owners = tell_apart(given.get("paths"), filenames, command=str(context.info_name), live=may_ask)
    cluster = loaded(context, paths, filenames)
    refuse_missing_files(owners, [cluster.inventory])
    namespace = namespace_of(context, owners, is_live=live.is_wanted(context, paths, filenames))
    found = context.meta[OPENED] = Opened(whatif.changed(context, cluster), owners, namespace, selector)
    return found


def loaded(context: typer.Context, paths: list[str], filenames: list[str] | None = None) -> Cluster:
    """The cluster of the paths, under the release that the options name. Raises as `load_cluster`.

    If the options ask for a cluster, it is read, and the paths override what it has; their objects without a namespace
    are where `kubectl apply` would put them.
    """
    given = context.params
    is_live = live.is_wanted(context, paths, filenames)
    if not (is_live or paths or filenames):
        raise nothing_to_read(str(context.info_name))
    progress = given.get("progress", True)
    reported = live.gates_of_scheduler(live.asked(context).scheduler_metrics, live=is_live)
    over_cluster = is_live and bool(paths or filenames)
    cluster = load_cluster(
        paths,
        filenames,
        snapshot=live.snapshot(context, progress=progress) if is_live else None,
        namespace=given.get("namespace") or live.namespace(context) if over_cluster else None,
        recursive=given["recursive"],
        kubernetes_version=given["kubernetes_version"],
        feature_gates=options.parse_gates(given["feature_gates"]),
        quirks=given["quirks"],
        strict_version=given.get("strict_version", False),
        progress=progress,
    )
    return cluster if reported is None else cluster.reported(reported)


def namespace_of(context: typer.Context, owners: list[str], *, is_live: bool) -> str | None:
    """The namespace that is chosen, None for all. Names in a cluster that is asked are in that of kubectl's context."""
    given = context.params
    every = given.get("all_namespaces", False)
    chosen = options.one_namespace(given.get("namespace"), all_namespaces=every)
    if owners and is_live and chosen is None and not every:
        return live.namespace(context)
    return chosen


def selected(context: typer.Context) -> LabelSelector | None:
    """The label selector of `-l`. Raises UsageError for a text that is none."""
    from dra_plan.api.selectors import parse_selector

    return parse_selector(context.params.get("selector"))
