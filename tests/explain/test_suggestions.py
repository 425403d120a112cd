"""What is suggested where several nodes, several claims or several changes are concerned."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from dra_plan import allocate, releases
from dra_plan.allocator import View
from dra_plan.explanation import explainer
from dra_plan.explanation.elements import BlockingSet
from dra_plan.explanation.selectors import Publications, decisive_parts
from dra_plan.explanation.suggest.candidates import other_values
from dra_plan.manifests.decode import from_dicts
from tests.build import GPU, allocated, bare_pod, claim, device, device_class, match, node, request, slice_

from .apply import applied
from .asking import explain, only_set
from .json_patch import patched
from .situations import ASKED, SITUATIONS, cel, cluster, gpus


def codes(claim_set: dict[str, Any]) -> list[list[str]]:
    return [[change["code"] for change in suggestion["changes"]] for suggestion in claim_set["suggestions"]]


def test_nothing_is_suggested_that_ends_the_attempt_on_another_node() -> None:
    """Without its first part, or with another value in it, the selector would fail on b, and so for all nodes."""
    has_index = slice_("a", device("gpu-0", model="A100", index=0))
    wanted = claim("train", request("gpu", cel(' .model == "H100" && .index >= 0')))
    assert codes(only_set([*cluster(has_index), wanted])) == [["change-value"], ["loosen-selector"]]
    assert codes(only_set([*cluster(has_index, gpus("b", "A100")), wanted])) == [["drop-selector"]]


def test_the_largest_count_that_helps_on_any_node_is_suggested() -> None:
    nodes = [node(f"n{size}") for size in (2, 5, 3)]
    slices = [gpus(f"n{size}", " ".join(["A100"] * size)) for size in (2, 5, 3)]
    claim_set = only_set([*nodes, device_class(), *slices, claim("train", request("gpu", count=7))])
    assert claim_set["suggestions"] == [
        {
            "changes": [
                {
                    "code": "lower-count",
                    "claim": {"namespace": "default", "name": "train"},
                    "request": "gpu",
                    "from": 7,
                    "to": 5,
                }
            ],
            "node": "n5",
            "patches": [
                {
                    "object": {
                        "apiVersion": "resource.k8s.io/v1",
                        "kind": "ResourceClaim",
                        "namespace": "default",
                        "name": "train",
                    },
                    "patch": [{"op": "add", "path": "/spec/devices/requests/0/exactly/count", "value": 5}],
                    "recreate": True,
                }
            ],
        }
    ]


def test_a_claim_of_the_pod_itself_is_never_released() -> None:
    objects = [*cluster(gpus("a", "A100")), allocated("data", "a/gpu-0", on="a"), claim("more", request("gpu"))]
    [claim_set] = explain(
        [*objects, bare_pod("train", claims={"data": "data", "more": "more"})], together=False
    ).to_dict()["claimSets"]
    assert "release-claim" not in str(claim_set["suggestions"])
    [removed] = claim_set["stories"][0]["requests"][0]["removed"]
    assert removed["holders"] == [{"namespace": "default", "name": "data", "pods": [], "own": True}]


def test_a_suggestion_leaves_at_least_one_request() -> None:
    objects = [*cluster(gpus("a", "A100")), claim("train", request("one", count=9), request("two", count=9))]
    for suggestion in only_set(objects)["suggestions"]:
        assert sum(change["code"] == "drop-request" for change in suggestion["changes"]) < 2


def test_a_dropped_request_leaves_constraints_and_configuration_too() -> None:
    driver = {"opaque": {"driver": "gpu.example.com", "parameters": {}}}
    asked = claim(
        "train",
        request("one"),
        request("many", count=9),
        config=[{"requests": ["one", "many"], **driver}, {"requests": ["many"], **driver}, driver],
    )
    suggestions = only_set([*cluster(gpus("a", "A100")), asked])["suggestions"]
    [dropped] = [each for each in suggestions if [c["code"] for c in each["changes"]] == ["drop-request"]]
    objects = patched([*cluster(gpus("a", "A100")), asked], dropped["patches"])
    assert [entry.get("requests") for entry in objects[-1]["spec"]["devices"]["config"]] == [["one"], None]
    assert only_set(objects)["outcome"] == "Fits"


@pytest.mark.parametrize("name", SITUATIONS)
def test_suggestions_of_situations_hold_when_applied(name: str) -> None:
    """Applied to the objects as a user would, the set fits, and the node that was named is among the fitting ones."""
    objects = SITUATIONS[name]()
    before = copy.deepcopy(objects)
    told = explain(objects, **{"together": False, **ASKED[name]}).to_dict()
    assert objects == before
    for position, claim_set in enumerate(told["claimSets"]):
        for suggestion in claim_set["suggestions"]:
            # A gate that a situation has off is on by default.
            changes = [change for change in suggestion["changes"] if change["code"] != "enable-gate"]
            asked = {key: ASKED[name][key] for key in ("together", "max_steps") if key in ASKED[name]}
            plan = allocate(applied(objects, changes), **asked).to_dict()
            changed = plan["claimSets"][position]
            assert changed["outcome"] == "Fits", suggestion
            assert suggestion["node"] in changed["fittingNodes"]


def test_other_values_are_the_nearest_and_the_commonest() -> None:
    objects = [*cluster(gpus("a", "A100 A100 L40S H200")), claim("train", request("gpu", cel(' .model == "H100"')))]
    explanation = explain(objects).plan.claim_sets[0].explanation
    assert explanation is not None
    offer = explanation.groups[0].offer
    assert offer is not None
    devices = [found for pool in offer.pools for found in pool.devices()]
    compile_ = offer.placement.view.compile

    def rewritten(text: str) -> list[str]:
        return list(
            other_values(cel(text), decisive_parts(cel(text), devices, compile_, lambda: Publications(devices)))
        )

    attribute, capacity = f'device.attributes["{GPU}"].model', f'device.capacity["{GPU}"].memory'
    assert rewritten(' .model == "H300"') == [f'{attribute} == "H200"', f'{attribute} == "A100"']
    assert rewritten(' :memory.compareTo(quantity("96Gi")) >= 0') == [f'{capacity}.compareTo(quantity("80Gi")) >= 0']
    assert rewritten(' .model != "A100"')[:1] == []
    assert rewritten(' .model.startsWith("X")') == []


def test_a_selector_is_split_beside_optional_reads() -> None:
    """`.?x` is no ternary: the part that decides is told alone, and what helps with that part is suggested."""
    wanted = cel(' .?model.orValue("") == "A100" && .index == 7')
    devices = [device("gpu-0", model="A100", index=0)]
    claim_set = only_set([*cluster(slice_("a", *devices)), claim("train", request("gpu", wanted))])
    story = next(story for story in claim_set["stories"] if story["nodes"] == ["a"])
    [decisive] = story["requests"][0]["removed"][0]["selectors"]
    assert decisive["clause"] == f'device.attributes["{GPU}"].index == 7'
    assert codes(claim_set) == [["change-value"], ["loosen-selector"]]


def test_a_version_compared_with_a_string_is_compared_with_a_version_instead() -> None:
    devices = [device("gpu-0", driverVersion={"version": "1.2.3"})]
    wanted = cel(' .driverVersion == "1.2.3"')
    objects = [*cluster(slice_("a", *devices)), claim("train", request("gpu", wanted))]
    suggested = [suggestion["changes"] for suggestion in only_set(objects)["suggestions"]]
    [[change]] = [changes for changes in suggested if changes[0]["code"] == "fix-spelling"]
    assert change["replacement"] == cel(' .driverVersion == semver("1.2.3")')


def test_several_changes_are_told_only_where_no_single_one_is_enough() -> None:
    bad = [device("gpu-0", taints=[{"key": "hot", "effect": "NoSchedule"}]), device("gpu-1")]
    objects = [*cluster(slice_("a", *bad)), allocated("old", "a/gpu-1", pod="web")]
    both = [["lower-count", "release-claim"], ["lower-count", "tolerate-taint"]]
    assert codes(only_set([*objects, claim("train", request("gpu", count=2))])) == both
    assert codes(only_set([*objects, claim("train", request("gpu"))])) == [["release-claim"], ["tolerate-taint"]]


def test_a_constraint_is_dropped_with_what_else_is_needed() -> None:
    wanted = claim("train", request("gpu", cel(' .model == "H100"')), constraints=[match("example.com/numa")])
    [suggestion] = only_set([*cluster(gpus("a", "A100")), wanted])["suggestions"]
    assert [change["code"] for change in suggestion["changes"]] == ["change-value", "drop-constraint"]


def test_after_the_deadline_nothing_more_is_asked() -> None:
    inventory = from_dicts(SITUATIONS["match-attribute-never-met"]())
    [plan] = explain(SITUATIONS["match-attribute-never-met"](), together=False)
    view = View.of(inventory, releases.target("1.36"))
    late = explainer.explain(view, inventory, plan.claim_set, inventory.nodes, plan.nodes, deadline=0.0)
    assert late.suggestions == []
    assert late.groups[0].blocking == BlockingSet((), proven=False)
    in_time = explainer.explain(view, inventory, plan.claim_set, inventory.nodes, plan.nodes)
    assert in_time.suggestions
    assert in_time.groups[0].blocking is not None
    assert in_time.groups[0].blocking.proven
