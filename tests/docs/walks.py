"""The worked walks of docs/search.md: a node and claims as `described` writes them, and the walk that they lead to."""

from __future__ import annotations

from typing import Any, NamedTuple

from dra_plan import claimsets, releases
from dra_plan.allocator import Allocator, Probe, View
from dra_plan.allocator.pools import PoolDevice
from dra_plan.allocator.pruning_rules import ALWAYS, NEVER
from dra_plan.allocator.requests import Want
from dra_plan.manifests.decode import from_dicts
from tests.allocator.described import objects


class Recorder(Probe):
    """Writes the walk down, a line for each event, indented by how many devices are taken."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._taken = 0

    def _tell(self, want: Want, slot: int, what: str) -> None:
        self.lines.append(f"{'  ' * self._taken}{want.claim.metadata.name}/{want.full_name}[{slot}]: {what}")

    def refused(self, want: Want, slot: int, reason: Any) -> None:
        self._tell(want, slot, type(reason).__name__)

    def rejected(self, want: Want, slot: int, device: PoolDevice, reason: Any) -> None:
        self._tell(want, slot, f"{device.id.device} {type(reason).__name__}")

    def taken(self, want: Want, slot: int, device: PoolDevice) -> None:
        self._tell(want, slot, f"take {device.id.device}")
        self._taken += 1

    def retreated(self, want: Want, slot: int, device: PoolDevice) -> None:
        self._taken -= 1
        self._tell(want, slot, f"give {device.id.device} back")

    def pruned(self, want: Want, slot: int) -> None:
        self._tell(want, slot, "pruned")

    def solved(self) -> None:
        self.lines.append(f"{'  ' * self._taken}solved")


class Walked(NamedTuple):
    """How it went: the events, and the last line."""

    lines: list[str]
    end: str


def walk(description: str, *, pruned: bool, quirks: str = "upstream") -> Walked:
    """The walk for a description."""
    inventory = from_dicts(objects(description))
    view = View.of(inventory, releases.target(quirks=quirks))
    [claim_set] = claimsets.expand(inventory, namespace=None, selector=None, together=True).sets
    allocator = Allocator(
        claim_set.claims,
        view,
        pruning=ALWAYS if pruned else NEVER,
    )
    recorder = Recorder()
    answer = allocator.allocate(inventory.nodes[0], recorder)
    return Walked(recorder.lines, f"{answer.outcome.value}, {answer.steps} steps")
