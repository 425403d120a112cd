"""Every kind of broken input, with the whole message that the user gets."""

from __future__ import annotations

import io
import os
import threading
import tracemalloc
from pathlib import Path

import pytest

from dra_plan.errors import InputError
from dra_plan.manifests.decode import from_dicts
from dra_plan.manifests.faults import ManifestErrors
from dra_plan.manifests.load import load, load_objects

from .broken import CASES, CLASS, Broken


def write(broken: Broken) -> list[str]:
    for name, content in broken.files.items():
        if name.endswith("/"):
            Path(name).mkdir(parents=True)
            continue
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(content.encode() if isinstance(content, str) else content)
    return list(broken.paths) if broken.paths or not broken.files else list(broken.files)


@pytest.mark.parametrize("name", CASES)
def test_message(name, tmp_path, monkeypatch, snapshot):
    monkeypatch.chdir(tmp_path)
    paths = write(CASES[name])
    with pytest.raises(ManifestErrors) as caught:
        load(paths, stdin=io.BytesIO(CASES[name].stdin or b""))
    assert isinstance(caught.value, InputError)
    assert isinstance(caught.value, ValueError)
    assert [fault.text() for fault in caught.value.faults] == str(caught.value).split("\n")
    assert str(caught.value) == snapshot


def test_enough_kinds():
    assert len(CASES) >= 130


def test_permission_denied(tmp_path, monkeypatch):
    """Tests may run as root, who may read everything, so the rejection is played."""
    monkeypatch.chdir(tmp_path)
    Path("secret.yaml").write_text(CLASS)

    def refuse(self, *args, **kwargs):
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(ManifestErrors, match=r"\Asecret\.yaml: permission denied\Z"):
        load(["secret.yaml"])


def test_deep_plain_objects():
    """The Python API may be handed anything."""
    deep: object = 1
    lists: dict[str, object] = {"apiVersion": "v1", "kind": "List", "items": []}
    for _ in range(10_000):
        deep = [deep]
        lists = {"apiVersion": "v1", "kind": "List", "items": [lists]}
    claim = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "c"}}
    parameters = {"devices": {"config": [{"opaque": {"driver": "d", "parameters": {"a": deep}}}]}}
    with pytest.raises(ManifestErrors) as caught:
        from_dicts([deep, lists, {**claim, "spec": parameters}, {**claim, "metadata": deep}, {**claim, "spec": lists}])
    assert str(caught.value).split("\n") == [
        "objects[0]: [0]: expected a Kubernetes object, got a list",
        "objects[1]: Lists nested more than 10 levels deep",
        "objects[2]: ResourceClaim default/c: data nested more than 200 levels deep",
        "objects[3]: ResourceClaim: metadata: expected an object, got a list",
    ]


def test_broken_link(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("link.yaml").symlink_to("gone.yaml")
    with pytest.raises(ManifestErrors, match=r"\Alink\.yaml: broken link to gone\.yaml\Z"):
        load(["link.yaml"])


def test_broken_link_in_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("dir").mkdir()
    Path("dir/link.yaml").symlink_to("gone.yaml")
    Path("dir/class.yaml").write_text(CLASS)
    with pytest.raises(ManifestErrors, match=r"\Adir/link\.yaml: broken link to gone\.yaml\Z"):
        load(["dir"])


@pytest.mark.parametrize("path", ["loop/a.yaml", "loop"])
def test_link_that_leads_back_to_itself(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("loop").mkdir()
    Path("loop/a.yaml").symlink_to("b.yaml")
    Path("loop/b.yaml").symlink_to("a.yaml")
    with pytest.raises(ManifestErrors) as caught:
        load([path])
    assert str(caught.value).split("\n")[0] == "loop/a.yaml: a link that leads back to itself"


def test_directory_that_links_to_itself(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("dir").mkdir()
    Path("dir/again").symlink_to(".")
    Path("dir/class.yaml").write_text(CLASS)
    assert len(load(["dir"], recursive=True).classes) == 1


def test_pipe_in_a_directory(tmp_path, monkeypatch):
    """It would block until somebody writes."""
    monkeypatch.chdir(tmp_path)
    Path("dir").mkdir()
    os.mkfifo("dir/x.yaml")
    with pytest.raises(ManifestErrors, match=r"\Adir/x\.yaml: not a regular file\Z"):
        load(["dir"])


def test_pipe_that_is_named(tmp_path, monkeypatch):
    """As in `dra-plan allocate <(kubectl get ...)`."""
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    writer = threading.Thread(target=lambda: Path("pipe").write_text(CLASS.replace("gpu", "1")))
    writer.start()
    with pytest.raises(ManifestErrors, match=r"\Apipe:4: DeviceClass: metadata\.name: expected a string"):
        load(["pipe"])
    writer.join()


def test_standard_input_named_twice_is_read_once():
    assert len(load(["-", "-"], stdin=io.BytesIO(CLASS.encode())).classes) == 1
    with pytest.raises(ManifestErrors, match=r"\Ano Kubernetes object found in standard input\Z"):
        load(["-", "-"], stdin=io.BytesIO(b""))


def test_unreadable_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("dir").mkdir()

    def refuse(folder):
        raise PermissionError(13, "Permission denied", str(folder))

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(ManifestErrors, match=r"\Adir: permission denied\Z"):
        load(["dir"])


HUGE = 20 * 1024 * 1024


def test_huge_yaml_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with Path("huge.yaml").open("wb") as file:
        file.write(b"apiVersion: v1\nkind: ")
        file.write(b"x" * HUGE)
        file.write(b"\n")
    with pytest.raises(ManifestErrors) as caught:
        load(["huge.yaml"])
    assert str(caught.value) == (
        f"huge.yaml:2: a line of {HUGE + 6} characters; YAML lines are read up to 16777216 (write it as JSON)"
    )


def test_huge_json_line(tmp_path, monkeypatch):
    """Long lines are usual in JSON; the fault after one is still found."""
    monkeypatch.chdir(tmp_path)
    with Path("huge.json").open("wb") as file:
        file.write(b'{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "')
        file.write(b"x" * HUGE)
        file.write(b'"},\n"spec": nothing}')
    with pytest.raises(ManifestErrors) as caught:
        load(["huge.json"])
    assert str(caught.value) == "huge.json:2: JSON: invalid character"


def test_alias_bomb_costs_little_memory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    paths = write(CASES["alias bomb"])
    tracemalloc.start()
    try:
        with pytest.raises(ManifestErrors):
            load(paths)
        assert tracemalloc.get_traced_memory()[1] < 50_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", ["missing file", "bad indentation", "JSON cut off", "text", "List without items"])
def test_plain_objects_have_the_same_faults(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    paths = write(CASES[name])
    with pytest.raises(ManifestErrors) as typed:
        load(paths)
    with pytest.raises(ManifestErrors) as plain:
        load_objects(paths)
    assert str(plain.value) == str(typed.value)
