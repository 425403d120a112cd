"""From the command line's paths to an inventory."""

from __future__ import annotations

import gc
import sys

from dra_plan.api.inventory import Inventory


def load_inventory(paths: list[str] | None, filenames: list[str] | None, *, recursive: bool) -> Inventory:
    """Everything under PATH... and -f; what was read and not used is reported on standard error.

    UsageError without any path; InputError, with every fault, for what can't be read.
    """
    from dra_plan.errors import UsageError
    from dra_plan.manifests.load import load

    sources = [*(paths or ()), *(filenames or ())]
    if not sources:
        raise UsageError("no manifests: name files or directories, or - for standard input (see --help)")
    inventory = load(sources, recursive=recursive, stdin=sys.stdin.buffer)
    keep_until_exit(inventory)
    _report_skipped(inventory)
    return inventory


def keep_until_exit(thing: object) -> None:
    """Spares the collector a thing such as the cluster, which stays as long as the process.

    Python would give it back object by object at exit, 0.2 s for 5,000 nodes; what is in a frozen cycle it leaves to
    the system. Later collections are rarer, too: planning makes many objects and little garbage.
    """
    kept: list[object] = [thing]
    kept.append(kept)
    gc.freeze()
    gc.set_threshold(50_000)


def _report_skipped(inventory: Inventory) -> None:
    if inventory.skipped:
        counts = ", ".join(f"{count} {kind}" for kind, count in sorted(inventory.skipped.items()))
        print(f"skipped, as planning does not use them: {counts}", file=sys.stderr)
