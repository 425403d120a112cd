"""After a change the picture shows every pod that moves where it goes, and counts what is free then."""

from collections import Counter

from tests.build import bare_pod
from tests.page.clusters import busy_cluster
from tests.page.reading import ReadPage, read


def _held(page: ReadPage, scene: int) -> dict[str, list[str]]:
    """The devices in use on each node, by node."""
    found = {}
    for place in page.data["scenes"][scene]["places"]:
        names = page.data["scenes"][scene]["layouts"][place["kind"]]["devices"]
        found[place["name"]] = [name for name, state in zip(names, place["states"], strict=True) if state == "u"]
    return found


def test_after_a_drain_every_pod_that_moves_is_where_it_goes() -> None:
    cluster = busy_cluster()
    answer = cluster.diff(cluster.drain("gpu-a"))
    page = read(cluster.page(answer))
    there = {device.rpartition("/")[0] for pod in answer.pods if pod.after for device in pod.after.devices}
    assert there, "some pod moves"
    after = _held(page, 1)
    assert after["gpu-a"] == []
    for pod in answer.pods:
        for device in pod.after.devices if pod.after is not None else ():
            _, pool, name = device.split("/")
            assert name in after[pool], (pod.name, device)
    kept = Counter(name for name in _held(page, 0)["gpu-b"])
    assert not kept - Counter(after["gpu-b"])


def test_a_pod_that_waits_in_both_states_and_gets_the_same_is_in_neither_picture() -> None:
    waits = bare_pod("waits", templates={"gpu": "any-1"}, namespace="ml")
    cluster = busy_cluster([waits])
    answer = cluster.diff(cluster.cordon("gpu-a"))
    assert [claim for claim in answer.end.claims if claim.status.reserved_for[0].name == "waits"]
    assert not [pod for pod in answer.pods if pod.name == "waits"]
    page = read(cluster.page(answer))
    assert _held(page, 0) == _held(page, 1)


def test_what_each_picture_shows_is_said() -> None:
    cluster = busy_cluster()
    scenes = read(cluster.page(cluster.diff(cluster.drain("gpu-a")))).data["scenes"]
    assert scenes[0]["says"] == "the cluster as it is"
    assert scenes[1]["says"].startswith("the cluster after the change")
