"""`dra-plan grow`: how many new nodes are needed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from . import completing, options, whatif
from .exits import Exit, of_document
from .reporting import Reporting, page_of

if TYPE_CHECKING:
    from decimal import Decimal

MOST_DIGITS = 30
"""A cost is written with so many characters at most."""


def grow(
    context: typer.Context,
    paths: options.Paths = None,
    filenames: options.Filenames = None,
    recursive: options.Recursive = False,
    like: Annotated[
        list[str] | None,
        typer.Option(
            "--like",
            autocompletion=completing.nodes,
            metavar="NODE",
            help="Add nodes like this one, or like that of a file; repeatable.",
        ),
    ] = None,
    cost: Annotated[
        list[str] | None,
        typer.Option("--cost", metavar="LIKE=NUMBER", help="What one of these nodes costs (default: 1); repeatable."),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", min=1, metavar="N", help="Try so many nodes of a kind at most (default: 10,000)."),
    ] = None,
    namespace: options.Namespace = None,
    all_namespaces: options.AllNamespaces = False,
    selector: options.Selector = None,
    cordon: whatif.Cordon = None,
    drain: whatif.Drain = None,
    without: whatif.WithoutObject = None,
    add_nodes: whatif.AddNodes = None,
    allow_empty: options.AllowNoPods = False,
    kubernetes_version: options.KubernetesVersion = None,
    strict_version: options.StrictVersion = False,
    feature_gates: options.FeatureGates = None,
    quirks: options.Quirks = "upstream",
    max_steps: options.MaxSteps = None,
    fail_on: options.FailOn = "error",
    output: options.Output = "table",
    report: options.Pages = None,
) -> Exit:
    """Say how many new nodes are needed for every pod that waits.

    PATH... hold the cluster and its pods: files, directories, or - for standard input. The fewest nodes like those of
    --like are sought, or the cheapest, with which kube-scheduler binds all of them; it is asked about each number. -n
    and -l choose which pods are scheduled, or arguments that are no files: pod/train, deploy/serve, train. What no
    number of nodes helps is said first, and is exit status 1.
    """
    from dra_plan.errors import UsageError
    from dra_plan.output.formats import parse
    from dra_plan.output.growth import FORMATS

    from .opening import opened
    from .printing import nothing_to_do, print_document

    with Reporting("grow", report, paths, filenames, pages_only=True) as reports:
        form = parse(output, FORMATS)
        gate = options.gate(fail_on=fail_on)
        if not like:
            raise UsageError("--like NODE or --like FILE says which nodes may be added")
        prices = _prices(cost or ())
        asked = opened(context)
        found = asked.cluster.grow(
            *asked.owners,
            like=like,
            cost=prices,
            namespace=asked.namespace,
            selector=asked.selector,
            limit=limit,
            max_steps=max_steps,
        )
        document = found.document
        if not document.pods and not allow_empty:
            raise nothing_to_do(document.warnings, options.NO_PODS)
        reports.tell(None, page_of(asked.cluster, found))
        print_document(document, form)
        return of_document(document, gate)


def _prices(options: Iterable[str]) -> dict[str, Decimal]:
    """What a node costs, by what it is like; a later option wins. UsageError for what is not LIKE=NUMBER."""
    from decimal import Decimal, InvalidOperation

    from dra_plan.errors import UsageError

    found = {}
    for option in options:
        name, equals, number = option.rpartition("=")
        try:
            if not equals or not name or len(number) > MOST_DIGITS:
                raise InvalidOperation
            found[name] = Decimal(number)
        except InvalidOperation as error:
            raise UsageError(f"--cost: {option!r} is not LIKE=NUMBER") from error
    return found
