"""The page of `pools`: the free capacity, and the kinds of partitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from dra_plan.allocator import View
from dra_plan.api.inventory import Inventory
from dra_plan.documents.pools import ListedPool
from dra_plan.page.content import Page
from dra_plan.page.pages import begin, drawn
from dra_plan.page.picture import CORDONED
from dra_plan.page.scene import WORDS, Scene, whole_devices
from dra_plan.questions.pools.answer import PoolList
from dra_plan.questions.pools.document import PoolsDocument
from dra_plan.questions.pools.text import FORMATS, totals
from dra_plan.text import words


def page(answer: PoolList, inventory: Inventory | None, view: View | None) -> Page:
    """Return the page for a result of `pools`. It has a picture if the cluster can be drawn."""
    made = begin(answer.document, "pools", FORMATS)
    made.scenes = drawn(inventory, view)
    fill_pools(made, answer.document)
    return made


def fill_pools(made: Page, document: PoolsDocument) -> None:
    """Fill the page with the free capacity and the kinds of partitions."""
    made.headline = _headline(document, made.scenes) or "No pools"
    profiles: dict[str, tuple[int, int]] = {}
    for one in (profile for pool in document.pools for profile in pool.profiles):
        fit, listed = profiles.get(one.profile, (0, 0))
        profiles[one.profile] = fit + one.fit, listed + one.devices
    made.profiles = [(name, *numbers) for name, numbers in profiles.items()]


MOST_DRIVERS = 3
"""The maximum number of drivers that the headline lists. If there are more, it shows only the total number of
devices."""


def _headline(document: PoolsDocument, scenes: Sequence[Scene]) -> str:
    """Return what is available of each driver, and how much of that is on nodes that keep pods away."""
    drivers: dict[str, list[ListedPool]] = {}
    for pool in document.pools:
        drivers.setdefault(pool.driver, []).append(pool)
    away: Counter[tuple[str, bool]] = Counter(
        (pool.pool.driver, CORDONED in place.node.away)
        for place in (place for scene in scenes for place in scene.places)
        if place.node is not None and place.node.away
        for pool in place.pools
        for device in whole_devices(pool)
        if device.state == "free"
    )
    if not 1 < len(drivers) <= MOST_DRIVERS:
        return words.capital(_free(document.pools)) + _of_them(away, drivers)
    return "; ".join(f"{name}: {_free(own)}{_of_them(away, [name])}" for name, own in drivers.items())


def _free(pools: Sequence[ListedPool]) -> str:
    """Return how many devices are free, in the word that boxes and tiles have for it."""
    return " and ".join(totals(pools, WORDS["free"]))


def _of_them(away: Counter[tuple[str, bool]], drivers: Iterable[str]) -> str:
    """Return how many are on nodes that keep pods away, and how many of these on cordoned ones."""
    taken, cordoned = (sum(away[name, kind] for name in drivers) for kind in (False, True))
    if not taken:
        return f", {cordoned:,} of them on cordoned nodes" if cordoned else ""
    of_these = f" ({cordoned:,} on cordoned ones)" if cordoned else ""
    return f", {taken + cordoned:,} of them on nodes that keep pods away{of_these}"
