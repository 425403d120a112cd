"""`impact`: who ends and when, who gets a place, what is lost although nobody ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dra_plan import Cluster
from dra_plan.errors import UsageError
from tests.build import (
    GPU,
    device,
    device_class,
    generated,
    gpus,
    manifest,
    owned,
    pod,
    request,
    running,
    slice_,
    taint,
    taint_rule,
    template,
)
from tests.cli.running import in_process

Plain = dict[str, Any]
FIXTURE = "examples/impact/cluster.yaml"
CHANGES = Path("examples/impact/changes")
FLEET = [*gpus("a", "b", each=1), template("one", request())]
EVICTS = taint("bad", effect="NoExecute")


def runs(name: str, where: str, **metadata: Any) -> list[Plain]:
    made = running(
        name, where, f"{name}-gpu-x7k2p", templates={"gpu": "one"}, metadata={"uid": f"u-{name}", **metadata}
    )
    return [made, generated(name, "gpu", where, "gpu-0")]


def of(objects: list[Plain], *change: Plain, **gates: bool) -> Any:
    return Cluster.of(objects, feature_gates=gates or None).impact(Cluster.of(list(change)))


def effects(found: Any) -> dict[str, str]:
    return {each.name: each.effect for each in found}


def tainted(where: str) -> Plain:
    return slice_(where, device("gpu-0", taints=[EVICTS]))


def test_a_bare_pod_ends_for_good_and_a_controlled_one_is_placed_again() -> None:
    assert effects(of([*FLEET, *runs("bare", "a")], tainted("a"))) == {"bare": "Gone"}
    serves = runs("serve", "a", **owned("ReplicaSet", "serve"))
    assert effects(of([*FLEET, *serves], tainted("a"))) == {"serve": "Moves"}
    assert effects(of([*FLEET, *serves, *runs("other", "b")], tainted("a"))) == {"serve": "WithoutPlace"}


def test_a_toleration_says_when() -> None:
    tolerant = request(tolerations=[{"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}])
    objects = [*FLEET[:-1], template("one", tolerant), *runs("slow", "a")]
    objects[-1]["spec"]["devices"]["requests"] = [tolerant]
    objects[-1]["status"]["allocation"]["devices"]["results"][0]["tolerations"] = tolerant["exactly"]["tolerations"]
    [found] = of(objects, tainted("a"))
    assert found.after.ended.second == 300


def test_a_rule_says_that_rules_are_served() -> None:
    rule = taint_rule("recall", EVICTS, pool="a")
    assert effects(of([*FLEET, *runs("bare", "a")], rule)) == {"bare": "Gone"}
    assert effects(of([*FLEET, *runs("bare", "a")], rule, DRADeviceTaintRules=False)) == {}


def test_what_waits_may_start_or_no_longer_do_so() -> None:
    waits = pod("waits", templates={"gpu": "one"})
    full = [*FLEET, *runs("one", "a"), *runs("two", "b"), waits]
    assert effects(of(full, slice_("b", "gpu-0", "gpu-1"))) == {"waits": "Starts"}
    assert effects(of([*FLEET, *runs("one", "a"), waits], slice_("b"))) == {"waits": "NoLongerStarts"}


def test_a_new_pod_that_gets_no_node_is_no_loss() -> None:
    full = [*FLEET, *runs("one", "a"), *runs("two", "b")]
    found = of(full, pod("late", templates={"gpu": "one"}))
    assert effects(found) == {"late": "Waits"}
    assert "No pod that runs ends" in str(found)


def test_a_quota_that_is_less_than_what_is_used() -> None:
    quota = manifest("ResourceQuota", "q", namespace="default", spec={"hard": {"pods": "1", "count/pods": "5"}})
    found = of([*FLEET, *runs("one", "a"), *runs("two", "b")], quota)
    assert [(each.resource, each.used, each.hard) for each in found.quotas] == [("pods", "2", "1")]
    assert not list(found)


def test_a_class_that_is_edited_ends_nobody_and_is_a_loss() -> None:
    found = of([*FLEET, *runs("one", "a")], device_class(GPU, "false"))
    assert not list(found)
    assert [each.lost for each in found.document.selectors] == [True]


def test_nothing() -> None:
    assert str(of(FLEET, FLEET[0])).startswith("Nothing changes for any pod, claim or selector.")


# The command


def ran(change: str, *more: str) -> Any:
    return in_process("impact", "-f", str(CHANGES / f"{change}.yaml"), FIXTURE, *more)


@pytest.mark.parametrize("form", ["table", "wide", "markdown", "name", "json"])
def test_what_it_prints(form: str, golden: Any) -> None:
    golden(Path(__file__).parent / "golden" / f"recall.{form}", ran("recall", "-o", form).out)


@pytest.mark.parametrize("columns", ["80", "200"])
@pytest.mark.parametrize("change", ["driver-2", "quota", "recall"])
def test_tables_of_changes(change: str, columns: str, golden: Any) -> None:
    found = in_process("impact", "-f", str(CHANGES / f"{change}.yaml"), FIXTURE, COLUMNS=columns)
    assert found.status == 1
    golden(Path(__file__).parent / "golden" / f"{change}-{columns}.table", found.out)


def test_what_is_wrong_is_a_usage_error() -> None:
    assert in_process("impact", FIXTURE).err.startswith("error: -f FILE says what would be applied")
    assert in_process("impact", "-f", str(CHANGES / "recall.yaml")).status == 2
    assert in_process("impact", "-f", "nowhere.yaml", FIXTURE).status == 2


def test_only_the_pods_that_are_named_are_told() -> None:
    told = json.loads(ran("recall", "pod/notebook", "-o", "json").out)
    assert [each["name"] for each in told["pods"]] == ["notebook"]


def test_what_changes_nothing_is_no_failure() -> None:
    found = in_process("impact", "-f", FIXTURE, FIXTURE)
    assert (found.status, found.out.splitlines()[0]) == (0, "Nothing changes for any pod, claim or selector.")


def test_there_is_a_page(tmp_path: Path) -> None:
    page = tmp_path / "impact.html"
    assert ran("recall", "--report", f"html={page}").status == 1
    assert "2 running pods end" in page.read_text()


UPGRADE = "fixtures/upgrade"


def test_an_upgrade_is_a_change_too() -> None:
    found = Cluster.load(UPGRADE).impact(to_kubernetes_version="1.37")
    assert effects(found) == {"train": "NoLongerStarts"}
    assert (found.document.upgraded_from.release, found.document.target.release) == ("1.36.3", "1.37.0")
    assert "Before: Kubernetes 1.36.3. After: Kubernetes 1.37.0" in str(found)
    same = Cluster.load(UPGRADE).impact(to_kubernetes_version="1.36.3")
    assert (len(same), "upgradedFrom" in same.to_dict()) == (0, False)


def test_an_upgrade_evicts_what_a_rule_did_not_before() -> None:
    rule = taint_rule("recall", EVICTS, pool="a")
    cluster = Cluster.of([*FLEET, *runs("bare", "a"), rule], kubernetes_version="1.36")
    assert effects(cluster.impact(to_kubernetes_version="1.37")) == {"bare": "Gone"}
    assert effects(cluster.impact(Cluster.of([rule]), to_kubernetes_version="1.37")) == {"bare": "Gone"}
    assert effects(cluster.impact(Cluster.of([rule]))) == {}


def test_what_changes_is_objects_or_a_release() -> None:
    with pytest.raises(UsageError, match="nothing would change"):
        Cluster.load(UPGRADE).impact()
    assert in_process("impact", UPGRADE).status == 2
    assert in_process("impact", UPGRADE, "--to-kubernetes-version", "1.37").status == 1
    assert in_process("impact", UPGRADE, "--to-kubernetes-version", "newest").status == 2


@pytest.mark.parametrize("form", ["table", "markdown", "name"])
def test_what_it_prints_of_an_upgrade(form: str, golden: Any) -> None:
    ran = in_process("impact", UPGRADE, "--to-kubernetes-version", "1.37", "-o", form)
    golden(Path(__file__).parent / "golden" / f"upgrade.{form}", ran.out)


# What is not known


def test_without_the_class_nothing_is_said_to_be_lost() -> None:
    waits = pod("waits", templates={"gpu": "one"})
    whole = [*FLEET, *runs("one", "a"), waits]
    lacking = [each for each in whole if each["kind"] != "DeviceClass"]
    found = of(lacking, slice_("b", "gpu-0", "gpu-1"))
    assert effects(found) == {"waits": "Undecided"}
    assert "Undecided: the input lacks what decides." in str(found)
    between = Cluster.of(whole).diff(Cluster.of(lacking))
    assert {one.change for one in between.claim_sets} == {"Undecided"}
    assert "not known whether anything changes there: the input lacks what decides." in str(between)
    drains = Cluster.of(lacking).drain_each()
    assert all(lost.undecided for each in drains for lost in each.lost)
