"""No text names a place on the net that is not there: every address is one of those that have been looked at."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.running import ROOT

FOLDERS = ["dra_plan", "docs", "examples", "completions", "scripts", "benchmarks", "fixtures"]
ADDRESS = re.compile(rb"https?://[^\s\"'`<>)\]\\]+")
KNOWN = re.compile(
    r"https?://(github\.com/kubernetes(-sigs)?/(kubernetes|autoscaler|cluster-autoscaler)/(issues|pull)/\d+"
    r"|json-schema\.org/draft/2020-12/schema|docs\.oasis-open\.org/sarif/.*\.json"
    r"|www\.apache\.org/licenses/(LICENSE-2\.0)?|www\.w3\.org/2000/svg|keepachangelog\.com|semver\.org|pre-commit\.com)[.,;]*"
    r"|https?://([a-z0-9-]+\.)*example\.(com|org)(:\d+)?(/.*)?"  # kept free for examples (RFC 2606)
)


def texts() -> list[Path]:
    """What is shipped or read: the package, the documentation, and the files beside them."""
    beside = [path for path in ROOT.iterdir() if path.is_file()]
    inside = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.is_file()]
    return [path for path in beside + inside if path.suffix not in (".pyc", ".gz")]


def test_every_address_is_known() -> None:
    found = {
        (str(path.relative_to(ROOT)), address.decode())
        for path in texts()
        for address in ADDRESS.findall(path.read_bytes())
    }
    assert [each for each in sorted(found) if not KNOWN.fullmatch(each[1])] == []
    assert len(found) > 10


@pytest.mark.parametrize("name", ["README.md", "docs", "dra_plan", "pyproject.toml", "Containerfile"])
def test_the_search_goes_there(name: str) -> None:
    assert any(path.is_relative_to(ROOT / name) for path in texts())
