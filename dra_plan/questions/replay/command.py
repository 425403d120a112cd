"""`dra-plan replay`: the use of a cluster over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, cast

import typer

from dra_plan.cli import completing, options
from dra_plan.cli.configuration import read_configuration, read_events
from dra_plan.cli.declared import given, takes
from dra_plan.cli.reporting import Reporting, page_of
from dra_plan.cli.running import Exit, of_document
from dra_plan.cli.whatif import Edits
from dra_plan.options import ReleaseOptions, ServedVersions
from dra_plan.questions.replay import ask

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from dra_plan.loaded import LoadedCluster

EVENT_FILES = (".jsonl", ".csv")
"""The suffixes of files that contain events instead of manifests."""


@takes(options.Sources, ask.ReplayOptions, Edits, ReleaseOptions, ServedVersions, options.Messages)
def replay(
    context: typer.Context,
    *,
    events: Annotated[
        str | None,
        typer.Option(
            "--events",
            metavar="FILE",
            help=("Read events from this JSON lines or CSV file (default: the last PATH that ends in .jsonl or .csv)."),
        ),
    ] = None,
    config: options.SchedulerConfig = None,
    against: Annotated[
        str | None,
        typer.Option(
            "--against",
            metavar="NAME|FILE",
            help=("Also replay the events with this policy or configuration, and compare the results."),
        ),
    ] = None,
    fail_on: options.FailOn = "error",
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            autocompletion=completing.series,
            metavar="FORMAT",
            help=(
                "The output format: table, wide, csv, json, yaml, name (the names of pods that have no "
                "node at the end) or jsonpath=TEMPLATE."
            ),
        ),
    ] = "table",
    report: options.Pages = None,
) -> Exit:
    """Show how the devices in a cluster are used over time.

    Examples:
      dra-plan replay cluster.json events.jsonl
      dra-plan replay cluster.json events.jsonl --against fgd --orders 10
      dra-plan replay cluster.json events.jsonl --every 3600 -o csv

    Simulates the cluster while pods start and finish, and while nodes are added and removed. The output shows how long
    pods wait, how many devices are allocated, and how many idle devices, on average, a pod cannot use. Events are JSON
    lines such as {"time": 60, "create": OBJECT, "runs": 3600}, or a CSV file with the columns time, action, object,
    name, count and duration. PATH is a file, a directory, or - for standard input. The files in PATH describe the
    cluster.

    """
    from dra_plan.cli.inputs import opened
    from dra_plan.cli.printing import print_document
    from dra_plan.errors import UsageError
    from dra_plan.questions.replay.gate import JUDGE
    from dra_plan.questions.replay.text import parse

    with Reporting(context, report, pages_only=True) as reports:
        form, gate = parse(output), options.gate(fail_on=fail_on)
        paths = context.params["paths"]
        if events is None and paths and str(paths[-1]).endswith(EVENT_FILES):
            events = str(paths[-1])
            context.params["paths"] = paths[:-1]
        asked = opened(context)
        if asked.owners:
            raise UsageError(f"{asked.owners[0]}: no such file. Select pending pods with -n and -l")
        wanted = {
            **given(context, ask.ReplayOptions),
            "namespace": asked.namespace,
            "selector": asked.selector,
            "config": None if config is None else _Named.read(config, "--config"),
            "against": _against(against),
        }
        steps = _steps(events, asked.cluster)
        found = ask.replayed(asked.cluster, steps, cast("ask.ReplayOptions", wanted), for_page=reports.has_pages)
        reports.tell(None, page_of(asked.cluster, found))
        print_document(found.document, form)
        return of_document(found.document, JUDGE, gate)


def _steps(events: str | None, cluster: LoadedCluster) -> Iterable[Mapping[str, Any]]:
    from dra_plan.questions.replay.csv_events import read_csv

    if events is not None and events.endswith(".csv"):
        return read_csv(events, cluster.inventory)
    return read_events(events)


class _Named(dict[str, "Any"]):
    """A configuration, with the file that it was read from."""

    origin: str = ""

    @classmethod
    def read(cls, path: str, option: str) -> _Named:
        made = cls(read_configuration(path, option))
        made.origin = path
        return made


def _against(given: str | None) -> str | Mapping[str, Any] | None:
    """Return a policy, or the configuration in a file."""
    if given is None or not given.endswith((".yaml", ".yml", ".json")):
        return given
    return _Named.read(given, "--against")
