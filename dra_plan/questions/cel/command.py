"""`dra-plan cel`: the properties of an expression, and the devices that it selects."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from dra_plan.cli import completing, options
from dra_plan.cli.declared import given, takes
from dra_plan.cli.running import Exit
from dra_plan.cli.telling import hush
from dra_plan.options import GateOptions

if TYPE_CHECKING:
    from dra_plan.questions.cel.document import SelectorDocument
    from dra_plan.text.formats import Format


@takes(options.Sources, GateOptions, options.Ended, options.Screens)
def cel(
    context: typer.Context,
    expression: Annotated[
        str,
        typer.Argument(metavar="EXPRESSION", help=("The expression, or - to read it from standard input.")),
    ],
    *,
    device: Annotated[
        str | None,
        typer.Option(
            "--device",
            autocompletion=completing.devices,
            metavar="DRIVER/POOL/DEVICE",
            help="Evaluate the expression only on this device, and show the value of every sub-expression.",
        ),
    ] = None,
    output: options.Output = "table",
) -> Exit:
    """Check a selector expression and evaluate it against devices.

    Examples:
      dra-plan cel 'device.driver == "gpu.example.com"'
      dra-plan cel 'device.attributes["d"].model == "A100"' slices.yaml
      dra-plan cel - slices.yaml --device gpu.example.com/n1/gpu-0 < expr.cel

    Prints the type of EXPRESSION, the API server's cost estimate, and the attributes and capacities that the expression
    reads. If PATH contains resource slices, the output also shows which devices match. --device shows the value of
    every sub-expression for one device. PATH is a file, a directory, or - for standard input.

    The exit status is 2 if the expression does not compile, and 1 if it fails with an error on every device. With
    --device, the exit status is 0 for any result. An expression that matches no device is not an error.

    """
    from dra_plan.cli.printing import print_document
    from dra_plan.errors import UsageError
    from dra_plan.text.formats import parse_lazily

    hush(quiet=context.params.get("quiet", False))
    form = parse_lazily(output, _parse)
    params, release = context.params, given(context, GateOptions)
    sources = [*(params["paths"] or ()), *(params["filenames"] or ())]
    if expression == "-":
        if "-" in sources:
            raise UsageError("standard input cannot be both the expression and a manifest")
        expression = sys.stdin.read().rstrip("\r\n")
    from dra_plan.questions.cel.answer import report_selector

    if device is not None and not sources:
        raise UsageError("--device needs the manifests with the device: name files or directories")
    inventory = None
    if sources:
        from dra_plan.cli.inputs import load_cluster

        inventory = load_cluster(sources, None, recursive=params["recursive"]).inventory
    report = report_selector(expression, inventory, device=device, **release)
    print_document(report.document, form)
    devices = report.document.devices
    fails = device is None and devices and all(one.error is not None for one in devices)
    return Exit.DOES_NOT_FIT if fails else Exit.OK


def _parse(option: str) -> Format[SelectorDocument]:
    from dra_plan.questions.cel.text import parse

    return parse(option)
