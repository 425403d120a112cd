"""The file of groups: what it may not say is an error that names the place; nothing of it is ignored in silence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from dra_plan import Cluster
from dra_plan.errors import InputError
from dra_plan.questions.autoscale.groups import groups_of
from dra_plan.questions.autoscale.scale_up import balanced
from tests.build import node
from tests.cli.running import ROOT, in_process

CLUSTER = "tests/cli/inputs/autoscale.yaml"
GROUPS = "tests/cli/inputs/autoscale-groups.yaml"


def group(name: str, most: int, current: int) -> dict[str, Any]:
    return {"name": name, "max": most, "current": current}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "groups: expected a map with a list of nodeGroups"),
        ({"nodeGroups": {}}, "groups: expected a map with a list of nodeGroups"),
        ({"nodeGroups": [{}]}, r"groups: nodeGroups\[0\]: expected a map with a name"),
        ({"nodeGroups": [{"name": "a", "max": -1}]}, r"nodeGroups\[0\]: max: expected a whole number from 0"),
        ({"nodeGroups": [{"name": "a", "max": True}]}, r"nodeGroups\[0\]: max: expected a whole number"),
        ({"nodeGroups": [{"name": "a", "nodes": "n"}]}, r"nodeGroups\[0\]: nodes: expected a list of names"),
        ({"nodeGroups": [{"name": "a", "template": {}}]}, r"nodeGroups\[0\]: template: expected a map with a node"),
        (
            {"nodeGroups": [{"name": "a", "template": {"node": node("n"), "slices": "x"}}]},
            r"template: slices: expected a list of objects",
        ),
        (
            {"nodeGroups": [{"name": "a", "template": {"node": {"kind": "Pod"}}}]},
            r"nodeGroups\[0\]: template",
        ),
        ({"nodeGroups": [group("a", 1, 0), group("a", 1, 0)]}, "group 'a' is listed twice"),
        ({"nodeGroups": [], "options": {"utilizationThreshold": 2}}, "utilizationThreshold: expected a number from 0"),
        (
            {"nodeGroups": [], "options": {"expander": "cheapest"}},
            "expander: 'cheapest' is not one of least-waste, most",
        ),
        ({"nodeGroups": [], "options": {"balanceSimilar": "yes"}}, "balanceSimilar: expected true or false"),
    ],
)
def test_what_can_not_be_understood_is_an_error(value: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        groups_of(value)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\xff", "not utf-8"),
        (b"{", "not readable as YAML"),
        (b"[" * 50_000, "not readable as YAML"),
        (b"- a", "expected a map with a list of nodeGroups"),
    ],
)
def test_a_file_that_can_not_be_read_is_an_error(content: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "groups.yaml"
    path.write_bytes(content)
    ran = in_process("autoscale", CLUSTER, "--groups", str(path))
    assert ran.status == 2
    assert ran.err.startswith(f"error: --groups {path}: ")
    assert said in ran.err


def test_without_groups_the_command_says_what_is_missing() -> None:
    ran = in_process("autoscale", CLUSTER)
    assert (ran.status, ran.out) == (2, "")
    assert "--groups FILE" in ran.err


def test_the_input_is_left_as_it_is() -> None:
    value = yaml.safe_load((ROOT / GROUPS).read_text(encoding="utf-8"))
    before = yaml.safe_dump(value)
    cluster = Cluster.load([ROOT / CLUSTER])
    assert cluster.autoscale(value).to_dict() == cluster.autoscale(value).to_dict()
    assert yaml.safe_dump(value) == before


def test_a_group_that_may_not_grow_is_exit_status_1_and_enough_room_is_0(tmp_path: Path) -> None:
    value = yaml.safe_load((ROOT / GROUPS).read_text(encoding="utf-8"))
    value["nodeGroups"][1]["max"] = 2
    value["nodeGroups"][1]["template"]["node"]["metadata"]["labels"]["kubernetes.io/arch"] = "arm64"
    path = tmp_path / "groups.yaml"
    path.write_text(yaml.safe_dump(value), encoding="utf-8")
    assert in_process("autoscale", CLUSTER, "--groups", GROUPS).status == 1
    assert in_process("autoscale", CLUSTER, "--groups", str(path)).status == 0


@pytest.mark.parametrize("nodes", range(8))
def test_balanced_sizes_differ_by_no_more_than_limits_make_them(nodes: int) -> None:
    """By brute force: of all ways to add so many nodes, none is more even."""
    groups = groups_of({"nodeGroups": [group("a", 4, 0), group("b", 2, 1), group("c", 3, 3), group("d", 9, 2)]}).groups
    sizes = {one.name: one.current for one in groups} | {one.group: one.after for one in balanced(groups, nodes)}
    assert sum(sizes.values()) == sum(one.current for one in groups) + nodes
    for low in groups:
        for high in groups:
            could_give = sizes[high.name] > high.current
            could_take = sizes[low.name] < low.most
            assert not (could_give and could_take and sizes[high.name] > sizes[low.name] + 1)
