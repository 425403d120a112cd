"""Random inputs that are hard to decide: about as much is wanted as there is.

Each is a node and claims in the words of `tests/allocator/described.py`; the same for the same seed.

    python -m benchmarks.inputs.hard partitions 3        # prints one
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable


def matching(r: random.Random) -> str:
    """Claims that each want GPUs and a port of one root. All would fit, two or three to a root, but for a lost GPU."""
    lines, claims = [], []
    for root in range(r.randint(4, 7)):
        wanted = [r.choice([1, 2, 3, 3, 4]) for _ in range(r.choice([2, 3]))]
        lines += [f"gpu-{root}-{i} kind=1 root={root}" for i in range(sum(wanted))]
        lines += [f"port-{root}-{i} kind=2 root={root}" for i in range(len(wanted))]
        claims += wanted
    if r.random() < 0.5:
        lines.remove(r.choice([line for line in lines if line.startswith("gpu")]))
    for wanted in r.sample(claims, k=len(claims)):
        lines += ["claim", f"want gpus {wanted} kind=1", "want port 1 kind=2", "match root"]
    return "\n".join(lines)


def partitions(r: random.Random, taints: float = 0.0) -> str:
    """Partitions of a few sizes out of equal GPUs, until about as much is wanted as there is."""
    gpus, holds = r.randint(5, 8), r.choice([7, 12, 15])
    sizes = r.sample(range(2, 6), k=3)
    lines = [f"counter g{gpu} {holds}" for gpu in range(gpus)]
    for gpu in range(gpus):
        for size in sizes:
            for i in range(holds // size):
                taint = " taint" if r.random() < taints else ""
                lines.append(f"p-{gpu}-{size}-{i} kind={size} uses={size} of g{gpu}{taint}")
    return "\n".join([*lines, *_filling(r, gpus * holds, sizes, "want p{number} 1 kind={size}")])


def tainted(r: random.Random) -> str:
    """The same with taints: partitions that are rejected keep their counters (Q4)."""
    return partitions(r, taints=0.15)


def shares(r: random.Random) -> str:
    """Shares of devices that are given to several, until they are used up but for some units."""
    return _shares(r, r.randint(5, 9), r.randint(0, 4))


def tight_shares(r: random.Random) -> str:
    """The same with more devices, of all of which at most two units are left."""
    return _shares(r, r.randint(7, 11), 0, ends=2)


def _shares(r: random.Random, devices: int, spare: int, ends: int = 3) -> str:
    holds = r.choice([10, 12, 16])
    lines = [f"h{device} holds={holds}" for device in range(devices)]
    sizes = sorted(r.sample(range(ends + 1, 9), k=3))
    return "\n".join([*lines, *_filling(r, devices * holds - spare, sizes, "want s{number} 1 share={size}", ends)])


def distinct(r: random.Random) -> str:
    """Requests for several devices that are to differ in an attribute of few values (Q2)."""
    values = r.randint(6, 12)
    lines = [f"d{i:02} kind={r.choice([1, 1, 2])} root={r.randrange(values)}" for i in range(values * 3)]
    lines += [
        f"want x{i} {r.choice([1, 1, 2, 3])} kind={r.choice([1, 1, 2])}" for i in range(values + r.randint(-1, 1))
    ]
    return "\n".join([*lines, "distinct root"])


def alternatives(r: random.Random) -> str:
    """Requests with two or three alternatives each, for devices of four kinds that are nearly too few."""
    kinds, requests = range(1, 6), r.randint(10, 15)
    lines = [f"d-{kind}-{i} kind={kind}" for kind in kinds for i in range(r.randint(requests // 3, requests))]
    for number in range(requests):
        lines += ["claim"] * (number % 4 == 0)
        chosen = r.sample(kinds, k=r.choice([2, 3]))
        lines.append(f"want x{number} " + " | ".join(f"{r.choice([2, 3, 4])} kind={kind}" for kind in chosen))
    return "\n".join(lines)


def _filling(r: random.Random, amount: int, sizes: list[int], request: str, ends: int = 4) -> list[str]:
    """Requests of these sizes, a claim for every four, until at most `ends` is left of the amount."""
    lines: list[str] = []
    while amount > ends:
        size = r.choice([size for size in sizes if size <= amount] or [amount])
        number = sum(line != "claim" for line in lines)
        lines += ["claim"] * (number % 4 == 0) + [request.format(number=number, size=size)]
        amount -= size
    return lines


KINDS: dict[str, Callable[[random.Random], str]] = {
    made.__name__: made for made in (matching, partitions, tainted, shares, tight_shares, distinct, alternatives)
}


def description(kind: str, seed: int) -> str:
    """One input."""
    return KINDS[kind](random.Random(seed))


if __name__ == "__main__":
    print(description(sys.argv[1], int(sys.argv[2])))
