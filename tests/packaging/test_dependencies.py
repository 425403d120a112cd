"""What the package imports is what it asks to be installed with it."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator

import pytest

from tests.cli.running import ROOT

LOCKS = ["requirements.lock", "requirements-dev.lock"]
MODULES = {"pyyaml": "yaml", "google-re2": "re2"}


def imported() -> Iterator[str]:
    """Top-level names of all modules that any file of the package imports, anywhere in it."""
    for path in (ROOT / "dra_plan").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                yield from (alias.name.split(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
                yield node.module.split(".")[0]


def declared() -> list[str]:
    """The names of the dependencies that pyproject.toml lists."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [re.split(r"[<>=!~ \[]", dependency)[0] for dependency in project["dependencies"]]


def extras() -> set[str]:
    """The names of what is installed for extras alone."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return {re.split(r"[<>=!~ \[]", each)[0] for group in project["optional-dependencies"].values() for each in group}


def test_dependencies_are_what_is_imported() -> None:
    wanted = {MODULES.get(name, name) for name in declared()}
    found = set(imported()) - set(sys.stdlib_module_names) - {"dra_plan"}
    assert found - extras() == wanted


def test_every_dependency_is_bounded_below_and_has_its_page() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pages = {path.stem.partition("-")[2] for path in (ROOT / "docs" / "decisions").glob("[0-9]*.md")}
    for dependency in project["dependencies"]:
        name, bound, _ = dependency.partition(">=")
        assert bound, dependency
        assert name in pages


@pytest.mark.parametrize("lock", LOCKS)
def test_the_locks_have_every_dependency_with_hashes(lock: str) -> None:
    text = (ROOT / lock).read_text(encoding="utf-8")
    entries = {
        entry.split("==")[0]: entry for entry in re.split(r"^(?=[a-z])", text, flags=re.MULTILINE) if "==" in entry
    }
    assert set(declared()) <= set(entries)
    assert all("--hash=sha256:" in entry for entry in entries.values())


def test_the_lock_of_users_is_part_of_the_developers() -> None:
    pins = [
        set(re.findall(r"^[a-z].*==\S+", (ROOT / lock).read_text(encoding="utf-8"), re.MULTILINE)) for lock in LOCKS
    ]
    assert pins[0] < pins[1]
