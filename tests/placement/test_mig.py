"""An A100 of 40 GB that is partitioned on demand: what of each profile, and of each two, one GPU can hold.

The counters and the numbers are facts of the hardware, as NVIDIA's table of placements and the working group's
enumeration of all sets of partitions have them (wg-device-management, nv-partitionable-resources).
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest

from dra_plan import Cluster
from dra_plan.placement.node_kinds import PlacementCluster, kinds_of
from dra_plan.placement.search import PlacementQuestion
from tests.build import counters, device, device_class, node, pod, request, slice_, template

Plain = dict[str, Any]
DRIVER = "gpu.nvidia.com"
TOTAL = {"multiprocessors": 98, "copy-engines": 7, "decoders": 5, "jpeg-engines": 1, "ofa-engines": 1}
MEMORY = "40Gi"
PROFILES: dict[str, tuple[str, tuple[int, int, int, int, int], int, tuple[int, ...]]] = {
    # memory; multiprocessors, copy engines, decoders, JPEG and OFA engines; memory slices, and where they begin
    "1g.5gb": ("4864Mi", (14, 1, 0, 0, 0), 1, (0, 1, 2, 3, 4, 5, 6)),
    "1g.5gb+me": ("4864Mi", (14, 1, 1, 1, 1), 1, (0, 1, 2, 3, 4, 5, 6)),
    "1g.10gb": ("9856Mi", (14, 1, 1, 0, 0), 2, (0, 2, 4, 6)),
    "2g.10gb": ("9856Mi", (28, 2, 1, 0, 0), 2, (0, 2, 4)),
    "3g.20gb": ("19968Mi", (42, 3, 2, 0, 0), 4, (0, 4)),
    "4g.20gb": ("19968Mi", (56, 4, 2, 0, 0), 4, (0,)),
    "7g.40gb": ("40192Mi", (98, 7, 5, 1, 1), 8, (0,)),
    "gpu": (MEMORY, (0, 0, 0, 0, 0), 0, (0,)),
}
MOST = {
    "1g.5gb": 7,
    "1g.5gb+me": 1,
    "1g.10gb": 4,
    "2g.10gb": 3,
    "3g.20gb": 2,
    "4g.20gb": 1,
    "7g.40gb": 1,
    "gpu": 1,
}
"""The most of one profile on a GPU."""
LARGEST: dict[tuple[str, str], set[tuple[int, int]]] = {
    ("1g.5gb", "1g.5gb+me"): {(6, 1), (7, 0)},
    ("1g.5gb", "1g.10gb"): {(7, 0), (6, 1), (4, 2), (2, 3), (0, 4)},
    ("1g.5gb", "2g.10gb"): {(7, 0), (5, 1), (3, 2), (1, 3)},
    ("1g.5gb", "3g.20gb"): {(7, 0), (4, 1), (0, 2)},
    ("1g.5gb", "4g.20gb"): {(7, 0), (3, 1)},
    ("1g.5gb", "7g.40gb"): {(7, 0), (0, 1)},
    ("1g.5gb", "gpu"): {(7, 0), (0, 1)},
    ("1g.5gb+me", "1g.10gb"): {(1, 3), (0, 4)},
    ("1g.5gb+me", "2g.10gb"): {(1, 3)},
    ("1g.5gb+me", "3g.20gb"): {(1, 1), (0, 2)},
    ("1g.5gb+me", "4g.20gb"): {(1, 1)},
    ("1g.5gb+me", "7g.40gb"): {(1, 0), (0, 1)},
    ("1g.5gb+me", "gpu"): {(1, 0), (0, 1)},
    ("1g.10gb", "2g.10gb"): {(4, 0), (3, 1), (2, 2), (1, 3)},
    ("1g.10gb", "3g.20gb"): {(4, 0), (2, 1), (0, 2)},
    ("1g.10gb", "4g.20gb"): {(4, 0), (2, 1)},
    ("1g.10gb", "7g.40gb"): {(4, 0), (0, 1)},
    ("1g.10gb", "gpu"): {(4, 0), (0, 1)},
    ("2g.10gb", "3g.20gb"): {(3, 0), (2, 1), (0, 2)},
    ("2g.10gb", "4g.20gb"): {(3, 0), (1, 1)},
    ("2g.10gb", "7g.40gb"): {(3, 0), (0, 1)},
    ("2g.10gb", "gpu"): {(3, 0), (0, 1)},
    ("3g.20gb", "4g.20gb"): {(2, 0), (1, 1)},
    ("3g.20gb", "7g.40gb"): {(2, 0), (0, 1)},
    ("3g.20gb", "gpu"): {(2, 0), (0, 1)},
    ("4g.20gb", "7g.40gb"): {(1, 0), (0, 1)},
    ("4g.20gb", "gpu"): {(1, 0), (0, 1)},
    ("7g.40gb", "gpu"): {(1, 0), (0, 1)},
}
"""Numbers of two profiles that are together on a GPU, and of neither of which there can be more."""


def gpu() -> list[Plain]:
    """A node with the GPU, whole and with all its partitions, and a class for both."""
    amounts = {**{name: str(value) for name, value in TOTAL.items()}, "memory": MEMORY}
    amounts |= {f"memory-slice-{number}": "1" for number in range(8)}
    devices = [_device(profile, start) for profile, (*_, starts) in PROFILES.items() for start in starts]
    slices = [
        counters("dgx", {"gpu-0": amounts}, driver=DRIVER),
        slice_("dgx", *devices, driver=DRIVER, number=0, of=2),
    ]
    return [node("dgx", cpu="64", memory="512Gi"), device_class(DRIVER), *slices]


def _device(profile: str, start: int) -> Plain:
    memory, amounts, size, _ = PROFILES[profile]
    used = {name: str(amount) for name, amount in zip(TOTAL, amounts, strict=True) if amount}
    used |= {f"memory-slice-{number}": "1" for number in range(start, start + size)}
    name = f"gpu-0-{profile.replace('.', '-').replace('+', '-')}-{start}"
    return device(name, profile=profile, consumes={"gpu-0": {**used, "memory": memory}})


def wanting(profile: str, number: int) -> list[Plain]:
    """So many pods of a profile."""
    asked = request("r", f'device.attributes["{DRIVER}"].profile == "{profile}"', of=DRIVER)
    name = profile.replace(".", "-").replace("+", "-")
    return [template(name, asked), *(pod(f"{name}-{n}", templates={"gpu": name}, cpu="100m") for n in range(number))]


def test_every_pair_is_there() -> None:
    assert set(LARGEST) == set(combinations(PROFILES, 2))


@pytest.mark.parametrize("profile", PROFILES)
def test_the_most_of_a_profile(profile: str) -> None:
    document = Cluster.of([*gpu(), *wanting(profile, 8)]).place(most=True).document
    assert (document.at_least, document.at_most) == (MOST[profile], MOST[profile])


@pytest.mark.parametrize(
    ("one", "other"),
    [pytest.param(*pair, marks=pytest.mark.long if pair[0] == "1g.5gb" else ()) for pair in LARGEST],
)
def test_all_that_two_profiles_can_have_together(one: str, other: str) -> None:
    cluster = Cluster.of([*gpu(), *wanting(one, 8), *wanting(other, 8)])
    ground = PlacementCluster(cluster.inventory, cluster.target)
    question = PlacementQuestion(ground, kinds_of(ground.ready(each) for each in ground.cluster.pods.values()))
    [room] = question.rooms
    assert set(room.inner) == set(room.outer) == LARGEST[one, other]
    document = cluster.place(most=True).document
    most = max(map(sum, LARGEST[one, other]))
    assert (document.at_least, document.at_most) == (most, most)
