"""`explain` ends with the Cluster Autoscaler's answer where node groups are known."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from dra_plan import Cluster
from tests.build import Object, bare_pod, pod
from tests.cli.running import ROOT, in_process
from tests.questions.autoscale.clusters import REFUSED, grouped, ready_node
from tests.questions.autoscale.clusters import waiting as pods_of

CLUSTER, GROUPS = "tests/cli/inputs/autoscale.yaml", "tests/cli/inputs/autoscale-groups.yaml"
NOT_ADDED = "The Cluster Autoscaler would not add a node: "


def waiting(pods: int) -> list[Object]:
    """Refused pods, and a node that takes none."""
    return [*pods_of(pods), ready_node("tiny", cpu="0")]


def test_the_last_sentence_names_the_reason_and_the_group() -> None:
    full = grouped(0)
    found = str(Cluster.of(waiting(1)).explain("pod/p0", groups=full))
    assert f"{NOT_ADDED}max node group size reached (pool)." in found
    assert "The Cluster Autoscaler would add a node: pool grows." in str(
        Cluster.of(waiting(1)).explain("pod/p0", groups=grouped(3))
    )


def test_without_groups_nothing_is_said() -> None:
    found = Cluster.of(waiting(1)).explain("pod/p0")
    assert "Autoscaler" not in str(found)
    assert "autoscaler" not in found.to_dict()


@pytest.mark.parametrize(
    ("objects", "said"),
    [
        ([*waiting(1), ready_node("n", cpu="9"), pod("p", status=REFUSED)], "the pod fits on n, which exists"),
        ([pod("p")], "does not see the pod: kube-scheduler has not rejected it yet"),
        ([pod("p", priority=-11, status=REFUSED)], "it skips the pod in this loop"),
        ([pod("p", cpu="99", status=REFUSED)], f"{NOT_ADDED}Insufficient cpu (pool)"),
    ],
)
def test_other_answers(objects: list[Object], said: str) -> None:
    assert said in str(Cluster.of([*objects, ready_node("small", cpu="0")]).explain("pod/p", groups=grouped(3)))


def test_only_pods_that_are_explained_are_told() -> None:
    objects = [*waiting(2), bare_pod("other", nodeSelector={"a": "b"}, status=REFUSED)]
    told = Cluster.of(objects).explain("pod/p0", groups=grouped(3)).to_dict()["autoscaler"]
    assert [one["name"] for one in told] == ["p0"]
    found = str(Cluster.of(objects).explain(groups=grouped(3)))
    assert "default/p0 and default/p1: The Cluster Autoscaler would add a node: pool grows." in found


def test_it_is_what_autoscale_says() -> None:
    cluster = Cluster.load([ROOT / CLUSTER])
    up = cluster.autoscale(str(ROOT / GROUPS)).to_dict()["scaleUp"]
    told = {
        f"{one['namespace']}/{one['name']}": one
        for one in cluster.explain(groups=str(ROOT / GROUPS)).to_dict()["autoscaler"]
    }
    assert {name for name, one in told.items() if one["outcome"] == "Triggered"} == set(up["triggered"])
    assert {name: one["reasons"] for name, one in told.items() if one["outcome"] == "NotTriggered"} == up[
        "notTriggered"
    ]


def test_on_the_command_line_and_from_the_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = in_process("explain", CLUSTER, "pod/arm", "-n", "ml", "--groups", GROUPS)
    for reason in (
        "node(s) didn't match Pod's node affinity/selector (gpu-pool)",
        "max node group size reached (cpu-pool)",
    ):
        assert reason in " ".join(ran.out.split())
    (tmp_path / "groups.yaml").write_text(yaml.safe_dump(grouped(0)), encoding="utf-8")
    (tmp_path / "cluster.yaml").write_text(yaml.safe_dump_all(waiting(1)), encoding="utf-8")
    (tmp_path / ".dra-plan.toml").write_text('node-groups = "groups.yaml"\n', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert "max node group size reached" in in_process("explain", "cluster.yaml").out
    assert "max node group size reached" in in_process("autoscale", "cluster.yaml").out
    (tmp_path / ".dra-plan.toml").write_text("node-groups = 3\n", encoding="utf-8")
    ran = in_process("autoscale", "cluster.yaml")
    assert (ran.status, "node-groups: expected the name of a file" in ran.err) == (2, True)


def test_names_never_become_markdown() -> None:
    named = grouped(0)
    named["nodeGroups"][0]["name"] = "<b>*x*\n# y"
    found = Cluster.of(waiting(1)).explain(groups=named)
    assert "\n# y" not in str(found)
