"""What a drain does, on its page: who stays pending and why, who is not recreated, and for whom kubectl waits."""

from functools import cache
from typing import Any

from tests.browser.conftest import Open, settled
from tests.build import manifest, owned, placed
from tests.page.clusters import busy_cluster


@cache
def _html() -> str:
    """Of two pods with devices one moves and one stays pending; a bare pod ends, and a budget holds another."""
    serves = {"labels": {"app": "serve"}, **owned("ReplicaSet", "serve")}
    ready = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    budget = manifest("PodDisruptionBudget", "serve", namespace="ml")
    budget["spec"] = {"minAvailable": 1, "selector": {"matchLabels": {"app": "serve"}}}
    serve = placed("serve-1", "gpu-a", cpu=None, memory=None, namespace="ml", metadata=serves)
    serve["status"] = ready
    bare = placed("scratch", "gpu-a", cpu=None, memory=None, namespace="ml")
    cluster = busy_cluster([serve, bare, budget])
    return cluster.page(cluster.diff(cluster.drain("gpu-a")))


def _row(page: Any, name: str) -> Any:
    return settled(page).locator(".pick", has_text=name)


def test_the_title_says_what_becomes_of_pods(opens: Open) -> None:
    page = opens(_html()).page
    assert page.inner_text("h1") == (
        "After draining gpu-a: 1 pod stays pending, 1 pod is not recreated, 2 other changes; "
        "kubectl drain would wait for budget ml/serve"
    )
    assert _row(page, "pod/ml/train-1").locator(".word").inner_text() == "stays pending"
    assert _row(page, "pod/ml/scratch").locator(".word").inner_text() == "not recreated"
    _row(page, "pod/ml/scratch").click()
    assert "No controller recreates this pod." in settled(page).inner_text(".answer:visible")


def test_the_pod_for_which_a_drain_waits_says_so_in_its_row_and_its_answer(opens: Open) -> None:
    page = opens(_html()).page
    assert "kubectl drain waits for budget ml/serve" in _row(page, "pod/ml/serve-1").locator(".line").inner_text()
    assert "kubectl drain waits" not in _row(page, "pod/ml/train-0").inner_text()
    _row(page, "pod/ml/serve-1").click()
    assert "For this pod kubectl drain waits for budget ml/serve (0 of 1 pod may go now)." in settled(page).inner_text(
        ".answer:visible"
    )


def test_a_pod_that_stays_pending_says_why_on_each_device(opens: Open) -> None:
    page = opens(_html()).page
    _row(page, "pod/ml/train-1").click()
    assert (
        _row(page, "pod/ml/train-1").locator(".line").inner_text() == "too few free devices (0 of 2 for gpu) on 1 node"
    )
    assert page.locator(".answer:visible .funnel").count() > 0
    after = page.locator(".card[data-scene='1']").filter(has=page.locator(".title", has_text="gpu-b"))
    assert "in use, by claim ml/train-0-gpu (pod train-0)" in after.locator(".dev", has_text="gpu-1").get_attribute(
        "title"
    )
    assert after.locator(".verdict").inner_text().startswith("does not fit")
