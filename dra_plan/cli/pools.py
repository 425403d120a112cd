"""`dra-plan pools`: what drivers publish, and what is left of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from . import options, whatif
from .exits import Exit
from .reporting import Reporting, page_of

if TYPE_CHECKING:
    from dra_plan.documents.pools import PoolsDocument
    from dra_plan.output.formats import Formats


def pools(
    context: typer.Context,
    paths: options.Paths = None,
    filenames: options.Filenames = None,
    recursive: options.Recursive = False,
    nodes: options.Nodes = None,
    drivers: Annotated[
        list[str] | None, typer.Option("--driver", metavar="NAME", help="Pools of this driver only; repeatable.")
    ] = None,
    states: Annotated[
        list[str] | None,
        typer.Option("--state", metavar="STATE", help="Complete, Incomplete, Invalid or Obsolete pools; repeatable."),
    ] = None,
    infer_nodes: options.InferNodes = False,
    cordon: whatif.Cordon = None,
    drain: whatif.Drain = None,
    without: whatif.WithoutObject = None,
    add_nodes: whatif.AddNodes = None,
    kubernetes_version: options.KubernetesVersion = None,
    strict_version: options.StrictVersion = False,
    feature_gates: options.FeatureGates = None,
    quirks: options.Quirks = "upstream",
    output: options.Output = "table",
    report: options.Pages = None,
) -> Exit:
    """Show the resource pools and what is left of them.

    PATH... hold nodes, resource slices and allocated claims: files, directories, or - for standard input. Pools are
    shown as the allocator gathers them: state, slices, devices left, counters left; -o wide lists every device.
    """
    from dra_plan.allocator import AllocationError
    from dra_plan.errors import InputError
    from dra_plan.output.formats import parse_lazily

    from .opening import loaded
    from .printing import print_document

    with Reporting("pools", report, paths, filenames, pages_only=True) as reports:
        form = parse_lazily(output, _tables)
        cluster = whatif.changed(context, loaded(context, paths or [], filenames))
        try:
            pool_list = cluster.pools(nodes, drivers=drivers, states=states, infer_nodes=infer_nodes)
        except AllocationError as error:
            raise InputError(str(error)) from error
        reports.tell(None, page_of(cluster, pool_list))
        print_document(pool_list.document, form)
        return Exit.OK


def _tables() -> Formats[PoolsDocument]:
    from dra_plan.output.pool_table import FORMATS

    return FORMATS
