"""A label that many nodes have in many ways: the most common values, and how many others there are."""

from collections.abc import Iterator
from typing import Any

import pytest

from dra_plan import Cluster
from tests.build import bare_pod, device, device_class, node, request, slice_, template

RACK = "example.com/rack"


def _cluster(racks: int, without: int = 0) -> Cluster:
    """Two nodes in the first rack, one in each other, and some without a rack."""
    labels = [{RACK: f"rack-{at:02}"} for at in (0, *range(racks))] + [{} for _ in range(without)]
    made = []
    for at, label in enumerate(labels):
        name = f"n{at}"
        made += [node(name, labels=label, pods="9"), slice_(name, device("gpu-0"), name=name)]
    pod = bare_pod("p", templates={"gpu": "one"})
    pod["spec"]["nodeSelector"] = {RACK: "rack-99"}
    wanted = template("one", request("gpu", of="any"))
    return Cluster.of([*made, device_class("any", selectors=None), wanted, pod])


@pytest.mark.parametrize(
    ("racks", "without", "end"),
    [
        (2, 0, f"has {RACK}=rack-00 on 2 and {RACK}=rack-01 on 1"),
        (4, 0, f"{RACK}=rack-02 on 1 and {RACK}=rack-03 on 1"),
        (5, 0, f"{RACK}=rack-03 on 1 and 1 more"),
        (39, 0, f"{RACK}=rack-03 on 1 and 35 more"),
        (39, 3, f"{RACK}=rack-03 on 1, no label {RACK} on 3 and 35 more"),
    ],
)
def test_the_list_says_how_many_values_it_leaves_out(racks: int, without: int, end: str) -> None:
    answer = _cluster(racks, without).explain("pod/p")
    assert end in " ".join(str(answer).split())
    obstacles = list(_labels(answer.to_dict()))
    assert obstacles
    for each in obstacles:
        assert each["valuesFound"] == racks
        assert len(each["found"]) == min(racks, 4)


def _labels(part: Any) -> Iterator[dict[str, Any]]:
    """Every obstacle about a label that names values, wherever it stands in the document."""
    if isinstance(part, dict):
        if part.get("kind") == "Label" and part.get("found"):
            yield part
        for each in part.values():
            yield from _labels(each)
    elif isinstance(part, list):
        for each in part:
            yield from _labels(each)
