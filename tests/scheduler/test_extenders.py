"""Extenders: over HTTP, against a local one, and what becomes of their errors."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from dra_plan import Cluster
from dra_plan.questions.schedule.extenders import HttpExtender, make
from dra_plan.scheduler import config
from dra_plan.scheduler.framework.extender import ExtenderError
from tests.build import node, placed, pod
from tests.scheduler.reading import message, outcome, where

from .test_config import document

Answer = Callable[[str, dict[str, Any]], Any]


@contextmanager
def serving(answer: Answer) -> Iterator[tuple[str, list[tuple[str, dict[str, Any]]]]]:
    """A local extender; gives its address and what it was asked."""
    asked: list[tuple[str, dict[str, Any]]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            verb = self.path.rsplit("/", 1)[-1]
            asked.append((verb, body))
            reply = answer(verb, body)
            self.send_response(500 if reply is None else 200)
            self.end_headers()
            self.wfile.write(json.dumps(reply).encode())

        def log_message(self, *_args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/scheduler", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def run(address: str, objects: list[dict], **settings: Any) -> dict[str, Any]:
    chosen = document(extenders=[{"urlPrefix": address, "nodeCacheCapable": True, **settings}])
    plan = Cluster.of(objects).schedule(config=chosen, extenders=make(config.read(chosen)))
    return plan.to_dict()


def cluster() -> list[dict]:
    return [node("a"), node("b"), node("c"), pod("p")]


def test_filter_takes_nodes_away():
    def answer(_verb: str, _body: dict[str, Any]) -> Any:
        return {"NodeNames": ["c"], "FailedNodes": {"a": "too hot"}, "FailedAndUnresolvableNodes": {"b": "on fire"}}

    with serving(answer) as (address, asked):
        assert where(run(address, cluster(), filterVerb="filter"))["p"] == "c"
    [(verb, body)] = asked
    assert verb == "filter"
    assert body["NodeNames"] == ["a", "b", "c"]
    assert body["Pod"]["metadata"]["name"] == "p"


def test_the_reasons_of_an_extender_are_in_the_message():
    def answer(_verb: str, body: dict[str, Any]) -> Any:
        return {"nodenames": [], "failedNodes": dict.fromkeys(body["NodeNames"], "too hot")}

    with serving(answer) as (address, _):
        assert message(run(address, cluster(), filterVerb="filter"), "p").startswith(
            "0/3 nodes are available: 3 too hot. no new claims to deallocate, preemption: 0/3 nodes are available:"
        )


def test_whole_nodes_are_sent_when_the_extender_has_no_cache():
    def answer(_verb: str, body: dict[str, Any]) -> Any:
        return {"nodes": {"items": [n for n in body["Nodes"]["items"] if n["metadata"]["name"] == "b"]}}

    with serving(answer) as (address, _):
        assert where(run(address, cluster(), filterVerb="filter", nodeCacheCapable=False))["p"] == "b"


def test_prioritize_adds_weighted_scores():
    def answer(_verb: str, _body: dict[str, Any]) -> Any:
        return [{"host": "a", "score": 1}, {"host": "b", "score": 10}]

    with serving(answer) as (address, asked):
        assert where(run(address, cluster(), prioritizeVerb="prioritize", weight=5))["p"] == "b"
    assert [verb for verb, _ in asked] == ["prioritize"]


def test_bind_is_left_to_the_extender():
    with serving(lambda _verb, _body: {}) as (address, asked):
        assert where(run(address, cluster(), bindVerb="bind"))["p"] == "a"
    assert asked == [("bind", {"PodName": "p", "PodNamespace": "default", "PodUID": "u-p", "Node": "a"})]


def test_a_bind_error_fails_the_pod():
    with serving(lambda _verb, _body: {"error": "no way"}) as (address, _):
        found = outcome(run(address, cluster(), bindVerb="bind"), "p")
    assert (found["outcome"], found["message"]) == ("Error", "no way")


def test_preempt_chooses_among_candidates():
    objects = [node("a", cpu="1"), node("b", cpu="1"), placed("x", "a"), placed("y", "b"), pod("p", priority=5)]

    def answer(_verb: str, body: dict[str, Any]) -> Any:
        return {"NodeNameToMetaVictims": {"b": body["NodeNameToMetaVictims"]["b"]}}

    with serving(answer) as (address, _):
        found = run(address, objects, preemptVerb="preempt")
    assert found["evictions"] == [{"pod": "default/y", "preemptor": "default/p", "node": "b"}]
    with serving(lambda _verb, _body: {"nodeNameToMetaVictims": {}}) as (address, _):
        assert message(run(address, objects, preemptVerb="preempt"), "p").endswith(
            "preemption: no candidate node for preemption"
        )


@pytest.mark.parametrize("spelling", [str, str.lower, lambda name: name[0].lower() + name[1:]])
def test_answers_are_read_in_whatever_case(spelling):
    """Go reads JSON so, and extenders answer as their language likes it."""

    def answer(verb: str, _body: dict[str, Any]) -> Any:
        if verb == "prioritize":
            return [{spelling("Host"): "b", spelling("Score"): 10}]
        return {spelling("NodeNames"): ["b", "c"], spelling("FailedNodes"): {"a": "too hot"}}

    with serving(answer) as (address, asked):
        found = run(address, cluster(), filterVerb="filter", prioritizeVerb="prioritize", weight=1)
    assert where(found)["p"] == "b"
    assert [set(body) for _, body in asked] == [{"Pod", "Nodes", "NodeNames"}] * 2


def test_preempt_without_a_cache_sends_whole_pods():
    objects = [node("a", cpu="1"), placed("x", "a"), pod("p", priority=5)]

    def answer(_verb: str, body: dict[str, Any]) -> Any:
        assert body["NodeNameToMetaVictims"] is None
        [victim] = body["NodeNameToVictims"]["a"]["Pods"]
        return {"NodeNameToMetaVictims": {"a": {"Pods": [{"UID": victim["metadata"]["uid"]}]}}}

    with serving(answer) as (address, _):
        assert where(run(address, objects, preemptVerb="preempt", nodeCacheCapable=False)) == {"p": "a"}


def test_a_bind_error_that_can_be_ignored_leaves_binding_to_the_plugins():
    with serving(lambda _verb, _body: {"error": "no way"}) as (address, _):
        assert where(run(address, cluster(), bindVerb="bind", ignorable=True))["p"] == "a"


def test_nodes_taken_away_without_a_word_still_reject_the_pod():
    with serving(lambda _verb, _body: {"nodenames": []}) as (address, _):
        found = outcome(run(address, cluster(), filterVerb="filter"), "p")
    assert found["message"].startswith("0/3 nodes are available: no new claims to deallocate, preemption:")


BAD_VICTIMS = [
    (None, "failed preempt with extender at URL "),
    ({"nodeNameToMetaVictims": {"x": {"pods": []}}}, 'nodeinfo not found for node name "x"'),
    ({"nodeNameToMetaVictims": {"a": {"pods": []}}}, 'expected at least one victim pod on node "a"'),
    (
        {"nodeNameToMetaVictims": {"a": {"pods": [{"uid": "u-q"}]}}},
        "claims to preempt pod (UID: u-q) on node: a, but the pod is not found on that node",
    ),
]


@pytest.mark.parametrize(("reply", "text"), BAD_VICTIMS)
def test_preempt_errors(reply, text):
    objects = [node("a", cpu="1"), placed("x", "a"), pod("p", priority=5)]
    with serving(lambda _verb, _body: reply) as (address, _):
        strict = run(address, objects, preemptVerb="preempt")
        lenient = run(address, objects, preemptVerb="preempt", ignorable=True)
    assert text in message(strict, "p")
    assert strict["evictions"] == []
    victims_left = reply is None or "expected" not in text
    assert [e["pod"] for e in lenient["evictions"]] == (["default/x"] if victims_left else [])


@pytest.mark.parametrize("reply", [None, {"error": "broken"}, ["odd"], {"nodenames": ["stranger"]}])
def test_an_error_fails_the_attempt_unless_it_can_be_ignored(reply):
    with serving(lambda _verb, _body: reply) as (address, _):
        found = outcome(run(address, cluster(), filterVerb="filter"), "p")
        assert found["outcome"] == "Error"
        assert where(run(address, cluster(), filterVerb="filter", ignorable=True))["p"] == "a"


def test_an_extender_that_is_not_there():
    found = outcome(run("http://127.0.0.1:1/none", cluster(), filterVerb="filter"), "p")
    assert 'extender "http://127.0.0.1:1/none" could not be asked to filter' in found["message"]


def test_only_pods_with_managed_resources_concern_it():
    managed = [{"name": "example.com/x", "ignoredByScheduler": True}]
    objects = [node("a"), pod("p"), pod("q", requests={"example.com/x": "1"})]
    with serving(lambda _verb, _body: {"nodenames": ["a"]}) as (address, asked):
        found = run(address, objects, filterVerb="filter", managedResources=managed)
    assert where(found) == {"p": "a", "q": "a"}, "the scheduler does not count the resource"
    assert [body["Pod"]["metadata"]["name"] for _, body in asked] == ["q"]


def test_only_http_is_contacted():
    with pytest.raises(ExtenderError, match="only http and https"):
        HttpExtender(config.ExtenderConfig(url_prefix="file:///etc"))
