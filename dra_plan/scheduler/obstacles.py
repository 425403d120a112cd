"""What keeps a pod from a node, as values: what a plugin knows when it refuses, beside its text. `output` words them.

A plugin that knows more than its text says gets a class here; nobody reads the text to find it out.
"""

from __future__ import annotations

from typing import NamedTuple


class ResourceShort(NamedTuple):
    """Less of a resource is left on the node than the pod asks for, in the units of `podrequest.amounts`.

    The number of pods is the resource `pods`, of which a pod asks for one. What is left is never negative.
    """

    resource: str
    asked: int
    left: int


class NoDevices(NamedTuple):
    """The pod's claims can't all be allocated from the devices that the node reaches and that are free."""


Obstacle = ResourceShort | NoDevices
"""The kinds."""
