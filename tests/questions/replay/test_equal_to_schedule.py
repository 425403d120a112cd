"""Without ends a replay is what `schedule` says, to the byte: recorded clusters, and a fleet of shared devices."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest

from dra_plan import Cluster
from dra_plan.questions.schedule.answer import schedule_document
from tests.build import device, device_class, node, pod, request, slice_, template

Plain = dict[str, Any]
CONFORMANCE = Path(__file__).parents[2] / "conformance"
CORPORA = ("schedule", "gang", "gang-quirks", "volume", "nodealloc", "capacity", "settled")
EVERY = 30


def cases(name: str) -> list[Plain]:
    with gzip.open(CONFORMANCE / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def told(document: Any) -> tuple[Any, Any]:
    """What became of pods and claims."""
    made = document.to_dict()
    return made["pods"], made["claims"]


def check(case: Plain) -> bool:
    """Whether one pass of the scheduler was all there was to do; otherwise controllers are compared, too."""
    objects, gates = case.get("objects") or case["before"], case.get("featureGates")
    cluster = Cluster.of(objects, kubernetes_version="1.36.2", feature_gates=gates)
    found = told(schedule_document(cluster.replay().outcome))
    assert found == told(schedule_document(cluster.schedule(settle=True).outcome)), case["id"]
    once = cluster.schedule()
    alone = not once.outlook and not once.outcome.evictions
    assert not alone or found == told(schedule_document(once.outcome)), case["id"]
    return alone


@pytest.mark.parametrize("corpus", CORPORA)
def test_sample_is_equal(corpus: str) -> None:
    alone = [check(case) for case in cases(corpus)[::EVERY]]
    assert any(alone)


@pytest.mark.long
@pytest.mark.parametrize("corpus", CORPORA)
def test_every_case_is_equal(corpus: str) -> None:
    alone = [check(case) for case in cases(corpus)]
    assert sum(alone) > len(alone) / 8


# -- pods that come one after the other --------------------------------------------------------------------------------


def shared_gpus(name: str, count: int, model: str) -> Plain:
    milli = {"value": "1000", "requestPolicy": {"default": "1000", "validRange": {"min": "1", "step": "1"}}}
    names = [f"gpu-{number}" for number in range(count)]
    made = [device(each, capacity={"milli": milli}, allowMultipleAllocations=True, model=model) for each in names]
    return slice_(name, *made)


SHAPES = ((1, 100), (1, 250), (1, 460), (1, 500), (1, 1000), (2, 1000), (4, 1000), (8, 1000))


def share(count: int, milli: int) -> Plain:
    return template(f"{count}x{milli}", request(count=count, capacity={"requests": {"milli": str(milli)}}))


def fleet(seed: int, nodes: int, pods: int) -> tuple[list[Plain], list[Plain]]:
    """Nodes with 1 to 8 devices of two models and a mix of pods that asks for more than there is."""
    draw = random.Random(seed)
    objects = [device_class(), *(share(*shape) for shape in SHAPES)]
    for number in range(nodes):
        name, count = f"n{number:03}", draw.choice((1, 2, 4, 8))
        cpu = draw.choice(("16", "32", "64", "96"))
        objects += [node(name, cpu=cpu, memory="256Gi", pods="200"), shared_gpus(name, count, draw.choice(("a", "b")))]
    made = []
    for number in range(pods):
        shape = draw.choices(SHAPES, (4, 4, 6, 6, 8, 3, 2, 1))[0]
        cpu = draw.choice(("500m", "2", "4", "8"))
        made.append(pod(f"p{number:04}", templates={"gpu": f"{shape[0]}x{shape[1]}"}, cpu=cpu))
    return objects, made


def placed(document: Plain) -> dict[str, Any]:
    return {entry["name"]: (entry["nodeName"], entry["outcome"], entry["message"]) for entry in document["pods"]}


def devices(document: Plain) -> dict[str, Any]:
    return {entry["name"]: entry["allocation"] and entry["allocation"]["devices"] for entry in document["claims"]}


def compare(seed: int, nodes: int, pods: int) -> None:
    objects, coming = fleet(seed, nodes, pods)
    expected = Cluster.of([*objects, *coming]).schedule().to_dict()
    events = [{"create": each, "time": number} for number, each in enumerate(coming)]
    cluster = Cluster.of(objects)
    replayed = cluster.replay(events)
    found = schedule_document(replayed.outcome).to_dict()
    assert placed(found) == placed(expected)
    assert json.dumps(devices(found), sort_keys=True) == json.dumps(devices(expected), sort_keys=True)
    assert any(entry["outcome"] == "Unschedulable" for entry in expected["pods"])
    bound = sum(entry["outcome"] == "Bound" for entry in expected["pods"])
    last = replayed.document.runs[0].samples[-1]
    assert (last.bound, last.waiting) == (bound, pods - bound)


def test_pods_that_come_one_after_the_other_are_placed_as_all_at_once() -> None:
    compare(7, 12, 90)


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2])
def test_a_fleet_of_shared_devices_is_equal(seed: int) -> None:
    compare(seed, 130, 900)
