"""Input that is compressed, and directories of which manifests have to be made."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pytest

from dra_plan.manifests.faults import ManifestErrors
from dra_plan.manifests.load import load
from tests.cli.running import in_process

NODE = b'{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "%s"}}'


def names(*paths: Path | str, stdin: bytes = b"", recursive: bool = False) -> list[str]:
    inventory = load(list(paths), stdin=io.BytesIO(stdin), recursive=recursive)
    return [node.metadata.name for node in inventory.nodes]


def test_compressed_files_are_read_by_name_and_of_directories(tmp_path: Path) -> None:
    (tmp_path / "a.json.gz").write_bytes(gzip.compress(NODE % b"a"))
    (tmp_path / "b.yaml.gz").write_bytes(gzip.compress(NODE % b"b") + gzip.compress(b"\n---\n" + NODE % b"c"))
    (tmp_path / "other.gz").write_bytes(gzip.compress(NODE % b"d"))
    assert names(tmp_path) == ["a", "b", "c"]
    assert names(tmp_path / "other.gz") == ["d"]


def test_compressed_standard_input_is_read() -> None:
    assert names("-", stdin=gzip.compress(NODE % b"a")) == ["a"]
    lines = b"".join(NODE % b"n%d" % number + b"\n---\n" for number in range(10_000))
    assert len(names("-", stdin=gzip.compress(lines, compresslevel=0))) == 10_000


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (gzip.compress(NODE)[:-9], "gzip cannot unpack it (Compressed file ended before"),
        (b"\x1f\x8bnothing", "gzip cannot unpack it ("),
        (gzip.compress(gzip.compress(NODE)), "NUL byte; not a text file"),
        (gzip.compress(bytes(80 << 20)), "larger than 83420264 bytes when unpacked"),
    ],
    ids=["cut", "not gzip", "twice", "bomb"],
)
def test_what_can_not_be_unpacked_is_a_fault(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "broken.yaml.gz"
    path.write_bytes(content)
    with pytest.raises(ManifestErrors) as caught:
        names(path)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("file", "said"),
    [
        (
            "kustomization.yaml",
            "this is a kustomization, which has to be rendered first (use `kubectl",
        ),
        ("Kustomization", "`kubectl kustomize {} | dra-plan ... -`)"),
        ("Chart.yaml", "this is a chart, which has to be rendered first (use `helm template {} | dra-plan ... -`)"),
    ],
)
def test_a_directory_of_which_manifests_are_made(tmp_path: Path, file: str, said: str) -> None:
    (tmp_path / file).write_text("apiVersion: v2\nname: mine\n")
    (tmp_path / "node.yaml").write_bytes(NODE % b"a")
    for path in (tmp_path, tmp_path / file):
        ran = in_process("allocate", str(path))
        assert (ran.status, ran.out) == (2, "")
        assert said.format(tmp_path) in ran.err
        assert ran.err.count("\n") == 1
    assert names(tmp_path / "node.yaml") == ["a"]


def test_one_that_is_met_on_the_way_through_directories(tmp_path: Path) -> None:
    for folder in ("base", "base/deeper", "our chart"):
        (tmp_path / folder).mkdir()
    (tmp_path / "node.yaml").write_bytes(NODE % b"a")
    (tmp_path / "base" / "kustomization.yaml").write_text("resources: [node.yaml]\n")
    (tmp_path / "base" / "deeper" / "node.yaml").write_text("{{ a template }}")
    (tmp_path / "our chart" / "Chart.yaml").write_text("apiVersion: v2\nname: mine\n")
    ran = in_process("allocate", "-R", str(tmp_path))
    assert (ran.status, ran.out) == (2, "")
    kustomization, chart = ran.err.splitlines()
    assert f"(use `kubectl kustomize {tmp_path}/base | dra-plan ... -`)" in kustomization
    assert f"(use `helm template '{tmp_path}/our chart' | dra-plan ... -`)" in chart
    assert names(tmp_path) == ["a"]
