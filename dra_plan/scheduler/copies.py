"""Copies of a pod, created one after the other until the scheduler refuses one.

What a number of copies means, and how many could be placed at best, is not known here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from msgspec import structs

from dra_plan.api.core import Pod, PodStatus
from dra_plan.api.meta import ObjectMeta

from .podrecord import PodRecord
from .simulation import Simulation


@dataclass
class Copies:
    """What became of the copies: those that were bound, in order, and the first that was not, if there was one."""

    bound: list[PodRecord] = field(default_factory=list)
    refused: PodRecord | None = None


def create(simulation: Simulation, template: Pod, limit: int) -> Copies:
    """Creates copies in a simulation that has started, each when the one before is bound; at most `limit`.

    A copy counts as bound if it is once nothing moves any more, so also where it evicts others.
    """
    copies = Copies()
    for number in range(limit):
        record = simulation.arrive(copy_of(template, number))
        simulation.scheduler.run()
        if not record.node:
            copies.refused = record
            break
        copies.bound.append(record)
    return copies


def create_in_proportion(simulation: Simulation, templates: Sequence[tuple[Pod, int]], limit: int) -> list[Copies]:
    """The same for several pods, so many copies of each to a set, at most `limit` copies in all, until one is refused.

    Always one of the pod comes next of which least of its share is there, the first of those that are even.
    """
    found = [Copies() for _ in templates]
    for _ in range(limit):
        shares = [len(copies.bound) / share for copies, (_, share) in zip(found, templates, strict=True)]
        at = shares.index(min(shares))
        record = simulation.arrive(copy_of(templates[at][0], len(found[at].bound)))
        simulation.scheduler.run()
        if not record.node:
            found[at].refused = record
            break
        found[at].bound.append(record)
    return found


def copy_of(template: Pod, number: int) -> Pod:
    """A new pod like the template: pending, with a name of its own and no claims yet."""
    metadata = template.metadata
    named = ObjectMeta(
        name=f"{metadata.name}-{number}",
        namespace=metadata.namespace,
        uid=f"copy:{metadata.namespace}/{metadata.name}-{number}",
        labels=metadata.labels,
        annotations=metadata.annotations,
        owner_references=metadata.owner_references,
    )
    spec = structs.replace(template.spec, node_name="")
    return structs.replace(template, metadata=named, spec=spec, status=PodStatus())
