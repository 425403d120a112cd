"""The page of `autoscale`: which group grows, what its new nodes hold, and why pods get none."""

from typing import Any

from dra_plan import Cluster
from tests.build import slice_
from tests.page.reading import ReadPage, read
from tests.questions.autoscale.clusters import group, ready_node, waiting, waiting_pod

GROUPS = {"nodeGroups": [group("pool", 10, "a", each=4), group("small", 3)]}


def _cluster() -> Cluster:
    return Cluster.of(
        [*waiting(5, each=2), *waiting_pod("big", each=9), ready_node("a"), slice_("a", "gpu-0", "gpu-1", name="a")]
    )


def _page(**options: Any) -> tuple[ReadPage, Any]:
    answer = _cluster().autoscale(GROUPS, **options)
    return read(_cluster().page(answer)), answer.to_dict()


def _pick(page: ReadPage, name: str) -> Any:
    [found] = [pick for pick in page.data["picks"] if pick["name"] == name]
    return found


def test_the_headline_says_what_grows_and_who_is_left() -> None:
    page, document = _page()
    [plan] = document["scaleUp"]["plan"]
    assert page.headline == f"Group pool grows from {plan['from']} to {plan['to']}; 1 pod gets no node from any group"


def test_new_nodes_are_drawn_with_the_pods_that_they_get() -> None:
    page, document = _page()
    data = page.data
    [scene] = data["scenes"]
    new = {at: place["name"] for at, place in enumerate(scene["places"]) if place.get("new")}
    [plan] = document["scaleUp"]["plan"]
    assert len(new) == plan["to"] - plan["from"]
    marks = _pick(page, "this loop")["marks"][0]
    bound = [pod for pod, outcome in document["scaleUp"]["thenBound"].items() if outcome == "Bound"]
    held = sorted(data["texts"][marks[str(at)][2]] for at in new)
    assert held == sorted(bound)
    assert all(len(marks[str(at)][3]) == 2 for at in new)


def test_each_pod_and_group_has_what_becomes_of_it() -> None:
    page, document = _page()
    up = document["scaleUp"]
    assert set(up["triggered"]) == {
        pick["name"].removeprefix("pod/") for pick in page.data["picks"] if pick["word"] == "gets a node"
    }
    big = _pick(page, "pod/default/big")
    assert (big["tone"], big["word"]) == ("bad", "no group helps")
    assert all(reason in page.text for reason in up["notTriggered"]["default/big"].values())
    assert _pick(page, "group/pool")["word"] == "grows from 1 to 5"
    assert _pick(page, "group/small")["word"] == "helps no pod"
    assert _pick(page, "pod/default/p0")["line"] == "fits on a"


def test_without_growth_nothing_is_new_and_nothing_is_green() -> None:
    answer = _cluster().autoscale({"nodeGroups": [group("small", 3)]})
    page = read(_cluster().page(answer))
    assert not any(place.get("new") for place in page.data["scenes"][0]["places"])
    assert _pick(page, "this loop")["tone"] == "bad"
    assert not [pick for pick in page.data["picks"] if pick["tone"] == "good"]


def test_karpenter_has_its_node_claims() -> None:
    page, document = _page(engine="karpenter")
    claims = document["karpenter"]["nodeClaims"]
    assert page.headline.startswith(f"Karpenter creates {len(claims)} NodeClaim")
    assert [pick["word"] for pick in page.data["picks"] if pick["name"].startswith("NodeClaim")] == [
        one["nodePool"] for one in claims
    ]


def test_explain_tells_what_the_autoscaler_does() -> None:
    answer = _cluster().explain("pod/big", groups=GROUPS)
    text = read(_cluster().page(answer)).text
    assert "The Cluster Autoscaler would not add a node: cannot allocate all claims (pool, small)." in text
