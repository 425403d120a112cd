"""`Cluster`: a value that is loaded once and asked often; what its arguments take, and what its answers can do."""

from __future__ import annotations

import copy
import gc
import io
import json
import pkgutil
from pathlib import Path
from typing import Any

import pytest

import dra_plan
from dra_plan import Cluster
from dra_plan.allocator import View, view
from dra_plan.manifests.faults import ManifestErrors
from tests.cli.running import ROOT, in_process

QUICKSTART = str(ROOT / "fixtures" / "quickstart")
OBJECTS = list(dra_plan.load([QUICKSTART]))


@pytest.fixture
def cluster() -> Cluster:
    return Cluster.load(QUICKSTART)


def owners(plan: dra_plan.AllocationPlan | dra_plan.Explanation) -> list[str]:
    return [claim_set.name for claim_set in plan]


# A value


def test_answers_are_those_of_the_commands(cluster: Cluster) -> None:
    for command, answer in (
        ("allocate", cluster.allocate()),
        ("explain", cluster.explain()),
        ("schedule", cluster.schedule()),
        ("pools", cluster.pools()),
        ("validate", cluster.validate()),
    ):
        assert in_process(command, QUICKSTART, "-o", "json").out == json.dumps(answer.to_dict(), indent=2) + "\n"
        assert in_process(command, QUICKSTART).out == str(answer) + "\n"


def test_repr_is_short_and_every_answer_can_be_gone_through(cluster: Cluster) -> None:
    plan = cluster.allocate()
    train = plan.claim_sets[0]
    for thing in (cluster, plan, train, cluster.explain(), cluster.schedule(), cluster.pools()):
        assert len(repr(thing)) < 80
    assert repr(train.nodes[0]) == "<NodeOutcome on gpu-a: Fits>"
    assert repr(train.claim_set) == "<ClaimSet of Pod default/train: default/train-gpus>"
    assert repr(train.claims_on("gpu-a")) == "[<AllocatedClaim default/train-gpus: gpu-a/gpu-0, gpu-a/gpu-1>]"
    for answer in (plan, train, cluster.explain(), cluster.schedule(), cluster.pools()):
        assert len(list(answer)) == len(answer) > 0
    wrong = {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "x"}, "spec": {"y": 1}}
    report = Cluster.of(wrong).validate()
    assert [finding.code for finding in report] == ["DRA002"]
    assert repr(report) == "<ValidationReport for 1.36: 1 finding in 1 object>"


def test_asking_changes_nothing(cluster: Cluster) -> None:
    before = copy.deepcopy(cluster.inventory)
    first = cluster.allocate().to_dict()
    cluster.schedule()
    cluster.explain()
    assert cluster.allocate().to_dict() == first
    assert cluster.inventory == before


def test_dicts_that_change_later_change_no_plan() -> None:
    objects = copy.deepcopy(OBJECTS)
    cluster = Cluster.of(objects)
    before = cluster.allocate().to_dict()
    objects.clear()
    assert cluster.allocate().to_dict() == before


def test_another_target_is_another_cluster(cluster: Cluster) -> None:
    gates = {"DRAConsumableCapacity": False}
    old = cluster.at("1.35", gates)
    assert (old.target.version, old.target.gates["DRAConsumableCapacity"]) == ("1.35", False)
    asked: dict[str, Any] = {"kubernetes_version": "1.35", "feature_gates": gates}
    assert old.at(quirks="fixed").target == Cluster.of([], **asked, quirks="fixed").target
    assert cluster.target.version == "1.36"
    assert old.allocate().to_dict() == Cluster.load(QUICKSTART, **asked).allocate().to_dict()
    assert old.validate().target == old.target
    with pytest.raises(dra_plan.UsageError, match=r"'1\.x' is not a Kubernetes version"):
        cluster.at("1.x")


def test_what_was_gathered_is_kept_and_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    real = view.PoolGatherer
    monkeypatch.setattr(view, "PoolGatherer", lambda *parts: made.append(parts[0]) or real(*parts))
    cluster = Cluster.load(QUICKSTART)
    cluster.allocate()
    cluster.at("1.36").explain()
    cluster.at(None).pools()
    assert [each is cluster.inventory.slices for each in made].count(True) == 1  # others are of nodes that are tried


# Input


def test_places_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "pod.yaml"
    pod = "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {resourceClaims: [{name: a, resourceClaimName: x}]}}"
    file.write_text(f"# one\n---\n{pod}\n")
    cluster = Cluster.load([QUICKSTART, file])
    assert str(cluster.inventory.origins["Pod", "default", "p"]) == f"{file}:3"
    file.write_text("kind: Pod\n")
    with pytest.raises(ManifestErrors, match=f"{file}:1: "):
        Cluster.load([file])


def test_standard_input_is_read_once_and_judged_too() -> None:
    stdin = io.BytesIO(json.dumps({"kind": "List", "apiVersion": "v1", "items": OBJECTS}).encode())
    cluster = Cluster.load("-", stdin=stdin)
    assert cluster.allocate().to_dict()["claimSets"] == Cluster.load(QUICKSTART).allocate().to_dict()["claimSets"]
    assert cluster.validate().judgement.objects == len(OBJECTS)


def test_later_states_may_be_clusters_or_objects(cluster: Cluster) -> None:
    grown = [*OBJECTS, {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "new"}}]
    with_objects, with_cluster = cluster.schedule(then=[grown]), cluster.schedule(then=[Cluster.of(grown)])
    assert with_objects.to_dict() == with_cluster.to_dict() != cluster.schedule().to_dict()


# Arguments


@pytest.mark.parametrize("owner", ["train", "default/train", "pod/train", "POD/default/train", "train-gpus"])
def test_an_owner_has_several_names(cluster: Cluster, owner: str) -> None:
    assert owners(cluster.allocate(owner)) == owners(cluster.explain(owner)) == ["Pod default/train"]


def test_several_owners(cluster: Cluster) -> None:
    assert owners(cluster.allocate("serve", "train")) == ["Pod default/train", "Deployment default/serve"]
    with pytest.raises(dra_plan.UsageError, match=r"named 'trian' \(did you mean 'train'\?\)"):
        cluster.allocate("serve", "trian")


def test_one_name_is_taken_where_several_may_be(cluster: Cluster) -> None:
    device = "gpu.example.com/gpu-a/gpu-0"
    for one, several in (
        (cluster.allocate(nodes="gpu-a"), cluster.allocate(nodes=["gpu-a"])),
        (cluster.explain(devices=device), cluster.explain(devices=[device])),
        (cluster.pools("gpu-a"), cluster.pools(["gpu-a"])),
        (cluster.validate(select="DRA1", ignore="DRA10"), cluster.validate(select=["DRA1"], ignore=["DRA10"])),
        (dra_plan.allocate(OBJECTS, nodes="gpu-a"), dra_plan.allocate(OBJECTS, nodes=["gpu-a"])),
        (dra_plan.gather_pools(OBJECTS, "gpu-a"), dra_plan.gather_pools(OBJECTS, ["gpu-a"])),
    ):
        assert one.to_dict() == several.to_dict()


def test_labels_as_text(cluster: Cluster) -> None:
    assert owners(cluster.allocate(selector="no=such")) == []
    with pytest.raises(dra_plan.UsageError, match="selector"):
        cluster.allocate(selector="a=b=c=")


@pytest.mark.parametrize(
    ("ask", "expected"),
    [
        (lambda: Cluster.of("dir"), "objects: expected Kubernetes objects, got 'dir'"),
        (lambda: dra_plan.schedule(QUICKSTART), "objects: expected Kubernetes objects"),
        (lambda: dra_plan.schedule([], then="dir"), "then: expected a list of states"),
        (lambda: dra_plan.schedule([], then=["dir"]), "then: expected Kubernetes objects, got 'dir'"),
        (lambda: dra_plan.allocate([], feature_gates="A=true"), "feature_gates: expected a dict"),
        (lambda: Cluster.of([]).at(feature_gates="A=true"), "feature_gates: expected a dict"),
    ],
)
def test_a_string_where_something_else_is_meant(ask: Any, expected: str) -> None:
    with pytest.raises(dra_plan.UsageError, match=expected):
        ask()


def test_claims_are_paired_with_what_they_get(cluster: Cluster) -> None:
    [train] = cluster.allocate("train")
    [(claim, allocation)] = train.claims_on("gpu-a")
    assert claim.key == "default/train-gpus"
    assert [result.device for result in allocation.devices.results] == ["gpu-0", "gpu-1"]
    assert train.claims_on("cpu-a") == []
    with pytest.raises(KeyError):
        train.claims_on("nowhere")


def test_a_cluster_that_is_dropped_goes() -> None:
    """What is frozen is never given back: reading belongs to programs that may read many clusters."""

    def there() -> int:
        gc.collect()
        return sum(isinstance(each, View) for each in gc.get_objects())

    before, views = gc.get_freeze_count(), there()
    loaded = Cluster.load([QUICKSTART])
    loaded.allocate(explain=True).to_dict()
    loaded.schedule().to_dict()
    dra_plan.load([QUICKSTART])
    dra_plan.validate([QUICKSTART])
    assert gc.get_freeze_count() == before
    assert there() > views
    del loaded
    assert there() == views


def test_the_collector_stays_as_it_was() -> None:
    for wanted in (True, False, True):
        (gc.enable if wanted else gc.disable)()
        Cluster.load([QUICKSTART]).allocate().to_dict()
        assert gc.isenabled() is wanted


def test_all_public_names_are_there() -> None:
    for name in dra_plan.__all__:
        assert getattr(dra_plan, name) is not None
    assert dir(dra_plan) == sorted(dra_plan.__all__)


def test_explain_is_a_function_whatever_was_imported() -> None:
    """A module of a public name would take its place as soon as it is imported."""
    assert {module.name for module in pkgutil.iter_modules(dra_plan.__path__)}.isdisjoint(dra_plan.__all__)
    assert Cluster.of(OBJECTS).explain().to_dict() == dra_plan.explain(OBJECTS).to_dict()
