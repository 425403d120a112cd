"""`pools` of nodes: pools with counters, whose devices only their own nodes reach, although others check them (Q15)."""

from __future__ import annotations

from typing import Any

import pytest

from dra_plan import gather_pools
from tests.build import counters, device, node, slice_

Object = dict[str, Any]

NODES = ("a", "b", "c")


def card(pool: str, *parts: Object, of: int = 2, generation: int = 1) -> list[Object]:
    """The two slices of a partitioned card on the node with the name of the pool."""
    number = 10 * generation
    sets = counters(pool, {"card": {"cores": "8"}}, number=number, of=of, generation=generation)
    return [sets, slice_(pool, *parts, number=number + 1, of=of, generation=generation)]


def halves(number: int = 2) -> list[Object]:
    taken = [{"counterSet": "card", "counters": {"cores": {"value": "4"}}}]
    return [device(f"half-{at}", consumesCounters=taken) for at in range(number)]


def cluster(*slices: Object) -> list[Object]:
    return [*map(node, NODES), *slices]


def rows(objects: list[Object], *nodes: str) -> list[tuple[str, int, str, list[str]]]:
    found = gather_pools(objects, list(nodes) or None).to_dict()["pools"]
    return [(pool["poolName"], pool["generation"], pool["state"], pool["nodes"]) for pool in found]


DUPLICATE = cluster(*card("a", *halves()), *card("b", *halves(), *halves(1)), *card("c", *halves()))


def test_a_pool_that_is_invalid_on_its_node_has_one_row() -> None:
    """Other nodes see its counters but none of its devices, so they find nothing wrong."""
    assert rows(DUPLICATE) == [
        ("a", 1, "Complete", ["a"]),
        ("b", 1, "Invalid", ["b"]),
        ("c", 1, "Complete", ["c"]),
    ]


def test_nothing_of_an_invalid_pool_is_left() -> None:
    told = gather_pools(DUPLICATE)
    [invalid] = [pool for pool in told.to_dict()["pools"] if pool["state"] == "Invalid"]
    assert invalid["availableDevices"] == 0
    assert [profile["fit"] for profile in invalid["profiles"]] == [0]
    said = str(told)
    assert "gpu.example.com: 3 pools" in said
    [row] = [line for line in said.splitlines() if "Invalid" in line and line.split()[-3] == "half"]
    assert row.split()[-1] == "0", "the table of profiles shows the state"
    counters = said.partition("COUNTER SET")[2]
    assert "  b  " not in counters


def test_an_incomplete_pool_belongs_to_the_node_that_its_slices_name() -> None:
    objects = cluster(*card("a", *halves()), *card("b", *halves(), of=3))
    assert rows(objects)[1] == ("b", 1, "Incomplete", ["b"])


@pytest.mark.parametrize("name", NODES)
def test_a_selected_node_lists_only_its_own_pools(name: str) -> None:
    assert [pool for pool, *_ in rows(DUPLICATE, name)] == [name]


def test_a_selected_node_lists_its_obsolete_generations() -> None:
    old = card("b", *halves(), generation=1)
    new = card("b", *halves(1), generation=2)
    objects = cluster(*card("a", *halves()), *old, *new)
    expected = [("b", 1, "Obsolete", ["b"]), ("b", 2, "Complete", ["b"])]
    assert rows(objects, "b") == expected
    assert rows(objects)[1:] == expected


def test_a_pool_of_a_node_that_is_not_in_the_input_is_listed_once() -> None:
    assert rows([node("a"), *card("a", *halves()), *card("gone", *halves())]) == [
        ("a", 1, "Complete", ["a"]),
        ("gone", 1, "Complete", []),
    ]
