"""Class names of the package: each stands for one thing."""

from pathlib import Path

from scripts import names


def test_two_classes_with_one_name_are_found(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "a.py").write_text("class Gate:\n    class Lock: ...\n")
    (package / "b.py").write_text("\nclass Lock: ...\n")
    assert names.homonyms(package) == {"Lock": ["package/a.py:2", "package/b.py:2"]}
