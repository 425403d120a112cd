"""Every command's tables on a terminal, with the names of real clusters; no name is broken at 80 columns."""

from __future__ import annotations

import re
from pathlib import Path
from unittest.mock import patch

import pytest

from dra_plan.cli import printing
from dra_plan.questions.registry import QUESTIONS
from dra_plan.text.columns import Screen, Table
from dra_plan.text.folding import by_pool, device_cell, ranges
from dra_plan.text.screen import render
from tests.cli.running import ROOT, in_process
from tests.conftest import Golden

from . import fleet

HERE = Path(__file__).parent / "golden"
CEL = f'device.attributes["{fleet.NVIDIA}"].profile == "1g.10gb"'
LABELS = "cloud.google.com/gke-nodepool=a100-pool"
COMMANDS: dict[str, tuple[str, ...]] = {
    "allocate": ("allocate", "cluster.json"),
    "allocate-wide": ("allocate", "cluster.json", "-o", "wide", "pod/needs-h100"),
    "autoscale": ("autoscale", "cluster.json", "--groups", "groups.json"),
    "autoscale-wide": ("autoscale", "cluster.json", "--groups", "groups.json", "-o", "wide"),
    "capacity": ("capacity", "cluster.json"),
    "capacity-wide": ("capacity", "cluster.json", "-o", "wide"),
    "cel": ("cel", CEL, "cluster.json"),
    "diff": ("diff", "cluster.json", "--drain", fleet.GKE[2]),
    "diff-wide": ("diff", "cluster.json", "--drain", fleet.GKE[2], "-o", "wide"),
    "drains": ("diff", "cluster.json", "--drain", "each"),
    "drains-wide": ("diff", "cluster.json", "--drain", "each", "-o", "wide"),
    "explain": ("explain", "cluster.json"),
    "grow": ("grow", "cluster.json", "--like", fleet.GKE[0]),
    "impact": ("impact", "-f", "rule.json", "cluster.json"),
    "impact-wide": ("impact", "-f", "rule.json", "cluster.json", "-o", "wide"),
    "maintain": ("maintain", "cluster.json", "--nodes", LABELS),
    "maintain-wide": ("maintain", "cluster.json", "--nodes", LABELS, "-o", "wide"),
    "place": ("place", "possible.json"),
    "place-impossible": ("place", "cluster.json"),
    "place-wide": ("place", "possible.json", "-o", "wide"),
    "pools": ("pools", "cluster.json"),
    "pools-wide": ("pools", "cluster.json", "-o", "wide"),
    "repack": ("repack", "cluster.json", "--free", f"8x{fleet.A100}=3"),
    "repack-wide": ("repack", "cluster.json", "--free", f"8x{fleet.A100}=3", "-o", "wide"),
    "replay": ("replay", "cluster.json", "events.jsonl"),
    "replay-wide": ("replay", "cluster.json", "events.jsonl", "-o", "wide"),
    "schedule": ("schedule", "cluster.json"),
    "schedule-settle": ("schedule", "cluster.json", "rule.json", "--settle"),
    "schedule-wide": ("schedule", "cluster.json", "--trace", "-o", "wide"),
    "validate": ("validate", "cluster.json"),
}


def shown(name: str, width: int | None, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """What the command prints on a terminal of that width, or into a pipe; warnings are no part of it."""
    fleet.write(folder)
    monkeypatch.chdir(folder)
    screen = Screen(width, colour=False) if width else None
    with patch.object(printing, "screen", lambda _stream: screen):
        ran = in_process(*COMMANDS[name], "-q")
    assert ran.status in (0, 1), ran.err
    return ran.out


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("width", [80, 200])
def test_on_a_terminal(name: str, width: int, golden: Golden, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    golden(HERE / f"{name}-{width}.txt", shown(name, width, tmp_path, monkeypatch))


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("width", [40, 80])
def test_no_name_is_broken(name: str, width: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    narrow, plain = (shown(name, each, tmp_path, monkeypatch) for each in (width, None))
    assert broken(narrow, plain) == []


@pytest.mark.parametrize("name", COMMANDS)
def test_only_a_name_makes_a_line_longer_than_the_screen(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    narrow, plain = (shown(name, each, tmp_path, monkeypatch).splitlines() for each in (80, None))
    long = [line for line in narrow if len(line) > 80 and line not in plain]  # expressions to be copied stay whole
    assert [line for line in long if len(line.split()) > 2] == []


def test_every_question_about_a_cluster_has_a_screen() -> None:
    asked = {question.name for question in QUESTIONS if question.command not in ("", "plain")}
    assert asked == {command for command, *_ in COMMANDS.values()} - {"cel", "validate"}


def kept() -> list[tuple[Path, Path]]:
    """Every golden text of 80 columns, with the same text for a wider screen or for none."""
    found = []
    for path in sorted((ROOT / "tests").glob("**/golden/*80*")):
        others = [path.with_name(path.name.replace("80", wider, 1)) for wider in ("plain", "200")]
        others.append(path.with_name(path.name.replace(".80", "", 1)))
        wide = next((other for other in others if other.exists() and other != path), None)
        assert wide is not None, f"{path} has no wider text beside it"
        found.append((path, wide))
    return found


@pytest.mark.parametrize(("narrow", "wide"), kept(), ids=lambda path: path.name)
def test_no_golden_text_breaks_a_name(narrow: Path, wide: Path) -> None:
    assert broken(narrow.read_text(encoding="utf-8"), wide.read_text(encoding="utf-8")) == []


_EXCERPT = re.compile(r"^ *[0-9]* \|.*$", re.MULTILINE)
_BETWEEN = re.compile(r"[\s,;:()/]+")


def broken(narrow: str, wide: str) -> list[str]:
    """The words of the narrow text that are no words of the wide one, and are parts of them; not those of excerpts."""
    narrow = _EXCERPT.sub("", narrow)
    words = {word for part in (_BETWEEN, re.compile(r"\s+")) for word in part.split(wide)}
    names = "\n".join(words)
    pieces = dict.fromkeys(word for word in _BETWEEN.split(narrow) if word and not word.isdigit())
    return [word for word in pieces if word not in words and word in names]


def test_the_test_finds_what_is_broken() -> None:
    assert broken("default/l\nlama-pret\nraining", "default/llama-pretraining") == ["l", "lama-pret", "raining"]
    assert broken("gpu-0..gpu-7 (8)\nnode-1", "d/node-1/gpu-0, d/node-1/gpu-7") == []


@pytest.mark.parametrize(
    ("names", "short"),
    [
        ([f"gpu-{n}" for n in range(8)], ["gpu-0..gpu-7 (8)"]),
        (["gpu-0", "gpu-1"], ["gpu-0", "gpu-1"]),
        (["gpu-0", "gpu-2", "gpu-3", "gpu-4", "nic"], ["gpu-0", "gpu-2..gpu-4 (3)", "nic"]),
        (["gpu-9", "gpu-10", "gpu-11"], ["gpu-9..gpu-11 (3)"]),
        (["gpu-08", "gpu-09", "gpu-10"], ["gpu-08", "gpu-09", "gpu-10"]),
        (["gpu-2", "gpu-1", "gpu-0"], ["gpu-2", "gpu-1", "gpu-0"]),
        (["0", "1", "2"], ["0..2 (3)"]),
        ([], []),
    ],
)
def test_a_range_stands_for_names_that_are_numbered(names: list[str], short: list[str]) -> None:
    assert ranges(names) == short


def test_the_pool_is_left_out_where_the_row_has_it() -> None:
    devices = ["d/n1/gpu-0", "d/fabric/blue/link-1", "e/n1/nic"]
    assert by_pool(devices, "n1") == "d: gpu-0; d/fabric/blue: link-1; e: nic"
    assert by_pool(devices) == "d/n1: gpu-0; d/fabric/blue: link-1; e/n1: nic"
    assert device_cell(devices, "n1") == "d/n1/gpu-0, d/fabric/blue/link-1, e/n1/nic"


@pytest.mark.parametrize("width", range(10, 120, 7))
@pytest.mark.parametrize("grouped", [0, 1])
def test_every_word_is_there_at_every_width(width: int, grouped: int) -> None:
    made = Table(("POD", "STATE", "NODE", "MESSAGE"), grouped=grouped, flexible=(0, 3))
    rows = [("a/pod-one", "Bound", fleet.EKS[0], "two words"), ("a/pod-two", "Waiting", "n1", "three more words")]
    for row in rows:
        made.add(*row)
    words = render([made], Screen(width, colour=False)).split()
    assert all(word in words for row in rows for cell in row for word in cell.split())


HOSTS = [f"ip-10-0-{number}.eu-central-1.compute.internal" for number in ("12-31", "14-177", "15-9")]


def test_names_of_nodes_lose_the_suffix_that_they_share() -> None:
    table = Table(("POOL", "DRIVER", "HELD BY"), rows=[[name, "d.example.com", f"pod on {name}"] for name in HOSTS])
    first, *_, last = render([table], Screen(70, colour=False)).splitlines()
    assert first.startswith("POOL             DRIVER")
    assert last == "Names of nodes and pools are shown without .eu-central-1.compute.internal."
    assert "pod on ip-10-0-14-177" in render([table], Screen(70, colour=False))
    assert ".compute." in render([table], Screen(200, colour=False)).splitlines()[1]


@pytest.mark.parametrize(
    "names",
    [
        [HOSTS[0]],
        [*HOSTS, "control-plane-with-a-rather-long-name-of-its-own"],
        ["node-a.eu-central-1.compute.internal", "node-b.eu-central-2.compute.external"],
        ["pool-internal-a-long-name-that-does-not-fit", "cool-internal-a-long-name-that-does-not-fit"],
    ],
)
def test_names_without_a_common_suffix_are_whole(names: list[str]) -> None:
    table = Table(("POOL", "DRIVER"), rows=[[name, "gpu.example.com"] for name in names])
    shown_text = render([table], Screen(50, colour=False))
    assert "without" not in shown_text
    assert all(name in shown_text for name in names)


def test_a_suffix_is_cut_at_a_dot_between_whole_labels() -> None:
    names = ["a.one-west.internal.example", "b.two-west.internal.example"]
    text = render([Table(("NODE", "X"), rows=[[name, "y" * 20] for name in names])], Screen(45, colour=False))
    assert text.splitlines()[1].startswith("a.one-west ")
    assert " ".join(text.split()).endswith("without .internal.example.")


def test_spare_columns_leave_first() -> None:
    rows = [[f"pool-{number}", "Complete", "1/1", str(number // 2)] for number in range(3)]
    table = Table(("POOL", "STATE", "SLICES", "TAINTED"), rows=rows, spare=(2, 3))
    assert render([table], Screen(20, colour=False)).splitlines() == [
        "POOL     STATE",
        "pool-0   Complete",
        "pool-1   Complete",
        "pool-2   Complete",
        "  TAINTED 1",
        "In all rows: SLICES",
        "1/1",
    ]


def test_a_pipe_has_the_width_of_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fleet.write(tmp_path)
    monkeypatch.chdir(tmp_path)
    settings: list[dict[str, str]] = [{"COLUMNS": "80"}, {}, {"COLUMNS": "none"}]
    texts = [in_process("pools", "cluster.json", "-q", **setting).out for setting in settings]
    assert [max(map(len, text.splitlines())) <= 80 for text in texts] == [True, False, False]
