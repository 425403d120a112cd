"""`dra-plan validate`: problems in manifests, found before they are applied."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dra_plan.cli import completing, options
from dra_plan.cli.declared import given, takes
from dra_plan.cli.reporting import Reporting, page_of
from dra_plan.cli.running import Exit
from dra_plan.cli.telling import hush
from dra_plan.options import QuirkOptions
from dra_plan.questions.validate import ask

if TYPE_CHECKING:
    from dra_plan.cli.settings import Settings
    from dra_plan.validation.registry import RuleSelection


Codes = list[str] | None


@takes(options.Sources, ask.RuleOptions, QuirkOptions, options.Ended, options.Screens)
def validate(
    context: typer.Context,
    *,
    fail_on: Annotated[
        str | None,
        typer.Option(
            "--fail-on",
            autocompletion=completing.of("error", "warning", "info"),
            metavar="error|warning|info",
            help="Exit with status 1 if there is a finding of this severity or higher (default: error).",
        ),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(
            "--config",
            metavar="FILE",
            help=("Read settings from this file instead of the nearest .dra-plan.toml or pyproject.toml."),
        ),
    ] = None,
    against: Annotated[
        list[str] | None,
        typer.Option(
            "--against", metavar="OLD", help="Check objects as updates to the objects in OLD (a file or directory)."
        ),
    ] = None,
    fix: Annotated[
        bool,
        typer.Option("--fix", help=("Make the corrections that are certain, and report the remaining findings.")),
    ] = False,
    diff: Annotated[
        bool,
        typer.Option(
            "--diff",
            help=(
                "Print a unified diff of the changes that --fix would make. Exit with status 1 if there "
                "are any changes."
            ),
        ),
    ] = False,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            autocompletion=completing.of("text", "short", "table", "wide", *completing.DATA, "name"),
            metavar="FORMAT",
            help=(
                "The output format: text, short (one line per finding), table, wide, json, yaml, name or "
                "jsonpath=TEMPLATE."
            ),
        ),
    ] = "text",
    report: options.Reports = None,
) -> Exit:
    """Check manifests for errors.

    Examples:
      dra-plan validate manifests/
      dra-plan validate cluster.json manifests/ --fail-on warning
      dra-plan validate manifests/ --fix

    Checks each object against the API server's rules, and checks the references between objects. Also finds requests
    that no device can satisfy, and selectors that match no device in the input. `dra-plan rule` lists the rules. In
    YAML, the comment `# dra-plan: ignore=CODE` suppresses a rule for one field. PATH is a file, a directory, or - for
    standard input.

    """
    from dra_plan.cli.inputs import OBJECTS, no_manifests
    from dra_plan.cli.printing import print_document
    from dra_plan.questions.validate.text import parse

    hush(quiet=context.params.get("quiet", False))
    with Reporting(context, report) as reports:
        form = parse(output)
        params, release, rules = context.params, given(context, QuirkOptions), given(context, ask.RuleOptions)
        sources = [*(params["paths"] or ()), *(params["filenames"] or ())]
        if not sources:
            raise no_manifests(f"{OBJECTS} | dra-plan validate -")
        from dra_plan.arguments import target_of
        from dra_plan.cli import settings
        from dra_plan.cli.inputs import keep_until_exit, note_links
        from dra_plan.errors import UsageError
        from dra_plan.interpreter import uncollected
        from dra_plan.manifests.sources import STDIN
        from dra_plan.questions.validate import answer as validation
        from dra_plan.questions.validate import fixing
        from dra_plan.questions.validate.report import content
        from dra_plan.validation.reading import read
        from dra_plan.validation.rule import Severity

        found = _settings(config)
        threshold = found.fail_on or Severity.ERROR
        if fail_on is not None:
            threshold = settings.severity(fail_on, "--fail-on")
        if STDIN in sources and STDIN in (against or ()):
            raise UsageError("standard input cannot be both old and new")
        if diff and output != "text":
            raise UsageError(
                f"--diff prints a diff and cannot be combined with -o {output}; --report writes the findings"
            )
        if fix and not diff and STDIN in sources:
            raise UsageError("--fix cannot write to standard input; --diff shows what it would change")
        note_links([*sources, *(against or ())])
        with uncollected():
            recursive = params["recursive"]
            reading = read(sources, recursive=recursive)
            keep_until_exit(reading)
        target = target_of(reading.cluster(), **release)
        selection = _selection(found, rules["select"], rules["ignore"])
        passed_over = bool(found.ignore_unknown) if rules["ignore_unknown"] is None else rules["ignore_unknown"]
        serves = rules["runtime_config"]
        old = read(against, recursive=recursive).whole().subjects if against else ()
        if fix or diff:
            reading.whole()
            done = validation.fix(
                reading, target, selection, ignore_unknown=passed_over, against=old, runtime_config=serves
            )
            if diff:
                return fixing.show(done, reports)
            judged = fixing.write(done)
        else:
            judged = validation.report(
                reading, target, selection, ignore_unknown=passed_over, against=old, runtime_config=serves
            )
        document = judged.document
        reports.tell(lambda: content(document, fail_on=str(threshold), anchor=reports.anchor), page_of(None, judged))
        print_document(document, form)
        return Exit.DOES_NOT_FIT if judged.at_least(threshold) else Exit.OK


def _settings(config: Path | None) -> Settings:
    from dra_plan.cli import settings

    if config is None:
        return settings.find(Path())
    return settings.read(config) or settings.Settings(source=str(config))


def _selection(found: Settings, select: Codes, ignore: Codes) -> RuleSelection:
    """Return the selection of rules; the command line overrides the project's settings."""
    from dra_plan.validation.registry import ALL, RuleSelection

    selected = _codes(select) if select else found.select
    ignored = _codes(ignore) if ignore else found.ignore
    return RuleSelection((ALL,) if selected is None else selected, ignored or (), found.per_file)


def _codes(given: list[str]) -> tuple[str, ...]:
    return tuple(code.strip() for option in given for code in option.split(",") if code.strip())
