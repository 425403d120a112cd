"""The `Cluster` method for `validate`, and its options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from dra_plan.options import Flag, Names, ServedVersions, spelled_out

if TYPE_CHECKING:
    from dra_plan.loaded import LoadedCluster
    from dra_plan.questions.validate.answer import ValidationReport
    from dra_plan.validation.registry import RuleSelection


class RuleOptions(ServedVersions, total=False):
    """The options that select rules and describe the API server."""

    select: Annotated[
        Names,
        Flag(
            "--select",
            "Apply only the rules with these codes or prefixes, for example DRA1,DRA220.",
            metavar="CODES",
            complete="rules",
            kind=list[str] | None,
        ),
    ]
    ignore: Annotated[
        Names,
        Flag(
            "--ignore",
            (
                "Ignore the rules with these codes or prefixes. If --select and --ignore both match a "
                "rule, the longer code wins."
            ),
            metavar="CODES",
            complete="rules",
            kind=list[str] | None,
        ),
    ]
    ignore_unknown: Annotated[
        bool,
        Flag(
            "--ignore-unknown/--no-ignore-unknown",
            "Ignore fields that do not exist in the API.",
            kind=bool | None,
        ),
    ]


class ValidateOptions(RuleOptions, total=False):
    """The options that select the rules and the previous state."""

    against: LoadedCluster | None


@spelled_out
def validate(cluster: LoadedCluster, **options: Unpack[ValidateOptions]) -> ValidationReport:
    """Return problems within individual objects and inconsistencies between objects.

    `select` contains the codes of the rules to check, and `ignore` contains the codes of rules to omit. Objects that
    are also in the cluster `against` are validated as updates. `runtime_config` is the API server's `--runtime-config`,
    which selects the API versions that the server serves. An empty dict means the default versions, and None means all
    versions of the release.

    The manifests are validated as written, so files are read again. Raises UsageError for an unknown code, and
    InputError for files that can no longer be read.
    """
    from dra_plan.arguments import required, truth
    from dra_plan.loaded import LoadedCluster
    from dra_plan.questions.validate.answer import report

    against = options.get("against")
    passed_over = truth(options.get("ignore_unknown", False), "ignore_unknown")
    if against is not None:
        required(against, LoadedCluster, "against", "a Cluster")
    return report(
        cluster.reading(),
        cluster.target,
        selection(options),
        ignore_unknown=passed_over,
        against=against.reading().subjects if against is not None else (),
        runtime_config=options.get("runtime_config"),
    )


def selection(options: Mapping[str, Any]) -> RuleSelection:
    """Return the rules selected with `select` and `ignore`. Raises UsageError for an invalid code."""
    from dra_plan.arguments import names
    from dra_plan.validation.registry import ALL, RuleSelection

    chosen = names(options.get("select"), "select")
    return RuleSelection(chosen or (ALL,), names(options.get("ignore"), "ignore"))
