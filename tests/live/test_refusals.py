"""Every rejection that was recorded of a real API server, as a real kubectl tells it."""

from __future__ import annotations

import gzip
import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from dra_plan.live.kubectl import Kubectl, Refusal, RequestError

from .replay import Answers, kubeconfig, served

KNOWN = {403: Refusal.FORBIDDEN, 404: Refusal.NOT_FOUND, 410: Refusal.EXPIRED}


def recorded() -> list[dict[str, Any]]:
    with gzip.open(Path(__file__).parent / "apiserver.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [entry for entry in map(json.loads, lines) if entry["status"] >= 400]


def who(entry: dict[str, Any]) -> tuple[str, str]:
    return entry["run"], entry["user"] or ""


GROUPS = {key: list(each) for key, each in itertools.groupby(sorted(recorded(), key=who), who)}


def test_all_kinds_of_refusals_are_recorded() -> None:
    assert {entry["status"] for entry in recorded()} == {400, 401, 403, 404, 410}


@pytest.mark.long
@pytest.mark.parametrize(("run", "user"), GROUPS)
def test_each_is_told_for_what_it_is(run: str, user: str, kubectl: str, tmp_path: Path) -> None:
    """With the server's words, where it had any: an unknown group is plain text, a wrong token kubectl's own."""
    with served(Answers(run), user or None) as address:
        asked = Kubectl(kubeconfig=kubeconfig(tmp_path, address))
        for entry in GROUPS[run, user]:
            with pytest.raises(RequestError) as raised:
                asked.get(entry["path"])
            assert raised.value.refusal is KNOWN.get(entry["status"], Refusal.FAILED), entry["path"]
            if isinstance(entry["body"], dict) and entry["status"] != 401:
                assert entry["body"]["message"] in raised.value.message, entry["path"]
