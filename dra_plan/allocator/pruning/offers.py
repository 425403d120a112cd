"""What can serve the remaining requests: the form in which the rules see a moment of the search."""

from __future__ import annotations

from collections.abc import Iterable

from .facts import Option


class DeviceOffer:
    """What can serve one option: `need` devices out of `row`."""

    __slots__ = ("need", "option", "row")

    def __init__(self, option: Option, need: int, row: int) -> None:
        self.option, self.need, self.row = option, need, row


Outlook = list[list[DeviceOffer]]
"""The offers of the remaining requests, in order; never an empty list for a request."""


def union(offers: Iterable[DeviceOffer]) -> int:
    """The devices that can serve one of the offers."""
    row = 0
    for offer in offers:
        row |= offer.row
    return row
