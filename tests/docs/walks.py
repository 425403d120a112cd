"""The worked walks of docs/search.md: a few lines that describe a node and claims, and the walk that they lead to.

gpu-0 root=0 model=1           a device with integer attributes; `taint` taints it; `uses=2 of s` takes from a counter
counter s 4                    a counter of the pool
claim                          begins another claim (the first need not be begun)
want gpus 2 model=1            a request; alternatives stand one after the other: `want gpu 1 model=1 | 2 model=2`
match root                     matchAttribute over all requests of the claim; `distinct root`
"""

from __future__ import annotations

from typing import Any, NamedTuple

from dra_plan import claimsets, releases
from dra_plan.allocator import Allocator, Probe, View
from dra_plan.allocator.pools import PoolDevice
from dra_plan.allocator.requests import Want
from dra_plan.manifests.decode import from_dicts
from tests.allocator.build import DRIVER, claim, device, device_class, node, pool


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
        pruning="always" if pruned else False,
    )
    recorder = Recorder()
    answer = allocator.allocate(inventory.nodes[0], recorder)
    return Walked(recorder.lines, f"{answer.outcome.value}, {answer.steps} steps")


def objects(description: str) -> list[dict[str, Any]]:
    """The Kubernetes objects that a description stands for."""
    devices: list[dict[str, Any]] = []
    counters: dict[str, str] = {}
    claims: list[dict[str, list[dict[str, Any]]]] = [{"requests": [], "constraints": []}]
    for line in description.strip().splitlines():
        first, *words = line.split()
        if first == "counter":
            counters[words[0]] = words[1]
        elif first == "claim":
            claims.append({"requests": [], "constraints": []})
        elif first == "want":
            claims[-1]["requests"].append(_request(words[0], " ".join(words[1:]).split(" | ")))
        elif first in ("match", "distinct"):
            claims[-1]["constraints"].append({f"{first}Attribute": f"{DRIVER}/{words[0]}"})
        else:
            devices.append(_device(first, words))
    made = [
        claim(*each["requests"], name=f"c{number}", constraints=each["constraints"])
        for number, each in enumerate((each for each in claims if each["requests"]), 1)
    ]
    return [node(), device_class(), *pool(*devices, counters=counters or None), *made]


def _device(name: str, words: list[str]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    if "taint" in words:
        fields["taints"] = [{"key": "broken", "effect": "NoSchedule"}]
    values = dict(word.split("=") for word in words if "=" in word)
    uses = values.pop("uses", None)
    attributes = {key: {"int": int(value)} for key, value in values.items()}
    return device(
        name, attributes=attributes, consumes={words[words.index("of") + 1]: uses} if uses else None, **fields
    )


def _request(name: str, options: list[str]) -> dict[str, Any]:
    made = [_option(option.split()) for option in options]
    if len(made) == 1:
        return {"name": name, "exactly": made[0]}
    return {"name": name, "firstAvailable": [{"name": f"o{number}", **option} for number, option in enumerate(made, 1)]}


def _option(words: list[str]) -> dict[str, Any]:
    option: dict[str, Any] = {"deviceClassName": "a", "allocationMode": "ExactCount", "count": int(words[0])}
    if words[1:]:
        conditions = [
            f'device.attributes["{DRIVER}"].{key} == {value}' for key, value in (w.split("=") for w in words[1:])
        ]
        option["selectors"] = [{"cel": {"expression": " && ".join(conditions)}}]
    return option
