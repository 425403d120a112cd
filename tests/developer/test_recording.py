"""The terminal recording in the documentation is what the program prints now."""

from xml.etree import ElementTree

import pytest

from scripts import recording
from tests.cli.running import ROOT
from tests.conftest import Golden


def test_the_recording(golden: Golden, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    made = recording.recording()
    golden(ROOT / "docs" / "images" / "explain.svg", made)
    said = "".join(text.text or "" for text in ElementTree.fromstring(made).iter("{http://www.w3.org/2000/svg}text"))
    assert "pod/ml/train is Pending: no node can take it (0 of 3)." in said
    assert "http" not in made.replace("http://www.w3.org/2000/svg", "")
