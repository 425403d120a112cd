"""Which release answers where nobody names one: the snapshot's, the kubelets', or the newest."""

from __future__ import annotations

import json

import pytest

from dra_plan import Cluster, validate
from dra_plan.errors import InputError, UsageError
from tests.build import claim, gpus, node
from tests.cli.running import in_process


def kubelet(name: str, version: str) -> dict:
    made = node(name)
    made["status"]["nodeInfo"] = {"kubeletVersion": version}
    return made


def info(version: str, **gates: bool) -> dict:
    return {"apiVersion": "dra-plan/v1alpha1", "kind": "ClusterInfo", "serverVersion": version, "featureGates": gates}


def release(*objects: dict, **asked: object) -> str:
    return Cluster.of(list(objects), **asked).target.release  # type: ignore[arg-type]


def warnings(*objects: dict) -> dict[str, str]:
    document = Cluster.of([*gpus("a"), claim("c"), *objects]).allocate().to_dict()
    return {each["code"]: each["message"] for each in document["warnings"]}


def test_kubelets_of_one_minor_version_choose():
    assert release(kubelet("a", "v1.35.1"), kubelet("b", "v1.35.6-eks-1")) == "1.35.6"
    assert release(kubelet("a", "v1.34.0")) == "1.34.9"


@pytest.mark.parametrize("versions", [("v1.34.1", "v1.35.2"), ("v1.35.0", ""), ("", ""), ("odd", "odd"), ()])
def test_kubelets_that_differ_or_say_nothing_do_not(versions):
    assert release(*(kubelet(str(index), version) for index, version in enumerate(versions))) == "1.36.3"


def test_the_snapshot_knows_best():
    nodes = [kubelet("a", "v1.34.1")]
    assert release(*nodes, info("v1.36.2")) == "1.36.2"
    assert release(*nodes, info("")) == "1.34.9"
    assert release(*nodes, info("v1.36.2"), kubernetes_version="1.35") == "1.35.6"


def test_the_gates_of_the_snapshot_count_for_its_release():
    cluster = Cluster.of([info("v1.36.2", DRAConsumableCapacity=False, DRAAdminAccess=True, SomethingElse=True)])
    assert cluster.target.gates["DRAConsumableCapacity"] is False
    assert cluster.target.notices == ()
    assert cluster.at("1.35").target.gates["DRAConsumableCapacity"] is False, "its own default"
    assert cluster.at(feature_gates={"DRAConsumableCapacity": True}).target.gates["DRAConsumableCapacity"] is True
    partitions = Cluster.of([info("v1.36.2", DRAPartitionableDevices=False)])
    assert partitions.at("1.37").target.gates["DRAPartitionableDevices"] is True


def test_another_release_can_still_be_asked():
    cluster = Cluster.of([kubelet("a", "v1.35.1")])
    assert cluster.at("1.34").target.release == "1.34.9"
    assert cluster.at(quirks="fixed").target.release == "1.35.6"


def test_a_version_that_was_not_recorded_is_answered_by_the_nearest():
    nodes = [kubelet("b", "v1.20.4")]
    assert release(*nodes) == "1.34.9"
    [notice] = Cluster.of(nodes).target.notices
    assert (notice.code, notice.message[:4]) == ("release-not-recorded", "1.20")
    with pytest.raises(UsageError, match=r"1\.20.* has no recorded outcomes; the nearest that has is 1\.34\.9"):
        Cluster.of(nodes, strict_version=True)


def test_no_option_is_advised_that_would_help_nothing():
    told = warnings(kubelet("b", "v1.20.4"), kubelet("c", "v1.36.1"), kubelet("d", "odd"))["kubelet-version"]
    assert told == "b runs kubelet 1.20, the result is for 1.36"
    told = warnings(kubelet("b", "v1.35.4"), kubelet("c", "v1.36.1"))["kubelet-version"]
    assert told == "b runs kubelet 1.35, the result is for 1.36 (--kubernetes-version 1.35)"


def test_on_the_command_line(tmp_path):
    def write(*objects: dict) -> str:
        path = tmp_path / "in.json"
        path.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": list(objects)}))
        return str(path)

    [device_class, _, slices] = gpus("a")
    path = write(kubelet("a", "v1.35.1"), device_class, slices, claim("c"))
    assert in_process("allocate", path).out.endswith("\nKubernetes 1.35.6 (the nodes' kubelets run 1.35.1).\n")
    assert in_process("allocate", "--kubernetes-version", "1.34", path).out.endswith("\nKubernetes 1.34.9.\n")
    asked = ("--strict-version", "--kubernetes-version", "1.33")
    for command in ("allocate", "explain", "schedule", "pools"):
        ran = in_process(command, *asked, path)
        assert (ran.status, ran.out) == (2, "")
        assert "error: 1.33 has no recorded outcomes; the nearest that has is 1.34.9" in ran.err
    ran = in_process("allocate", *asked[1:], path)
    assert ran.status == 0
    assert "1.33 has no recorded outcomes; the result is for 1.34.9 [release-not-recorded]" in ran.err


@pytest.mark.parametrize(
    "objects",
    [
        [kubelet("a", "v1.34.1"), kubelet("b", "v1.34.3-eks-1")],
        [info("v1.34.2"), kubelet("a", "v1.36.1")],
        [{**info("v1.36.2"), "emulationVersion": "1.34"}, kubelet("a", "v1.36.1")],
        [kubelet("a", "v1.36.1"), kubelet("a", "v1.34.1")],
        [kubelet("a", "v1.34.1"), kubelet("b", "v1.35.1")],
        [kubelet("a", "")],
    ],
)
def test_every_command_takes_the_release_of_the_same_objects(objects, tmp_path):
    [_, _, slices] = gpus("a")
    given = [slices, *objects]
    for number, each in enumerate(given):
        (tmp_path / f"{number}.json").write_text(json.dumps(each))
    for version in (None, "1.35"):
        asked = () if version is None else ("--kubernetes-version", version)
        documents = [
            json.loads(in_process(*command, *asked, "-o", "json", str(tmp_path)).out)
            for command in (("pools",), ("validate",), ("cel", "true"))
        ]
        expected = Cluster.load(tmp_path, kubernetes_version=version).target.release
        assert [document["target"]["release"] for document in documents] == [expected] * 3
        found = validate(given, kubernetes_version=version)
        assert (found.target.release, version or found.target.version) == (expected, found.target.version)


def test_the_gates_of_a_snapshot_count_for_validate():
    gates = {"DRAPartitionableDevices": False}
    found = validate([info("v1.36.2", **gates)])
    assert found.target.gates["DRAPartitionableDevices"] is False
    again = validate([info("v1.36.2", **gates)], feature_gates={"DRAPartitionableDevices": True})
    assert again.target.gates["DRAPartitionableDevices"] is True


def test_what_a_snapshot_says_has_to_be_readable():
    with pytest.raises(InputError, match="ClusterInfo: can't be decoded"):
        Cluster.of([{**info("v1.36.2"), "featureGates": {"A": "yes"}}])
