"""`--together`: the claims of pods and workloads belong to the set, those from templates too."""

from __future__ import annotations

import json

from dra_plan import Cluster, allocate
from tests.build import claim, gpus, node, pod, template
from tests.cli.running import in_process


def names(plan) -> list[str]:
    [only] = plan
    return [each.metadata.name for each in only.claim_set.claims]


def test_claims_of_pods_and_those_from_templates_belong_to_it():
    objects = [*gpus("a", "b", each=2), template("t"), claim("c"), claim("lone")]
    objects += [pod("p", templates={"x": "t"}, claims={"y": "c"}), pod("q", claims={"y": "c"})]
    plan = allocate(objects, together=True)
    assert sorted(names(plan)) == ["c", "lone", "p-x"]
    assert plan.claim_sets[0].fitting_nodes == [], "three devices, and each node has two"
    assert allocate([*objects, *gpus("d", each=3)[1:]], together=True).claim_sets[0].fitting_nodes == ["d"]


def test_a_pod_that_gets_no_claim_fails_for_all():
    plan = allocate([*gpus("a"), template("t"), pod("p", templates={"x": "nope"}), claim("c")], together=True)
    assert plan.claim_sets[0].outcome.value == "Error"


def test_claims_alone_stay_in_their_order():
    assert names(allocate([*gpus("a"), claim("z"), claim("b"), claim("c")], together=True)) == ["z", "b", "c"]


def test_nothing_to_plan_is_an_error_on_the_command_line_alone(tmp_path):
    path = tmp_path / "in.json"
    path.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": [node("a"), pod("p")]}))
    ran = in_process("allocate", "--together", str(path))
    assert (ran.status, ran.out) == (2, "")
    assert "error: nothing to plan: the input has no pending claim" in ran.err
    assert in_process("allocate", "--together", "--allow-empty", str(path)).status == 0
    plan = Cluster.of([node("a"), pod("p")]).allocate(together=True)
    assert names(plan) == []
    assert plan.claim_sets[0].fitting_nodes == ["a"]


def test_fail_on_warning(tmp_path):
    path = tmp_path / "in.json"
    path.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": [*gpus("a"), claim("c")]}))
    assert in_process("allocate", "--fail-on", "warning", str(path)).status == 0
    lacking = [*gpus("a"), claim("c"), pod("p", nodeName="a", claims={"x": "d"})]
    path.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": lacking}))
    for command in ("allocate", "schedule"):
        assert in_process(command, str(path)).status == 0
        assert in_process(command, "--fail-on", "warning", str(path)).status == 1
