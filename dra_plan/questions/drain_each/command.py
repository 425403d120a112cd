"""`dra-plan diff --drain each`: for each node, the pods that would have no node if it were drained."""

from __future__ import annotations

import typer

from dra_plan.cli import live, options, whatif
from dra_plan.cli.inputs import tell_apart
from dra_plan.cli.reporting import Reporting, page_of
from dra_plan.cli.running import Exit, of_document
from dra_plan.questions.drain_each import ask


def drain_each(context: typer.Context) -> Exit:
    """Run `diff --drain each`: apply the other edits, and then drain each node in turn.

    The options are the same as for `diff`.
    """
    from dra_plan.cli.inputs import opened, options_of
    from dra_plan.cli.printing import print_document
    from dra_plan.errors import UsageError
    from dra_plan.questions.drain_each.gate import JUDGE
    from dra_plan.questions.drain_each.text import parse

    params = context.params
    labels = [text.partition("=")[2] for text in params["drain"] if whatif.drains_each(text)]
    with Reporting(context, params["report"], pages_only=True) as reports:
        form, gate = parse(params["output"]), options.gate(fail_on=params["fail_on"])
        names = ("to_kubernetes_version", "to_feature_gates", "to_quirks", "together", "before", "after", "restarted")
        unfit = [name.replace("_", "-") for name in names if params[name]]
        if unfit:
            raise UsageError(f"--drain each compares pods of one state, so it cannot be combined with --{unfit[0]}")
        may_ask = live.asked(context).wanted or live.is_plugin()
        if len(tell_apart(params["paths"], None, command="diff", live=may_ask).paths) > 1:
            raise UsageError("--drain each needs one state: name one path")
        if len(labels) > 1:
            raise UsageError("--drain each can be given only once")
        asked = opened(context)
        options_given = options_of(context, asked, ask.DrainEachOptions)
        found = ask.drain_each(asked.cluster, *asked.owners, **options_given, by=labels[0] or None)
        reports.tell(None, page_of(asked.cluster, found))
        print_document(found.document, form)
        return of_document(found.document, JUDGE, gate)
