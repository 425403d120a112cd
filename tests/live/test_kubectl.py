"""Through a real kubectl, from a server that answers as a real one, and from servers that are broken."""

from __future__ import annotations

import json
import socket
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from dra_plan import Cluster
from dra_plan.live import kubectl as program
from dra_plan.live.beside import BESIDE
from dra_plan.live.kubectl import Kubectl, KubectlMissingError, Listed, Refusal, RequestError
from dra_plan.manifests import kinds
from tests.cli.running import ROOT, Ran, in_process

from .replay import Answer, Answers, InProcess, kubeconfig, send, served, whole_lists

SLICES = "/apis/resource.k8s.io/v1/resourceslices"


def ask(path: Path, answers: Answers, *command: str, user: str | None = "admin", **env: str) -> Ran:
    with served(answers, user) as address:
        return in_process(*command, "--kubeconfig", kubeconfig(path, address), **env)


def test_a_snapshot_through_kubectl(kubectl, tmp_path):
    """It is what the same answers give without kubectl; no credential, no configuration is read on the way."""
    from dra_plan.live import snapshot

    answers = Answers()
    ran = ask(tmp_path, answers, "snapshot", "-o", str(tmp_path / "s.json.gz"))
    assert (ran.status, ran.out) == (0, "")
    assert ran.err == f"67 objects of Kubernetes v1.36.2 written to {tmp_path / 's.json.gz'}\n"
    without = snapshot.read(InProcess(Answers()))
    info = Cluster.load(tmp_path / "s.json.gz").inventory.cluster_info
    assert info is not None
    assert info.feature_gates == without.info.feature_gates
    assert [entry.resource for entry in info.not_listed] == [entry.resource for entry in without.info.not_listed]
    import gzip

    read_back = json.loads(gzip.decompress((tmp_path / "s.json.gz").read_bytes()))["items"]
    assert read_back[1:] == [json.loads(text) for text in without.objects]
    assert not any("secret" in path or "configmap" in path for path in answers.seen)


COMMANDS = {
    "allocate": [],
    "autoscale": ["--groups", str(ROOT / "tests" / "cli" / "inputs" / "autoscale-groups.yaml")],
    "capacity": [],
    "diff": ["--to-quirks", "fixed"],
    "explain": ["pod/too-big", "-n", "team-a", "--moves", "1"],
    "grow": ["--like", "dra-example-driver-cluster-worker", "--limit", "2"],
    "impact": ["-f", str(ROOT / "examples" / "impact" / "changes" / "driver-2.yaml")],
    "maintain": ["--nodes", "dra-example-driver-cluster-worker"],
    "place": [],
    "pools": [],
    "repack": ["--most"],
    "replay": ["--events", str(ROOT / "tests" / "live" / "events.jsonl")],
    "schedule": [],
}
"""Every command that can ask a cluster, with a question."""


def test_no_command_is_forgotten():
    from typer.main import get_command

    from dra_plan.main import program as whole

    commands: Any = get_command(whole())
    asking = {name for name, command in commands.commands.items() if any(o.name == "live" for o in command.params)}
    assert asking == set(COMMANDS)


@pytest.mark.long
@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_through_kubectl(command, kubectl, tmp_path):
    """It answers as on a dump of the same objects, and nothing but what planning reads was asked for."""
    answers = of_two_namespaces()
    dump = written_dump(tmp_path, of_two_namespaces())
    live = ask(tmp_path, answers, command, *COMMANDS[command], "-o", "json")
    kept = in_process(command, dump, *COMMANDS[command], "--kubernetes-version", "1.36.2", "-o", "json")
    assert live.status == kept.status
    assert live.status in (0, 1, 3), live.err
    assert _without_places(live.out) == _without_places(kept.out)
    lists = {Listed(kind, version).path for kind in (*kinds.every(), *BESIDE) for version in kind.versions}
    groups = {path.rpartition("/")[0] for path in lists}
    assert set(answers.seen) <= lists | groups | {"/version", "/apis", "/metrics", "/flagz"}


def of_two_namespaces() -> Answers:
    """The recorded server with a pod of kube-system: without one, a dump looks as after `kubectl get` without -A."""
    pods = Answers().to("admin", "/api/v1/pods").body["items"]
    bound = next(pod for pod in pods if pod["spec"].get("nodeName"))
    metadata = {"namespace": "kube-system", "name": "kube-proxy", "uid": "5b0d0c5e-6f0f-4f7e-8a53-0e0a7c1d2b3f"}
    proxy = {
        "metadata": {**metadata, "creationTimestamp": bound["metadata"]["creationTimestamp"]},
        "spec": {"nodeName": bound["spec"]["nodeName"], "containers": [{"name": "proxy", "image": "proxy"}]},
        "status": {"phase": "Running"},
    }
    return Answers(lists={"/api/v1/pods": [*pods, proxy]})


def written_dump(folder: Path, answers: Answers) -> str:
    """The objects as `kubectl get -o json` prints them."""
    items = [item for listed in whole_lists(answers) for item in listed["items"]]
    (folder / "dump.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    return str(folder / "dump.json")


def _without_places(text: str) -> object:
    def bare(value: object) -> object:
        if isinstance(value, dict):
            return {key: bare(item) for key, item in value.items() if key not in ("source", "secondsAgo")}
        return [bare(item) for item in value] if isinstance(value, list) else value

    return bare(json.loads(text))


@pytest.mark.long
@pytest.mark.parametrize("user", ["planner", "viewer", "noslices", "nobody", "__bad", None])
def test_each_recorded_refusal_through_kubectl(user, kubectl, tmp_path):
    """The same is said as without kubectl, whose own words are around the server's."""
    ran = ask(tmp_path, Answers(), "snapshot", "-o", str(tmp_path / "s.json"), user=user)
    refused = user in ("nobody", "__bad", None)
    assert ran.status == (2 if refused else 0)
    assert (tmp_path / "s.json").exists() is not refused
    said = {
        "planner": 'this rule allows it: {apiGroups: ["storage.k8s.io"]',
        "viewer": "nodes, resourcequotas, limitranges, persistentvolumes: you may not list them",
        "noslices": "resourceslices.resource.k8s.io, devicetaintrules.resource.k8s.io: you may not list them",
        "nobody": 'lists no object that planning needs: nodes is forbidden: User "nobody" cannot list',
        "__bad": "cannot read the cluster: You must be logged in to the server (Unauthorized)",
        None: 'User "system:anonymous" cannot list resource "nodes"',
    }
    assert said[user] in ran.err


# As kubectl's plugin


@pytest.mark.long
def test_the_plugin_asks_where_no_path_is_named(kubectl, tmp_path, monkeypatch):
    monkeypatch.setattr("dra_plan.cli.live.is_plugin", lambda: True)
    ran = ask(tmp_path, Answers(), "explain", "pod/too-big", "-n", "team-a", "-o", "json")
    assert json.loads(ran.out)["claimSets"][0]["owner"]["name"] == "too-big"


def test_the_plugin_reads_paths_that_are_named(tmp_path, monkeypatch):
    monkeypatch.setattr("dra_plan.cli.live.is_plugin", lambda: True)
    monkeypatch.setenv("KUBECTL_PATH", str(tmp_path / "absent"))
    assert in_process("pools", "fixtures/quickstart").status == 0
    assert "KUBECTL_PATH: cannot start this program" in in_process("pools").err
    assert "KUBECTL_PATH: cannot start this program" in in_process("explain", "pod/train").err


# Broken servers, and broken kubectls


def closed(handler: BaseHTTPRequestHandler) -> None:
    handler.connection.shutdown(socket.SHUT_RDWR)


def cut(handler: BaseHTTPRequestHandler) -> None:
    """Half of the body that was announced."""
    send(handler, Answer(200, '{"kind": "ResourceSliceList", "items": [{"metadata"'), length=500)
    handler.close_connection = True


def truncated(handler: BaseHTTPRequestHandler) -> None:
    """A whole answer of half a document."""
    send(handler, Answer(200, '{"kind": "ResourceSliceList", "items": [{"metadata"'))


def expired(handler: BaseHTTPRequestHandler) -> None:
    body = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "too old", "reason": "Expired"}
    send(handler, Answer(410, {**body, "code": 410}))


def endless(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Connection", "close")
    handler.end_headers()
    handler.close_connection = True
    try:
        handler.wfile.write(b'{"kind": "ResourceSliceList", "items": [')
        while True:
            handler.wfile.write(b" " * 65536)
    except OSError:
        pass


def silent(handler: BaseHTTPRequestHandler) -> None:
    time.sleep(4)
    handler.close_connection = True


BROKEN = {
    "closed": (closed, "EOF|connection reset"),
    "cut": (cut, "unexpected EOF"),
    "truncated": (truncated, "the response is not a complete JSON document"),
    "expired": (expired, "the list changed while it was read, 3 times: too old"),
    "endless": (endless, "the response is too long: more than 1 MiB for one page"),
    "silent": (silent, "the server was silent for 1 s"),
}


def _silence(name: str) -> float:
    """Short where it is what is tried: kubectl itself takes a while on a busy machine."""
    return 1 if name == "silent" else program.SILENCE


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_server_is_told(name, kubectl, tmp_path, monkeypatch):
    """The list of slices, by itself: no part of it is given back."""
    from dra_plan.live.snapshot import read_list

    monkeypatch.setattr(program, "MOST_BYTES", 1 << 20)
    fault, said = BROKEN[name]
    slices = kinds.named("resourceslices")
    assert slices is not None
    with served(Answers(faults={SLICES: fault})) as address:
        asked = Kubectl(kubeconfig=kubeconfig(tmp_path, address), silence=_silence(name))
        with pytest.raises(RequestError, match=said) as raised:
            read_list(asked, Listed(slices, "v1"), lambda _: None)
    assert raised.value.refusal is Refusal.FAILED


@pytest.mark.long
@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_server_ends_the_run(name, kubectl, tmp_path, monkeypatch):
    monkeypatch.setattr(program, "MOST_BYTES", 1 << 20)
    monkeypatch.setattr("dra_plan.live.Kubectl", lambda *named: Kubectl(*named, silence=_silence(name)))
    ran = ask(tmp_path, Answers(faults={SLICES: BROKEN[name][0]}), "explain", "pod/too-big")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("error: cannot read resourceslices.resource.k8s.io, so nothing is planned: ")
    assert ran.err.count("\n") == 1


def test_nobody_listens(kubectl, tmp_path):
    ran = in_process("pools", "--kubeconfig", kubeconfig(tmp_path, "http://127.0.0.1:9"))
    assert ran.status == 2
    assert ran.err.startswith("error: cannot read the cluster: ")
    assert "127.0.0.1:9" in ran.err


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("#!/bin/sh\necho 'error: context \"prod\" does not exist' >&2\nexit 1\n", 'context "prod" does not exist'),
        ("#!/bin/sh\nexit 3\n", "kubectl ended with status 3"),
        (
            "#!/bin/sh\necho 'E1122 07:00:00.1 1 memcache.go:2] noise' >&2\necho 'error: x' >&2\nexit 1\n",
            "the cluster: x",
        ),
        ("#!/bin/sh\nprintf '\\033[2J::error::gone' >&2\nexit 1\n", "\\x1b[2J:\\u003aerror:\\u003agone"),
    ],
)
def test_what_kubectl_says(script, said, tmp_path):
    fake = tmp_path / "kubectl"
    fake.write_text(script)
    fake.chmod(0o755)
    ran = in_process("pools", "--context", "prod", KUBECTL_PATH=str(fake))
    assert ran.status == 2
    assert ran.err.startswith("error: cannot read the cluster: ")
    assert said in ran.err


def test_arguments_reach_kubectl_as_they_are(tmp_path):
    """No shell is between, and a name that begins with a dash is no option."""
    fake = tmp_path / "kubectl"
    fake.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {tmp_path}/seen.${{3##*/}}\nexit 1\n')
    fake.chmod(0o755)
    in_process("pools", "--context", "-x; rm -rf", "--kubeconfig", "a b", KUBECTL_PATH=str(fake))
    seen = (tmp_path / "seen.version").read_text().splitlines()
    assert seen[:3] == ["get", "--raw", "/version"]
    assert seen[-2:] == ["--context=-x; rm -rf", "--kubeconfig=a b"]


def test_no_kubectl(tmp_path, monkeypatch):
    monkeypatch.delenv("KUBECTL_PATH", raising=False)
    ran = in_process("pools", "--live", PATH=str(tmp_path))
    assert (ran.status, ran.err) == (
        2,
        "error: kubectl is not on PATH; set KUBECTL_PATH to its path\n",
    )
    with pytest.raises(KubectlMissingError):
        Kubectl(program=str(tmp_path / "absent")).get("/version")


def test_a_program_of_the_current_directory_is_not_kubectl(tmp_path, monkeypatch):
    """A checkout may have a program of that name; what is on PATH, by an absolute folder, is the user's."""
    own, bin_ = tmp_path / "checkout", tmp_path / "bin"
    for folder in (own, bin_):
        folder.mkdir()
        (folder / "kubectl").write_text("#!/bin/sh\n")
        (folder / "kubectl").chmod(0o755)
    monkeypatch.chdir(own)
    monkeypatch.delenv("KUBECTL_PATH", raising=False)
    monkeypatch.setenv("PATH", f".:{bin_}")
    assert program.find() == str(bin_ / "kubectl")
    monkeypatch.setenv("PATH", ".")
    with pytest.raises(KubectlMissingError):
        program.find()
