"""What `schedule --settle` says beside the pods: who ended and why, what was refused, and whether it comes to rest."""

from __future__ import annotations

from dra_plan.documents.schedule import SettledCluster

from .columns import Part, Table

NAMES = 3
"""So many names of pods are in a cell before the rest is counted."""


def parts(settled: SettledCluster) -> list[Part]:
    """Tables of pods that ended, refused objects and controllers' failures; then a line about the end of it all."""
    tables = [_ended(settled), _refused(settled), _failures(settled), _later(settled)]
    return [*(table for table in tables if table.rows), _end(settled)]


def _ended(settled: SettledCluster) -> Table:
    made = Table(("ENDED POD", "NODE", "BY", "AFTER", "MADE AGAIN AS"), flexible=(2, 4))
    for pod in settled.evicted:
        again = ", ".join(pod.recreated_as[:NAMES])
        more = len(pod.recreated_as) - NAMES
        cell = f"{again} and {more} more" if more > 0 else again
        made.add(f"{pod.namespace}/{pod.name}", pod.node_name or "", pod.by, f"{pod.second:g} s", cell)
    return made


def _refused(settled: SettledCluster) -> Table:
    made = Table(("NOT CREATED", "MESSAGE"), flexible=(1,))
    for each in settled.refused:
        kind, _, name = each.object.partition("/")
        made.add(f"{kind}/{each.namespace}/{name}" if each.namespace else each.object, each.message)
    return made


def _failures(settled: SettledCluster) -> Table:
    made = Table(("OBJECT", "EVENT", "MESSAGE"), flexible=(2,))
    for each in settled.events:
        if each.reason.startswith("Failed"):
            made.add(f"{each.kind}/{each.namespace}/{each.name}", each.reason, each.message)
    return made


def _later(settled: SettledCluster) -> Table:
    made = Table(("EVICTED LATER", "BY", "AFTER"))
    for each in settled.later:
        made.add(f"{each.namespace}/{each.name}", each.by, f"{each.second:g} s")
    return made


def _end(settled: SettledCluster) -> str:
    waiting = sum(pod.node_name is None for pod in settled.pods)
    rounds = f"{settled.rounds} round{'' if settled.rounds == 1 else 's'} of controllers"
    placed = len(settled.pods) - waiting
    have = "1 pod has a node" if placed == 1 else f"{placed} pods have a node"
    if settled.unsettled is not None:
        names = ", ".join(f"{pod.namespace}/{pod.name}" for pod in settled.unsettled.pods[:NAMES])
        return f"The cluster never settles: {settled.unsettled.message}{f' ({names})' if names else ''}."
    return f"Settled after {rounds}: {have}, {waiting} wait{'s' if waiting == 1 else ''}."
