"""Sentences about selectors that fail."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dra_plan.documents.devices import ChangedSelector
from dra_plan.text.words import counted, listed


def ends_attempt(devices: int) -> str:
    """Return what it means for a pod that a selector fails on this number of devices."""
    which = "this device" if devices == 1 else "one of these devices"
    return (
        f"as soon as the scheduler checks {which}, the attempt ends and the pod is not scheduled, even if another "
        "node would fit"
    )


def failing_selectors(selectors: Iterable[ChangedSelector]) -> Iterator[str]:
    """Yield sentences about selectors that fail. Selectors with the same error share a sentence."""
    stopping: dict[tuple[int, str, str], list[str]] = {}
    for one in selectors:
        if one.stops:
            pools = listed([name.partition("/")[2] for name in one.erring_pools], 4)
            users = [f"{user.kind.lower()}/{user.name}" for user in one.used_by]
            stopping.setdefault((one.erring, pools, one.error), []).extend(users)
    for (number, pools, error), users in stopping.items():
        alone = len(users) == 1
        said = f"The selector{'' if alone else 's'} of {listed(users, 4)} fail{'s' if alone else ''} with an error on"
        yield (f"{said} {counted(number, 'device')} of {pools} ({error}): {ends_attempt(number)}.")
