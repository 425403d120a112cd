"""`dra-plan snapshot`, which saves a cluster to a file that all other commands can read."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from dra_plan.cli.running import Exit
from dra_plan.cli.timing import ended_after

from . import live, options

if TYPE_CHECKING:
    from dra_plan.live.pseudonyms import Shown
    from dra_plan.live.snapshot import Snapshot


def snapshot(
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help=("Write the snapshot to this file. The file is compressed if its name ends in .gz."),
        ),
    ] = None,
    anonymize: Annotated[
        bool,
        typer.Option(
            "--anonymize", help=("Replace names and labels with pseudonyms. This does not change any result.")
        ),
    ] = False,
    print_rbac: Annotated[
        bool,
        typer.Option(
            "--print-rbac",
            help=("Print a ClusterRole with the permissions that `snapshot` needs, and do not read the cluster."),
        ),
    ] = False,
    context: Annotated[
        str | None,
        typer.Option(
            "--context",
            metavar="NAME",
            help=("Read the cluster in this kubeconfig context instead of the current context."),
        ),
    ] = None,
    kubeconfig: Annotated[
        str | None,
        typer.Option("--kubeconfig", metavar="FILE", help=("Use this kubeconfig file instead of the default file.")),
    ] = None,
    scheduler_metrics: live.SchedulerMetrics = None,
    time_limit: options.TimeLimit = None,
    progress: options.Progress = True,
) -> Exit:
    """Save a snapshot of a cluster.

    Examples:
      dra-plan snapshot -o cluster.json.gz
      dra-plan snapshot --anonymize -o cluster.json
      dra-plan explain cluster.json.gz pod/train

    Reads the cluster in the current kubectl context, and writes its objects, version and feature gates to a file. Every
    command can read this file. `snapshot` never reads Secrets or ConfigMaps, and removes managedFields from objects.

    """
    from dra_plan.live.snapshot import cluster_role
    from dra_plan.manifests import unwrap

    from .printing import print_note, print_warnings

    if print_rbac:
        sys.stdout.write(cluster_role())
        return Exit.OK
    asked = live.Asked(True, context, kubeconfig, scheduler_metrics)
    with ended_after(time_limit):
        gates = live.gates_of_scheduler(scheduler_metrics, live=True)
        found = live.read(asked, progress=progress)
    if gates is not None:
        found = found.reported(gates)
    if anonymize:
        found = _anonymized(found)
    print_warnings(unwrap.notices(found.info))
    _write(found, output)
    if output is not None:
        print_note(f"{len(found.objects):,} objects of Kubernetes {found.info.server_version} written to {output}")
    return Exit.OK


def _anonymized(found: Snapshot) -> Snapshot:
    from dra_plan.live.pseudonyms import anonymized

    from .printing import print_note

    done = anonymized(found)
    if done.shown.expressions or done.shown.attributes is None:
        print_note(_what_stays(done.shown))
    return done.snapshot


def _what_stays(shown: Shown) -> str:
    if shown.attributes is None:
        return "attribute texts and selectors are not anonymized: selectors look into too many of them"
    many = len(shown.expressions)
    selectors = "1 selector looks" if many == 1 else f"{many} selectors look"
    return f"{selectors} into texts (startsWith, matches): selectors and attributes of that kind are not anonymized"


def _write(found: Snapshot, output: str | None) -> None:
    """Write the snapshot. Raises UsageError on failure; an existing file is replaced only by the complete new one."""
    from dra_plan.errors import UsageError
    from dra_plan.text.reports import whole_file

    if output is None or output == "-":
        for piece in found.pieces():
            sys.stdout.buffer.write(piece)
        sys.stdout.flush()
        return
    try:
        whole_file.write(output, found.content(output))
    except OSError as error:
        raise UsageError(f"-o {output}: {(error.strerror or str(error)).lower()}") from error
