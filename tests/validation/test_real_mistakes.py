"""Mistakes as they occur in published manifests, restated: each is found, and its harmless neighbour is not."""

from typing import Any

import pytest

import dra_plan

from .objects import DRIVER, claim, device, device_class, namespace, piece, pod, pool, request, selecting, template

GPU = f'device.attributes["{DRIVER}"]'


def found(*objects: Any, **options: Any) -> set[str]:
    return {finding.code for finding in dra_plan.validate(objects, **options).findings}


def test_selector_on_an_attribute_that_a_newer_driver_no_longer_publishes() -> None:
    chosen = f"{GPU}.model.matches('^a100') && ({GPU}.minor == 0 || {GPU}.minor == 2)"
    [one] = dra_plan.validate([piece(), device_class(), claim(request(selectors=selecting(chosen)))]).findings
    assert one.code == "DRA220"
    assert one.message.endswith(f'the only device of {DRIVER} does not publish attribute "{DRIVER}/minor"')


def test_drivers_of_other_vendors_next_to_a_class_that_does_not_ask_for_the_driver() -> None:
    other = piece("other", {"name": "nic", "attributes": {"speed": {"int": 1}}}, driver="nic.example.com")
    assert found(piece(), other, device_class("gpu", f'{GPU}.model == "a100"')) == {"DRA220"}
    asked = f'device.driver == "{DRIVER}" && {GPU}.model == "a100"'
    assert found(piece(), other, device_class("gpu", asked)) == set()


def test_pods_in_another_namespace_than_their_template() -> None:
    assert "DRA202" in found(device_class(), template(namespace="team-b"), pod())


def test_a_recorded_pod_whose_template_was_not_recorded() -> None:
    recorded = pod(entry={"name": "gpu", "resourceClaimTemplateName": "elsewhere"})
    waiting = found(device_class(), template(), recorded)
    recorded["status"] = {"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "pod-gpu-abcde"}]}
    with_claim = found(device_class(), template(), recorded)
    recorded["status"] = {"resourceClaimStatuses": [{"name": "other", "resourceClaimName": "pod-other-abcde"}]}
    assert waiting == found(device_class(), template(), recorded)
    assert waiting - with_claim == {"DRA202"}
    assert with_claim - waiting == {"DRA203"}
    recorded["status"] = {"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "pod-gpu-abcde"}]}
    known = found(device_class(), template(), recorded, claim(name="pod-gpu-abcde"))
    assert known.isdisjoint({"DRA202", "DRA203"}), "the claim is there, so its template no longer matters"


def test_a_spec_of_a_template_in_a_claim() -> None:
    wrong = claim()
    wrong["spec"] = {"spec": wrong["spec"]}
    assert {"DRA002", "DRA012"} <= found(device_class(), wrong)


def test_a_class_for_partitions_on_a_cluster_without_any() -> None:
    partitions = device_class("partition", f'device.driver == "{DRIVER}" && {GPU}.model == "partition"')
    assert found(piece(), partitions, claim(request(deviceClassName="partition"))) == {"DRA230"}


def test_more_devices_than_any_node_has() -> None:
    pieces = [
        piece(f"node-{node}", device("a"), device("b"), nodeName=f"node-{node}", pool=pool(f"node-{node}"))
        for node in "abc"
    ]
    assert found(*pieces, device_class(), claim(request(count=2))) == set()
    assert found(*pieces, device_class(), claim(request(count=3))) == {"DRA230"}


def test_slices_without_devices_and_without_a_generation() -> None:
    bare = piece(devices=None, pool={"name": "node-a", "resourceSliceCount": 1})
    assert found(bare) == {"DRA012", "DRA140"}


def test_quantities_are_compared_with_a_function_and_that_is_no_mistake() -> None:
    big = device(capacity={"memory": {"value": "40Gi"}})
    text = f'device.capacity["{DRIVER}"].memory.compareTo(quantity("40Gi")) == 0'
    assert found(piece("node-a-gpu", big), device_class(), claim(request(selectors=selecting(text)))) == set()


@pytest.mark.parametrize(
    "text",
    [
        f'"links" in {GPU} && {GPU}.links == 4',
        f"{GPU}[?'links'].orValue(0) == 4",
        f'{GPU}.?links.orValue(0) == 0 && device.driver == "{DRIVER}"',
        f"has({GPU}.links) && {GPU}.links == 4",
    ],
)
def test_asking_first_is_no_mistake(text: str) -> None:
    assert found(piece(), device_class(), claim(request(selectors=selecting(text)))) <= {"DRA230"}


def test_list_functions_are_no_attributes() -> None:
    text = f"{GPU}.all(name, name != 'x')"
    assert found(piece(), device_class(), claim(request(selectors=selecting(text)))) == set()


def test_admin_access_with_the_label() -> None:
    admin = claim(request(adminAccess=True))
    label = {"resource.kubernetes.io/admin-access": "true"}
    assert found(piece(), device_class(), admin, namespace(**label)) == set()
    assert found(piece(), device_class(), admin, namespace(**{**label, "a": "b"})) == set()
    wrong = {"resource.kubernetes.io/admin-access": "yes"}
    assert found(piece(), device_class(), admin, namespace(**wrong)) == {"DRA205"}


def test_devices_that_every_request_shares_have_no_number() -> None:
    shared = device(allowMultipleAllocations=True, capacity={"memory": {"value": "16Gi"}})
    assert found(piece("node-a-gpu", shared), device_class(), claim(request(count=2))) == set()


def test_an_allocated_claim_needs_no_device() -> None:
    result = {"request": "gpu", "driver": DRIVER, "pool": "gone", "device": "gone"}
    old = claim(request(count=9), status={"allocation": {"devices": {"results": [result]}}})
    assert found(piece(), device_class(), old) == set()


def test_taints_that_nobody_tolerates() -> None:
    tainted = device(taints=[{"key": "example.com/broken", "effect": "NoExecute"}])
    assert found(piece("node-a-gpu", tainted), device_class(), claim()) == {"DRA230"}
    tolerant = claim(request(tolerations=[{"operator": "Exists"}]))
    assert found(piece("node-a-gpu", tainted), device_class(), tolerant) == set()
    assert found(piece("node-a-gpu", tainted), device_class(), claim(), feature_gates={"DRADeviceTaints": False}) == {
        "DRA152"
    }


def test_slices_without_any_device() -> None:
    report = dra_plan.validate([piece(devices=None), device_class(), claim()], select=["DRA2"])
    assert [f.message for f in report.findings] == ["class gpu: the input's slices have no device"]
