"""`--watch`: a cluster that changes is asked again, until the pods have nodes."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from dra_plan.live.kubectl import Refusal, RequestError
from tests.cli.running import Ran, in_process

from .replay import Answers, InProcess, Instant

PODS = "/api/v1/pods"
POD = "too-big"


class Changing:
    """A cluster that is another at each reading; the last state stays. None is a server that is gone."""

    def __init__(self, *states: Answers | None) -> None:
        self.states, self.readings = list(states), 0

    def __call__(self, *_: object) -> Any:
        state = self.states[min(self.readings, len(self.states) - 1)]
        self.readings += 1
        if state is not None:
            return InProcess(state)

        class Gone(Instant):
            def get(self, path: str) -> bytes:
                raise RequestError(Refusal.FAILED, "connection refused")

        return Gone()


def with_pods(edit: Any) -> Answers:
    pods = copy.deepcopy(Answers().to("admin", PODS).body["items"])
    for pod in pods:
        if pod["metadata"]["name"] == POD:
            edit(pod)
    return Answers(lists={PODS: pods})


def bound(pod: dict[str, Any]) -> None:
    """It runs: of one that is only bound, and whose claim has no devices, `explain` says that it never will."""
    pod["spec"]["nodeName"] = "dra-example-driver-cluster-worker"
    pod["status"]["phase"] = "Running"


def heartbeat(pod: dict[str, Any]) -> None:
    pod["metadata"]["resourceVersion"] = "99999"
    pod["metadata"]["managedFields"] = []


def labelled(pod: dict[str, Any]) -> None:
    pod["metadata"].setdefault("labels", {})["new"] = "yes"


@pytest.fixture
def watch(monkeypatch):
    monkeypatch.setattr("dra_plan.cli.watching.PAUSE", 0)
    monkeypatch.setattr("dra_plan.live.namespace_of_context", lambda *_: None)

    def run(cluster: Changing, *arguments: str) -> Ran:
        monkeypatch.setattr("dra_plan.live.Kubectl", cluster)
        return in_process(*arguments)

    return run


def test_it_ends_when_the_pod_is_bound(watch):
    cluster = Changing(Answers(), Answers(), with_pods(heartbeat), with_pods(labelled), with_pods(bound))
    ran = watch(cluster, "explain", f"pod/{POD}", "-n", "team-a", "--live", "--watch")
    assert ran.status == 0
    assert cluster.readings == 5
    assert ran.err.count(f"changed: Pod team-a/{POD}\n") == 2
    assert ran.err.count("the result is the same\n") == 1
    first, last = ran.out.split(f"\npod/team-a/{POD}")
    assert "is Pending: no node can take it (0 of 2)" in first
    assert ": already bound to dra-example-driver-cluster-worker." in last


def test_a_pod_that_has_its_node_is_asked_about_once(watch):
    cluster = Changing(with_pods(bound))
    ran = watch(cluster, "explain", f"pod/{POD}", "-n", "team-a", "--live", "-w")
    assert (ran.status, cluster.readings) == (0, 1)


def test_schedule_goes_on_too(watch):
    cluster = Changing(Answers(), with_pods(bound))
    ran = watch(cluster, "schedule", f"pod/{POD}", "-n", "team-a", "--live", "--watch", "-o", "json")
    first, _ = json.JSONDecoder().raw_decode(ran.out)
    assert [pod["outcome"] for pod in first["pods"] if pod["name"] == POD] == ["Unschedulable"]
    assert (ran.status, ran.err.count("error")) == (0, 0)
    assert cluster.readings == 2


def test_a_server_that_comes_back_is_waited_for(watch):
    ran = watch(
        Changing(Answers(), None, None, with_pods(bound)), "explain", f"po/{POD}", "-n", "team-a", "--live", "-w"
    )
    assert ran.status == 0
    assert ran.err.count("cannot read the cluster: connection refused; trying again in 0 s\n") == 2


def test_a_server_that_stays_away_is_an_error(watch):
    ran = watch(Changing(Answers(), None), "explain", f"po/{POD}", "-n", "team-a", "--live", "-w")
    assert ran.status == 2
    assert ran.err.endswith("error: cannot read the cluster: connection refused\n")


def test_a_pod_that_is_not_there_is_an_error(watch):
    ran = watch(Changing(Answers()), "explain", "pod/nobody", "--live", "--watch")
    assert ran.status == 2
    assert "no pod is named 'nobody'" in ran.err


def test_a_file_is_not_watched(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": []}))
    ran = in_process("explain", str(tmp_path / "a.json"), "--watch")
    assert (ran.status, ran.err) == (2, "error: --watch needs --live\n")
