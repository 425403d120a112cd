"""For each rule of pruning a search that is decided with it and not without it.

Nothing fits in most of them because of a few devices and requests, and only the rule in question sees that. Before
those come ten of twenty partitions, of which any ten will do; without the rule all ways to choose them are tried.
"""

from __future__ import annotations

from dra_plan.allocator.pruning_rules import PruningRule

PARTITIONS = 20


def long_part(attributes: str = "") -> str:
    """Ten of twenty partitions: whichever are taken, something else is left, so no two states are equal (R3, R5)."""
    sizes = [f"p{number:02} kind=0 uses={2**number} of long {attributes}" for number in range(PARTITIONS)]
    return "\n".join([f"counter long {2**PARTITIONS}", *sizes, f"want long {PARTITIONS // 2} kind=0", ""])


def partitions(sets: int, holds: int, *uses: int, attributes: str = "") -> str:
    """Equal counter sets, each with partitions of these sizes; all of a size are of one kind, from 1."""
    kinds = {size: kind for kind, size in enumerate(dict.fromkeys(uses), 1)}
    lines = []
    for number in range(sets):
        lines.append(f"counter s{number} {holds}")
        lines += [f"s{number}-{i} kind={kinds[use]} uses={use} of s{number} {attributes}" for i, use in enumerate(uses)]
    return "\n".join([*lines, ""])


NOT_TO_BE_PACKED = (6, 6, 6, 4, 3, 3, 2)
"""Seven sizes that fill three sets of ten by their sum, and one by one; but not all together."""


def packing(attributes: str = "") -> str:
    """The seven sizes for three sets of ten: some hundred steps before it is known that they don't fit.

    Twice three will do for a six, so that no rule sees that nothing does.
    """
    wants = {6: "1 kind=1 | 2 kind=3", 4: "1 kind=2", 3: "1 kind=3", 2: "1 kind=4"}
    wanted = [f"want w{number} {wants[size]}" for number, size in enumerate(NOT_TO_BE_PACKED)]
    return "\n".join([partitions(3, 10, 6, 4, 3, 3, 2, attributes=attributes), *wanted, ""])


def in_any_order() -> str:
    """Eight of nine partitions, by a request each: 362,880 orders, which leave one of nine states (R5)."""
    sizes = [f"p{number} kind=0 uses={2**number} of long" for number in range(9)]
    wanted = [f"want x{number} 1 kind=0" for number in range(8)]
    return "\n".join([f"counter long {2**9}", *sizes, *wanted, packing()])


def many_alike() -> str:
    """Five of 160 devices of four kinds that later requests can tell apart (R3)."""
    devices = [f"d{number:03} kind={10 + number % 4} many=1" for number in range(160)]
    wanted = [f"want y{number} 1 kind={10 + number}" for number in range(4)]
    return "\n".join([*devices, "want x 5 many=1", "claim", *wanted, packing("many=0")])


def shared_devices(count: int = 10) -> str:
    """A packing into shared devices that differ in nothing but their names (R8)."""
    sizes = (*(6, 4) * (count - 3), *NOT_TO_BE_PACKED)
    wanted = [
        f"want w{number} " + ("1 share=6 | 2 share=3" if size == 6 else f"1 share={size}")
        for number, size in enumerate(sizes)
    ]
    return "\n".join([*(f"h{number} holds=10" for number in range(count)), *wanted])


THREE = "a kind=1\nb kind=1\nc kind=1\n"
TWO_ROOTS = "a kind=1 root=1\nb kind=1 root=1\nc kind=1 root=2\nd kind=1 root=2\n"
ELSEWHERE = "root=0"

WITNESSES: dict[PruningRule, str] = {
    # Two and two of three devices. A shared device that keeps its counters for good (Q5) may be taken before, so that
    # no other rule applies but to the search as a whole.
    "R0": "counter endless 1000000\nh kind=2 holds=10 uses=1 of endless\nwant h 1 kind=2\n"
    + THREE
    + long_part()
    + "want y 2 kind=1\nwant z 2 kind=1",
    # Neither alternative has enough devices; the smaller number out of the devices of both would have.
    "R1": "a kind=1\nb kind=1\nc kind=2\n" + long_part() + "want y 3 kind=1 | 2 kind=2",
    # Two and two of three devices.
    "R2": THREE + long_part() + "want y 2 kind=1\nwant z 2 kind=1",
    "R3": many_alike(),
    # Three devices of one root, of which each has two.
    "R4": TWO_ROOTS + long_part(ELSEWHERE) + "claim\nwant y 1 kind=1\nwant z 2 kind=1\nmatch root",
    "R5": in_any_order(),
    # `first` takes half of the set that `y` needs the whole of. It is the other set that fits, and of both together
    # there would be enough.
    "R6": "counter s0 2\ncounter s1 4\na kind=1 uses=1 of s0\nb kind=2 uses=2 of s0\n"
    "c kind=1 uses=1 of s1\nd kind=3 uses=1 of s1\nwant first 1 kind=1\n"
    + long_part()
    + "want y 1 kind=2\nwant z 1 kind=3",
    # Three times six, or twice three, of two sets of seven, of which only six can be used.
    "R6b": partitions(2, 7, 6, 3, 3)
    + long_part()
    + "".join(f"want y{number} 1 kind=1 | 2 kind=2\n" for number in range(3)),
    # Three sizes that fill three sets by their sum, and one by one; but not all together.
    "R6c": partitions(3, 10, 6, 4, 3, 3, 2)
    + long_part()
    + "want x 3 kind=1\nwant y 1 kind=2\nwant z 2 kind=3\nwant o 1 kind=4",
    # Three different roots of two.
    "R7": TWO_ROOTS + long_part(ELSEWHERE) + "claim\nwant x 1 kind=1\nwant y 1 kind=1\nwant z 1 kind=1\ndistinct root",
    # `x` has one root. `y` has the other, and none for its second device, unless a third makes it forget (Q2).
    "R7b": TWO_ROOTS + long_part(ELSEWHERE) + "claim\nwant x 1 kind=1\nwant y 2 kind=1\ndistinct root",
    "R8": shared_devices(),
}
