"""Sentences about selectors that fail."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from dra_plan.documents.base import ObjectName
from dra_plan.text.words import counted, listed


class TriedSelector(Protocol):
    """A selector with the devices on which it stops with an error."""

    @property
    def used_by(self) -> Sequence[ObjectName]:
        """Return the objects with this selector."""

    @property
    def erring(self) -> int:
        """Return the number of devices on which it stops."""

    @property
    def erring_pools(self) -> Sequence[str]:
        """Return DRIVER/POOL of these devices."""

    @property
    def error(self) -> str:
        """Return the first error."""

    @property
    def stops(self) -> bool:
        """Return whether pods need it, and it stops on more devices than before."""


def failing_selectors(selectors: Iterable[TriedSelector]) -> Iterator[str]:
    """Yield the selectors that stop with an error, those with the same error in one sentence."""
    stopping: dict[tuple[int, str, str], list[str]] = {}
    for one in selectors:
        if one.stops:
            pools = listed([name.partition("/")[2] for name in one.erring_pools], 4)
            users = [f"{user.kind.lower()}/{user.name}" for user in one.used_by]
            stopping.setdefault((one.erring, pools, one.error), []).extend(users)
    for (number, pools, error), users in stopping.items():
        alone = len(users) == 1
        said = f"The selector{'' if alone else 's'} of {listed(users, 4)} fail{'s' if alone else ''} with an error on"
        yield (
            f"{said} {counted(number, 'device')} of {pools} ({error}): as soon as the scheduler looks at one of them,"
            " the attempt ends and the pod gets no node at all, even if another node would fit."
        )
