"""Groups without a file: those that labels of nodes name, and `--group`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from dra_plan import Cluster
from dra_plan.errors import InputError, UsageError
from dra_plan.questions.autoscale import recognised
from tests.build import ZONE, Object, slice_
from tests.cli.running import in_process
from tests.questions.autoscale.clusters import ready_node, waiting

GKE, EKS, AKS = "cloud.google.com/gke-nodepool", "eks.amazonaws.com/nodegroup", "kubernetes.azure.com/agentpool"


def fleet(**labels: dict[str, str]) -> list[Object]:
    """Nodes with a device each, and one pod that wants a device more than there are."""
    made = [ready_node(name, labels=own) for name, own in labels.items()]
    made += [slice_(name, "gpu-0") for name in labels]
    return [*made, *waiting(len(labels) + 1)]


def groups(objects: list[Object], **options: Any) -> list[Object]:
    found = Cluster.of(objects).autoscale(**options).to_dict()["groups"]
    return [{key: one.get(key) for key in ("group", "min", "max", "current", "toldBy")} for one in found]


@pytest.mark.parametrize("label", [GKE, EKS, AKS, "alpha.eksctl.io/nodegroup-name"])
def test_a_label_of_the_cloud_names_the_group_and_its_sizes_stay_unknown(label: str) -> None:
    objects = fleet(a={label: "gpu"}, b={label: "gpu"}, c={}, d={"karpenter.sh/nodepool": "gpu", label: "gpu"})
    assert groups(objects) == [{"group": "gpu", "min": None, "max": None, "current": 2, "toldBy": label}]
    found = Cluster.of(objects).autoscale()
    assert f"The groups are derived from the node label {label}: gpu (2 nodes)." in str(found)
    assert "Group gpu grows from 2 to 3 nodes if the group's maximum size (unknown) allows it." in str(found)
    assert "Node labels do not specify the min and max of a group" in str(found)


def test_cluster_api_says_it_in_an_annotation() -> None:
    objects = fleet(a={})
    objects[0]["metadata"]["annotations"] = {"cluster.x-k8s.io/owner-name": "md-7"}
    assert groups(objects)[0]["group"] == "md-7"


def test_a_pool_of_gke_is_a_group_in_each_zone_but_not_one_of_aks() -> None:
    zoned = [{GKE: "gpu", ZONE: "x"}, {GKE: "gpu", ZONE: "y"}, {AKS: "gpu", ZONE: "x"}, {AKS: "gpu", ZONE: "y"}]
    found = groups(fleet(a=zoned[0], b=zoned[1], c=zoned[1]))
    assert [(one["group"], one["current"]) for one in found] == [("gpu/x", 1), ("gpu/y", 2)]
    assert [one["group"] for one in groups(fleet(a=zoned[2], b=zoned[3]))] == ["gpu"]


def test_a_named_group_takes_the_place_of_all_that_labels_name() -> None:
    objects = fleet(a={EKS: "gpu"}, b={EKS: "cpu"}, c={EKS: "gpu"})
    told = {"group": "gpu", "min": 1, "max": 2, "current": 2, "toldBy": EKS}
    assert groups(objects, group="gpu,max=2,min=1") == [told]
    assert groups(objects, group="gpu=c,min=1,max=2") == [told]
    assert groups(objects, group=["mine=b,max=7"]) == [{**told, "group": "mine", "min": None, "max": 7, "current": 1}]
    up = Cluster.of(objects).autoscale(group="gpu,max=2").to_dict()["scaleUp"]
    assert set(up["notTriggered"].popitem()[1].values()) == {"skipped: max node group size reached"}


def test_a_named_node_is_the_one_that_new_nodes_are_like() -> None:
    objects = fleet(a={EKS: "gpu"}, b={EKS: "gpu"})
    objects[-2]["spec"]["nodeSelector"] = {"only": "b"}
    objects[1]["metadata"]["labels"]["only"] = "b"
    up = {
        node: Cluster.of(objects).autoscale(group=f"gpu={node}").to_dict()["scaleUp"].get("plan") for node in ("a", "b")
    }
    assert up == {"a": None, "b": [{"group": "gpu", "from": 2, "to": 3}]}


def test_a_file_says_what_the_nodes_of_an_empty_group_are_like(tmp_path: Path) -> None:
    path = tmp_path / "a=b,c.yaml"
    path.write_text(yaml.safe_dump_all([ready_node("t"), slice_("t", "gpu-0")]), encoding="utf-8")
    found = Cluster.of(waiting(2)).autoscale(group=f"new={path},max=9").to_dict()
    assert found["scaleUp"]["plan"] == [{"group": "new", "from": 0, "to": 2}]


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("", "expected NAME=NODE"),
        ("=a", "expected NAME=NODE"),
        ("g=", "expected NAME=NODE"),
        ("nothing", "no node label names such a group"),
        ("g=nowhere", "g=nowhere|nowhere: no node of the input has this name, and"),
        ("g=a,max=-1", "max=-1: expected one whole number"),
        ("g=a,max=1,max=2", "max=1: expected one whole number"),
        ("g=a,max=99999999", "expected one whole number"),
        ("g=a,max=²", "expected one whole number"),
        ("g=a,size=1", "no node of the input has this name"),
    ],
)
def test_what_is_no_group_is_an_error(option: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Cluster.of(fleet(a={})).autoscale(group=option)


def test_a_group_is_given_once() -> None:
    cluster = Cluster.of(fleet(a={}))
    with pytest.raises(UsageError, match="set twice"):
        cluster.autoscale(group=["g=a", "g=a,max=3"])
    with pytest.raises(UsageError, match="also contains this group"):
        cluster.autoscale({"nodeGroups": [{"name": "g"}]}, group="g=a")


def test_without_any_group_the_error_says_what_to_do() -> None:
    with pytest.raises(UsageError, match="--groups FILE or --group NAME=NODE"):
        Cluster.of(fleet(a={})).autoscale()


def test_the_number_of_groups_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recognised, "MOST_GROUPS", 1)
    with pytest.raises(InputError, match="nodes name 2 groups; the maximum is 1"):
        Cluster.of(fleet(a={EKS: "x"}, b={EKS: "y"})).autoscale()


def test_names_from_labels_never_become_lines_of_their_own(tmp_path: Path) -> None:
    """A label can't have a line break on a real API server, but a manifest can."""
    path = tmp_path / "cluster.yaml"
    path.write_text(yaml.safe_dump_all(fleet(a={EKS: "x\nNo group grows."})), encoding="utf-8")
    ran = in_process("autoscale", str(path))
    assert "\nNo group grows." not in ran.out


def test_on_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "cluster.yaml"
    path.write_text(yaml.safe_dump_all(fleet(a={EKS: "gpu"})), encoding="utf-8")
    ran = in_process("autoscale", str(path), "--group", "gpu,max=1")
    assert ran.status == 1
    assert "gpu: skipped: max node group size reached" in ran.out
    assert in_process("autoscale", str(path), "--group", "gpu,max=3").status == 0
