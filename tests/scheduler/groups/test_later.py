"""Pod groups and their pods that come, change and go after the first state."""

from __future__ import annotations

from typing import Any

from tests.build import member, node, pod_group
from tests.scheduler.groups.planning import plan, where


def then(first: list[dict[str, Any]], *later: list[dict[str, Any]]) -> dict[str, Any]:
    return plan(first, then=later)


def test_a_group_that_comes_lets_its_pods_go() -> None:
    pods = [node("n"), member("a"), member("b")]
    assert where(plan(pods)) == {"a": None, "b": None}
    document = then(pods, [*pods, pod_group()])
    assert where(document) == {"a": "n", "b": "n"}
    assert document["podGroups"][0]["outcome"] == "Scheduled"


def test_the_pod_that_completes_a_gang_comes_later() -> None:
    first = [node("n"), pod_group(), member("a")]
    assert where(then(first, [*first, member("b")])) == {"a": "n", "b": "n"}


def test_a_gang_that_did_not_fit_is_tried_again_when_there_is_room() -> None:
    first = [node("n", cpu="2"), pod_group(), member("a", cpu="2"), member("b", cpu="2")]
    document = then(first, [*first, node("m", cpu="2")])
    assert sorted(filter(None, where(document).values())) == ["m", "n"]
    assert document["podGroups"][0]["conditions"][0]["status"] == "True"


def test_a_group_that_changes_counts_anew() -> None:
    first = [node("n"), pod_group(least=3), member("a"), member("b")]
    second = [node("n"), pod_group(least=2), member("a"), member("b"), member("c")]
    assert set(where(then(first, second)).values()) == {"n"}


def test_a_group_that_goes_is_no_longer_shown() -> None:
    first = [node("n"), pod_group(), member("a")]
    document = then(first, [node("n"), member("a")])
    assert document["podGroups"] == []
    assert where(document) == {"a": None}
