"""What `repack` says, and what it refuses to be asked; the script; prices, budgets and pods that are left alone."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from dra_plan import Cluster, InputError, UsageError
from dra_plan.questions.repack.answer import RepackPlan
from dra_plan.questions.repack.document import RepackDocument, RepackedPod, RepackWave
from dra_plan.questions.repack.script import script
from tests.build import GPU, claim, device, device_class, manifest, node, on_node, owned, pod, request, reserved, slice_
from tests.cli.running import in_process
from tests.questions.repack.fleets import Asks, Plain, asked, carried_out, running, waiting

SCATTERED = ("repack", "fixtures/scattered", "--for", "pod/ml/train")
GOLDEN = Path(__file__).parent / "golden"
ONE, TWO = Asks(1, 1), Asks(2, 1)


def fleet(*pods: tuple[str, str, int], each: int = 2, nodes: str = "abc", **metadata: Plain) -> list[Plain]:
    """Nodes with devices; pods of one device by name, node and device, owned unless `metadata` says otherwise."""
    made = [device_class()]
    for name in nodes:
        made += [node(name), slice_(name, *(device(f"gpu-{index}", model="A") for index in range(each)))]
    for name, where, index in pods:
        data = metadata.get(name, owned("ReplicaSet", f"rs-{name}"))
        made += running(name, where, ONE, [f"gpu-{index}"], metadata=data, labels={"app": name})
    return made


@pytest.mark.parametrize("form", ["table", "wide", "markdown", "name", "json", "script"])
def test_printed(form: str, golden: Any) -> None:
    ran = in_process(*SCATTERED, "-o", form)
    assert (ran.status, ran.err) == (0, "")
    golden(GOLDEN / f"repack.{form}", ran.out)


def test_free_devices_are_those_of_the_model_and_nobody_has_a_share_of_them() -> None:
    policy = {"default": "1", "validRange": {"min": "1", "max": "8", "step": "1"}}
    parts = {"parts": {"value": "8", "requestPolicy": policy}}
    made = [device_class()]
    for name in "ab":
        devices = (device(f"gpu-{i}", model="A", capacity=parts, allowMultipleAllocations=True) for i in range(2))
        made += [node(name), slice_(name, *devices)]
    for name, where in (("p", "a"), ("q", "b")):
        *claims, pod = running(name, where, ONE, ["gpu-0"], metadata=owned("ReplicaSet", f"rs-{name}"))
        [result] = claims[0]["status"]["allocation"]["devices"]["results"]
        result |= {
            "shareID": "00000000-0000-4000-8000-00000000000" + str(ord(name) % 10),
            "consumedCapacity": {"parts": "1"},
        }
        claims[0]["spec"]["devices"]["requests"][0]["exactly"]["capacity"] = {"requests": {"parts": "1"}}
        made += [*claims, pod]
    found = Cluster.of(made).repack(free="2xA")
    assert (found.outcome, found.moves, found.at_least) == ("Moves", 1, 1)
    [place] = found.document.places
    assert len(place.devices) == 2
    [moved] = found.waves[0].moved
    assert moved.from_node == place.node != moved.to_node


def test_the_cheapest_moves_are_found_where_moves_have_prices() -> None:
    objects = fleet(("p", "a", 0), ("q", "b", 0), ("r", "b", 1), each=2, nodes="abc")[:]
    objects += [*running("s", "c", ONE, ["gpu-0"], metadata=owned("ReplicaSet", "rs-s"), labels={"app": "s"})]
    objects += waiting("room", TWO)
    cluster = Cluster.of(objects)
    assert [pod.name for pod in cluster.repack(for_="pod/room").waves[0].moved] in (["p"], ["s"])
    for dear, cheap in (("p", "s"), ("s", "p")):
        found = cluster.repack(for_="pod/room", prices=[{"selector": f"app={dear}", "price": 7}])
        assert [pod.name for pod in found.waves[0].moved] == [cheap]
        assert (found.document.cost, found.at_least) == (1, 1)
    found = cluster.repack(for_="pod/room", prices=[{"price": 7}])
    assert (found.document.cost, found.at_least, found.moves) == (7, 7, 1)


def test_who_is_left_alone_is_told_and_what_allowing_it_brings() -> None:
    objects = fleet(("p", "a", 0), ("q", "b", 0), nodes="ab", p={}, q={})
    objects += waiting("room", TWO)
    found = Cluster.of(objects).repack(for_="pod/room")
    assert (found.outcome, found.document.movable) == ("Impossible", 0)
    [kept] = found.left_alone
    assert (kept.reason, kept.pods) == ("NoController", 2)
    [allowed] = found.allowing
    assert (allowed.options, allowed.outcome, allowed.moves) == (["--movable bare"], "Moves", 1)
    assert Cluster.of(objects).repack(for_="pod/room", movable="bare").moves == 1


def test_pods_of_higher_priority_stay_unless_they_are_allowed_to_move() -> None:
    objects = fleet(("p", "a", 0), ("q", "b", 0), ("r", "b", 1), nodes="abc")
    objects += [*running("s", "c", ONE, ["gpu-0"], metadata=owned("ReplicaSet", "rs-s")), *waiting("room", TWO)]
    for each in objects:
        if each["kind"] == "Pod":
            each["spec"]["priority"] = {"p": 20, "s": 30, "room": 10}.get(each["metadata"]["name"], 40)
    cluster = Cluster.of(objects)
    found = cluster.repack(for_="pod/room")
    assert (found.outcome, found.document.movable) == ("Impossible", 0)
    [kept] = found.left_alone
    assert (kept.reason, kept.pods) == ("HigherPriority", 4)
    [allowed] = found.allowing
    assert (allowed.options, allowed.outcome, allowed.moves) == (["--up-to-priority 40"], "Moves", 1)
    found = cluster.repack(for_="pod/room", up_to_priority=20)
    assert [pod.name for wave in found.waves for pod in wave.moved] == ["p"]
    assert cluster.repack(for_="pod/room", up_to_priority=19).outcome == "Impossible"
    assert cluster.repack(free="2xA", up_to_priority=9).outcome == "Impossible"
    assert cluster.repack(free="2xA").outcome == "Moves"


def test_budgets_are_kept_wave_by_wave() -> None:
    objects = fleet(("p", "a", 0), ("q", "a", 1), nodes="ab")
    for each in objects:
        if each["kind"] == "Pod":
            each["metadata"]["labels"] = {"app": "x"}
    spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": "x"}}}
    objects += [manifest("PodDisruptionBudget", "x", namespace="default", spec=spec), *waiting("room", TWO)]
    objects[-1]["spec"]["nodeSelector"] = {"kubernetes.io/hostname": "a"}
    found = Cluster.of(objects).repack(for_="pod/room")
    assert [[pod.name for pod in wave.moved] for wave in found.waves] == [["p"], ["q"]]
    assert {pod.to_node for wave in found.waves for pod in wave.moved} == {"b"}


def test_what_is_proved_is_proved_for_the_pods_that_may_move() -> None:
    objects = fleet(("p", "a", 0), ("q", "a", 1), ("r", "b", 0), nodes="abc", r={})
    objects += [*running("s", "c", ONE, ["gpu-0"], metadata=owned("ReplicaSet", "rs-s")), *waiting("room", TWO)]
    objects[-1]["spec"]["nodeSelector"] = {"kubernetes.io/hostname": "a"}
    proved = "Proved for the movable pods: no plan needs fewer moves."
    few = "There is no room for pod/room: 1 move is not enough (proved for the movable pods)."
    for options, sentence in (
        ({}, proved),
        ({"max_moves": 1}, few),
        ({"movable": "bare"}, "Proved: no plan needs fewer moves."),
    ):
        lines = str(Cluster.of(objects).repack(for_="pod/room", **options)).splitlines()
        assert [line for line in lines if "roved" in line] == [sentence]


def shared_claim(users: tuple[str, ...]) -> Plain:
    """An allocated claim on node a that these pods use."""
    results = [{"request": "r", "driver": GPU, "pool": "a", "device": "gpu-0"}]
    made = claim("shared", request())
    made["status"] = {
        "allocation": {"devices": {"results": results}, "nodeSelector": {"nodeSelectorTerms": [on_node("a")]}},
        "reservedFor": reserved(*users),
    }
    return made


def user(name: str, where: str = "") -> Plain:
    """A pod that uses this claim."""
    on: Plain = {"nodeName": where, "status": {"phase": "Running"}} if where else {}
    return pod(name, cpu="1", claims={"gpu": "shared"}, metadata=owned("ReplicaSet", f"rs-{name}"), **on)


def test_pods_that_share_a_claim_are_left_alone_together() -> None:
    objects = [*fleet(nodes="ab"), shared_claim(("p", "q")), user("p", "a"), user("q", "a"), *waiting("room", TWO)]
    objects[-1]["spec"]["nodeSelector"] = {"kubernetes.io/hostname": "a"}
    found = Cluster.of(objects).repack(for_="pod/room")
    assert (found.outcome, found.document.movable) == ("Impossible", 0)
    assert [(each.reason, each.pods) for each in found.left_alone] == [("SharedClaim", 2)]
    assert "2 pods sharing a claim with other pods (default/p and default/q)" in str(found)


def test_a_pod_moves_with_its_claim_although_a_pending_pod_names_the_claim_too() -> None:
    """The claim loses its devices with its only user, and gets others on the new node."""
    objects = [*fleet(nodes="ab"), shared_claim(("p",)), user("p", "a"), user("q"), *waiting("room", TWO)]
    for each in objects:
        if each["metadata"]["name"] in ("q", "room"):
            each["spec"]["nodeSelector"] = {"kubernetes.io/hostname": "a"}
    found = Cluster.of(objects).repack(for_="pod/room")
    assert (found.outcome, found.moves, found.left_alone) == ("Moves", 1, ())
    [moved] = found.waves[0].moved
    assert (moved.name, moved.to_node, moved.devices) == ("p", "b", [f"{GPU}/b/gpu-0"])
    alone = [each for each in objects if each["metadata"]["name"] != "q"]
    assert carried_out(alone, found.waves, ["room"]) == {"p": "b", "room": "a"}


@pytest.mark.parametrize("reach", ["all", "rack", "device"])
def test_pods_with_devices_that_several_nodes_reach_are_left_alone(reach: str) -> None:
    """The device stays in use wherever the pod goes; another pod on the node moves."""
    objects = fleet(("p", "a", 0), ("q", "a", 1), nodes="abc")
    rack = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "rack", "operator": "In", "values": ["1"]}]}]}
    where: Plain = {"all": {"allNodes": True}, "rack": {"nodeSelector": rack}}.get(reach, {})
    apart: Plain = {} if where else {"perDeviceNodeSelection": True}
    net = slice_("net", device("n0", model="N", **({"allNodes": True} if apart else {})), **where, **apart)
    far = claim("far", asked(Asks(1, 0, "N")))
    results = [{"request": "r", "driver": GPU, "pool": "net", "device": "n0"}]
    far["status"] = {"allocation": {"devices": {"results": results}}, "reservedFor": reserved("p")}
    for each in objects:
        if each["kind"] == "Pod" and each["metadata"]["name"] == "p":
            each["spec"]["resourceClaims"].append({"name": "far", "resourceClaimName": "far"})
        if each["kind"] == "Node":
            each["metadata"]["labels"]["rack"] = "1"
    objects += [net, far, *waiting("room", ONE)]
    objects[-1]["spec"]["nodeSelector"] = {"kubernetes.io/hostname": "a"}
    found = Cluster.of(objects).repack(for_="pod/room")
    assert [(each.reason, each.pods) for each in found.left_alone] == [("SharedDevices", 1)]
    assert [pod.name for wave in found.waves for pod in wave.moved] == ["q"]
    assert carried_out(objects, found.waves, ["room"])["room"] == "a"
    objects[-2]["spec"]["devices"]["requests"][0]["exactly"]["count"] = 2
    found = Cluster.of(objects).repack(for_="pod/room")
    assert (found.outcome, found.document.movable) == ("Impossible", 1)
    assert "1 pod using devices that several nodes can reach (default/p)" in str(found)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "give one of --free, --for and --most"),
        (["--most", "--free", "1xA"], "give one of --free, --for and --most"),
        (["--free", "x"], "--free 'x' is not NxMODEL=K"),
        (["--free", "1xH999"], "--free: no device has the model 'H999'"),
        (["--for", "pod/ml/train=many"], "is not OWNER=N"),
        (["--for", "pod/ml/trian"], "did you mean"),
        (["--most", "--movable", "all"], "--movable: 'all' is not one of controlled, bare"),
        (["--most", "--prices", "no-such-file"], "--prices no-such-file: no such file or directory"),
    ],
)
def test_what_can_not_be_asked(options: list[str], said: str) -> None:
    ran = in_process("repack", "fixtures/scattered", *options)
    assert (ran.status, ran.out) == (2, "")
    assert said in ran.err


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ({}, "expected a list"),
        ([{"price": 0}], "rule 1: price: expected a whole number from 1"),
        ([{"price": True}], "rule 1: price"),
        ([{"price": 1}, {"price": 1, "labels": "a"}], "rule 2: expected a map of price, selector and priority"),
        ([{"price": 1, "priority": "high"}], "rule 1: priority: expected a whole number"),
        ([{"price": 1, "selector": "a in ("}], "rule 1: selector: "),
    ],
)
def test_prices_that_can_not_be_read(rules: Any, said: str) -> None:
    with pytest.raises(InputError, match=said.replace("(", r"\(")):
        Cluster.of(fleet()).repack(most=True, prices=rules)


def test_one_kind_of_room_is_asked_for() -> None:
    with pytest.raises(UsageError, match="one of --free"):
        Cluster.of(fleet()).repack()


HOSTILE = "x'; touch hacked; echo '$(touch hacked)`touch hacked`\n touch hacked\n"


def test_names_in_the_script_never_become_commands(tmp_path: Path) -> None:
    """Run with a kubectl that only notes its arguments."""
    pods = [
        RepackedPod(namespace=HOSTILE, name=f"-{HOSTILE}{number}", owner=None, from_node=HOSTILE, to_node=HOSTILE)
        for number in range(2)
    ]
    waves = [RepackWave(cordoned=[HOSTILE], moved=pods)]
    numbers: dict[str, Any] = dict.fromkeys(("rooms", "found", "at_most", "moves", "cost", "at_least", "movable"), 2)
    document = RepackDocument(
        target=Cluster.of(fleet()).repack(most=True).document.target,
        outcome="Moves",
        asked="For",
        room=HOSTILE,
        most_moves=None,
        waves=waves,
        places=[],
        left_alone=[],
        allowing=[],
        warnings=[],
        **numbers,
    )
    fake = tmp_path / "kubectl"
    fake.write_text(
        '#!/bin/sh\nfor each in "$@"; do printf "%s\\0" "$each"; done >> "$NOTES"\n'
        'case "$*" in *nodeName*uid*) printf "%s u" "$NODE" ;; esac\n'
    )
    fake.chmod(0o755)
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "NOTES": str(tmp_path / "notes"), "NODE": HOSTILE}
    ran = subprocess.run(
        ["sh"], input=script(document), cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert not (tmp_path / "hacked").exists()
    noted = (tmp_path / "notes").read_text().split("\0")
    assert noted[:3] == ["cordon", "--", HOSTILE]
    assert f"pod/{pods[0].name}" in noted


def test_the_script_has_the_waves_in_order() -> None:
    ran = in_process(*SCATTERED, "-o", "script")
    commands = [shlex.split(line) for line in ran.out.splitlines() if line.startswith("kubectl")]
    assert commands[0] == ["kubectl", "cordon", "--", "gpu-1"]
    assert commands[-1] == ["kubectl", "uncordon", "--", "gpu-1"]
    evictions = [line for line in ran.out.splitlines() if "/eviction" in line]
    assert [json.loads(shlex.split(line)[2])["metadata"]["name"] for line in evictions] == ["serve-a", "embed"]


def bare_moves() -> RepackPlan:
    return Cluster.of(fleet(("p", "a", 0), ("q", "b", 0), p={}, q={})).repack(free="2xA=2", movable="bare")


def run_script(tmp_path: Path, kubectl: str) -> tuple[int, str, list[str]]:
    """Run the script that moves a bare pod with a kubectl; return its status, errors, and the kubectl commands."""
    text = script(bare_moves().document)
    fake = tmp_path / "kubectl"
    fake.write_text(f'#!/bin/sh\necho "$*" >> "$NOTES"\n{kubectl}\n')
    fake.chmod(0o755)
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "NOTES": str(tmp_path / "notes"), "TMPDIR": str(tmp_path)}
    ran = subprocess.run(["sh"], input=text, env=environment, capture_output=True, text=True, check=False)
    return ran.returncode, ran.stderr, (tmp_path / "notes").read_text().splitlines()


def test_the_script_evicts_no_pod_that_is_not_where_the_plan_says(tmp_path: Path) -> None:
    status, errors, commands = run_script(tmp_path, 'case "$*" in *nodeName*) echo "elsewhere u" ;; esac')
    assert status == 1
    assert "is not on node" in errors
    assert "kubectl uncordon -- " in errors
    assert not any("create" in each for each in commands)


def test_a_script_that_stops_keeps_the_pods_that_it_has_not_created_again(tmp_path: Path) -> None:
    kubectl = """case "$*" in
      *nodeName*) echo "$PLANNED u" ;;
      "create -f -") exit 1 ;;
      *"-o json -- "*) echo "{}" ;;
    esac"""
    node = bare_moves().waves[0].moved[0].from_node
    status, errors, _ = run_script(tmp_path, kubectl.replace("$PLANNED", node))
    assert status == 1
    [file] = [line.partition(": ")[2] for line in errors.splitlines() if line.startswith("Pod not created again")]
    assert Path(file).read_text() == "{}\n"


def test_devices_of_the_driver(tmp_path: Path) -> None:
    assert GPU == "gpu.example.com"
    found = Cluster.of(fleet(("p", "a", 0), ("q", "b", 0), ("r", "c", 0))).repack(free="2xA=2")
    assert (found.outcome, found.document.rooms) == ("Impossible", 2)
    found = Cluster.of(fleet(("p", "a", 0), ("q", "b", 0))).repack(free="2xA=2")
    assert (found.outcome, found.moves) == ("Moves", 1)
