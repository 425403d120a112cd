"""Explanations of input that the API server would have rejected, or where devices of several drivers meet."""

from __future__ import annotations

import pytest

from tests.build import GPU, Object, claim, device, device_class, node, request, slice_

from .asking import only_set


def selected_by(**requirement: object) -> list[Object]:
    selector = {"nodeSelectorTerms": [{"matchExpressions": [requirement]}]}
    devices = [{"name": "d0", "nodeSelector": selector}]
    return [node("n"), device_class(), slice_("n", *devices, perDeviceNodeSelection=True), claim("x", request("r"))]


@pytest.mark.parametrize("quirks", ["upstream", "fixed"])
@pytest.mark.parametrize("requirement", [{"key": "a", "operator": "Gt", "values": ["x"]}, {}])
def test_a_node_selector_that_cannot_be_read_is_the_reason(quirks: str, requirement: Object) -> None:
    found = only_set(selected_by(**requirement), quirks=quirks)
    assert found["outcome"] == "Error"
    assert [story["fault"]["code"] for story in found["stories"]] == ["node-selector-invalid"]


def test_devices_without_the_domain_of_the_capacity_are_told_beside_the_others() -> None:
    asked = f'device.capacity["{GPU}"].memory.compareTo(quantity("80Gi")) >= 0'
    other = slice_("all", device("d0"), driver="other.example.com", allNodes=True)
    objects = [node("n"), slice_("n", device("d0", capacity={"memory": "40Gi"})), other, device_class("any", "true")]
    found = only_set([*objects, claim("x", request("r", asked, of="any"))])
    assert found["outcome"] == "Error"


def test_two_requests_of_one_name_in_a_template_used_twice() -> None:
    spec = claim("x", request("r"), request("r"))["spec"]
    template = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate",
                "metadata": {"name": "t", "namespace": "default"}, "spec": {"spec": spec}}  # fmt: skip
    uses = [{"name": name, "resourceClaimTemplateName": "t"} for name in ("a", "b")]
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "default"},
           "spec": {"resourceClaims": uses, "containers": [{"name": "c", "image": "i"}]}}  # fmt: skip
    found = only_set([node("n"), device_class(), slice_("n", device("d0")), template, pod], together=False)
    assert found["outcome"] == "Refused"
    [story] = found["stories"]
    assert story["outcome"] == "DoesNotFit"
    [element] = story["blockingSet"]["elements"]
    assert (element["claim"]["name"], element["request"]) == ("p-a", "r")


@pytest.mark.parametrize("count", [100, 9223372036854775807])
def test_more_devices_than_a_claim_may_have_are_lowered_to_what_fits(count: int) -> None:
    devices = [device(f"d{number:02}") for number in range(40)]
    found = only_set([node("n"), device_class(), slice_("n", *devices), claim("x", request("r", count=count))])
    assert found["outcome"] == "Error"
    [change] = found["suggestions"][0]["changes"]
    assert (change["code"], change["from"], change["to"]) == ("lower-count", count, 32)
