"""A restarted scheduler takes pods by name, those that workloads are still to make among them."""

from __future__ import annotations

from itertools import permutations

from tests.build import node, pod
from tests.scheduler.reading import plan, where


def workload(kind: str, name: str, cpu: str) -> dict:
    labels = {"app": name}
    spec = {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}]}
    made = {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": spec}}
    metadata = {"name": name, "namespace": "default"}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": metadata, "spec": made}


def test_pods_of_workloads_stand_where_their_names_do():
    objects = [
        node("n", cpu="5"),
        pod("m", cpu="3"),
        workload("Deployment", "a", "2"),
        workload("StatefulSet", "z", "2"),
    ]
    for given in permutations(objects):
        assert where(plan(list(given), order="name")) == {"a-0": "n", "m": "n", "z-0": None}


def test_in_the_order_of_arrival_they_come_last():
    objects = [node("n", cpu="5"), workload("Deployment", "a", "3"), pod("m", cpu="3")]
    assert where(plan(objects, order="arrival")) == {"m": "n", "a-0": None}
    assert where(plan(objects, order="name")) == {"a-0": "n", "m": None}
