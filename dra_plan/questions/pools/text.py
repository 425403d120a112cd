"""`pools -o table` and `-o wide`. Pools that differ only in their names may share a row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence

from dra_plan import shown
from dra_plan.allocator import PoolState
from dra_plan.api.resource import DeviceTaint
from dra_plan.documents.devices import ClaimHolder
from dra_plan.documents.pools import ListedDevice, ListedPool
from dra_plan.questions.pools.document import PoolsDocument
from dra_plan.text import columns, formats
from dra_plan.text.columns import Paragraph, Part, Screen, Table
from dra_plan.text.formats import Format, Formats
from dra_plan.text.naming import NAMES, node_list, target
from dra_plan.text.words import counted, holder, listed, when

Cells = tuple[str, ...]


def alike(pools: Sequence[ListedPool], key: Callable[[ListedPool], Hashable]) -> list[list[ListedPool]]:
    """Group pools that have the same driver and key, in the order of the first pool of each group.

    Groups that would be small are split into single pools.
    """
    groups: dict[Hashable, list[ListedPool]] = {}
    for pool in pools:
        groups.setdefault((pool.driver, key(pool)), []).append(pool)
    together = {key: group for key, group in groups.items() if len(group) > NAMES + 1}
    rows = []
    for pool in pools:
        group = together.get((pool.driver, key(pool)), [pool])
        if group[0] is pool:
            rows.append(group)
    return rows


def label(group: Sequence[ListedPool]) -> str:
    """Return the label for a row that these pools share."""
    first = group[0].pool_name
    return f"{first} and {len(group) - 1} like it" if len(group) > 1 else first


def nodes(group: Sequence[ListedPool]) -> str:
    """Return the number of nodes that see any of these pools."""
    return counted(len({name for pool in group for name in pool.nodes}), "node")


def models(pool: ListedPool) -> list[str]:
    """Return the models of the pool's devices."""
    return sorted({device.model for device in pool.devices} - {""})


def contents(pool: ListedPool) -> Hashable:
    """Return a key that is equal for pools with the same number of nodes and of devices of each model."""
    return frozenset(Counter(device.model for device in pool.devices).items()), len(pool.nodes)


def rows(pools: Sequence[ListedPool], cells: Callable[[ListedPool], list[Cells]]) -> list[Cells]:
    """Return rows with the driver, the pools, and the cells of a pool. Pools with equal cells share their rows."""
    told = {id(pool): cells(pool) for pool in pools}
    groups = alike([pool for pool in pools if told[id(pool)]], lambda pool: tuple(told[id(pool)]))
    return [(group[0].driver, label(group), *row) for group in groups for row in told[id(group[0])]]


def pools(document: PoolsDocument) -> str:
    """Return a line of the form `DRIVER/POOL` for each pool, without duplicates."""
    names = dict.fromkeys(shown.line(f"{pool.driver}/{pool.pool_name}") + "\n" for pool in document.pools)
    return "".join(names)


def table(document: PoolsDocument, _screen: Screen | None) -> list[Part]:
    """Return a row for each pool or group of similar pools, and tables of what is free or shared."""
    parts = [_partitions(document), _invalid(document), _counter_sets(document), _shared(document), _evicting(document)]
    return [*_first(document, every=False), *(part for part in parts if part.rows), target(document)]


def wide(document: PoolsDocument, _screen: Screen | None) -> list[Part]:
    """Return a row for each pool, followed by all counters and devices."""
    parts = [_partitions(document), _invalid(document), _counters(document), _devices(document), _evicting(document)]
    return [*_first(document, every=True), *(part for part in parts if part.rows), target(document)]


def _first(document: PoolsDocument, *, every: bool) -> list[Part]:
    """Return the pools, and their totals."""
    made = _pools(document, every=every)
    return [made, Paragraph(_totals(document))] if made.rows else [Paragraph(["No pools."])]


_FLEXIBLE, _SPARE = ("POOL", "MODEL", "NODES", "IN USE BY"), ("SLICES", "TAINTED", "ALLOC")


def _pools(document: PoolsDocument, *, every: bool) -> Table:
    """Return one row per pool, or one for many equal pools."""
    if every:
        groups = [[pool] for pool in document.pools]
    else:
        groups = alike(document.pools, lambda pool: (_state(pool), contents(pool)))
    merged = len(groups) < len(document.pools)
    # Merged rows show the values that distinguish them; nodes are shown if their names differ from those of the pools.
    has_models = merged and any(map(models, document.pools))
    has_nodes = any(pool.nodes != [pool.pool_name] for pool in document.pools)
    users = [_users(group) for group in groups]
    headers = [
        *("DRIVER", "POOL", "MODEL", "STATE", "SLICES", "DEVICES", "AVAIL", "ALLOC", "TAINTED", "NODES", "IN USE BY")
    ]
    filled = {"MODEL": has_models, "NODES": has_nodes, "IN USE BY": any(users)}
    shown = [name for name in headers if filled.get(name, True)]
    at = [[shown.index(name) for name in some if name in shown] for some in (_FLEXIBLE, _SPARE)]
    made = Table(shown, grouped=1, flexible=at[0], spare=at[1])
    for group, used_by in zip(groups, users, strict=True):
        first = group[0]
        model = [", ".join(models(first))] if has_models else []
        seen = nodes(group) if len(group) > 1 else node_list(first.nodes, every=every)
        made.add(
            first.driver,
            label(group),
            *model,
            *_state(first),
            *([seen] if has_nodes else []),
            *([used_by] if any(users) else []),
        )
    return made


def _users(group: Sequence[ListedPool]) -> str:
    """Return the pods that have devices of the pools, each with the number of its devices; the most come first."""
    found = Counter(_user(one) for pool in group for device in pool.devices for one in device.holders)
    told = [f"{user}: {number}" for user, number in sorted(found.items(), key=lambda one: (-one[1], one[0]))]
    rest = len(told) - NAMES
    return ", ".join(told[:NAMES]) + (f" and {rest} more" if rest > 0 else "")


def _user(of: ClaimHolder) -> str:
    """Return the pods that use a claim, or the claim if no pod does."""
    pods = [f"{of.namespace}/{name}{' (being deleted)' if name in of.leaving else ''}" for name in of.pods[: NAMES + 1]]
    return listed(pods) if pods else f"claim {of.namespace}/{of.name}"


def _state(pool: ListedPool) -> tuple[str, ...]:
    """Return state, slices, and the numbers of devices."""
    slices = f"{pool.observed_resource_slice_count}/{pool.resource_slice_count}"
    return pool.state.value, slices, *_numbers(pool)


def _numbers(pool: ListedPool) -> list[str]:
    """Return devices, available, allocated, tainted; no number of available ones for overlapping partitions."""
    numbers = [pool.total_devices, pool.available_devices, pool.allocated_devices, pool.tainted_devices]
    if pool.physical_devices is None:
        return list(map(str, numbers))
    available, whole = whole_devices(pool)
    parts = counted(pool.total_devices - whole, "part")
    if not whole:
        return [f"{pool.physical_devices} ({parts})", "see below", *map(str, numbers[2:])]
    return [
        f"{pool.physical_devices} ({divided_devices(pool)} in {parts})",
        f"{available} + parts",
        *map(str, numbers[2:]),
    ]


def whole_devices(pool: ListedPool) -> tuple[int, int]:
    """Return how many devices that are not partitions are available, and their total number."""
    if pool.physical_devices is None:
        return pool.available_devices, pool.total_devices
    whole = [device for device in pool.devices if not device.part]
    return _available(whole), len(whole)


def divided_devices(pool: ListedPool) -> int:
    """Return the number of physical devices that have partitions."""
    return pool.physical_devices - whole_devices(pool)[1] if pool.physical_devices is not None else 0


def totals(pools: Iterable[ListedPool], word: str = "available") -> list[str]:
    """Return clauses with the number of available whole devices and of partitioned devices.

    A clause is omitted if there are no such devices.
    """
    pools = list(pools)
    available, whole = (sum(numbers) for numbers in zip(*map(whole_devices, pools), strict=True)) if pools else (0, 0)
    parted = sum(map(divided_devices, pools))
    told = [f"{available:,} of {counted(whole, 'device')} {word}"] if whole else []
    return [*told, f"{counted(parted, 'partitioned device')}"] if parted else told


def _available(devices: Iterable[ListedDevice]) -> int:
    return sum(device.state == "Available" for device in devices)


def _partitions(document: PoolsDocument) -> Table:
    """Return one row per kind of partition; with the state of the pools, unless all are complete."""
    every = all(pool.state is PoolState.COMPLETE for pool in document.pools if pool.profiles)
    headers = ("DRIVER", "POOL", *(() if every else ("STATE",)), "PROFILE", "PARTS", "STILL FIT")
    made = Table(headers, grouped=2 if every else 3, flexible=(1, headers.index("PROFILE")))
    for row in rows(document.pools, lambda pool: _profiles(pool, with_state=not every)):
        made.add(*row)
    return made


def _profiles(pool: ListedPool, *, with_state: bool) -> list[Cells]:
    state = (pool.state.value,) if with_state else ()
    return [(*state, one.profile, str(one.devices), str(one.fit)) for one in pool.profiles]


def _totals(document: PoolsDocument) -> list[str]:
    """Return a line for each driver: pools, devices and available ones, by model if the driver publishes models."""
    drivers: dict[str, list[ListedPool]] = {}
    for pool in document.pools:
        if pool.state is not PoolState.OBSOLETE:
            drivers.setdefault(pool.driver, []).append(pool)
    return [_total(driver, pools) for driver, pools in drivers.items()]


def _total(driver: str, pools: Sequence[ListedPool]) -> str:
    told = [counted(len({pool.pool_name for pool in pools}), "pool"), *totals(pools)]
    models: dict[str, list[ListedDevice]] = {}
    for device in (device for pool in pools for device in pool.devices if not device.part):
        models.setdefault(device.model, []).append(device)
    by_model = [
        f"{model} {_available(devices):,}/{len(devices):,}" for model, devices in sorted(models.items()) if model
    ]
    return f"{driver}: {', '.join(told)}{f' ({listed(by_model, 8)})' if by_model else ''}.{_cordoned(pools)}"


def _cordoned(pools: Sequence[ListedPool]) -> str:
    """Return how many of the available devices no new pod gets, because all nodes that reach them are cordoned."""
    shut = [(pool, _shut(pool)) for pool in pools if pool.cordoned]
    number = sum(devices for _, devices in shut)
    if not number:
        return ""
    names = list(dict.fromkeys(name for pool, devices in shut if devices for name in pool.cordoned))
    where = f"cordoned {'node' if len(names) == 1 else 'nodes'} {listed(names, NAMES + 1)}"
    return (
        f" {number:,} available {'device is' if number == 1 else 'devices are'} on {where}: new pods cannot get them."
    )


def _shut(pool: ListedPool) -> int:
    """Return the number of available devices of the pool that only cordoned nodes reach."""
    cordoned = set(pool.cordoned)
    return sum(device.state == "Available" and cordoned >= set(_reaching(device, pool)) for device in pool.devices)


def _reaching(device: ListedDevice, pool: ListedPool) -> list[str]:
    return pool.nodes if device.nodes is None else device.nodes


def _invalid(document: PoolsDocument) -> Table:
    made = Table(("DRIVER", "POOL", "STATE", "REASON"), flexible=(1, 3))
    for row in rows(document.pools, _problem):
        made.add(*row)
    return made


def _problem(pool: ListedPool) -> list[Cells]:
    return [(pool.state.value, pool.validation_error)] if pool.validation_error else []


def _counter_sets(document: PoolsDocument) -> Table:
    """Return one row per counter set: the counters that devices have consumed."""
    made = Table(("DRIVER", "POOL", "COUNTER SET", "LEFT"), grouped=2, flexible=(2, 3))
    for row in rows(document.pools, _left):
        made.add(*row)
    return made


def _left(pool: ListedPool) -> list[Cells]:
    """Return the free amount of each counter set; nothing can be allocated from invalid and obsolete pools."""
    told: list[Cells] = []
    if pool.state in (PoolState.INVALID, PoolState.OBSOLETE):
        return told
    for counter_set in pool.counter_sets:
        total, left = counter_set.total, counter_set.left
        placed = {name for row in columns.rows(total).values() for name in row.values()}
        touched = [f"{n} {left[n]} of {total[n]}" for n in total if left[n] != total[n] and n not in placed]
        touched += columns.lines(total, left) if any(left[name] != total[name] for name in placed) else ()
        if touched and len(touched) < len(total):
            touched.append("all else")
        told.append((counter_set.name, ", ".join(touched) or "all"))
    return told


def _counters(document: PoolsDocument) -> Table:
    made = Table(("DRIVER", "POOL", "COUNTER SET", "COUNTER", "LEFT", "TOTAL"), grouped=3, flexible=(3, 4, 5))
    for pool in document.pools:
        for counter_set in pool.counter_sets:
            for name, total in counter_set.total.items():
                left = counter_set.left[name]
                made.add(pool.driver, pool.pool_name, counter_set.name, name, left, total)
    return made


def _shared(document: PoolsDocument) -> Table:
    """Return devices that are shared."""
    made = Table(("DRIVER", "POOL", "DEVICE", "STATE", "CAPACITY LEFT"), grouped=2, flexible=(2, 4))
    for row in rows(document.pools, _shares):
        made.add(*row)
    return made


def _shares(pool: ListedPool) -> list[Cells]:
    shared = [device for device in pool.devices if device.capacity and device.state != "Available"]
    return [(device.name, device.state, _capacity(device)) for device in shared]


def _devices(document: PoolsDocument) -> Table:
    """Return one row per device; columns that would be empty are left out."""
    always = ("DRIVER", "POOL", "GENERATION", "DEVICE", "STATE")
    every = [
        (pool, device, cells)
        for pool in document.pools
        for device in pool.devices
        for cells in [[make(device) for make in _MORE.values()]]
    ]
    filled = [column for column in range(len(_MORE)) if any(cells[column] for _, _, cells in every)]
    headers = (*always, *(list(_MORE)[column] for column in filled))
    made = Table(headers, grouped=3, flexible=(3, *range(len(always), len(headers))))
    for pool, device, cells in every:
        more = (cells[column] for column in filled)
        made.add(pool.driver, pool.pool_name, str(pool.generation), device.name, device.state, *more)
    return made


def _evicting(document: PoolsDocument) -> Table:
    """Return devices whose taints evict pods, and these pods with their times."""
    made = Table(("DRIVER", "POOL", "DEVICE", "TAINTS", "EVICTS"), grouped=2, flexible=(1, 3, 4))
    for pool in document.pools:
        for device in (each for each in pool.devices if each.evicts):
            taints = ", ".join(map(_taint, device.taints))
            pods = listed([f"{each.namespace}/{each.name} {when(each.second, each.time)}" for each in device.evicts])
            made.add(pool.driver, pool.pool_name, device.name, taints, pods)
    return made


def _capacity(device: ListedDevice) -> str:
    return ", ".join(f"{name}={amount}" for name, amount in device.capacity.items())


def _taint(taint: DeviceTaint) -> str:
    value = f"={taint.value}" if taint.value else ""
    return f"{taint.key}{value}:{taint.effect}"


_MORE: dict[str, Callable[[ListedDevice], str]] = {
    "CAPACITY LEFT": _capacity,
    "HELD BY": lambda device: ", ".join(map(holder, device.holders)),
    "TAINTS": lambda device: ", ".join(map(_taint, device.taints)),
    "NODES": lambda device: ", ".join(device.nodes or ()),
    "REASON": lambda device: device.reason,
}
"""The columns of `-o wide` that few devices need."""


FORMATS = Formats(table=table, wide=wide, name=pools)


def parse(option: str) -> Format[PoolsDocument]:
    """Return the format for `-o OPTION`. Raises UsageError for an unknown format or a malformed template."""
    return formats.parse(option, FORMATS)
