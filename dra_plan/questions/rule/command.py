"""`dra-plan rule`: the explanation of a rule of `validate`, with a bad and a good example."""

from __future__ import annotations

from typing import Annotated

import typer

from dra_plan.cli import completing
from dra_plan.cli.running import Exit


def rule(
    codes: Annotated[
        list[str] | None,
        typer.Argument(
            autocompletion=completing.rules,
            metavar="CODE",
            help="Rule codes or prefixes of rule codes. If no CODE is given, all rules are listed.",
        ),
    ] = None,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            autocompletion=completing.of("text", *completing.DATA, "name"),
            metavar="FORMAT",
            help="The output format: text, json, yaml, name or jsonpath=TEMPLATE.",
        ),
    ] = "text",
) -> Exit:
    """Explain the rules of `validate`, with examples.

    Examples:
      dra-plan rule DRA230
      dra-plan rule DRA1
      dra-plan rule -o json

    Shows what a rule checks, why the rule matters, and how to fix a violation. A bad example and a good example follow,
    with the output of `validate` for the bad example. Without CODE, lists all rules.

    """
    from dra_plan.cli.printing import print_document
    from dra_plan.questions.rule.text import parse

    form = parse(output)
    from dra_plan.questions.rule.answer import guides

    print_document(guides(codes or ()).document, form)
    return Exit.OK
