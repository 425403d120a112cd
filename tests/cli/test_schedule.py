"""What `dra-plan schedule` prints and how it exits: workloads with replicas, configuration, later states, screens."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from dra_plan.questions.schedule.document import ScheduleDocument
from dra_plan.questions.schedule.text import FORMATS
from dra_plan.text.columns import Screen
from dra_plan.text.formats import parse
from dra_plan.text.screen import render
from tests.conftest import Golden

from .running import INPUTS, ROOT, in_process

GOLDEN = ROOT / "tests" / "cli" / "golden"
FOLDER = INPUTS / "schedule"
CLUSTER, WORK = str(FOLDER / "cluster.yaml"), str(FOLDER / "workloads.yaml")


def document(*options: str) -> dict:
    ran = in_process("schedule", CLUSTER, WORK, "-o", "json", *options)
    assert ran.status in (0, 1), ran.err
    return json.loads(ran.out)


def placed(plan: dict) -> dict[str, str | None]:
    return {pod["name"]: pod["nodeName"] for pod in plan["pods"]}


@pytest.mark.parametrize("form", ["table", "wide", "json", "yaml", "name"])
def test_every_format(form: str, golden: Golden) -> None:
    ran = in_process("schedule", CLUSTER, WORK, "-o", form)
    assert ran.status == 1, "train-1 finds no device"
    golden(GOLDEN / f"schedule-{form}.txt", ran.out)


def test_nothing_to_warn_of() -> None:
    assert in_process("schedule", CLUSTER, WORK).err == ""


@pytest.mark.parametrize("width", [80, 200])
@pytest.mark.parametrize("form", ["table", "wide"])
def test_on_a_screen(form: str, width: int, golden: Golden) -> None:
    """Nothing is wider than the screen, and no word of a message is lost."""
    screen = Screen(width, colour=False)
    plan = msgspec.convert(document("--trace"), ScheduleDocument)
    maker = FORMATS.table if form == "table" else FORMATS.wide
    assert maker is not None
    text = render(maker(plan, screen), screen)
    assert max(map(len, text.splitlines())) <= width
    flat = " ".join(text.split())
    assert "ml/train-1" in flat
    golden(GOLDEN / f"schedule-{form}-{width}.txt", text)


def test_replicas_of_every_kind() -> None:
    assert [*placed(document())] == [
        "agent", "held", "serve-0", "serve-1", "train-0", "train-1", "store-0", "web-0", "store-1"
    ]  # fmt: skip


def test_the_configuration_decides_who_scores() -> None:
    usual = placed(document())
    assert {usual["store-0"], usual["store-1"]} == {"gpu-1", "gpu-2"}, "spread"
    plan = document("--config", str(FOLDER / "config.yaml"), "--trace")
    assert {placed(plan)[f"store-{index}"] for index in (0, 1)} == {"gpu-1"}, "the fullest node first"
    scores = [attempt["score"] for attempt in plan["trace"]["attempts"] if "score" in attempt]
    assert all({"ImageLocality", "PodTopologySpread"}.isdisjoint(score) for score in scores)
    assert max(scores[0]["NodeResourcesFit"].values()) > 100, "its weight is 10"


def test_what_happens_next(tmp_path: Path) -> None:
    later = tmp_path / "later.yaml"
    later.write_text("\n---\n".join(Path(p).read_text() for p in (CLUSTER, WORK, FOLDER / "later.yaml")))
    before, after = document(), document("--then", str(later), "--trace")
    assert placed(before)["train-1"] is None
    assert placed(after)["train-1"] == "gpu-3"
    [wake] = [wake for wake in after["trace"]["wakes"] if wake["pod"] == "ml/train-1"]
    assert (wake["event"], wake["object"], wake["plugin"]) == ("NodeAdd", "gpu-3", "DynamicResources")
    unchanged = {name: node for name, node in placed(after).items() if name != "train-1"}
    assert unchanged == {name: node for name, node in placed(before).items() if name != "train-1"}


def test_extenders_are_contacted_only_when_that_is_allowed() -> None:
    config = ("--config", str(FOLDER / "extenders.yaml"))
    refused = in_process("schedule", CLUSTER, WORK, *config)
    assert (refused.status, refused.out) == (2, "")
    assert "--allow-extenders" in refused.err
    allowed = in_process("schedule", CLUSTER, WORK, *config, "--allow-extenders", "-o", "json")
    assert placed(json.loads(allowed.out)) == placed(document()), "nobody listens, and the extender can be ignored"


def test_unknown_fields_of_the_configuration_are_refused_with_their_lines(tmp_path: Path) -> None:
    text = (FOLDER / "config.yaml").read_text() + "profilez: []\nclientConnection:\n  leader: false\n"
    lines = len(text.splitlines())
    (tmp_path / "config.yaml").write_text(text)
    (tmp_path / "config.json").write_text(
        '{"kind": "KubeSchedulerConfiguration",\n"apiVersion": "kubescheduler.config.k8s.io/v1",\n"profilez": []}'
    )
    ran = in_process("schedule", CLUSTER, WORK, "--config", str(tmp_path / "config.yaml"))
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.splitlines() == [
        f"error: {tmp_path}/config.yaml:{lines - 2}: profilez: unknown field, which kube-scheduler rejects",
        f"error: {tmp_path}/config.yaml:{lines}: clientConnection.leader: unknown field, which kube-scheduler rejects",
    ]
    ran = in_process("schedule", CLUSTER, WORK, "--config", str(tmp_path / "config.json"))
    assert ran.status == 2
    assert "config.json:3: profilez: unknown field" in ran.err


def test_allowing_extenders_needs_a_configuration() -> None:
    ran = in_process("schedule", CLUSTER, WORK, "--allow-extenders")
    assert ran.status == 2
    assert "--config" in ran.err


def test_choosing_pods() -> None:
    web = in_process("schedule", CLUSTER, WORK, "-l", "app=web")
    assert web.status == 0
    assert "ml/web-0" in web.out
    assert "Not shown: 1 pod already bound, 6 pods not chosen (use -o wide to show them)." in web.out
    assert "volumes" not in web.err, "store is not scheduled"
    held = in_process("schedule", CLUSTER, WORK, "-l", "app=held")
    assert held.status == 1
    assert "waiting for scheduling gates: [example.com/quota]" in held.out


@pytest.mark.parametrize("choice", [["-l", "app=nobody"], ["-n", "nowhere"]])
def test_choosing_nothing_is_an_error_unless_allowed(choice: list[str]) -> None:
    ran = in_process("schedule", CLUSTER, WORK, *choice)
    assert (ran.status, ran.out) == (2, "")
    assert "nothing to schedule: -n and -l match no pending pod" in " ".join(ran.err.split())
    assert in_process("schedule", CLUSTER, WORK, *choice, "--allow-empty").status == 0


def test_a_cluster_in_which_all_pods_have_their_place() -> None:
    ran = in_process("schedule", CLUSTER)
    assert ran.status == 0
    assert "\nkube-system/agent   Bound     gpu-1   -         -\n" in ran.out


def test_the_matrix_is_there_off_a_screen_too() -> None:
    text = parse("wide", FORMATS)(msgspec.convert(document("--trace"), ScheduleDocument), None)
    assert "NodeResourcesBalancedAllocation" in text
    assert "ok: passed Filter; numbers: weighted scores." in text
