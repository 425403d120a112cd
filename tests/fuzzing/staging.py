"""The folder of a run, and the servers that it asks: what they say is as random as the input."""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

from dra_plan.live.kubectl import Kubectl, RequestError
from tests.cli.running import Ran, in_process
from tests.live.replay import Answers, InProcess

from .inputs import Run
from .scenes import OUTSIDE, answer

UNTOUCHED = "apiVersion: resource.k8s.io/v1beta1\nkind: DeviceClass\nmetadata: {name: gpu}\nspec: {}\n"


class TouchedError(AssertionError):
    """A run has changed what is none of its business."""


@contextlib.contextmanager
def staged(run: Run) -> Iterator[Callable[[list[str]], Ran]]:
    """How to run command lines on the run's input. TouchedError if a file outside of the folder is another then."""
    if run.answers is None and not run.files:
        yield lambda arguments: in_process(*arguments, stdin=run.text)
        return
    with tempfile.TemporaryDirectory() as place, contextlib.chdir(_made(run, Path(place))), _servers(run.answers):
        yield lambda arguments: in_process(*arguments, stdin=run.text, KUBECTL_PATH="/bin/true")
        if (Path(place) / OUTSIDE).read_text() != UNTOUCHED:
            raise TouchedError("a file outside of the folder was changed")


def _made(run: Run, place: Path) -> Path:
    folder = place / "folder"
    folder.mkdir()
    (place / OUTSIDE).write_text(UNTOUCHED)
    for name, text in run.files.items():
        (folder / name).write_text(text, encoding="utf-8", errors="surrogatepass")
    for name, target in run.links.items():
        (folder / name).symlink_to(target)
    return folder


@contextlib.contextmanager
def _servers(seed: int | None) -> Iterator[None]:
    """Extenders and an API server that answer from a seed."""
    if seed is None:
        yield
        return
    chance, honest = Random(seed), InProcess(Answers())

    def kubectl(_self: Kubectl, path: str) -> bytes:
        chance = Random(f"{seed} {path}")  # paths are asked for at the same time
        try:
            said = honest.get(path)
        except RequestError:
            if chance.random() < 0.8:
                raise
            said = b"{}"
        if chance.random() < 0.85:
            return said
        try:
            return answer(chance, lambda: json.loads(said))
        except ValueError:  # metrics are no JSON
            return said[: chance.randrange(len(said) + 1)]

    def extender(request: Any, timeout: float = 0) -> io.BytesIO:
        asked = json.loads(request.data)
        names = asked.get("NodeNames") or [
            node["metadata"]["name"] for node in (asked.get("Nodes") or {}).get("items", [])
        ]
        honest_answer = {"NodeNames": names, "Nodes": asked.get("Nodes"), "FailedNodes": {}, "Error": ""}
        return io.BytesIO(answer(chance, lambda: honest_answer))

    with (
        patch.object(Kubectl, "get", kubectl),
        patch("dra_plan.live.namespace_of_context", return_value=None),
        patch("dra_plan.questions.schedule.extenders._OPENER.open", extender),
    ):
        yield
