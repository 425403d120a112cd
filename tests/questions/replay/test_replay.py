"""`replay`: what ends when, what is told of it, and what is rejected."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from dra_plan import Cluster, InputError, UsageError
from dra_plan.text.columns import Screen
from tests.build import device_class, gpus, node, pod, request, template, workload
from tests.cli.running import in_process

Plain = dict[str, Any]
EXAMPLE = ("examples/replay/cluster.yaml", "examples/replay/events.jsonl")


def one_gpu() -> list[Plain]:
    return [*gpus("n1", each=1), template("one", request())]


def user(name: str, **options: Any) -> Plain:
    return pod(name, templates={"gpu": "one"}, uid=None, **options)


def test_a_pod_ends_so_long_after_it_has_started_and_the_next_one_gets_its_device() -> None:
    events = [{"time": number, "create": user(f"p{number}"), "runs": 100} for number in range(3)]
    run = Cluster.of(one_gpu()).replay(events).document.runs[0]
    assert [(each.name, each.arrived, each.bound, each.ended) for each in run.pods] == [
        ("p0", 0, 0, 100),
        ("p1", 1, 100, 200),
        ("p2", 2, 200, 300),
    ]
    times = run.waiting_times
    assert (times.pods, times.mean, times.median, times.longest) == (3, 99, 99, 198)
    assert run.used == 1.0
    assert (run.samples[-1].second, run.samples[-1].ended, run.samples[-1].allocated) == (300, 3, 0)


def test_a_pod_that_has_ended_can_be_deleted_all_the_same() -> None:
    events = [{"create": user("p"), "runs": 10}, {"time": 20, "delete": ["Pod", "default/p"]}]
    [gone] = Cluster.of(one_gpu()).replay(events).document.runs[0].pods
    assert gone.ended == 10


def test_the_use_is_the_mean_over_time() -> None:
    events = [{"time": 0, "create": user("p"), "runs": 30}, {"time": 120, "create": node("other")}]
    run = Cluster.of(one_gpu()).replay(events).document.runs[0]
    assert run.used == 0.25


def test_pods_of_a_job_end_and_the_next_ones_come() -> None:
    job = workload("Job", "train", user("shape"), completions=3, parallelism=1)
    run = Cluster.of(one_gpu()).replay([{"create": job, "runs": 60}]).document.runs[0]
    assert [each.bound for each in run.pods] == [0, 60, 120]
    assert run.samples[-1].second == 180
    assert run.samples[-1].allocated == 0


def test_a_tainted_node_evicts_and_what_is_evicted_is_told() -> None:
    taint = {"spec": {"taints": [{"key": "k", "effect": "NoExecute"}]}}
    events = [{"time": 0, "create": user("p")}, {"time": 50, "patch": ["Node", "n1", taint]}]
    run = Cluster.of(one_gpu()).replay(events).document.runs[0]
    [gone] = run.pods
    assert (gone.ended, gone.ended_by, run.samples[-1].evicted) == (50, "node taint", 1)


def test_samples_are_those_of_the_moments_that_were_chosen() -> None:
    events = [{"time": 10 * number, "create": user(f"p{number}"), "runs": 5} for number in range(4)]
    cluster = Cluster.of(one_gpu())
    chosen = cluster.replay(events, at=[12.0, 31.0]).document.runs[0].samples
    assert [(each.second, each.bound) for each in chosen] == [(12, 1), (31, 1), (35, 0)]
    every = cluster.replay(events, every=10).document.runs[0].samples
    assert [(each.second, each.arrived, each.bound) for each in every] == [
        (0, 1, 1),
        (10, 2, 1),
        (20, 3, 1),
        (30, 4, 1),
        (35, 4, 0),
    ]


def test_orders_give_bands_that_hold_the_first_order() -> None:
    ran = Cluster.load(EXAMPLE[0])
    lines = [json.loads(line) for line in Path(EXAMPLE[1]).read_text().splitlines()]
    one = ran.replay(lines, orders=3, against="fgd")
    two = ran.replay(lines, orders=3, against="fgd", jobs=2)
    assert one.to_dict() == two.to_dict()
    for run in one.document.runs:
        for sample, band in zip(run.samples, run.bands, strict=True):
            assert band.least.allocated <= sample.allocated <= band.most.allocated
            assert band.least.allocated <= band.mean.allocated <= band.most.allocated
    assert one.document.comparison.over_time > 15
    assert not any(each.code == "one-order" for each in one.document.warnings)
    assert any(each.code == "one-order" for each in ran.replay(lines).document.warnings)


BROKEN = {
    "runs: only created objects": {"delete": ["Pod", "p"], "runs": 3},
    "runs: only a Pod and the pods of a Job": {"create": workload("Deployment", "d"), "runs": 3},
    "runs: expected seconds": {"create": pod("p"), "runs": -1},
    "time: expected seconds": {"create": pod("p"), "time": "soon"},
    "no Pod 'p'": {"delete": ["Pod", "p"]},
}


@pytest.mark.parametrize("message", BROKEN)
def test_events_that_can_not_be_are_refused_with_their_place(message: str) -> None:
    with pytest.raises(InputError, match=r"events\[0\]") as told:
        Cluster.of([device_class()]).replay([BROKEN[message]])
    assert message in str(told.value)


def test_options_that_can_not_be_are_refused() -> None:
    cluster = Cluster.of([device_class()])
    for options in ({"orders": 0}, {"at": ["x"]}, {"every": -1}, {"policy": 3}, {"against": 3}, {"jobs": 0}):
        with pytest.raises(UsageError):
            cluster.replay(**options)  # type: ignore[arg-type]


@pytest.mark.parametrize("form", ["table", "wide", "csv", "name", "json"])
def test_what_is_printed(form: str, golden: Any) -> None:
    ran = in_process("replay", *EXAMPLE, "--at", "600", "--against", "whole-nodes", "--orders", "2", "-o", form)
    assert (ran.status, ran.err) == (0, "")
    golden(Path(__file__).parent / "golden" / f"replay.{form}", ran.out)


@pytest.mark.parametrize("width", [80, 200])
def test_tables_fit_screens(width: int) -> None:
    from dra_plan.questions.replay.text import parse

    lines = [json.loads(line) for line in Path(EXAMPLE[1]).read_text().splitlines()]
    document = Cluster.load(EXAMPLE[0]).replay(lines, against="fgd", orders=2).document
    text = parse("table")(document, Screen(width, colour=False))
    assert max(map(len, text.splitlines())) <= width


def test_csv_is_a_row_a_moment() -> None:
    ran = in_process("replay", *EXAMPLE, "--every", "600", "-o", "csv")
    rows = list(csv.DictReader(io.StringIO(ran.out)))
    assert [row["second"] for row in rows][:3] == ["0", "600", "1200"]
    assert {row["devices"] for row in rows} == {"4"}


def test_exit_statuses(tmp_path: Path) -> None:
    broken = tmp_path / "events.jsonl"
    broken.write_text('{"time": 1, "create"\n')
    assert in_process("replay", EXAMPLE[0], str(broken)).status == 2
    assert in_process("replay", *EXAMPLE, "--policy", "nothing").status == 2
    assert in_process("replay", EXAMPLE[0], "--events", str(tmp_path / "none.jsonl")).status == 2
    unknown = tmp_path / "config.yaml"
    unknown.write_text("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofile: []\n")
    ran = in_process("replay", *EXAMPLE, "--against", str(unknown))
    assert ran.status == 2
    assert f"{unknown}:3" in ran.err
