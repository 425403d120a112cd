"""Links in a checkout: those that leave it are followed only where they are named, and then it is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from dra_plan.manifests.load import ManifestErrors, load
from tests.cli.running import in_process

CLASS = "apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: gpu}\nspec: {}\n"
UNTIDY = "apiVersion: resource.k8s.io/v1beta1\nkind: DeviceClass\nmetadata: {name: gpu}\nspec: {}\n"


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with a folder of manifests, beside a file that is none of its business."""
    folder = tmp_path / "checkout"
    (folder / "manifests").mkdir(parents=True)
    (folder / ".git").mkdir()
    (folder / "manifests" / "class.yaml").write_text(CLASS)
    (tmp_path / "secret.yaml").write_text(UNTIDY)
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize("target", ["../../secret.yaml", "/etc/hostname"])
@pytest.mark.parametrize("command", ["allocate", "validate", "schedule", "pools"])
def test_a_directory_is_not_left(checkout: Path, target: str, command: str) -> None:
    (checkout / "manifests" / "x.yaml").symlink_to(target)
    ran = in_process(command, "manifests")
    assert ran.status == 2
    assert f"manifests/x.yaml: a link to {Path('manifests', target).resolve()}, outside of {checkout}" in ran.err
    assert "(to read it, name the file itself)" in ran.err


def test_a_link_through_a_link_is_seen_through(checkout: Path, tmp_path: Path) -> None:
    (checkout / "inside.yaml").symlink_to(tmp_path / "secret.yaml")
    (checkout / "manifests" / "x.yaml").symlink_to("../inside.yaml")
    with pytest.raises(ManifestErrors, match="outside of"):
        load(["manifests"])


def test_links_within_the_checkout_are_followed(checkout: Path) -> None:
    (checkout / "common").mkdir()
    (checkout / "common" / "other.yaml").write_text(CLASS.replace("gpu", "nic"))
    (checkout / "manifests" / "x.yaml").symlink_to("../common/other.yaml")
    assert sorted(each.metadata.name for each in load(["manifests"]).classes) == ["gpu", "nic"]


def test_without_a_checkout_the_directory_is_the_border(checkout: Path) -> None:
    (checkout / ".git").rmdir()
    (checkout / "other.yaml").write_text(CLASS.replace("gpu", "nic"))
    (checkout / "manifests" / "x.yaml").symlink_to("../other.yaml")
    with pytest.raises(ManifestErrors, match="outside of"):
        load(["manifests"])
    assert sorted(each.metadata.name for each in load(["manifests/x.yaml", "manifests/class.yaml"]).classes) == [
        "gpu",
        "nic",
    ]


def test_fix_writes_nothing_outside_unless_it_is_named(checkout: Path, tmp_path: Path) -> None:
    link, secret = checkout / "manifests" / "x.yaml", tmp_path / "secret.yaml"
    link.symlink_to(secret)
    assert in_process("validate", "manifests", "--fix").status == 2
    assert secret.read_text() == UNTIDY
    ran = in_process("validate", "manifests/x.yaml", "--fix")
    assert f"manifests/x.yaml is a link to {secret}\n" in ran.err
    assert link.is_symlink()


def test_a_named_link_within_the_checkout_is_no_matter(checkout: Path) -> None:
    (checkout / "x.yaml").symlink_to("manifests/class.yaml")
    assert "is a link" not in in_process("validate", "x.yaml").err
