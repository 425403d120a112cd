"""Pods, workloads and claims named as kubectl names them, in whatever state, for allocate, explain and schedule."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dra_plan import Cluster, UsageError
from dra_plan.wording import DUMP
from tests.conftest import Golden

from .running import INPUTS, in_process

OWNERS = str(INPUTS / "owners.yaml")
GOLDEN = Path(__file__).parent / "golden"
PENDING = "serve-7c9-bbbbb"


def planned(*arguments: str, command: str = "allocate") -> list[str]:
    ran = in_process(command, OWNERS, *arguments, "-o", "json")
    assert ran.status in (0, 1), ran.err
    sets = json.loads(ran.out)["claimSets"]
    return [
        "/".join((one["owner"]["kind"], one["owner"]["namespace"], one["owner"]["name"]))
        if one["owner"]
        else "/".join(("ResourceClaim", one["claims"][0]["namespace"], one["claims"][0]["name"]))
        for one in sets
    ]


POD, DEPLOYMENT, CLAIM = f"Pod/prod/{PENDING}", "Deployment/prod/serve", "ResourceClaim/dev/lone"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([PENDING], [POD]),
        ([f"pod/{PENDING}"], [POD]),
        ([f"po/{PENDING}"], [POD]),
        ([f"pods/{PENDING}"], [POD]),
        ([f"PODS/{PENDING}"], [POD]),
        (["po", PENDING], [POD]),
        ([f"prod/{PENDING}"], [POD]),
        ([f"pod/prod/{PENDING}"], [POD]),
        ([PENDING, "-n", "prod"], [POD]),
        ([f"pod/{PENDING}", "-A"], [POD]),
        (["deploy/serve"], [DEPLOYMENT]),
        (["deployment.apps/serve"], [DEPLOYMENT]),
        (["deployments", "serve"], [DEPLOYMENT]),
        (["serve"], [DEPLOYMENT]),
        (["rs/serve-7c9"], ["ReplicaSet/prod/serve-7c9"]),
        (["resourceclaim/lone"], [CLAIM]),
        (["lone", f"po/{PENDING}", "deploy/serve"], [POD, DEPLOYMENT, CLAIM]),
        ([f"{PENDING}-gpu"], [POD]),
    ],
)
@pytest.mark.parametrize("command", ["allocate", "explain"])
def test_names_are_those_of_kubectl(command: str, arguments: list[str], expected: list[str]) -> None:
    assert planned(*arguments, command=command) == expected


def test_without_names_a_deployment_stands_for_its_pods() -> None:
    assert planned() == [DEPLOYMENT, CLAIM]


def test_names_may_stand_before_paths_and_beside_filenames() -> None:
    for arguments in ([f"po/{PENDING}", OWNERS], [f"po/{PENDING}", "-f", OWNERS]):
        ran = in_process("allocate", *arguments, "-o", "name")
        assert (ran.status, ran.out) == (0, f"pod/prod/{PENDING} node/gpu-a\n")


def test_every_state_is_explained(golden: Golden) -> None:
    states = ["pod/lost", "po/serve-7c9-aaaaa", "done", "web", "dev/plain", "over"]
    ran = in_process("explain", OWNERS, *states, "resourceclaim/serve-7c9-aaaaa-gpu-x1")
    assert ran.status == 0
    assert ran.err.startswith("warning: 1 running pod uses claims that are not in the input (prod/lost)")
    golden(GOLDEN / "explain-owners.txt", ran.out)


def test_every_state_is_in_the_document() -> None:
    told = Cluster.load(OWNERS).explain("lost", "serve-7c9-aaaaa", "web").to_dict()
    assert told["claimSets"] == []
    states = {one["owner"]["name"]: one for one in told["unplanned"]}
    assert [states[name]["state"] for name in ("lost", "serve-7c9-aaaaa", "web")] == ["Bound", "Bound", "WithoutClaims"]
    assert states["lost"]["missingClaims"] == ["gpu"]
    assert states["serve-7c9-aaaaa"]["claims"][0]["allocation"]["devices"]["results"][0]["device"] == "gpu-0"
    assert {ask["name"]: ask.get("deviceClass") for ask in states["web"]["asks"]}["example.com/gpu"] == "gpu"


def test_what_was_named_and_is_not_planned_is_said() -> None:
    ran = in_process("allocate", OWNERS, "po/lost", f"po/{PENDING}", "-o", "name")
    assert (ran.status, ran.out) == (0, f"pod/prod/{PENDING} node/gpu-a\n")
    assert "nothing to plan: it already runs on gpu-b" in ran.err
    assert in_process("allocate", OWNERS, "po/lost").status == 2
    assert in_process("allocate", OWNERS, "po/lost", "--allow-empty").status == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["web", "-n", "prod"], "named 'web' in namespace prod; there is pod/web in namespace dev"),
        (["pod/prod/web"], "no pod is named 'web' in namespace prod; there is pod/web in namespace dev"),
        (["prod/web"], "in namespace prod; there is pod/web in namespace dev"),
        (["deploy/web"], "no deployment is named 'web'; there is pod/web in namespace dev"),
        (["deploy/serv"], "no deployment is named 'serv' (did you mean 'deploy/serve'?)"),
        (["resourceclaimtemplate/one"], "resourceclaimtemplate/one: expected a pod, workload or claim"),
        (["svc/web"], "svc/web: expected a pod, workload or claim"),
        (["job/serv"], "no job is named 'serv' (did you mean deployment/serve in namespace "),
        (["webb"], "no file, pod, workload or claim is named 'webb' (did you mean 'web'?)"),
        (
            ["pods", "-n", "prod"],
            f"'pods' is a kind, not a name: leave out the kind to ask about everything that is pending (pod/{PENDING}",
        ),
        (["no/gpu-a"], "to choose the node, use --node gpu-a"),
        (["a/b/c"], "'a/b/c' is not a name: expected NAME, KIND/NAME"),
        (["web", "-l", "a=b"], "cannot be combined"),
    ],
)
@pytest.mark.parametrize("command", ["allocate", "explain", "schedule"])
def test_a_name_that_nothing_has(command: str, arguments: list[str], said: str) -> None:
    ran = in_process(command, OWNERS, *arguments)
    assert (ran.status, ran.out) == (2, "")
    assert said in ran.err


@pytest.mark.parametrize("command", ["allocate", "explain", "schedule"])
def test_names_without_input_are_answered_with_the_command_that_asks_a_cluster(command: str) -> None:
    for arguments, ending in ((["po/web"], " po/web\n"), (["po", "web"], " po web\n"), ([], "\n")):
        ran = in_process(command, *arguments)
        assert ran.status == 2
        assert ran.err.endswith(f". To read the cluster: dra-plan {command} --live{ending}")
        assert f"`{DUMP}`" in ran.err
    assert in_process(command, "nowhere").err == "error: nowhere: no such file or directory\n"


@pytest.mark.parametrize(
    ("arguments", "pods"),
    [
        (["deploy/serve"], {"serve-7c9-aaaaa", PENDING}),
        (["rs/serve-7c9"], {"serve-7c9-aaaaa", PENDING}),
        ([f"po/{PENDING}"], {PENDING}),
        (["web", "done"], {"web", "done"}),
    ],
)
def test_schedule_takes_what_is_named(arguments: list[str], pods: set[str]) -> None:
    ran = in_process("schedule", OWNERS, *arguments, "-o", "json")
    assert {pod["name"] for pod in json.loads(ran.out)["pods"]} == pods


def test_schedule_shows_a_named_pod_that_has_its_node() -> None:
    ran = in_process("schedule", OWNERS, "po/serve-7c9-aaaaa")
    assert ran.status == 0
    assert "prod/serve-7c9-aaaaa   Bound     gpu-a   gpu.example.com/gpu-a/gpu-0" in ran.out


@pytest.mark.parametrize("named", ["deploy/infer", "infer", "rs/infer-6d4", "ml/infer"])
def test_of_a_workload_that_the_input_lacks_its_pods_are_told(tmp_path: Path, named: str) -> None:
    """A dump of pods and claims has no Deployment and no ReplicaSet; the pods say whose they are."""
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "infer-6d4", "uid": "r1", "controller": True}
    labels = {"pod-template-hash": "6d4"}
    items: list[dict[str, Any]] = [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}}]
    items += [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"infer-6d4-{n}", "namespace": "ml", "ownerReferences": [owner], "labels": labels},
            "spec": {"containers": [{"name": "c"}], **({"nodeName": "a"} if n == 0 else {})},
        }
        for n in range(5)
    ]
    path = tmp_path / "in.json"

    def told(arguments: list[str]) -> str:
        path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
        ran = in_process("explain", str(path), *arguments)
        assert ran.status == 2
        return ran.err

    three = "pod/infer-6d4-1, pod/infer-6d4-2, pod/infer-6d4-3 and 1 more"
    assert told([named]).endswith(f", but 5 pods that it controls are in the input; not scheduled: {three}\n")
    if "/" not in named:
        assert told([named, "-n", "dev"]).count("pods that it controls") == 0
    del items[2:]
    assert told([named]).endswith(", but 1 pod that it controls is in the input: name it instead, pod/infer-6d4-0\n")


def test_schedule_says_of_a_named_workload_that_it_wants_no_pod(tmp_path: Path) -> None:
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}}
    template = {"spec": {"containers": [{"name": "c"}]}}
    job = {
        "apiVersion": "x.io/v1",
        "kind": "Train",
        "metadata": {"name": "t"},
        "spec": {"replicas": 0, "t": template},
    }
    (tmp_path / "in.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [node, job]}))
    ran = in_process("schedule", str(tmp_path / "in.json"), "train/t")
    assert ran.status == 2
    assert "nothing to schedule: the named workloads have no pods and need none (--allow-empty" in ran.err
    assert in_process("schedule", str(tmp_path / "in.json"), "train/t", "--allow-empty").status == 0


def test_in_python() -> None:
    cluster = Cluster.load(OWNERS)
    assert [one.name for one in cluster.explain("deploy/serve")] == ["Deployment prod/serve"]
    assert [one.name for one in cluster.allocate("po", PENDING)] == [f"Pod prod/{PENDING}"]
    assert [one.name for one in cluster.allocate(f"po {PENDING}")] == [f"Pod prod/{PENDING}"]
    assert [pod.name for pod in cluster.schedule("web")] == ["web"]
    assert [one.owner.name for one in cluster.allocate("lost").unplanned] == ["lost"]
    with pytest.raises(UsageError, match="there is pod/web in namespace dev"):
        cluster.schedule("web", namespace="prod")


def test_names_joined_are_one_set() -> None:
    ran = in_process("allocate", OWNERS, "lone", PENDING, "--together", "-o", "json")
    [one] = json.loads(ran.out)["claimSets"]
    assert [claim["name"] for claim in one["claims"]] == [f"{PENDING}-gpu", "lone"]


# Names, and paths that are not there


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the working directory there are directories named like a namespace, like a kind and like nothing else."""
    for name in ("prod", "pod", "dumps"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("folders")
@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("explain", ()),
        ("schedule", ()),
        ("capacity", ()),
        ("diff", ()),
        ("diff", ("--drain", "node-1")),
        ("diff", ("--drain", "each")),
    ],
)
def test_what_can_be_no_name_and_is_no_file_is_said_to_be_missing(command: str, arguments: tuple[str, ...]) -> None:
    ran = in_process(command, OWNERS, "dumps/after", *arguments)
    assert (ran.status, ran.err) == (2, "error: dumps/after: no such file or directory\n")


@pytest.mark.usefixtures("folders")
def test_a_directory_that_is_named_like_a_namespace_or_a_kind_hides_no_pod() -> None:
    assert planned(f"prod/{PENDING}") == planned(f"pod/{PENDING}") == [POD]
    assert "no such file" not in in_process("explain", OWNERS, "prod/other").err
    assert "no such file" not in in_process("explain", OWNERS, "pod/other").err


def test_a_second_state_that_is_not_there_is_said_to_be_no_file() -> None:
    err = in_process("diff", OWNERS, "serve").err
    assert err.startswith("error: nothing to compare: no file is named 'serve'; name a second state")


@pytest.mark.parametrize("like", ["nofile.yaml", "./nofile", "dumps/node"])
def test_a_model_that_can_be_no_node_and_is_no_file_is_said_to_be_missing(like: str) -> None:
    for arguments in (("grow", OWNERS, "--like", like), ("schedule", OWNERS, "--add-nodes", f"2={like}")):
        ran = in_process(*arguments)
        assert (ran.status, ran.err) == (2, f"error: {like}: no such file or directory\n")
    assert "unknown node 'gpu-x'" in in_process("grow", OWNERS, "--like", "gpu-x").err
