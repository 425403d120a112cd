"""From the command line's paths to an inventory."""

from __future__ import annotations

import sys

from dra_plan.api.inventory import Inventory


def load_inventory(paths: list[str] | None, filenames: list[str] | None, *, recursive: bool) -> Inventory:
    """Everything under PATH... and -f. UsageError without any; InputError, with every fault, for what can't be read."""
    from dra_plan.errors import UsageError
    from dra_plan.manifests.load import load

    sources = [*(paths or ()), *(filenames or ())]
    if not sources:
        raise UsageError("no manifests: name files or directories, or - for standard input (see --help)")
    return load(sources, recursive=recursive, stdin=sys.stdin.buffer)


def report_skipped(inventory: Inventory) -> None:
    """Say on standard error which kinds were read and not used."""
    if inventory.skipped:
        counts = ", ".join(f"{count} {kind}" for kind, count in sorted(inventory.skipped.items()))
        print(f"skipped, as planning does not use them: {counts}", file=sys.stderr)
