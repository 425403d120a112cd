"""A device of the picture: its state in a word, and who has it or what is in the way."""

from __future__ import annotations

from dataclasses import dataclass

from dra_plan.output import explain_words as words
from dra_plan.planner.picture import DrawnDevice, DrawnPool

WORDS = {"free": "free", "used": "in use", "shared": "shared", "tainted": "tainted", "out": "can't be had"}
"""The states of a device and what a box says."""

NOT_SUITABLE = "not suitable"
"""What a box adds of a device that could be had, but does not do for what is picked."""

LETTERS = {"free": "f", "used": "u", "shared": "s", "tainted": "t", "out": "o"}


@dataclass(frozen=True, slots=True)
class SceneDevice:
    """A device at its position in its place."""

    at: int
    pool: DrawnPool
    drawn: DrawnDevice

    @property
    def state(self) -> str:
        """One of the words of `WORDS`."""
        if self.drawn.state == "Available":
            return "free"
        if self.drawn.state == "Allocated":
            return "used"
        if self.drawn.state == "Shared":
            return "shared"
        return "tainted" if self.drawn.tainted and self.drawn.reason.startswith("taint ") else "out"

    @property
    def name(self) -> str:
        """DRIVER/POOL/DEVICE."""
        return f"{self.pool.driver}/{self.pool.name}/{self.drawn.name}"

    @property
    def detail(self) -> str:
        """Who has it, what is left of it, or what is in the way."""
        told = []
        if self.drawn.holders:
            told.append("by " + words.listed([words.holder(one) for one in self.drawn.holders]))
        told += [f"{name}: {left} of {total} left" for name, (left, total) in (self.drawn.capacity or {}).items()]
        if self.drawn.reason and self.state != "used":
            told.append(self.drawn.reason)
        return "; ".join(told)
