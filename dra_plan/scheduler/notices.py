"""What the user should know beside the bindings."""

from __future__ import annotations

from collections.abc import Sequence

from dra_plan.api.inventory import Notice
from dra_plan.api.well_known import SPECIAL_ANNOTATION
from dra_plan.claims.owners import ended
from dra_plan.scheduler.groups.notices import group_notices
from dra_plan.scheduler.plugins.defaultpreemption import DefaultPreemption

from .podrecord import PodRecord
from .simulation import Simulation

SEVERAL_BEST = "several-best-nodes"
"""The code of the notice that a pod could as well have gone elsewhere."""
_MOST_TIES = 3
"""More pods than this are not told one by one which nodes they could as well have gone to."""


def collect(simulation: Simulation, records: Sequence[PodRecord], evicted: Sequence[str]) -> list[Notice]:
    """All notices of the simulation itself, in a fixed order; `evicted` are the keys of pods that had to go."""
    found = group_notices(simulation.inventory, simulation.cluster, simulation.target)
    found += _finished(simulation)
    found += _choices(records)
    found += _fatal(records)
    found += _devices(simulation)
    found += _kept_claims(simulation, evicted)
    found += _too_late(simulation, records)
    found += _cut_short(records)
    found += _uncontrolled(simulation, records)
    return found


def _some(names: Sequence[str], most: int) -> str:
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")


def _finished(simulation: Simulation) -> list[Notice]:
    cluster = simulation.cluster
    counted = [p.key for p in cluster.pods.values() if ended(p) and p.spec.node_name in cluster.nodes]
    if not counted or not cluster.shows_finished:
        return []
    text = (
        f"{len(counted)} finished pods ({_some(counted, 3)}) count on their nodes, "
        "as in the recorded outcomes, whose API shows them to the scheduler; a real API server hides them"
    )
    return [Notice("finished-pods-count", text)]


def _choices(records: Sequence[PodRecord]) -> list[Notice]:
    """Pods that could as well have gone elsewhere; many of them share one text, so that it is told once."""
    tied = [record for record in records if record.node and len(record.best) > 1]
    if len(tied) > _MOST_TIES:
        text = "several nodes score highest (bestNodes in -o json); which one is taken, timing decides in a cluster"
        return [Notice(SEVERAL_BEST, text, f"Pod {record.pod.key}") for record in tied]
    return [
        Notice(
            SEVERAL_BEST,
            f"{len(record.best)} nodes score highest ({_some(record.best, 5)}); "
            f"{record.node} comes first in node order, in a cluster timing may decide otherwise",
            f"Pod {record.pod.key}",
        )
        for record in tied
    ]


def _fatal(records: Sequence[PodRecord]) -> list[Notice]:
    return [
        Notice(
            "error-on-some-nodes",
            f"an error on {', '.join(record.fatal)} ends the attempt; without it {', '.join(record.best)} would fit",
            f"Pod {record.pod.key}",
        )
        for record in records
        if record.fatal and record.best and not record.node
    ]


def _devices(simulation: Simulation) -> list[Notice]:
    found = []
    for plugin in simulation.dynamic_resources:
        for claim, user in plugin.lost_reservations:
            text = (
                f"the reservation of {user} is overwritten: the scheduler was recorded with an API that keeps the last "
                "write; a real API server detects the conflict and keeps both"
            )
            found.append(Notice("lost-reservation", text, f"ResourceClaim {claim}"))
        for pod, claims in plugin.deallocations:
            if len(claims) > 1:
                text = f"one of {', '.join(claims)} is deallocated at random; here it is the first"
                found.append(Notice("random-deallocation", text, f"Pod {pod}"))
        for pod, nodes in plugin.undecided.items():
            what = "the step budget" if simulation.handle.deadline is None else "the step budget, or the time,"
            text = f"{what} ran out on {', '.join(dict.fromkeys(nodes))}: neither yes nor no"
            found.append(Notice("undecided", text, f"Pod {pod}"))
    return found


def _kept_claims(simulation: Simulation, evicted: Sequence[str]) -> list[Notice]:
    """Claims of pods that had to go: the scheduler gives no devices back, and no controller is at work here."""
    kept: dict[str, list[str]] = {}
    for claim in simulation.cluster.claims if evicted else ():
        reserved = claim.status.reserved_for if claim.status is not None else []
        users = {f"{claim.metadata.namespace}/{user.name}" for user in reserved}
        if claim.allocation is not None and users and users <= {*evicted}:
            kept.setdefault(min(users), []).append(claim.key)
    if not kept:
        return []
    claims = [claim for each in kept.values() for claim in each]
    text = (
        f"claims of evicted pods ({_some(claims, 3)}) keep their devices here, as kube-scheduler leaves them; in a "
        "cluster the claim controller gives them back when the pods have ended, and pods that wait are tried again "
        f"(plan that with {' '.join(f'--without pod/{pod}' for pod in [*kept][:3])}{' ...' if len(kept) > 3 else ''})"
    )
    return [Notice("evicted-claims-kept", text)]


def _too_late(simulation: Simulation, records: Sequence[PodRecord]) -> list[Notice]:
    """Pods that wait for the end of a victim that another pod has evicted before."""
    waiting = {record.pod.key for record in records if not record.node}
    return [
        Notice(
            "evicted-for-another",
            f"it waits for the end of {victim.key}, which another pod has evicted before, and is not tried again: so "
            "it was recorded where pods end at once; in a cluster, where they take their time, that wakes both",
            f"Pod {preemptor.key}",
        )
        for plugin in simulation.plugins_of(DefaultPreemption)
        for preemptor, victim in plugin.too_late
        if preemptor.key in waiting
    ]


def _cut_short(records: Sequence[PodRecord]) -> list[Notice]:
    """That the time ran out, and for how many pods."""
    keys = [record.pod.key for record in records if record.outcome == "Undecided"]
    if not keys:
        return []
    are = "1 pod was" if len(keys) == 1 else f"{len(keys)} pods were"
    text = f"the time (--timeout) ran out: {are} not tried to the end ({_some(keys, 3)})"
    return [Notice("timed-out", text)]


def _uncontrolled(simulation: Simulation, records: Sequence[PodRecord]) -> list[Notice]:
    """Claims on which upstream stumbles while it looks for a pod's special claim (P10)."""
    mapped = simulation.cluster.extended_names()
    asking = {
        record.pod.key
        for record in records
        if record.attempts and any(name in mapped for name in simulation.cluster.info(record.pod).requests)
    }
    text = "an owner reference without controller field crashes kube-scheduler when it looks for the pod's own claim"
    return [
        Notice("upstream-defect", f"P10: {text}", f"ResourceClaim {claim.key}", defects=("P10",))
        for claim in simulation.inventory.claims
        if (claim.metadata.annotations or {}).get(SPECIAL_ANNOTATION) == "true"
        for owner in claim.metadata.owner_references or ()
        if owner.controller is None and any(key.partition("/")[2] == owner.name for key in asking)
    ]
