"""`dra-plan cel`: what an expression is, and which devices it selects."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from . import completing, options
from .exits import Exit

if TYPE_CHECKING:
    from dra_plan.documents.selectors import SelectorDocument
    from dra_plan.output.formats import Formats


def cel(
    expression: Annotated[
        str, typer.Argument(metavar="EXPRESSION", help="The expression; - reads it from standard input.")
    ],
    paths: options.Paths = None,
    filenames: options.Filenames = None,
    recursive: options.Recursive = False,
    device: Annotated[
        str | None,
        typer.Option(
            "--device",
            autocompletion=completing.devices,
            metavar="DRIVER/POOL/DEVICE",
            help="This device only, with the value of every sub-expression.",
        ),
    ] = None,
    kubernetes_version: options.KubernetesVersion = None,
    feature_gates: options.FeatureGates = None,
    output: options.Output = "table",
) -> Exit:
    """Check a selector expression, and evaluate it on devices.

    Prints the type of EXPRESSION, the cost that the API server estimates for it, and what it reads. With PATH...
    (files, directories, or - for standard input, which hold resource slices) it says for every device whether it
    matches; with --device what every sub-expression gives.
    """
    from dra_plan.errors import UsageError
    from dra_plan.output.formats import parse_lazily

    from .printing import print_document

    form = parse_lazily(output, _tables)
    gates = options.parse_gates(feature_gates)
    sources = [*(paths or ()), *(filenames or ())]
    if expression == "-":
        if "-" in sources:
            raise UsageError("standard input can't be both the expression and a manifest")
        expression = sys.stdin.read().rstrip("\r\n")
    from dra_plan.planner.selector_report import parse_device, report_selector

    chosen = None if device is None else parse_device(device)
    if chosen is not None and not sources:
        raise UsageError("--device needs the manifests that have the device: name files or directories")
    inventory = None
    if sources:
        from .loading import load_cluster

        inventory = load_cluster(paths, filenames, recursive=recursive).inventory
    report = report_selector(
        expression, inventory, device=chosen, kubernetes_version=kubernetes_version, feature_gates=gates
    )
    print_document(report.document, form)
    return Exit.OK


def _tables() -> Formats[SelectorDocument]:
    from dra_plan.output.selector_table import FORMATS

    return FORMATS
