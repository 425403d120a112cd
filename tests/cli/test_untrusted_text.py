"""Texts of manifests and answers of extenders that would act elsewhere: mentions, links, redirects, wrong shapes."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.build import claim, device_class, node, pod, request, slice_

from .running import in_process

EVIL = 'device.driver == "[click](https://evil.example) @all www.evil.example"'


def test_markdown_mentions_nobody_and_links_nowhere(tmp_path: Path) -> None:
    path = tmp_path / "in.json"
    path.write_text(json.dumps([node("a"), device_class(), slice_("a", "gpu-0"), claim("c", request("r", EVIL))]))
    told = in_process("explain", str(path), "-o", "markdown").out
    outside = "".join(part for at, part in enumerate(told.split("`")) if at % 2 == 0)
    assert "evil" in told
    outside = outside.replace("\\](", "")
    assert not [mark for mark in ("@all", "https://evil", " www.evil", "](http") if mark in outside]


def test_what_markdown_folds_mentions_nobody_and_links_nowhere(tmp_path: Path) -> None:
    path = tmp_path / "in.json"
    evil = "@all</summary><img src=x onerror=y> https://evil.example www.evil.example"
    tainted = node("a", cpu="8", spec={"taints": [{"key": evil, "effect": "NoSchedule"}]})
    path.write_text(json.dumps([tainted, *(pod(f"p{n}", cpu=str(10 + n), uid=None) for n in range(6))]))
    told = in_process("explain", str(path), "-o", "markdown").out
    assert told.count("<details><summary>") == 6
    summaries = [line for line in told.splitlines() if "<summary>" in line]
    assert all("evil" in line for line in summaries)
    for line in summaries:
        inside = line.removeprefix("<details><summary>").removesuffix("</summary>")
        assert not [mark for mark in ("<", "@", "://", "www.") if mark in inside]


def test_messages_of_sarif_have_no_links(tmp_path: Path) -> None:
    path = tmp_path / "in.json"
    path.write_text(json.dumps([node("a"), pod("p", nodeSelector={"[x](https://evil.example)": "y"}, uid=None)]))
    in_process("schedule", str(path), "--report", f"sarif={tmp_path / 'out.sarif'}")
    told = json.loads((tmp_path / "out.sarif").read_text())
    texts = [result["message"]["text"] for run in told["runs"] for result in run["results"]]
    assert texts
    assert not [text for text in texts if "](" in text.replace("\\](", "")]


class Lying(BaseHTTPRequestHandler):
    """Answers everything with what the server has."""

    def do_POST(self) -> None:
        status, headers, body = self.server.answer  # type: ignore[attr-defined]
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Nothing."""


@pytest.fixture
def extender() -> Iterator[HTTPServer]:
    server = HTTPServer(("127.0.0.1", 0), Lying)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


SHAPES: list[Any] = [
    {"NodeNames": 7},
    {"NodeNames": {"a": 1}},
    {"Nodes": {"items": [7]}},
    {"Nodes": {"items": 7}},
    {"Nodes": [1]},
    {"Nodes": {"items": [{"metadata": None}]}},
    {"FailedNodes": [1], "NodeNames": ["a"]},
    {"FailedNodes": "x", "NodeNames": ["a"]},
    [],
    None,
    "x",
]


def scheduled(extender: HTTPServer, tmp_path: Path) -> Any:
    (tmp_path / "in.json").write_text(json.dumps([node("a"), node("b"), pod("p")]))
    config = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "extenders": [{"urlPrefix": f"http://127.0.0.1:{extender.server_port}", "filterVerb": "filter"}],
    }
    (tmp_path / "config.json").write_text(json.dumps(config))
    return in_process(
        "schedule", str(tmp_path / "in.json"), "--config", str(tmp_path / "config.json"), "--allow-extenders"
    )


@pytest.mark.parametrize("shape", SHAPES, ids=json.dumps)
def test_a_wrong_answer_is_the_extenders_error(shape: Any, extender: HTTPServer, tmp_path: Path) -> None:
    extender.answer = (200, {}, json.dumps(shape).encode())  # type: ignore[attr-defined]
    ran = scheduled(extender, tmp_path)
    assert ran.status in (0, 1, 2), ran.err


def test_redirects_to_other_hosts_are_not_followed(extender: HTTPServer, tmp_path: Path) -> None:
    extender.answer = (302, {"Location": "http://evil.example/"}, b"")  # type: ignore[attr-defined]
    ran = scheduled(extender, tmp_path)
    assert ran.status == 1
    assert "it redirects to another host" in ran.out
