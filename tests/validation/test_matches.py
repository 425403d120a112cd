"""What selectors cost `validate`: devices that publish the same are asked once, and all of it is limited."""

import json
from pathlib import Path
from typing import Any

import pytest

from dra_plan import validate
from dra_plan.cel import Evaluation, Selector
from dra_plan.validation import matches
from tests.limits import at_most

from .objects import DRIVER, Data, claim, device, device_class, piece, pool, request, selecting, template

TEN = "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]"
COSTLY = f"{TEN}.all(a, {TEN}.all(b, {TEN}.all(c, {TEN}.all(d, a + b + c + d > %d))))"
REFUSED = "lists.range(1000000).size() > 1"


def fleet(nodes: int, published: Any) -> list[Data]:
    devices = [device(f"gpu-{index}", attributes=published(index)) for index in range(8)]
    return [
        piece(f"s-{index}", *devices, nodeName=f"node-{index}", pool=pool(f"node-{index}")) for index in range(nodes)
    ]


def codes(objects: list[Data]) -> list[str]:
    return [finding.code for finding in validate(objects)]


def test_devices_that_publish_the_same_are_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    evaluate = Selector.evaluate

    def counted(self: Selector, device: Any, *, driver: str) -> Evaluation:
        asked.append(device.name)
        return evaluate(self, device, driver=driver)

    monkeypatch.setattr(Selector, "evaluate", counted)
    slices = fleet(50, lambda index: {"model": {"string": "a" if index < 4 else "b"}})
    claims = [claim(request(selectors=selecting("device.attributes['x'].y == 1")), name=f"c-{i}") for i in range(9)]
    report = validate([*slices, device_class(), *claims])
    assert asked.count("gpu-0") == asked.count("gpu-4") == len(asked) / 2
    assert len(asked) <= 8
    found = [finding for finding in report if finding.code == "DRA220"]
    assert len(found) == 9
    assert f"all 400 devices, such as {DRIVER}/node-0/gpu-0: no such key: y" in found[0].message


def test_what_differs_is_asked_each_by_itself() -> None:
    slices = fleet(2, lambda index: {"index": {"int": index}})
    wanted = claim(request(selectors=selecting(f'1 / (device.attributes["{DRIVER}"].index - 3) < 9')))
    messages = [finding.message for finding in validate([*slices, device_class(), wanted])]
    assert messages == [f"fails on 2 of 16 devices, such as {DRIVER}/node-0/gpu-3: division by zero"]


def test_what_the_api_server_refuses_for_its_cost_is_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []
    monkeypatch.setattr(Selector, "evaluate", lambda self, _device, **_: tried.append(self.expression))
    slices = fleet(3, lambda index: {"index": {"int": index}})
    assert codes([*slices, device_class("gpu", REFUSED)]) == ["DRA122"]
    assert tried == []


@pytest.mark.parametrize("tail", ["", ' && device.attributes["x"].y == 1'], ids=["to the end", "ending in an error"])
def test_the_cost_of_all_is_limited_and_said(tail: str) -> None:
    slices = fleet(1, lambda index: {"index": {"int": index}})
    read = f'device.attributes["{DRIVER}"].index >= 0 && '
    classes = [device_class(f"c-{number}", read + COSTLY % -number + tail) for number in range(12)]
    with at_most(8):
        document = validate([*slices, *classes]).to_dict()
    [warning] = document["warnings"]
    assert warning["code"] == "selectors-not-tried"
    assert "because together they cost more than" in warning["message"]
    told = {finding["code"] for finding in document["findings"]}
    assert told <= {"DRA220", "DRA221"}


def test_ordinary_selectors_are_within_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matches, "BUDGET", 0)
    slices = fleet(30, lambda index: {"index": {"int": index}})
    classes = [device_class(f"c-{number}", f"device.driver == '{DRIVER}' || {number} > 3") for number in range(40)]
    assert validate([*slices, *classes]).to_dict()["warnings"] == []


def test_numbers_and_texts_that_json_has_not_are_told_apart(tmp_path: Path) -> None:
    odd = device("gpu-1", capacity={"memory": {"value": 10**30}}, attributes={"model": {"string": "a100"}})
    path = tmp_path / "input.json"
    path.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": [piece("s", device(), odd)]}))
    assert len(validate(path)) == 0


def test_a_class_that_matches_no_device_is_named_as_the_cause() -> None:
    wrong = device_class("gpu", 'device.driver == "other.example.com"')
    found = validate([wrong, claim(request()), *fleet(1, lambda _: {})])
    [said] = [finding.message for finding in found if finding.code == "DRA230"]
    assert said == "class gpu: none of the 8 devices of the input matches, because of the selectors of DeviceClass gpu"


def test_what_only_follows_from_another_finding_is_left_out() -> None:
    """A class whose selector fails on all devices is the finding; a request of this class that gets none is not."""
    failing = device_class("gpu", 'device.attributes["gpu.exmaple.com"].model == "a100"')
    found = validate([failing, claim(request()), *fleet(1, lambda _: {})])
    assert [(finding.code, finding.object) for finding in found] == [("DRA220", "DeviceClass gpu")]


def test_a_generated_claim_repeats_no_finding_of_its_template() -> None:
    """A claim of the same spec that nobody generated, or that has a finding of its own, is reported."""
    exactly = {"selectors": selecting('device.attributes["gpu.example.com"].model.size() > 2 && device.driver != "x"')}
    annotations = {"resource.kubernetes.io/pod-claim-name": "gpu"}
    generated = [claim(request(**exactly), name="p"), claim(request(**exactly, count=999), name="q")]
    generated = [{**one, "metadata": {**one["metadata"], "annotations": annotations}} for one in generated]
    devices = fleet(1, lambda index: {"model": {"string": "a100"}} if index else {})
    given = [device_class(), template(request(**exactly)), claim(request(**exactly)), *generated, *devices]
    assert [(finding.code, finding.object) for finding in validate(given)] == [
        ("DRA220", "ResourceClaimTemplate team/gpus"),
        ("DRA220", "ResourceClaim team/claim"),
        ("DRA230", "ResourceClaim team/q"),
    ]


def test_devices_of_one_pool_that_lack_the_same_counter_set_are_one_finding() -> None:
    consuming = [device(f"gpu-{n}", consumesCounters=[{"counterSet": "x", "counters": {}}]) for n in range(3)]
    found = validate([piece("s", *consuming)], select=["DRA215"])
    [said] = [finding.message for finding in found]
    assert said == 'pool "node-a" has no counter set "x" and no other counter set; 3 devices consume it'
