"""The input of a command: telling paths from names, and loading manifests or clusters."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from dra_plan.cli import live, options, whatif
from dra_plan.cli.declared import given
from dra_plan.cli.live import of_cluster
from dra_plan.cli.telling import hush
from dra_plan.errors import UsageError
from dra_plan.interpreter import uncollected
from dra_plan.options import ServedVersions, parse_gates
from dra_plan.wording import DUMP

if TYPE_CHECKING:
    from dra_plan.api.inventory import Inventory
    from dra_plan.api.meta import LabelSelector
    from dra_plan.live.snapshot import Snapshot
    from dra_plan.loaded import LoadedCluster


OBJECTS = "kubectl get deviceclasses,resourceslices,resourceclaims,resourceclaimtemplates,pods -A -o json"
"""A kubectl command that prints the objects that `validate` can check."""


class Arguments(NamedTuple):
    """The arguments of a command: paths, and names of objects."""

    paths: list[str]
    owners: list[str]


def tell_apart(given: list[str] | None, filenames: list[str] | None, *, command: str, live: bool = False) -> Arguments:
    """Return the arguments, separated into paths and the names of pods, workloads and claims.

    An argument is a path if such a file exists, or if it cannot be a name. Raises UsageError if there are no paths,
    unless `live` is set or `filenames` are given. If there are only names, the error contains the command that reads a
    cluster.
    """
    arguments = given or []
    paths = [argument for argument in arguments if _is_path(argument)]
    owners = [argument for argument in arguments if not _is_path(argument)]
    if paths or filenames or live:
        return Arguments(paths, owners)
    if not owners:
        raise nothing_to_read(command)
    if _names_kind(owners):
        name = " ".join(owners)
        raise UsageError(
            f"no manifests to look up {name}. To make a dump: `{DUMP}`. To read the cluster: "
            f"{of_cluster(command, name)}"
        )
    return Arguments(owners, [])


def no_manifests(command: str, *, dump: str = "") -> UsageError:
    """Return the error for missing input.

    `command` is a command line that reads a cluster, and `dump` one that saves a cluster to a file.
    """
    told = "name files or directories, or - for standard input"
    made = f". To make a dump: `{dump}`" if dump else ""
    return UsageError(f"no manifests: {told}{made}. To read the cluster: {command}")


def nothing_to_read(command: str) -> UsageError:
    """Return the error for a planning command without input. It shows how to save a cluster and how to read one."""
    return no_manifests(of_cluster(command), dump=DUMP)


def _is_path(argument: str) -> bool:
    from dra_plan.manifests.sources import is_meant_as_path, is_there

    return is_meant_as_path(argument) or is_there(argument)


def refuse_missing_files(owners: Iterable[str], inventories: Iterable[Inventory]) -> None:
    """Raise UsageError if an argument of the form DIRECTORY/NAME looks like the path of a missing file.

    This is the case if DIRECTORY exists and is not a namespace in the input.
    """
    from pathlib import Path

    from dra_plan.manifests import kinds
    from dra_plan.manifests.faults import NO_SUCH_PATH

    places = [(owner, owner.partition("/")) for owner in owners]
    asked = [(owner, first) for owner, (first, slash, _) in places if slash and kinds.named(first) is None]
    asked = [(owner, first) for owner, first in asked if Path(first).is_dir()]
    if not asked:
        return
    known = {
        each.metadata.namespace.lower()
        for inventory in inventories
        for each in (*inventory.pods, *inventory.workloads, *inventory.claims)
    }
    missing = [f"{owner}: {NO_SUCH_PATH}" for owner, first in asked if first.lower() not in known]
    if missing:
        raise UsageError.of_lines(missing)


def _names_kind(owners: list[str]) -> bool:
    """Return whether the arguments can only be names, because they include the kind."""
    from dra_plan.manifests import kinds

    first, slash, _ = owners[0].partition("/")
    return kinds.named(first) is not None and (bool(slash) or len(owners) > 1)


def load_cluster(
    paths: list[str] | None,
    filenames: list[str] | None,
    *,
    recursive: bool,
    snapshot: Snapshot | None = None,
    namespace: str | None = None,
    kubernetes_version: str | None = None,
    feature_gates: Mapping[str, bool] | None = None,
    quirks: str = "upstream",
    strict_version: bool = False,
    progress: bool = True,
) -> LoadedCluster:
    """Return the cluster in the manifests in `paths` and `filenames`, added to the snapshot, if there is one.

    Namespaced objects without a namespace get `namespace`. Prints a note to standard error about objects that are not
    used. Raises UsageError in the same cases as `Cluster.load`, and an InputError that lists all errors for input that
    cannot be read.
    """
    from dra_plan.cli.live import reading
    from dra_plan.cli.telling import owe
    from dra_plan.loaded import LoadedCluster

    given = [*(paths or ()), *(filenames or ())]
    note_links(given)
    with reading(["standard input" if name == "-" else name for name in given], wanted=progress), uncollected():
        cluster = LoadedCluster.load(
            given,
            recursive=recursive,
            snapshot=snapshot,
            namespace=namespace or "default",
            kubernetes_version=kubernetes_version,
            feature_gates=feature_gates,
            quirks=quirks,
            strict_version=strict_version,
        )
        keep_until_exit(cluster.inventory)
    owe(notice for notice in cluster.inventory.notices if notice.code in _OF_ACCESS)
    _report_skipped(cluster.inventory)
    _report_overridden(cluster.inventory)
    return cluster


def note_links(paths: Sequence[str]) -> None:
    """Print a note about each path that is a symbolic link to a place outside its checkout."""
    from dra_plan.cli.printing import print_note
    from dra_plan.manifests import links

    for note in links.notes(paths):
        print_note(note)


_OF_ACCESS = ("not-listed", "not-served")
"""Warnings about objects that could not be read, which may be the cause of an error."""


_given_back = False
"""Whether this run loads and frees several clusters."""


@contextlib.contextmanager
def giving_back() -> Iterator[None]:
    """While the block runs, allow clusters to be freed before the program exits.

    This is for blocks that load several clusters one after another.
    """
    global _given_back  # noqa: PLW0603 - one run of the program is one process
    _given_back = True
    try:
        yield
    finally:
        _given_back = False


def keep_until_exit(thing: object) -> None:
    """Exclude an object that lives until exit, such as the cluster, from garbage collection.

    Otherwise, Python frees the object piece by piece at exit, which takes 0.2 s for 5,000 nodes. Later collections are
    also made rarer, because planning creates many objects and little garbage.
    """
    if _given_back:
        return
    kept: list[object] = [thing]
    kept.append(kept)
    gc.freeze()
    gc.set_threshold(1_000_000)


def _report_skipped(inventory: Inventory) -> None:
    """Store a note about kinds that planning does not use. Events are often in dumps, and `explain` reads warnings."""
    from dra_plan.cli.telling import tell_later
    from dra_plan.manifests.events import EVENTS

    skipped = [f"{count} {kind}" for kind, count in sorted(inventory.skipped.items()) if kind not in EVENTS]
    tell_later([f"note: skipped, because planning does not use them: {', '.join(skipped)}"] if skipped else [])


_MOST_OVERRIDDEN = 5
"""The maximum number of overridden objects that are listed."""


def _report_overridden(inventory: Inventory) -> None:
    from dra_plan.cli.printing import print_note
    from dra_plan.manifests.places import label

    warned = {notice.object for notice in inventory.notices if notice.code == "object-overridden"}
    told = [(key, places) for key, places in inventory.overridden.items() if label(*key) not in warned]
    for (kind, namespace, name), (first, later) in told[:_MOST_OVERRIDDEN]:
        print_note(f"note: {label(kind, namespace, name)} is taken from {later}, not from {first}")
    if len(told) > _MOST_OVERRIDDEN:
        more = len(told) - _MOST_OVERRIDDEN
        print_note(f"note: {more} more {'object is' if more == 1 else 'objects are'} taken from a later source")
    _report_kept_claims(inventory)


def _report_kept_claims(inventory: Inventory) -> None:
    """Report existing claims, which an edited template does not change."""
    templates = [key for key in inventory.overridden if key[0] == "ResourceClaimTemplate"]
    if not templates:
        return
    from dra_plan.claims.index import Index, keeping_claims
    from dra_plan.cli.printing import print_note

    index = Index(inventory)
    for key in templates:
        if pods := keeping_claims(key, index):
            told = f"pod {pods[0]} keeps its claim" if len(pods) == 1 else f"{len(pods)} pods keep their claims"
            print_note(f"note: {told}, created from the old ResourceClaimTemplate {key[1]}/{key[2]}")


OPENED = "dra_plan.opened"
"""The key in the context's `meta` under which a command stores the cluster that it is about."""


class Opened(NamedTuple):
    """The cluster that a command is about, and the selected objects."""

    cluster: LoadedCluster
    """The cluster after the what-if options have been applied."""
    owners: list[str]
    """The names of pods, workloads and claims."""
    namespace: str | None
    """The selected namespace or, for names in a live cluster, that of the context. None means all namespaces."""
    selector: LabelSelector | None


def opened(context: typer.Context) -> Opened:
    """Return the cluster that the command's paths and options describe, and the selected objects.

    Raises UsageError for invalid options and impossible edits, and InputError for input that cannot be loaded.
    """
    params = context.params
    selector = selected(context)
    filenames = params.get("filenames")
    may_ask = live.asked(context).wanted or live.is_plugin()
    paths, owners = tell_apart(params.get("paths"), filenames, command=str(context.info_name), live=may_ask)
    cluster = loaded(context, paths, filenames)
    refuse_missing_files(owners, [cluster.inventory])
    namespace = namespace_of(context, owners, is_live=live.is_wanted(context, paths, filenames))
    found = context.meta[OPENED] = Opened(whatif.changed(context, cluster), owners, namespace, selector)
    return found


def options_of(context: typer.Context, asked: Opened, group: type[Any]) -> dict[str, Any]:
    """Return the values of a question's options, with the namespace and label selector of `asked`."""
    chosen = {"namespace": asked.namespace, "selector": asked.selector}
    found = given(context, group)
    return {name: chosen.get(name, value) for name, value in found.items()}


def node_groups(context: typer.Context) -> dict[str, str | None]:
    """Return the file with node groups, as keyword arguments with the key `groups`.

    The file is the one given with `--groups`. If neither `--groups` nor `--group` is given, it is the one in the
    project's settings.
    """
    from dra_plan.cli.settings import find

    said = context.params.get("groups")
    return {"groups": said if said is not None or context.params.get("group") else find(Path()).node_groups}


def loaded(context: typer.Context, paths: list[str], filenames: list[str] | None = None) -> LoadedCluster:
    """Return the cluster in the paths, at the release that the options select.

    If a live cluster is to be read, objects in the paths override the live ones, and objects without a namespace get
    the namespace that `kubectl apply` would use. Raises the errors of `load_cluster`.
    """
    params = context.params
    hush(quiet=params.get("quiet", False))
    is_live = live.is_wanted(context, paths, filenames)
    if not (is_live or paths or filenames):
        raise nothing_to_read(str(context.info_name))
    progress = params.get("progress", True)
    reported = live.gates_of_scheduler(live.asked(context).scheduler_metrics, live=is_live)
    over_cluster = is_live and bool(paths or filenames)
    cluster = load_cluster(
        paths,
        filenames,
        snapshot=live.snapshot(context, progress=progress) if is_live else None,
        namespace=params.get("namespace") or live.namespace(context) if over_cluster else None,
        recursive=params["recursive"],
        kubernetes_version=params["kubernetes_version"],
        feature_gates=parse_gates(params["feature_gates"]),
        quirks=params["quirks"],
        strict_version=params.get("strict_version", False),
        progress=progress,
    )
    cluster = cluster if reported is None else cluster.reported(reported)
    cluster = cluster.ignoring(*_ignored(params.get("ignore_warnings")))
    return cluster.serving(given(context, ServedVersions)["runtime_config"]) if "runtime_config" in params else cluster


def _ignored(codes: list[str] | None) -> tuple[str, ...]:
    """Return the codes of ignored warnings, from the command line and the settings of the project.

    Raises UsageError for an unknown code.
    """
    from dra_plan.api.codes import checked
    from dra_plan.cli.settings import find

    given = (code.strip() for one in codes or () for code in one.split(","))
    return *checked((code for code in given if code), "--ignore-warning"), *find(Path()).ignore_warnings


def namespace_of(context: typer.Context, owners: list[str], *, is_live: bool) -> str | None:
    """Return the selected namespace, or None for all namespaces.

    In a live cluster, names without a namespace are in the namespace of kubectl's current context.
    """
    params = context.params
    every = params.get("all_namespaces", False)
    chosen = options.one_namespace(params.get("namespace"), all_namespaces=every)
    if owners and is_live and chosen is None and not every:
        return live.namespace(context)
    return chosen


def selected(context: typer.Context) -> LabelSelector | None:
    """Return the label selector given with `-l`. Raises UsageError for an invalid selector."""
    from dra_plan.api.selectors import parse_selector

    return parse_selector(context.params.get("selector"))
