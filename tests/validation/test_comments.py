"""`# dra-plan: ignore=...`: what a comment spares, and what it does not."""

from pathlib import Path

import pytest

from .judging import judged

TEXT = """\
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata:
  name: slice
spec:
  driver: gpu.example.com
  pool: {name: "a b", generation: 1, resourceSliceCount: 1}
  nodeName: node-a
  devices:
  - name: GPU_0
  - name: GPU_1
    attributes:
      a-b: {int: 1}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: A_CLASS}
spec: {}
"""
ALL = ["6 DRA101 a b", "9 DRA101 GPU_0", "10 DRA101 GPU_1", "12 DRA102 a-b", "16 DRA101 A_CLASS"]


def found(folder: Path, text: str) -> list[str]:
    """Line in the text without comments of its own, code and name of each finding."""
    comments = [number for number, line in enumerate(text.splitlines(), 1) if line.strip().startswith("#")]
    made = []
    for finding in judged(folder, text).findings:
        line = finding.line - sum(number < finding.line for number in comments) - 1
        made.append(f"{line} {finding.code} " + finding.message.split('"')[1])
    return made


def with_comment(line: int, comment: str) -> str:
    lines = TEXT.splitlines(keepends=True)
    return "".join([*lines[:line], comment + "\n", *lines[line:]])


def behind(line: int, comment: str) -> str:
    lines = TEXT.splitlines()
    lines[line] += f"  {comment}"
    return "\n".join(lines) + "\n"


def test_without_a_comment(tmp_path: Path) -> None:
    assert found(tmp_path, TEXT) == ALL


@pytest.mark.parametrize(
    ("text", "spared"),
    [
        pytest.param(behind(9, "# dra-plan: ignore=DRA101"), {1}, id="behind"),
        pytest.param(behind(9, "# dra-plan: ignore"), {1}, id="any code"),
        pytest.param(behind(9, "# dra-plan:ignore = DRA1 , DRA2"), {1}, id="beginnings, spaces"),
        pytest.param(behind(9, "# dra-plan: ignore=DRA102"), set(), id="another code"),
        pytest.param(behind(9, "# dra-plan: ignores=DRA101"), set(), id="another word"),
        pytest.param(with_comment(9, "  # dra-plan: ignore=DRA101"), {1}, id="above an item"),
        pytest.param(with_comment(10, "  # dra-plan: ignore"), {2, 3}, id="above an item with fields"),
        pytest.param(with_comment(8, "  # dra-plan: ignore=DRA101"), {1, 2}, id="above a list that is not indented"),
        pytest.param(with_comment(4, "# why\n# dra-plan: ignore=DRA101\n# why else"), {0, 1, 2}, id="above a key"),
        pytest.param(with_comment(0, "# dra-plan: ignore"), {0, 1, 2, 3}, id="above a document"),
        pytest.param(with_comment(14, "# dra-plan: ignore"), {4}, id="above the second document"),
        pytest.param(with_comment(18, "# dra-plan: ignore"), set(), id="at the end"),
    ],
)
def test_comment(text: str, spared: set[int], tmp_path: Path) -> None:
    assert found(tmp_path, text) == [told for index, told in enumerate(ALL) if index not in spared]
    assert judged(tmp_path, text).to_dict()["summary"]["spared"] == len(spared)


@pytest.mark.parametrize(
    ("comment", "why"),
    [
        (
            "# dra-plan: ignore=DRA999",
            "a comment that ignores findings: no rule 'DRA999': `dra-plan rule` lists the rules",
        ),
        ("# dra-plan: ignore=DRA101,dra102", "a comment that ignores findings: no rule 'dra102'; did you mean DRA102?"),
        ("# dra-plan: ignore DRA101", "a comment has no effect: write the codes after `=`"),
        ("# dra-plan: ignore=DRA101 DRA102", "a comment has no effect: write the codes after `=`"),
        ("# dra-plan: ignore: DRA101", "a comment has no effect: write the codes after `=`"),
        ("# dra-plan: ingore=DRA101", "a comment has no effect: the word is `ignore`"),
    ],
)
def test_a_comment_that_spares_nothing_is_told(comment: str, why: str, tmp_path: Path) -> None:
    [warning] = judged(tmp_path, behind(9, comment)).document.warnings
    assert warning.code == "comment-spares-nothing"
    assert warning.message.startswith(why)
    assert warning.source == f"{tmp_path / 'input.yaml'}:10"


@pytest.mark.parametrize(
    "comment", ["# dra-plan: ignore", "# dra-plan: ignore=DRA2,DRA101", "# dra-plan: on two nodes"]
)
def test_a_comment_that_is_right_or_prose_is_not_told(comment: str, tmp_path: Path) -> None:
    assert judged(tmp_path, behind(9, comment)).document.warnings == []
