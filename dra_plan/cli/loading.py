"""From the command line's paths to a cluster."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from dra_plan.api.inventory import Inventory
from dra_plan.interpreter import uncollected

if TYPE_CHECKING:
    from dra_plan.cluster import Cluster
    from dra_plan.live.snapshot import Snapshot


def load_cluster(
    paths: list[str] | None,
    filenames: list[str] | None,
    *,
    recursive: bool,
    snapshot: Snapshot | None = None,
    namespace: str | None = None,
    kubernetes_version: str | None = None,
    feature_gates: Mapping[str, bool] | None = None,
    quirks: str = "upstream",
    strict_version: bool = False,
    progress: bool = True,
) -> Cluster:
    """Everything under PATH... and -f, over a cluster that was read; what is not used is reported on standard error.

    What does not say its namespace is in `namespace`.

    UsageError as `Cluster.load`; InputError, with all faults, for what can't be read.
    """
    from dra_plan.cluster import Cluster

    from .progress import reading

    given = [*(paths or ()), *(filenames or ())]
    with reading(["standard input" if name == "-" else name for name in given], wanted=progress), uncollected():
        cluster = Cluster.load(
            given,
            recursive=recursive,
            snapshot=snapshot,
            namespace=namespace or "default",
            kubernetes_version=kubernetes_version,
            feature_gates=feature_gates,
            quirks=quirks,
            strict_version=strict_version,
        )
        keep_until_exit(cluster.inventory)
    _report_skipped(cluster.inventory)
    _report_overridden(cluster.inventory)
    return cluster


_given_back = False
"""Whether clusters come and go in this run."""


@contextlib.contextmanager
def giving_back() -> Iterator[None]:
    """While it lasts, a cluster does not stay as long as the process: there will be others."""
    global _given_back  # noqa: PLW0603 - one run of the program is one process
    _given_back = True
    try:
        yield
    finally:
        _given_back = False


def keep_until_exit(thing: object) -> None:
    """Spares the collector a thing such as the cluster, which stays as long as the process.

    Python would give it back object by object at exit, 0.2 s for 5,000 nodes; what is in a frozen cycle it leaves to
    the system. Later collections are rarer, too: planning makes many objects and little garbage.
    """
    if _given_back:
        return
    kept: list[object] = [thing]
    kept.append(kept)
    gc.freeze()
    gc.set_threshold(500_000)


def _report_skipped(inventory: Inventory) -> None:
    if inventory.skipped:
        from .printing import print_note

        counts = ", ".join(f"{count} {kind}" for kind, count in sorted(inventory.skipped.items()))
        print_note(f"note: skipped, as planning does not use them: {counts}")


_MOST_OVERRIDDEN = 5
"""How many objects that were overridden are told one by one."""


def _report_overridden(inventory: Inventory) -> None:
    from dra_plan.manifests.places import label

    from .printing import print_note

    warned = {notice.object for notice in inventory.notices if notice.code == "object-overridden"}
    told = [(key, places) for key, places in inventory.overridden.items() if label(*key) not in warned]
    for (kind, namespace, name), (first, later) in told[:_MOST_OVERRIDDEN]:
        print_note(f"note: {label(kind, namespace, name)} of {later} is taken, instead of the one in {first}")
    if len(told) > _MOST_OVERRIDDEN:
        more = len(told) - _MOST_OVERRIDDEN
        print_note(f"note: {more} more {'object is' if more == 1 else 'objects are'} taken from a later source")
    _report_kept_claims(inventory)


def _report_kept_claims(inventory: Inventory) -> None:
    """What an edited template does not change: claims that are made already."""
    templates = [key for key in inventory.overridden if key[0] == "ResourceClaimTemplate"]
    if not templates:
        return
    from dra_plan.claims.index import Index, keeping_claims

    from .printing import print_note

    index = Index(inventory)
    for key in templates:
        if pods := keeping_claims(key, index):
            told = f"pod {pods[0]} keeps its claim" if len(pods) == 1 else f"{len(pods)} pods keep their claims"
            print_note(f"note: {told}, made of ResourceClaimTemplate {key[1]}/{key[2]} as it was")
