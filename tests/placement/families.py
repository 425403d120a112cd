"""Small random clusters for each kind of claim, so that each kind is met often: see `FAMILIES`.

Brute force over them is that of `fleets`.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from dataclasses import replace

from tests.allocator.model import DRIVERS, Claim, Device, Option, Policy, Pool, Request

from .fleets import Fleet, FleetPod

Numa = frozenset[int | str]
OWN, FAR = DRIVERS


def family_fleet(family: str, seed: int) -> Fleet:
    """One to three nodes and one to four pods, all of whose claims are of this kind.

    Of two fleets one is homogeneous: its nodes look the same, and its pods ask for the same.
    """
    r = random.Random(f"{family} {seed}")
    homogeneous = r.random() < 0.5
    nodes = r.randint(1, 2 if family == "network" else 3)
    make_pool, make_claim = FAMILIES[family]
    first = make_pool(r)
    pools = {}
    for index in range(nodes):
        pool = copy.deepcopy(first) if homogeneous else make_pool(r)
        pool.name = f"n{index}-pool"
        pools[f"n{index}"] = [pool]
    shape, pods, claims = make_claim(r), [], {}
    for index in range(r.randint(1, 4)):
        name = f"c{index}"
        if pods and ((family == "shared" and r.random() < 0.6) or (family == "network" and r.random() < 0.2)):
            names = [r.choice(pods).claims[0], *([name] if r.random() < 0.3 else [])]
        else:
            names = [name]
        if name in names:
            claims[name] = replace(shape if homogeneous else make_claim(r), name=name)
        pods.append(FleetPod(f"p{index}", names, 1 if homogeneous else r.choice([1, 1, 2])))
    cpu = 2 if r.random() < 0.2 else 8
    network = [_pool(r, "net", r.randint(1, 3), driver=FAR)] if family == "network" else []
    if network and r.random() < 0.3:
        network[0].counters = {"x": r.randint(1, 2)}
        for device in network[0].devices:
            device.consumes = {"x": 1}
    taken = {(OWN, pool.name, "d0"): None for own in pools.values() for pool in own if r.random() < 0.15}
    busy: dict[tuple[str, str, str], int | None] = {**taken}
    return Fleet(pools, dict.fromkeys(pools, cpu), network, claims, pods, busy, lists=False)


def _pool(r: random.Random, name: str, number: int, *, driver: str = OWN) -> Pool:
    devices = [Device(f"d{index}", r.choice("AAB"), _numa(r), r.choice([2, 4])) for index in range(number)]
    return Pool(driver, name, devices, {})


def _numa(r: random.Random) -> Numa | None:
    return frozenset([r.choice([0, 0, 1, 2])]) if r.random() < 0.9 else None


def _plain(r: random.Random) -> Pool:
    return _pool(r, "pool", r.randint(1, 4))


def _partitions(r: random.Random) -> Pool:
    """Devices that are parts of two counters."""
    pool = _pool(r, "pool", r.randint(3, 5))
    pool.counters = {"x": r.randint(2, 4), "y": r.randint(1, 3)}
    for device in pool.devices:
        device.consumes = {"x": r.randint(0, 2), "y": r.randint(0, 2)}
    return pool


def _shares(r: random.Random) -> Pool:
    """Devices that several claims share, some by a policy."""
    pool = _pool(r, "pool", r.randint(1, 3))
    for device in pool.devices:
        device.shared, device.memory = r.random() < 0.8, r.randint(2, 6)
        if device.shared and r.random() < 0.5:
            device.policy = Policy(1, values=[1, 2]) if r.random() < 0.5 else Policy(1, 1, device.memory, 1)
    return pool


def _option(r: random.Random, name: str = "o", **given: object) -> Option:
    made = Option(name, OWN, r.choice([1, 1, 2]), False, r.choice([None, None, "A"]), [], None)
    return replace(made, **given)  # type: ignore[arg-type]


def _claim(*requests: list[Option], match: bool = False, distinct: bool = False) -> Claim:
    made = [Request(f"r{index}", options, len(options) > 1) for index, options in enumerate(requests)]
    return Claim("", made, [] if match else None, [] if distinct else None)


def _exact(r: random.Random) -> Claim:
    return _claim(*([_option(r)] for _ in range(r.choice([1, 1, 2]))))


def _all(r: random.Random) -> Claim:
    """All devices of a model, or of the driver; now and then beside one more."""
    every = _option(r, every=True, count=0)
    return _claim([every], *([[_option(r, count=1)]] if r.random() < 0.2 else []))


def _first(r: random.Random) -> Claim:
    options = [_option(r, f"o{index}", count=2 - index, model=r.choice([None, "A", "B"])) for index in range(2)]
    return _claim(options, *([[_option(r)]] if r.random() < 0.3 else []))


def _same(r: random.Random) -> Claim:
    return _claim(*([_option(r)] for _ in range(r.choice([1, 2]))), match=True)


def _different(r: random.Random) -> Claim:
    return _claim(*([_option(r)] for _ in range(r.choice([1, 2]))), distinct=True)


def _share(r: random.Random) -> Claim:
    return _claim(*([_option(r, count=1, memory=r.choice([None, 1, 1, 2, 3]))] for _ in range(r.choice([1, 1, 2]))))


def _far(r: random.Random) -> Claim:
    """Devices that all nodes reach, alone or beside own ones."""
    far = _option(r, driver=FAR, every=r.random() < 0.1)
    other = [[_option(r)]] if r.random() < 0.4 else []
    if r.random() < 0.2:
        return _claim([replace(far, name="o0"), _option(r, "o1")], *other)
    return _claim([far], *other)


FAMILIES: dict[str, tuple[Callable[[random.Random], Pool], Callable[[random.Random], Claim]]] = {
    "exact": (_plain, _exact),
    "all": (_plain, _all),
    "first": (_plain, _first),
    "match": (_plain, _same),
    "distinct": (_plain, _different),
    "partitions": (_partitions, _exact),
    "capacity": (_shares, _share),
    "shared": (_plain, _exact),
    "network": (_plain, _far),
}
"""What the devices of a node are like, and what claims ask for."""
