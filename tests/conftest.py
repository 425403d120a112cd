"""What tests of all folders share."""

from collections.abc import Callable
from pathlib import Path

import pytest

Golden = Callable[[Path, str], None]


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Compare a text with a file; `--snapshot-update` (make golden) writes the file instead."""

    def check(path: Path, text: str) -> None:
        if request.config.getoption("update_snapshots"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert path.exists(), f"{path} is missing: make golden writes it"
        assert text == path.read_text(encoding="utf-8")

    return check
