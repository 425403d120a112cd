"""A selector that fails on a device is said also where the devices in use, or its place, hide the error."""

from __future__ import annotations

import itertools

import pytest

from dra_plan import Cluster
from tests.build import GPU, Object, allocated, claim, device, device_class, node, request, slice_

from .apply import applied
from .json_patch import patched

READS = f"device.attributes['{GPU}'].turbo"
GUARDED = f'"turbo" in device.attributes["{GPU}"] && {READS}'
CODE = "selector-may-fail"


def world(expression: str, *turbo: bool | None) -> list[Object]:
    """Return a claim, and devices with this value of the attribute or without it."""
    made = [device(f"gpu-{n}", **({} if value is None else {"turbo": value})) for n, value in enumerate(turbo)]
    own = [f"device.driver == '{GPU}'"]
    return [node("a"), device_class(GPU, *own), slice_("a", *made), claim("c", request("r", expression))]


@pytest.mark.parametrize("turbo", list(itertools.product([True, False, None], repeat=2)))
@pytest.mark.parametrize("expression", [READS, GUARDED, f"has({READS})"])
def test_it_is_said_exactly_if_the_scheduler_would_stop_at_one_of_the_devices(
    turbo: tuple[bool | None, ...], expression: str
) -> None:
    cluster = Cluster.of(world(expression, *turbo))
    stops = [Cluster.of(world(expression, each)).allocate().to_dict()["claimSets"][0]["outcome"] for each in turbo]
    for answer in (cluster.allocate(), cluster.explain()):
        found = answer.to_dict()
        told = [one for one in found.get("warnings", []) if one["code"] == CODE]
        is_error = found["claimSets"][0]["outcome"] in ("Error", "NodeError")
        assert bool(told) == ("Error" in stops and not is_error), (stops, found)
        for one in told:
            assert GUARDED in one["message"]
            assert f"fails on {stops.count('Error')} of 2 devices" in one["message"]


def test_with_the_guarded_selector_there_is_no_warning_and_the_same_device() -> None:
    before, after = (Cluster.of(world(text, True, None)).allocate().to_dict() for text in (READS, GUARDED))
    assert [one["code"] for one in before["warnings"]] == [CODE]
    assert CODE not in [one["code"] for one in after.get("warnings", [])]
    assert before["claimSets"][0]["nodes"][0]["claims"] == after["claimSets"][0]["nodes"][0]["claims"]


@pytest.mark.parametrize("what", ["lower-count", "release-claim"])
def test_what_only_hides_the_failing_selector_is_suggested_together_with_one_that_does_not_fail(what: str) -> None:
    objects = world(READS, True, None)
    if what == "lower-count":
        objects[-1] = claim("c", request("r", READS, count=2))
    else:
        objects.append(allocated("held", "a/gpu-0"))
    [claim_set] = Cluster.of(objects).explain().to_dict()["claimSets"]
    [suggestion] = claim_set["suggestions"]
    assert [each["code"] for each in suggestion["changes"]] == ["guard-selector", what]
    for after in (applied(objects, suggestion["changes"]), patched(objects, suggestion["patches"])):
        answer = Cluster.of(after).allocate().to_dict()
        assert answer["claimSets"][0]["outcome"] == "Fits"
        assert CODE not in [one["code"] for one in answer.get("warnings", [])]
