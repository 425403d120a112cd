"""The page of `pools`: the free capacity, and the kinds of partitions."""

from __future__ import annotations

from dra_plan.allocator import View
from dra_plan.api.inventory import Inventory
from dra_plan.page.content import Page
from dra_plan.page.pages import begin, drawn
from dra_plan.questions.pools.answer import PoolList
from dra_plan.questions.pools.document import PoolsDocument
from dra_plan.questions.pools.text import FORMATS, totals
from dra_plan.text import words


def page(answer: PoolList, inventory: Inventory | None, view: View | None) -> Page:
    """Return the page of an answer about a cluster; without a drawable cluster, it has no picture."""
    made = begin(answer.document, "pools", FORMATS)
    made.scenes = drawn(inventory, view)
    fill_pools(made, answer.document)
    return made


def fill_pools(made: Page, document: PoolsDocument) -> None:
    """Add the free capacity, and the kinds of partitions."""
    made.headline = words.capital(" and ".join(totals(document.pools))) or "No pools"
    profiles: dict[str, tuple[int, int]] = {}
    for one in (profile for pool in document.pools for profile in pool.profiles):
        fit, listed = profiles.get(one.profile, (0, 0))
        profiles[one.profile] = fit + one.fit, listed + one.devices
    made.profiles = [(name, *numbers) for name, numbers in profiles.items()]
