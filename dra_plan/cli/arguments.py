"""What the positional arguments are: paths, or names of pods, workloads and claims."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from dra_plan.errors import UsageError

if TYPE_CHECKING:
    from dra_plan.api.inventory import Inventory

OBJECTS = "kubectl get deviceclasses,resourceslices,resourceclaims,resourceclaimtemplates,pods -A -o json"
"""Brings what `validate` judges that a cluster has."""

DUMP = (
    "kubectl get nodes,pods,resourceslices,deviceclasses,resourceclaims,resourceclaimtemplates -A -o json"
    " > cluster.json"
)
"""Makes the file that answers most questions, with kubectl alone."""


class Arguments(NamedTuple):
    """The arguments of a command, told apart."""

    paths: list[str]
    owners: list[str]


def tell_apart(given: list[str] | None, filenames: list[str] | None, *, command: str, live: bool = False) -> Arguments:
    """Paths are what is there, and what can only be meant as a path; all else names pods, workloads and claims.

    With `live` there need be no path, as a cluster is asked. Raises UsageError if nothing is a path: for names alone,
    with the command that asks a cluster about them.
    """
    arguments = given or []
    paths = [argument for argument in arguments if _is_path(argument)]
    owners = [argument for argument in arguments if not _is_path(argument)]
    if paths or filenames or live:
        return Arguments(paths, owners)
    if not owners:
        raise nothing_to_read(command)
    if _names_kind(owners):
        name = " ".join(owners)
        raise UsageError(
            f"no manifests in which {name} could be looked up; a dump of a cluster is made with `{DUMP}`;"
            f" from a cluster: {of_cluster(command, name)}"
        )
    return Arguments(owners, [])


def no_manifests(command: str, *, dump: str = "") -> UsageError:
    """What is said where nothing is named to read; `command` does the same for a cluster, `dump` makes a file of it."""
    told = "name files or directories, or - for standard input"
    made = f"; a dump of a cluster is made with `{dump}`" if dump else ""
    return UsageError(f"no manifests: {told}{made}; from a cluster: {command}")


def nothing_to_read(command: str) -> UsageError:
    """What is said where a command that plans is given nothing: how a dump is made, and how a cluster is asked."""
    return no_manifests(of_cluster(command), dump=DUMP)


def of_cluster(command: str, owner: str = "") -> str:
    """The command line that asks the cluster of kubectl's current context."""
    return f"dra-plan {command} --live{f' {owner}' if owner else ''}"


def _is_path(argument: str) -> bool:
    from dra_plan.manifests.sources import is_meant_as_path, is_there

    return is_meant_as_path(argument) or is_there(argument)


def refuse_missing_files(owners: Iterable[str], inventories: Iterable[Inventory]) -> None:
    """Raises UsageError for what was taken for NAMESPACE/NAME, if that is a directory and no namespace of the input."""
    from pathlib import Path

    from dra_plan.manifests import kinds
    from dra_plan.manifests.faults import NO_SUCH_PATH

    places = [(owner, owner.partition("/")) for owner in owners]
    asked = [(owner, first) for owner, (first, slash, _) in places if slash and kinds.named(first) is None]
    asked = [(owner, first) for owner, first in asked if Path(first).is_dir()]
    if not asked:
        return
    known = {
        each.metadata.namespace.lower()
        for inventory in inventories
        for each in (*inventory.pods, *inventory.workloads, *inventory.claims)
    }
    missing = [f"{owner}: {NO_SUCH_PATH}" for owner, first in asked if first.lower() not in known]
    if missing:
        raise UsageError.of_lines(missing)


def _names_kind(owners: list[str]) -> bool:
    """Whether this can be nothing but names: the kind is said."""
    from dra_plan.manifests import kinds

    first, slash, _ = owners[0].partition("/")
    return kinds.named(first) is not None and (bool(slash) or len(owners) > 1)
