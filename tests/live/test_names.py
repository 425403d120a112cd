"""Names of pods are looked for where kubectl looks for them: in the context's namespace, -n's, or with -A in all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dra_plan.live.kubectl import Kubectl
from tests.cli.running import Ran, in_process

from .replay import Answers, kubeconfig, served

NOT_HERE = "error: no pod is named 'too-big' in namespace {}; there is pod/too-big in namespace team-a\n"


def explain(folder: Path, namespace: str | None, *arguments: str) -> Ran:
    """In a context that has a namespace, or none."""
    with served(Answers()) as address:
        return in_process("explain", "--kubeconfig", kubeconfig(folder, address, namespace), *arguments, "-o", "json")


@pytest.mark.parametrize(
    ("namespace", "arguments"),
    [
        ("team-a", ["pod/too-big"]),
        pytest.param(None, ["pod/too-big", "-n", "team-a"], marks=pytest.mark.long),
        pytest.param(None, ["pod/too-big", "-A"], marks=pytest.mark.long),
        pytest.param(None, ["pod/team-a/too-big"], marks=pytest.mark.long),
    ],
)
def test_it_is_found(namespace: str | None, arguments: list[str], kubectl: str, tmp_path: Path) -> None:
    ran = explain(tmp_path, namespace, *arguments)
    assert ran.status == 0
    assert [each["owner"]["name"] for each in json.loads(ran.out)["claimSets"]] == ["too-big"]


@pytest.mark.parametrize(
    ("namespace", "arguments", "where"),
    [
        (None, ["pod/too-big"], "default"),
        pytest.param("team-b", ["pod/too-big"], "team-b", marks=pytest.mark.long),
        pytest.param("team-a", ["pod/too-big", "-n", "team-b"], "team-b", marks=pytest.mark.long),
    ],
)
def test_it_is_not_there(namespace: str | None, arguments: list[str], where: str, kubectl: str, tmp_path: Path) -> None:
    ran = explain(tmp_path, namespace, *arguments)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.endswith(NOT_HERE.format(where))


@pytest.mark.long
@pytest.mark.parametrize(
    "command", [["allocate"], ["schedule"], ["capacity"], ["diff", "--to-quirks", "fixed"], ["place"]]
)
def test_every_command_that_takes_names_looks_there(command: list[str], kubectl: str, tmp_path: Path) -> None:
    with served(Answers()) as address:
        ran = in_process(*command, "pod/too-big", "--kubeconfig", kubeconfig(tmp_path, address, "team-b"))
    assert ran.status == 2
    assert ran.err.endswith(NOT_HERE.format("team-b"))


@pytest.mark.long
def test_without_names_every_namespace_is_planned(kubectl: str, tmp_path: Path) -> None:
    named = json.loads(explain(tmp_path, None).out)["claimSets"]
    there = json.loads(explain(tmp_path, "team-b").out)["claimSets"]
    assert there == named != []


def test_the_namespace_of_a_context(kubectl: str, tmp_path: Path) -> None:
    """`default` where the context names none; nothing where there is no context, as in a pod."""
    config = kubeconfig(tmp_path, "http://127.0.0.1:9", "team-a")
    assert Kubectl(kubeconfig=config).namespace() == "team-a"
    assert Kubectl("elsewhere", config).namespace() == "default"
    (tmp_path / "empty").write_text("{}")
    assert Kubectl(kubeconfig=str(tmp_path / "empty")).namespace() is None


def test_an_edited_pod_without_a_namespace_is_the_one_that_kubectl_would_apply(kubectl: str, tmp_path: Path) -> None:
    """In the context's namespace it takes the place of the pod that is there."""
    [pod] = [each for each in Answers().to("admin", "/api/v1/pods").body["items"] if named(each, "too-big")]
    pod = {"apiVersion": "v1", "kind": "Pod", **pod}
    pod["metadata"] = {"name": "too-big"}
    pod["spec"] = {**pod["spec"], "resourceClaims": [], "containers": [{"name": "c", "image": "i"}]}
    (tmp_path / "edited.json").write_text(json.dumps(pod))
    ran = explain(tmp_path, "team-a", "pod/too-big", str(tmp_path / "edited.json"))
    assert f"Pod team-a/too-big is taken from {tmp_path / 'edited.json'}:1, not from the cluster" in ran.err
    assert json.loads(ran.out)["claimSets"] == []


def named(item: dict[str, Any], name: str) -> bool:
    return bool(item["metadata"]["name"] == name)
