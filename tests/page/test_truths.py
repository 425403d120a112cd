"""What the page says and colours is what the document says: no loss in green, nobody left out, nothing freed early."""

from typing import Any

import dra_plan
from dra_plan import Cluster
from tests.build import bare_pod, priority_class, template
from tests.build import request as asked
from tests.page.clusters import busy_cluster
from tests.page.reading import ROOT, ReadPage, read
from tests.scheduler.test_preemption import _one_holds_devices


def _page(cluster: Cluster, answer: Any) -> ReadPage:
    return read(cluster.page(answer))


def _evicting() -> tuple[Cluster, Any]:
    spec = {"containers": [{"name": "c", "image": "x", "resources": {"requests": {"cpu": "3"}}}]}
    wanted = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "hi"},
        "spec": {**spec, "priority": 100, "priorityClassName": "high"},
    }
    cluster = Cluster.of([*_one_holds_devices(), priority_class("high", 100), wanted])
    return cluster, cluster.schedule()


def test_the_device_of_an_evicted_pod_stays_with_its_claim() -> None:
    cluster, answer = _evicting()
    assert [(each.pod, each.preemptor) for each in answer.document.evictions] == [("default/v", "default/hi")]
    data = _page(cluster, answer).data
    [pick] = [each for each in data["picks"] if each["name"] == "pod/default/hi"]
    devices, _ = pick["change"]
    assert [(letter, data["texts"][said]) for _, _, letter, said in devices] == [
        ("u", "by claim default/held (pod v); still held, though default/v is evicted")
    ]


def test_a_pod_that_evicts_others_is_not_simply_good() -> None:
    cluster, answer = _evicting()
    page = _page(cluster, answer)
    [pick] = [each for each in page.data["picks"] if each["name"] == "pod/default/hi"]
    assert (pick["tone"], pick["word"]) == ("other", "Bound, evicts 1 pod")
    assert "pod/default/hi gets node a; 1 running pod would be evicted" in page.text


def test_nothing_is_lost_is_not_said_above_what_is_gone() -> None:
    cluster = busy_cluster()
    page = _page(cluster, cluster.diff(cluster.without("pod/ml/notebook")))
    words = [pick["word"] for pick in page.data["picks"]]
    assert words.count("Gone") == 1
    assert "1 pod is gone" in page.text
    assert "othing is lost" not in page.text


def test_growth_that_is_of_no_help_is_not_green_and_names_every_pod() -> None:
    cluster = Cluster.load(ROOT / "fixtures" / "gpu-fleet")
    page = _page(cluster, cluster.grow("pod/next-gen", "pod/finetune", like="hopper-1"))
    first = page.data["picks"][0]
    assert (first["tone"], first["word"]) == ("bad", "no help")


def test_no_pod_beyond_help_is_left_out() -> None:
    many = [bare_pod(f"never-{at}", templates={"gpu": "nine"}) for at in range(310)]
    wanted = template("nine", asked("gpu", of="gpu.nvidia.com", count=9))
    cluster = Cluster.of([*dra_plan.load(ROOT / "fixtures" / "gpu-fleet"), wanted, *many])
    names = {pick["name"] for pick in _page(cluster, cluster.grow(like="hopper-1")).data["picks"]}
    assert {f"pod/default/never-{at}" for at in range(310)} <= names


def test_the_headline_names_its_subject() -> None:
    cluster = Cluster.load(ROOT / "fixtures" / "quickstart")
    text = _page(cluster, cluster.allocate("pod/train")).text
    assert "pod/default/train fits on 1 of 3 nodes" in text
