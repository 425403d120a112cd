"""Events as CSV: rows become the steps that JSON lines would have, and what is wrong is told with its line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dra_plan import Cluster, InputError
from dra_plan.questions.replay.csv_events import read_csv
from tests.build import gpus, pod, request, template, workload
from tests.cli.running import in_process

Plain = dict[str, Any]


def cluster() -> Cluster:
    user = pod("user", templates={"gpu": "one"}, uid=None)
    serve = workload("Deployment", "serve", user, replicas=0, namespace="default")
    return Cluster.of([*gpus("n1", each=2), template("one", request()), serve])


def steps(folder: Path, text: str) -> list[Plain]:
    file = folder / "events.csv"
    file.write_text(text)
    return [dict(line) for line in read_csv(str(file), cluster().inventory)]


ROWS = """time,action,object,name,count,duration
0,create,deploy/serve,,2,100
5, create, deployments/default/serve, late,,
9,create,deploy/serve,,1,
20,delete,late,,,
30,drain,n1,,,
"""


def test_rows_are_the_steps_of_json_lines(tmp_path: Path) -> None:
    found = steps(tmp_path, ROWS)
    named = [(each["time"], each["create"]["metadata"]["name"], each.get("runs")) for each in found if "create" in each]
    assert named == [(0, "serve-1", 100), (0, "serve-2", 100), (5, "late", None), (9, "serve-3", None)]
    assert found[-2:] == [{"time": 20, "delete": ["Pod", "default/late"]}, {"time": 30, "drain": "n1"}]
    run = cluster().replay(found).document.runs[0]
    assert [(each.name, each.bound, each.ended) for each in run.pods] == [
        ("serve-1", 0, 30),
        ("serve-2", 0, 30),
        ("late", None, 20),
        ("serve-3", None, None),
    ]


def test_a_manifest_beside_the_file_is_created_as_often_as_it_says(tmp_path: Path) -> None:
    (tmp_path / "train.json").write_text(json.dumps(pod("train", templates={"gpu": "one"}, uid=None)))
    found = steps(tmp_path, "time,action,object,count\n3,create,train.json,2\n")
    assert [each["create"]["metadata"]["name"] for each in found] == ["train-1", "train-2"]
    assert [each["time"] for each in found] == [3, 3]


def test_the_command_takes_both_kinds_of_files_alike(tmp_path: Path) -> None:
    objects = {"apiVersion": "v1", "kind": "List", "items": [*gpus("n1", each=1), template("one", request())]}
    (tmp_path / "cluster.json").write_text(json.dumps(objects))
    made = pod("train", templates={"gpu": "one"}, uid=None)
    (tmp_path / "train.json").write_text(json.dumps(made))
    (tmp_path / "events.csv").write_text("time,action,object,name,duration\n0,create,train.json,a,60\n9,delete,a,,\n")
    named = {**made, "metadata": {**made["metadata"], "name": "a"}}
    lines = [{"time": 0, "create": named, "runs": 60}, {"time": 9, "delete": ["Pod", "a"]}]
    (tmp_path / "events.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    told = [
        in_process("replay", str(tmp_path / "cluster.json"), str(tmp_path / name), "-o", "json")
        for name in ("events.csv", "events.jsonl")
    ]
    assert [each.status for each in told] == [0, 0]
    assert told[0].out == told[1].out
    assert json.loads(told[0].out)["runs"][0]["pods"][0]["ended"] == 9


WRONG = {
    "time,action\n": "1: no column 'object'",
    "time,action,object,durations\n": "1: unknown column 'durations' (did you mean 'duration'?)",
    "time,action,object\n0,creat,x\n": "2: unknown action 'creat' (did you mean 'create'?)",
    "time,action,object\nsoon,create,deploy/serve\n": "2: time: expected a number of at least 0, got 'soon'",
    "time,action,object\nnan,create,deploy/serve\n": "2: time: expected a number of at least 0, got 'nan'",
    "time,action,object,count\n0,create,deploy/serve,1.5\n": "2: count: expected a whole number, got '1.5'",
    "time,action,object,count\n0,create,deploy/serve,2000000\n": "2: more than 1,000,000 objects are created",
    "time,action,object\n0,create,deploy/other\n": "2: no Deployment 'default/other'",
    "time,action,object\n0,create,node/n1\n": "2: no Node 'n1'",
    "time,action,object\n0,delete,a/b/c/d\n": "2: object: expected KIND/NAME",
    "time,action,object\n0,drain,n1,x\n": "2: more values than columns",
    "time,action,object,count\n0,drain,n1,3\n": "2: count: only for what is created",
    "": "1: no column 'time'",
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_is_told_with_its_line(text: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as told:
        steps(tmp_path, text)
    assert f"events.csv:{WRONG[text]}" in str(told.value)


def test_files_that_are_no_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "events.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match=r"events\.csv"):
        read_csv(str(tmp_path / "events.csv"), cluster().inventory)
    with pytest.raises(InputError, match="No such file"):
        read_csv(str(tmp_path / "none.csv"), cluster().inventory)
