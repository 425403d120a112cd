"""What the package imports is what it asks to be installed with it."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator

from tests.cli.running import ROOT

MODULES = {"pyyaml": "yaml", "google-re2": "re2"}


def imported() -> Iterator[str]:
    """Top-level names of all modules that any file of the package imports, anywhere in it."""
    for path in (ROOT / "dra_plan").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                yield from (alias.name.split(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
                yield node.module.split(".")[0]


def test_dependencies_are_what_is_imported() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = [re.split(r"[<>=!~ \[]", dependency)[0] for dependency in project["dependencies"]]
    wanted = {MODULES.get(name, name) for name in names}
    assert set(imported()) - set(sys.stdlib_module_names) - {"dra_plan"} == wanted


def test_every_dependency_is_bounded_below_and_has_its_page() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pages = {path.stem.partition("-")[2] for path in (ROOT / "docs" / "decisions").glob("[0-9]*.md")}
    for dependency in project["dependencies"]:
        name, bound, _ = dependency.partition(">=")
        assert bound, dependency
        assert name in pages
