"""What the scheduler knows of nodes and pods: a pod that is bound is known anew, and nothing else changes."""

from typing import Any

import pytest
from msgspec.structs import replace

from dra_plan.manifests.decode import from_dicts
from dra_plan.scheduler.cluster.nodes import NodeInfo, PodInfo
from tests import build

AFFINITY = {
    kind: {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"labelSelector": {"matchLabels": {"app": "a"}}, "topologyKey": "kubernetes.io/hostname"}
        ]
    }
    for kind in ("podAffinity", "podAntiAffinity")
}


def _pods() -> list[PodInfo]:
    made = [build.pod(name, cpu=str(1 + at), affinity=AFFINITY if at else None) for at, name in enumerate("abcd")]
    return [PodInfo(pod) for pod in from_dicts(made).pods]


def _seen(node: NodeInfo) -> dict[str, Any]:
    indexes = (node.pods, node.affinity_pods, node.anti_affinity_pods, node.volume_pods)
    sums = {"requested": node.requested, "scored": (node.scored_cpu, node.scored_memory), "ports": node.ports}
    return sums | {"pods": [[(uid, info.pod.spec.node_name) for uid, info in index.items()] for index in indexes]}


def _bound(info: PodInfo) -> PodInfo:
    return info.bound(replace(info.pod, spec=replace(info.pod.spec, node_name="a")))


def test_a_pod_asks_for_the_same_once_it_is_bound() -> None:
    before, *_ = _pods()
    assert before.requests["cpu"] == 1000
    after = _bound(before)
    assert (after.pod.spec.node_name, before.pod.spec.node_name) == ("a", "")
    assert after.requests is before.requests


@pytest.mark.parametrize("at", range(4))
def test_to_renew_a_pod_is_to_remove_and_to_add_it(at: int) -> None:
    [node] = from_dicts([build.node("a")]).nodes
    renewed, again, pods = NodeInfo(node), NodeInfo(node), _pods()
    for info in pods:
        renewed.add(info)
        again.add(info)
    version = renewed.version
    renewed.renew(_bound(pods[at]))
    again.remove(pods[at].uid)
    again.add(_bound(pods[at]))
    assert _seen(renewed) == _seen(again)
    assert list(renewed.pods)[-1] == pods[at].uid
    assert renewed.version > version
