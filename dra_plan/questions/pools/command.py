"""`dra-plan pools`: the devices that drivers publish, and which of them are free."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from dra_plan.cli import options, whatif
from dra_plan.cli.declared import given, takes
from dra_plan.cli.reporting import Reporting, page_of
from dra_plan.cli.running import Exit
from dra_plan.cli.whatif import Edits
from dra_plan.options import ReleaseOptions, SomeNodes
from dra_plan.questions.pools import ask

if TYPE_CHECKING:
    from dra_plan.questions.pools.document import PoolsDocument
    from dra_plan.text.formats import Format


@takes(options.Sources, SomeNodes, ask.PoolOptions, Edits, ReleaseOptions, options.Ended, options.Messages)
def pools(
    context: typer.Context,
    *,
    output: options.Output = "table",
    report: options.Pages = None,
) -> Exit:
    """Show resource pools and their free devices.

    Examples:
      dra-plan pools --live
      dra-plan pools cluster.json --node gpu-node-1 -o wide
      dra-plan pools cluster.json --state Incomplete

    Shows each pool's state, slices, and available devices and counters. To list every device, use -o wide. PATH is a
    file, a directory, or - for standard input. The files must contain nodes, resource slices and the claims in use.

    """
    from dra_plan.allocator import AllocationError
    from dra_plan.cli.inputs import loaded
    from dra_plan.cli.printing import print_document
    from dra_plan.errors import InputError
    from dra_plan.text.formats import parse_lazily

    with Reporting(context, report, pages_only=True) as reports:
        form = parse_lazily(output, _parse)
        cluster = whatif.changed(context, loaded(context, context.params["paths"] or [], context.params["filenames"]))
        try:
            pool_list = ask.pools(cluster, **given(context, SomeNodes), **given(context, ask.PoolOptions))
        except AllocationError as error:
            raise InputError(str(error)) from error
        reports.tell(None, page_of(cluster, pool_list))
        print_document(pool_list.document, form)
        return Exit.OK


def _parse(option: str) -> Format[PoolsDocument]:
    from dra_plan.questions.pools.text import parse

    return parse(option)
