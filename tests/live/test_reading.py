"""What is asked of a cluster, what is kept of its answers, and what is said of what it rejects."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from dra_plan import Cluster
from dra_plan.live import UnreadClusterError, snapshot
from dra_plan.live import snapshot as pages
from dra_plan.live.beside import BESIDE
from dra_plan.live.kubectl import Listed, Refusal, RequestError, wanted
from dra_plan.live.snapshot import cluster_role
from dra_plan.manifests import kinds
from tests.cli.running import in_process

from .replay import Answers, InProcess, Instant, whole_lists

PODS = "/api/v1/pods"
NODE = "dra-example-driver-cluster-worker"


def read(answers: Answers, user: str | None = "admin") -> snapshot.Snapshot:
    return snapshot.read(InProcess(answers, user))


def objects(found: snapshot.Snapshot) -> list[dict[str, Any]]:
    return [json.loads(text) for text in found.objects]


def written(found: snapshot.Snapshot, folder: Path, name: str = "snapshot.json") -> str:
    found.write(folder / name)
    return str(folder / name)


def test_what_is_asked_for_is_what_planning_reads():
    answers = Answers()
    read(answers)
    allowed = {Listed(kind, version).path for kind in (*kinds.every(), *BESIDE) for version in kind.versions}
    told = {"/version", "/metrics", "/apis"}
    discovery = {path for path in answers.seen if path.startswith("/apis/") and path.count("/") == 3}
    assert discovery == {f"/apis/{group}" for group in ("resource.k8s.io/v1", "resource.k8s.io/v1beta2")} | {
        "/apis/scheduling.k8s.io/v1"
    }
    assert set(answers.seen) - told - discovery <= allowed
    assert len(answers.seen) == len(set(answers.seen))
    assert not any(word in path for path in answers.seen for word in ("secret", "configmap", "event"))


def test_without_live_nothing_is_asked(tmp_path, monkeypatch):
    """Whatever files and settings say: no program is started, and nobody is connected to."""
    (tmp_path / ".dra-plan.toml").write_text('select = ["DRA1"]\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KUBECTL_PATH", str(tmp_path / "absent"))
    path = written(read(Answers()), tmp_path)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("something is asked")

    monkeypatch.setattr("subprocess.Popen", refuse)
    monkeypatch.setattr("socket.socket.connect", refuse)
    assert in_process("explain", path, "pod/spread-0", "-n", "team-a").status in (0, 2)
    for command in (
        "allocate",
        "schedule",
        "pools",
        "place",
        "diff --to-quirks fixed",
        "grow --limit 1 --like " + NODE,
    ):
        assert in_process(*command.split(), path).status in (0, 1, 3), command


@pytest.mark.parametrize(
    "command",
    ["allocate", "explain", "pools", "schedule", "diff", pytest.param("capacity", marks=pytest.mark.long)],
)
def test_every_command_answers_as_on_a_dump(command, tmp_path, monkeypatch):
    """The same objects, as `kubectl get -o json` would have brought them."""
    answers = Answers()
    whole = [item for listed in whole_lists(answers) for item in listed["items"]]
    dump = tmp_path / "dump.json"
    dump.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": whole}))
    monkeypatch.setattr("dra_plan.live.Kubectl", lambda *_: InProcess(answers))
    more = ["-o", "json"]
    if command == "diff":
        more += ["--to-quirks", "fixed"]
    live = in_process(command, "--live", *more)
    # A dump does not show that there are no pods outside of the only namespace.
    dumped = in_process(
        command, str(dump), "--kubernetes-version", "1.36.2", "--ignore-warning", "one-namespace", *more
    )
    assert live.status == dumped.status
    assert _without_places(json.loads(live.out)) == _without_places(json.loads(dumped.out))
    assert "the cluster is Kubernetes 1.36.2; feature gates were read from the API server (/metrics)" in live.err


def _without_places(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_places(item) for key, item in value.items() if key not in ("source", "secondsAgo")}
    return [_without_places(item) for item in value] if isinstance(value, list) else value


def test_files_override_what_the_cluster_has(tmp_path, monkeypatch):
    answers = Answers()
    monkeypatch.setattr("dra_plan.live.Kubectl", lambda *_: InProcess(answers))
    node = answers.to("admin", "/api/v1/nodes").body["items"][1]
    edited = {**node, "apiVersion": "v1", "kind": "Node", "spec": {"unschedulable": True}}
    (tmp_path / "node.json").write_text(json.dumps(edited))
    ran = in_process("diff", "--live", str(tmp_path / "node.json"), "-o", "json")
    name = node["metadata"]["name"]
    assert f"Node {name} is taken from {tmp_path / 'node.json'}:1, not from the cluster" in ran.err
    assert json.loads(ran.out)["pods"]
    told = in_process("explain", "--live", str(tmp_path / "node.json"), "-o", "json")
    assert '"plugin": "NodeUnschedulable"' in told.out


def test_what_planning_does_not_read_is_dropped():
    found = objects(read(Answers()))
    assert not any("managedFields" in obj["metadata"] for obj in found)
    pods = [obj for obj in found if obj["kind"] == "Pod"]
    assert pods
    containers = [container for pod in pods for container in pod["spec"]["containers"]]
    assert {key for container in containers for key in container} <= {"name", "image", "ports", "resources"}
    annotations = {key for obj in found for key in obj["metadata"].get("annotations", ())}
    assert all("kubernetes.io/" in key for key in annotations)


def test_secrets_in_a_pod_are_not_kept():
    pod = {
        "metadata": {
            "name": "a",
            "namespace": "b",
            "annotations": {
                "kubectl.kubernetes.io/last-applied-configuration": "topsecret",
                "company.example/token": "topsecret",
            },
            "managedFields": [{"manager": "topsecret"}],
        },
        "spec": {
            "containers": [
                {"name": "c", "image": "i", "command": ["topsecret"], "env": [{"name": "A", "value": "topsecret"}]}
            ]
        },
    }
    found = read(Answers(lists={PODS: [pod]}))
    assert "topsecret" not in found.source().data.decode()
    [kept] = [obj for obj in objects(found) if obj["kind"] == "Pod"]
    assert kept["spec"] == {"containers": [{"name": "c", "image": "i"}]}


def test_a_snapshot_is_the_same_bytes(tmp_path):
    first, second = (snapshot.without_time(read(Answers())) for _ in range(2))
    assert first.content("a.gz") == second.content("b.gz")
    kinds_in_order = [obj["kind"] for obj in objects(first)]
    assert kinds_in_order == sorted(kinds_in_order, key=[kind.name for kind in wanted()].index)
    header = json.loads(first.content("a.json"))["items"][0]
    assert (header["kind"], header["apiVersion"]) == ("ClusterInfo", "dra-plan/v1alpha1")


def test_commands_read_a_snapshot_back(tmp_path):
    path = written(read(Answers("all")), tmp_path, "snapshot.json.gz")
    cluster = Cluster.load(path)
    assert cluster.target.release == "1.36.2"
    assert cluster.target.features.device_taint_rules
    assert Cluster.load(path, feature_gates={"DRADeviceTaintRules": False}).target.features.device_taint_rules is False


# Pages


def test_a_list_is_read_in_pages(monkeypatch):
    """With the recorded pages, whose tokens the server has made."""
    monkeypatch.setattr(pages, "PAGE", 2)
    answers = Answers()
    asked: list[str] = []
    requests = InProcess(answers)

    class Recorder(Instant):
        def get(self, path: str) -> bytes:
            asked.append(path)
            return requests.get(path)

    pods = pages.read_list(Recorder(), Listed(_kind("Pod"), "v1"), lambda _: None)
    names = [json.loads(pod)["metadata"]["name"] for pod in pods]
    assert names == [item["metadata"]["name"] for item in answers.to("admin", PODS).body["items"]]
    assert len(asked) == 11
    assert asked[0] == f"{PODS}?limit=2"
    assert asked[1].startswith(f"{PODS}?limit=2&continue=eyJ2Ijoib")


def test_claims_are_read_after_pods() -> None:
    """A pod that is bound, and its claim allocated, while the cluster is read is not read bound without devices."""
    entered = threading.Event()

    class Slow(InProcess):
        def get(self, path: str) -> bytes:
            if urlsplit(path).path == PODS:
                answer = super().get(path)
                assert not entered.wait(0.2), "claims were asked for before the pods were read"
                return answer
            if "/resourceclaims" in path:
                entered.set()
            return super().get(path)

    found = snapshot.read(Slow(Answers(), "admin"))
    assert {"Pod", "ResourceClaim"} <= {each["kind"] for each in objects(found)}


def _kind(name: str) -> kinds.Kind:
    found = kinds.named(name)
    assert found is not None
    return found


class Paged(Instant):
    """Pages that are given one after the other; the last one for ever."""

    def __init__(self, *pages: bytes | RequestError) -> None:
        self.pages, self.asked = list(pages), 0

    def get(self, path: str) -> bytes:
        page = self.pages[min(self.asked, len(self.pages) - 1)]
        self.asked += 1
        if isinstance(page, RequestError):
            raise page
        return page


def page(*names: str, then: str = "", kind: str = "PodList") -> bytes:
    items = [{"metadata": {"name": name, "namespace": "a"}} for name in names]
    return json.dumps({"kind": kind, "apiVersion": "v1", "metadata": {"continue": then}, "items": items}).encode()


EXPIRED = RequestError(Refusal.EXPIRED, "The provided continue parameter is too old")


def list_pods(*answers: bytes | RequestError) -> list[str]:
    found = pages.read_list(Paged(*answers), Listed(_kind("Pod"), "v1"), lambda _: None)
    return [json.loads(text)["metadata"]["name"] for text in found]


def test_an_expired_list_is_read_anew_as_a_whole():
    assert list_pods(page("a", then="1"), EXPIRED, page("b", then="1"), page("c")) == ["b", "c"]


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ((page("a", then="1"), EXPIRED, page("a", then="1"), EXPIRED, page("a", then="1"), EXPIRED), "changed while"),
        ((page("a", then="1"), page("b", then="1"), page("c", then="1")), "never ends"),
        ((page("a", then="1"), page("a", then="2")), "never ends"),
        ((page(then="1"), page(then="2"), page(then="3"), page(then="4")), "never ends"),
        ((page("a")[:-9],), "not a complete JSON document"),
        ((b"",), "not a complete JSON document"),
        ((b"<html>sign in</html>",), "not a complete JSON document"),
        ((b'{"kind": "Status", "apiVersion": "v1"}',), "Status of v1, instead of PodList of v1"),
        ((page("a", kind="NodeList"),), "NodeList of v1, instead of PodList of v1"),
        ((b'{"kind":"PodList","apiVersion":"v1","items":[7]}',), "has no metadata"),
        ((b'{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{}}]}',), "has no name"),
    ],
)
def test_nothing_half_read_is_taken_for_the_whole(answers, said):
    with pytest.raises(RequestError, match=said) as raised:
        list_pods(*answers)
    assert raised.value.refusal is Refusal.FAILED


# Versions, gates


@pytest.mark.parametrize("run", ["default", "stock", "all"])
def test_the_newest_version_that_is_served(run):
    answers = Answers(run)
    found = read(answers)
    rules = [path for path in answers.seen if path.endswith("/devicetaintrules")]
    assert rules == ([] if run == "stock" else ["/apis/resource.k8s.io/v1beta2/devicetaintrules"])
    slices = {obj["apiVersion"] for obj in objects(found) if obj["kind"] == "ResourceSlice"}
    assert slices == {"resource.k8s.io/v1"}
    groups = {obj["kind"]: obj["apiVersion"] for obj in objects(found) if obj["kind"] == "PodGroup"}
    assert groups == ({"PodGroup": "scheduling.k8s.io/v1alpha2"} if run == "all" else {})


def test_a_server_that_does_not_say_what_it_has_is_tried():
    """Newest versions first; DeviceTaintRule is found at the second try."""
    answers = Answers()
    whole = InProcess(answers)

    class Silent(Instant):
        def get(self, path: str) -> bytes:
            if path == "/apis":
                raise RequestError(Refusal.FORBIDDEN, "no")
            return whole.get(path)

    found = snapshot.read(Silent())
    assert {entry.resource for entry in found.info.not_listed} == {
        "podgroups.scheduling.k8s.io",
        "runtimeclasses.node.k8s.io",
        "workloads.scheduling.k8s.io",
    }
    assert "/apis/resource.k8s.io/v1beta2/devicetaintrules" in answers.seen


def test_gates_are_those_of_the_api_server():
    found = read(Answers("all")).info
    assert found.feature_gates_from == "kube-apiserver /metrics"
    assert found.feature_gates["DRADeviceTaintRules"] is True
    assert read(Answers()).info.feature_gates["DRADeviceTaintRules"] is False


def test_without_metrics_gates_are_those_of_the_command_line():
    class NoMetrics(InProcess):
        def get(self, path: str) -> bytes:
            if path == "/metrics":
                raise RequestError(Refusal.FORBIDDEN, "no")
            return super().get(path)

    found = snapshot.read(NoMetrics(Answers("all"))).info
    assert found.feature_gates_from == "kube-apiserver /flagz"
    assert found.feature_gates["GangScheduling"] is True


def test_who_may_not_read_gates_gets_the_defaults_and_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr("dra_plan.live.Kubectl", lambda *_: InProcess(Answers("all"), "noslices"))
    ran = in_process("snapshot", "-o", str(tmp_path / "s.json"))
    assert ran.status == 0
    ran = in_process("schedule", "--live")
    assert "its feature gates could not be read (/metrics, /flagz), so the release's defaults apply" in ran.err
    assert not Cluster.load(tmp_path / "s.json").target.features.device_taint_rules


def test_a_server_that_emulates_answers_as_the_older_release(tmp_path, monkeypatch):
    monkeypatch.setattr("dra_plan.live.Kubectl", lambda *_: InProcess(Answers("emu135")))
    ran = in_process("pools", "--live", "-o", "json")
    assert json.loads(ran.out)["target"]["kubernetesVersion"] == "1.35"
    assert "the cluster is Kubernetes 1.36.2, which emulates 1.35" in ran.err


def test_gates_of_the_scheduler_go_before_those_of_the_api_server(tmp_path, monkeypatch):
    monkeypatch.setattr("dra_plan.live.Kubectl", lambda *_: InProcess(Answers("all")))
    path = tmp_path / "metrics"
    path.write_text('kubernetes_feature_enabled{name="DRADeviceTaintRules",stage="BETA"} 0\n')
    found = tmp_path / "s.json"
    assert in_process("snapshot", "-o", str(found), "--scheduler-metrics", str(path)).status == 0
    assert not Cluster.load(found).target.features.device_taint_rules
    with_rules = in_process("pools", "--live", "-o", "json")
    without = in_process("pools", "--live", "-o", "json", "--scheduler-metrics", str(path))
    assert json.loads(with_rules.out)["target"] != json.loads(without.out)["target"]
    chosen = in_process("pools", str(found), "-o", "json", "--feature-gates", "DRADeviceTaintRules")
    assert json.loads(chosen.out)["target"] != json.loads(without.out)["target"]


def test_an_address_of_metrics_is_only_asked_with_live(tmp_path):
    path = written(read(Answers()), tmp_path)
    ran = in_process("pools", path, "--scheduler-metrics", "http://127.0.0.1:9/metrics")
    assert (ran.status, ran.err) == (
        2,
        "error: --scheduler-metrics with a URL needs --live\n",
    )


# Refusals


def test_what_may_not_be_listed_is_said_with_the_rule(monkeypatch):
    monkeypatch.setattr("dra_plan.live.Kubectl", lambda *_: InProcess(Answers(), "noslices"))
    ran = in_process("explain", "--live", "-o", "json")
    warnings = {each["code"]: each["message"] for each in reversed(json.loads(ran.out)["warnings"])}
    assert "slices-missing" in warnings
    assert (
        "resourceslices.resource.k8s.io, devicetaintrules.resource.k8s.io: you may not list them, so they"
        ' count as missing; this rule allows it: {apiGroups: ["resource.k8s.io"], resources: [resourceslices,'
        " devicetaintrules], verbs: [list]}" in ran.err
    )


def test_a_snapshot_knows_what_it_lacks(tmp_path):
    path = written(read(Answers(), "noslices"), tmp_path)
    codes = [notice.code for notice in Cluster.load(path).inventory.notices]
    assert codes
    assert set(codes) == {"not-listed"}
    [first, *_] = read(Answers(), "noslices").info.not_listed
    assert first.reason == "Forbidden"
    assert 'User "noslices" cannot list resource "resourceslices"' in first.message


@pytest.mark.parametrize("user", ["nobody", None])
def test_who_may_list_nothing_gets_no_plan(user, monkeypatch):
    monkeypatch.setattr("dra_plan.live.Kubectl", lambda *_: InProcess(Answers(), user))
    ran = in_process("explain", "--live", "pod/x")
    assert ran.status == 2
    name = user or "system:anonymous"
    assert ran.err.startswith("error: the cluster lists no object that planning needs: nodes is forbidden: User")
    assert name in ran.err
    assert "dra-plan snapshot --print-rbac" in ran.err


def test_a_cluster_without_dra_is_told(monkeypatch):
    monkeypatch.setattr("dra_plan.live.Kubectl", lambda *_: InProcess(Answers("nodra")))
    ran = in_process("schedule", "--live")
    assert "the cluster does not serve resource.k8s.io, so it has no slices, classes and claims" in ran.err


def test_the_printed_role_suffices_and_is_no_more():
    import yaml

    role = yaml.safe_load(cluster_role())
    lists = {
        (rule["apiGroups"][0], name) for rule in role["rules"] if "resources" in rule for name in rule["resources"]
    }
    assert lists == {(kind.group, kind.plural) for kind in (*kinds.every(), *BESIDE)}
    assert all(rule["verbs"] in (["list"], ["get"]) for rule in role["rules"])
    assert [rule["nonResourceURLs"] for rule in role["rules"] if "nonResourceURLs" in rule] == [["/metrics", "/flagz"]]


@pytest.mark.parametrize(
    ("failing", "planned"), [("Pod", False), ("ResourceSlice", False), ("PodDisruptionBudget", True)]
)
def test_a_list_that_fails_is_missing_as_a_whole(failing, planned):
    path = Listed(_kind(failing), "v1").path

    class Failing(InProcess):
        def get(self, target: str) -> bytes:
            if target.startswith(path):
                raise RequestError(Refusal.FAILED, "connection refused")
            return super().get(target)

    if planned:
        found = snapshot.read(Failing(Answers()))
        assert [(each.resource, each.reason) for each in found.info.not_listed if each.message] == [
            ("poddisruptionbudgets.policy", "Failed")
        ]
        return
    with pytest.raises(UnreadClusterError, match=r"cannot read .*, so nothing is planned: connection refused"):
        snapshot.read(Failing(Answers()))


def test_hostile_text_of_a_server_acts_on_nothing(monkeypatch):
    class Hostile(Instant):
        def get(self, path: str) -> bytes:
            raise RequestError(Refusal.FAILED, "\x1b[2J::error::gone\nerror: more")

    monkeypatch.setattr("dra_plan.live.Kubectl", lambda *_: Hostile())
    ran = in_process("pools", "--live")
    assert ran.status == 2
    assert "\x1b" not in ran.err
    assert ran.err.count("\n") == 1
    assert "::error" not in ran.err
