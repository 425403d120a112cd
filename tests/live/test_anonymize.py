"""A snapshot under pseudonyms gives the same answers, and shows no name."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from typing import Any

import msgspec
import pytest

import dra_plan
from dra_plan import Cluster
from dra_plan.api.inventory import ClusterInfo
from dra_plan.live import Snapshot, snapshot
from dra_plan.live.pseudonyms import EVERYTHING, Shown, anonymized, renamed
from tests.build import claim, request
from tests.cli.running import in_process

from . import clusters
from .replay import Answers, InProcess

PSEUDONYM = re.compile(r"x\d+")


def of(objects: list[dict[str, Any]]) -> Snapshot:
    return Snapshot(ClusterInfo(server_version="v1.36.2"), [msgspec.json.encode(obj) for obj in objects])


def answers(found: Snapshot) -> dict[str, Any]:
    """What is asked of it, but for what the cluster said last: sentences, which are left out."""
    cluster = Cluster.load([], snapshot=found)
    explained = cluster.explain().to_dict()
    verdicts = [{**each, "lastMessage": None} for each in explained["verdicts"]]
    return {
        "allocate": cluster.allocate().to_dict(),
        "explain": {**explained, "verdicts": verdicts},
        "pools": cluster.pools().to_dict(),
        "schedule": cluster.schedule().to_dict(),
    }


class Matching:
    """Compares two documents text by text; what differs has to be the same renaming everywhere."""

    def __init__(self) -> None:
        self.names: dict[str, set[str]] = defaultdict(set)

    def check(self, old: Any, new: Any, path: str = "") -> None:
        if isinstance(old, dict):
            assert isinstance(new, dict), path
            assert len(old) == len(new), path
            for (key, value), (other, item) in zip(old.items(), new.items(), strict=True):
                self.text(key, other, path)
                self.check(value, item, f"{path}.{key}")
        elif isinstance(old, list):
            assert len(old) == len(new), (path, old, new)
            for index, (value, item) in enumerate(zip(old, new, strict=True)):
                self.check(value, item, f"{path}[{index}]")
        elif isinstance(old, str):
            self.text(old, new, path)
        else:
            assert old == new, path

    def text(self, old: str, new: str, path: str) -> None:
        """The new text is the old one with pseudonyms in some places, each of which stands for one name."""
        parts = PSEUDONYM.split(new)
        pattern = "(.+?)".join(map(re.escape, parts))
        found = re.fullmatch(pattern, old, re.DOTALL)
        assert found is not None, (path, old, new)
        if len(parts) == 2:
            self.names[PSEUDONYM.findall(new)[0]].add(found[1])


@pytest.mark.parametrize("name", ["4-mid-pending", "5-mid-after"])
def test_every_answer_is_the_same_up_to_the_renaming(name):
    found = of(clusters.objects(name))
    matching = Matching()
    matching.check(answers(found), answers(anonymized(found).snapshot))
    assert len(matching.names) > 10
    assert all(len(names) == 1 for names in matching.names.values()), matching.names


@pytest.mark.long
@pytest.mark.parametrize("name", clusters.names())
def test_every_recorded_situation_is_answered_the_same(name):
    found = of(clusters.objects(name))
    Matching().check(answers(found), answers(anonymized(found).snapshot))


@pytest.mark.parametrize("name", ["mig", "nic-bandwidth", "network-attached", "tpu-slice", "gpu-fleet"])
def test_every_fixture_is_answered_the_same(name):
    """Partitions, shared capacity, devices of several nodes, alternatives."""
    found = of([{**obj} for obj in dra_plan.load(f"fixtures/{name}")])
    Matching().check(answers(found), answers(anonymized(found).snapshot))


def test_no_name_is_left():
    found = snapshot.read(InProcess(Answers("all"), "noslices"))
    text = anonymized(found).snapshot.source().data.decode()
    for name in ("team-a", "train", "infer", "dra-example-driver-cluster", "noslices", "cpu-hog"):
        assert name not in text
    assert "gpu.example.com" in text
    assert json.loads(text)["items"][0]["anonymized"] is True


def test_it_is_the_same_each_time_and_keeps_the_order():
    found = snapshot.read(InProcess(Answers()))
    once, again = anonymized(found).snapshot, anonymized(found).snapshot
    assert once.objects == again.objects
    before = [json.loads(text)["metadata"]["name"] for text in found.objects]
    after = [json.loads(text)["metadata"]["name"] for text in once.objects]
    renamed_only = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
    assert sorted(renamed_only) == sorted(renamed_only, key=lambda pair: pair[1])


SLICE = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceSlice",
    "metadata": {"name": "s"},
    "spec": {
        "driver": "gpu.example.com",
        "nodeName": "n",
        "pool": {"name": "n", "generation": 1, "resourceSliceCount": 1},
        "devices": [{"name": "gpu-0", "attributes": {"model": {"string": "Secret-H100"}, "nodes": {"int": 3}}}],
    },
}


MODEL = "device.attributes['gpu.example.com'].model"


@pytest.mark.parametrize(
    ("expression", "hidden"),
    [
        (f"{MODEL} == 'Secret-H100'", True),
        (f"'Secret-H100' != {MODEL}", True),
        (f"{MODEL} in ['Secret-H100', 'Secret-H200']", True),
        (f"{MODEL}.startsWith('Secret-')", False),
        (f"{MODEL}.matches('H100$')", False),
    ],
)
def test_values_of_attributes_are_renamed_where_selectors_only_compare_them(expression, hidden):
    found = anonymized(of([SLICE, claim("mine", request("r", expression, of="c"), namespace="team")]))
    assert (found.shown == Shown()) is hidden
    text = found.snapshot.source().data.decode()
    assert ("Secret" not in text) is hidden
    assert "gpu.example.com" in text
    assert "'gpu.example.com'" in text or '\\"gpu.example.com\\"' in text
    assert "mine" not in text
    assert "gpu-0" not in text


SERIAL = "device.attributes['gpu.example.com'].serial"


def with_serial() -> dict[str, Any]:
    devices = [{"name": "gpu-0", "attributes": {"model": {"string": "Secret-H100"}, "serial": {"string": "Sn-0815"}}}]
    return {**SLICE, "spec": {**SLICE["spec"], "devices": devices}}


def test_only_what_a_selector_looks_into_stays():
    wanted = claim("mine", request("r", f"{MODEL}.startsWith('Secret-')", of="c"), namespace="team")
    other = claim("other", request("r", f"{SERIAL} == 'Sn-0815'", of="c"), namespace="team")
    found = anonymized(of([with_serial(), wanted, other]))
    text = found.snapshot.source().data.decode()
    assert "Secret-H100" in text
    assert ".startsWith('Secret-')" in text
    assert "Sn-0815" not in text, "no selector looks into serials"


def test_a_selector_that_compares_a_shown_attribute_stays_with_it():
    wanted = claim("mine", request("r", f"{MODEL}.startsWith('Secret-')", of="c"), namespace="team")
    other = claim("other", request("r", f"{MODEL} == 'Secret-H100' && {SERIAL} == 'Sn-0815'", of="c"), namespace="team")
    found = anonymized(of([with_serial(), wanted, other]))
    assert len(found.shown.expressions) == 2
    assert "Sn-0815" in found.snapshot.source().data.decode(), "its constant is in a selector that stays"


def test_a_selector_that_looks_into_all_attributes_keeps_them_all():
    every = "device.attributes['gpu.example.com'].exists(name, device.attributes['gpu.example.com'][name] == 'x')"
    looking = "['mo' + 'del'].exists(name, device.attributes['gpu.example.com'][name].startsWith('Secret-'))"
    for expression, shown in ((every, Shown()), (looking, EVERYTHING)):
        found = anonymized(of([with_serial(), claim("mine", request("r", expression, of="c"), namespace="team")]))
        assert found.shown == shown, expression


def test_a_file_of_pseudonyms(tmp_path, monkeypatch):
    monkeypatch.setattr("dra_plan.live.Kubectl", lambda *_: InProcess(Answers()))
    ran = in_process("snapshot", "--anonymize", "-o", str(tmp_path / "s.json.gz"))
    assert ran.status == 0
    cluster = Cluster.load(tmp_path / "s.json.gz")
    assert cluster.target.release == "1.36.2"
    assert all(PSEUDONYM.fullmatch(pod.metadata.name) for pod in cluster.inventory.pods)


def test_only_constants_that_are_compared_are_renamed():
    expression = "device.attributes['d'].a == 'v' && quantity('1Gi') == quantity('v') && 'w' in ['v', \"u\"]"
    told = renamed(expression, {"v": "x1", "d": "x2", "u": "x3", "w": "x4", "1Gi": "x5"}.__getitem__)
    assert told == ("device.attributes['d'].a == \"x1\" && quantity('1Gi') == quantity('v') && 'w' in [\"x1\", \"x3\"]")
