"""What `diff` says of selectors that nothing matches any more, of budgets that hold up drains, and of rows alike."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dra_plan import Cluster
from tests.build import (
    GPU,
    deployment,
    device_class,
    disruption_budget,
    generated,
    gpus,
    manifest,
    owned,
    pod,
    request,
    running,
    template,
)
from tests.cli.running import in_process

Plain = dict[str, Any]
FLEET = [*gpus("a", "b", "c"), template("one", request())]


def run(name: str, where: str, device: str, **labels: str) -> list[Plain]:
    """A pod of a ReplicaSet that runs with a device."""
    metadata = {**owned("ReplicaSet", "serve"), "labels": {"app": "serve", **labels}}
    claim_name = f"{name}-gpu-x7k2p"
    return [
        running(name, where, claim_name, templates={"gpu": "one"}, metadata=metadata),
        generated(name, "gpu", where, device),
    ]


SERVES = [*run("serve-a", "a", "gpu-0"), *run("serve-b", "b", "gpu-0"), *run("serve-c", "c", "gpu-0")]


def edited(*expressions: str) -> list[Plain]:
    return [obj for obj in FLEET if obj["kind"] != "DeviceClass"] + [device_class(GPU, *expressions)]


def test_a_class_that_is_edited_to_match_nothing_fails_where_pods_use_it() -> None:
    after = Cluster.of([*edited('device.driver == "other"'), *SERVES])
    [changed] = Cluster.of([*FLEET, *SERVES]).diff(after).selectors
    assert (changed.before, changed.after, changed.lost) == (6, 0, True)
    assert changed.edited_from
    assert changed.expression == 'device.driver == "other"'


def test_a_class_that_nothing_uses_may_match_nothing() -> None:
    spare = [obj for obj in FLEET if obj["kind"] != "ResourceClaimTemplate"]
    after = [obj for obj in edited("false") if obj["kind"] != "ResourceClaimTemplate"]
    [changed] = Cluster.of(spare).diff(Cluster.of(after)).selectors
    assert (changed.after, changed.lost) == (0, False)


@pytest.mark.parametrize(("expressions", "lost"), [(("true",), False), (("true", "false"), True), ((), False)])
def test_all_selectors_of_an_edited_class_count_together(expressions: tuple[str, ...], lost: bool) -> None:
    found = Cluster.of([*FLEET, *SERVES]).diff(Cluster.of([*edited(*expressions), *SERVES]))
    assert any(each.lost for each in found.selectors) is lost


def test_a_class_that_is_gone_and_in_use_is_lost() -> None:
    without = [obj for obj in [*FLEET, *SERVES] if obj["kind"] != "DeviceClass"]
    [changed] = Cluster.of([*FLEET, *SERVES]).diff(Cluster.of(without)).selectors
    assert (changed.used_by[0].name, changed.after, changed.lost) == (GPU, 0, True)


def test_an_ended_pod_uses_nothing() -> None:
    done = pod("done", metadata={"uid": "u"}, status={"phase": "Succeeded"})
    done["spec"]["resourceClaims"] = [{"name": "gpu", "resourceClaimTemplateName": "one"}]
    [changed] = Cluster.of([*FLEET, done]).diff(Cluster.of([*edited("false"), done])).selectors
    assert not changed.lost


def test_a_workload_uses_its_template() -> None:
    wants = [deployment("idle", pod("idle", templates={"gpu": "one"}), 0)]
    [changed] = Cluster.of([*FLEET, *wants]).diff(Cluster.of([*edited("false"), *wants])).selectors
    assert changed.lost


# Drains


def budget(least: int | str | None = None, most: int | str | None = None, name: str = "serve", **spec: Any) -> Plain:
    amounts = {"minAvailable": least, "maxUnavailable": most}
    spec = {"selector": {"matchLabels": {"app": "serve"}}, **spec}
    spec |= {field: amount for field, amount in amounts.items() if amount is not None}
    return manifest("PodDisruptionBudget", name, namespace="default", spec=spec)


@pytest.mark.parametrize(
    ("held_up", "allowed"),
    [([budget(3)], 0), ([budget(2)], None), ([budget(most=0)], 0), ([budget("100%")], 0), ([budget("60%")], None)],
)
def test_the_budget_for_which_kubectl_waits_is_told(held_up: list[Plain], allowed: int | None) -> None:
    cluster = Cluster.of([*FLEET, *SERVES, *held_up])
    drained = cluster.drain("a")
    holds = drained.what_if[0].held_by
    assert [hold.allowed for hold in holds] == ([] if allowed is None else [allowed])
    said = str(cluster.diff(drained))
    assert ("kubectl drain a would wait for budget default/serve (0 of 1 pod may go now)." in said) is bool(holds)


def test_what_earlier_drains_leave_of_a_budget_is_not_said_of_now() -> None:
    """One of the three pods may go, and the first drain takes that: for the second drain nothing is left."""
    cluster = Cluster.of([*FLEET, *SERVES, budget(2)])
    drained = cluster.drain("a").drain("b")
    assert [[hold.allowed for hold in edit.held_by] for edit in drained.what_if] == [[], [0]]
    said = str(cluster.diff(drained))
    assert "kubectl drain b would wait for budget default/serve (0 of 1 pod may go at that point)." in said
    assert "may go now" not in said


def test_a_pod_under_two_budgets_is_never_evicted() -> None:
    drained = Cluster.of([*FLEET, *SERVES, budget(0), budget(0, name="other")]).drain("a")
    assert drained.what_if[0].held_by[0].budgets == ["serve", "other"]


@pytest.mark.parametrize(("policy", "least", "held"), [(None, 2, False), (None, 3, True), ("AlwaysAllow", 3, False)])
def test_a_pod_that_is_not_ready_goes_where_its_budget_is_kept_without_it(
    policy: str | None, least: int, held: bool
) -> None:
    objects = [*FLEET, *SERVES, budget(least, unhealthyPodEvictionPolicy=policy)]
    broken = next(obj for obj in objects if obj["metadata"]["name"] == "serve-a")
    broken["status"] = {**broken["status"], "conditions": [{"type": "Ready", "status": "False"}]}
    try:
        assert bool(Cluster.of(objects).drain("a").what_if[0].held_by) is held
    finally:
        del broken["status"]["conditions"]


def test_a_drain_that_a_budget_holds_up_fails(tmp_path: Path) -> None:
    path = tmp_path / "fleet.json"
    for budgets, status in (([budget(3)], 1), ([budget(2)], 0)):
        path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [*FLEET, *SERVES, *budgets]}))
        assert in_process("diff", str(path), "--drain", "a").status == status


def test_pods_that_a_drain_moves_are_told_as_pods_and_in_one_row() -> None:
    two = Cluster.of([*FLEET, *run("serve-d", "a", "gpu-1"), *SERVES[:2]])
    found = two.diff(two.drain("a"))
    assert not found.claim_sets
    assert {one.owner for one in found.pods} == {"ReplicaSet/serve"}
    assert str(found).count("\ndefault/serve") == 2
    spare = [one for one in gpus("d") if one["kind"] != "DeviceClass"]
    pods = [*SERVES[:4], *run("serve-d", "a", "gpu-1"), *run("serve-e", "b", "gpu-1")]
    four = Cluster.of([*FLEET, *spare, *pods])
    found = four.diff(four.drain("a", "b"))
    [row] = [line for line in str(found).splitlines() if line.startswith("default/serve")]
    assert row.split("   ")[0] == "default/serve-a, default/serve-b, default/serve-d and default/serve-e"
    assert "run on a and b" in row
    assert sum(one.change == "OtherNode" for one in found.pods) == 4


def test_a_budget_that_controllers_count_is_the_one_of_the_drain() -> None:
    assert Cluster.of([*FLEET, *SERVES, disruption_budget("all", 0)]).drain("a").what_if[0].held_by == []


def test_each_drain_tells_its_budgets() -> None:
    found = Cluster.of([*FLEET, *SERVES, budget(3)]).drain_each()
    assert [[hold.budgets for hold in node.held_by] for node in found] == [[["serve"]]] * 3
    assert "kubectl drain of a, b and c would wait for budget default/serve (0 of 1 pod may go now)." in str(found)
    assert "would wait" not in str(Cluster.of([*FLEET, *SERVES, budget(2)]).drain_each())
