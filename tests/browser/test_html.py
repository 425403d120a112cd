"""The HTML of all kinds of pages is valid: html-validate, with the rules of the standard, finds nothing."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.browser.conftest import TOOLS
from tests.page.reading import PAGES, html_of

RULES = {"root": True, "extends": ["html-validate:standard"]}


def _judged(folder: Path, pages: dict[str, str]) -> tuple[int, str]:
    config = folder / "rules.json"
    config.write_text(json.dumps(RULES), encoding="utf-8")
    for name, html in pages.items():
        (folder / f"{name}.html").write_text(html, encoding="utf-8")
    files = [str(folder / f"{name}.html") for name in pages]
    judge = [str(TOOLS / ".bin" / "html-validate"), "--config", str(config), *files]
    done = subprocess.run(judge, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("fixture", ["gpu-fleet", "mig", "scattered"])
def test_all_pages_are_valid(fixture: str, tmp_path: Path) -> None:
    assert _judged(tmp_path, {command: html_of(fixture, command) for command in PAGES}) == (0, "")


def test_what_is_wrong_is_found(tmp_path: Path) -> None:
    broken = html_of("mig", "pools").replace("</header>", "</header><ul><p>x</p></ul>")
    status, said = _judged(tmp_path, {"broken": broken})
    assert status == 1
    assert "element-permitted-content" in said
