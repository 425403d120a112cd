"""Tables of hand-made documents: whole texts as golden files, and what holds for any width."""

import re
from pathlib import Path
from typing import Any

import pytest

from dra_plan.documents.reasons import NodeReason
from dra_plan.questions.allocate import text as allocation_table
from dra_plan.questions.pools import text as pool_table
from dra_plan.text.columns import Screen
from dra_plan.text.formats import Formats, parse

from . import documents

HERE = Path(__file__).parent / "golden"
CASES = {
    "small": (documents.small(), allocation_table.FORMATS),
    "large": (documents.large(50), allocation_table.FORMATS),
    "empty": (documents.plan(), allocation_table.FORMATS),
    "pools": (documents.pool_list(), pool_table.FORMATS),
}


MAY_BE_EMPTY = {"-", "CONSUMES", "MESSAGE", "TAINTS", "NODES", "REASON", "CLAIM", "REQUEST", "DEVICE", "FITS", "ON"}
"""Words of headers of columns that no row has text in, and what stands there."""


def rendered(name: str, form: str, screen: Screen | None) -> str:
    document, formats = CASES[name]
    return parse(form, formats)(documents.typed(document), screen)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("form", ["table", "wide"])
@pytest.mark.parametrize("width", [None, 80, 200])
def test_whole_text(name: str, form: str, width: int | None, golden: Any) -> None:
    screen = Screen(width, colour=False) if width else None
    golden(HERE / f"{name}-{form}-{width or 'plain'}.txt", rendered(name, form, screen))


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("form", ["table", "wide"])
@pytest.mark.parametrize("width", [40, 60, 80, 100, 133])
def test_keeps_to_the_screen(name: str, form: str, width: int) -> None:
    """No line is longer than the screen but for one word, which is longer than what is left beside its header."""
    text = rendered(name, form, Screen(width, colour=False))
    assert [line for line in text.splitlines() if len(line) > width and len(line.split()) > 2] == []


@pytest.mark.parametrize("form", ["table", "wide"])
@pytest.mark.parametrize("width", [30, 40, 60, 80, 200])
@pytest.mark.parametrize("kind", ["fits", "refused", "pool"])
def test_a_screen_loses_nothing(kind: str, form: str, width: int) -> None:
    """With one row in each table, the screen shows the words of the plain text; only empty columns may be missing."""
    if kind == "pool":
        document = documents.pool_list() | {"pools": [documents.pool_list()["pools"][3]]}
    else:
        given = documents.claim("train-gpu", documents.result("gpu", "gpu.example.com/fabric-7/gpu-0"))
        node = documents.node("node-a", given) if kind == "fits" else documents.refused("node-a")
        document = documents.plan(documents.claim_set("Pod/default/train", "Fits" if kind == "fits" else "Error", node))
    formats = pool_table.FORMATS if kind == "pool" else allocation_table.FORMATS
    plain = parse(form, formats)(documents.typed(document), None)
    shown = parse(form, formats)(documents.typed(document), Screen(width, colour=False))
    words = re.split(r"[\s/:]+", shown)
    assert [word for word in re.split(r"[\s/:]+", plain) if word not in words and word not in MAY_BE_EMPTY] == []


def test_off_a_terminal_only_wide_names_every_node() -> None:
    document = documents.typed(documents.large(5000))
    text = parse("table", allocation_table.FORMATS)(document, None)
    assert max(map(len, text.splitlines())) < 300
    assert "and 1663 more" in text
    wide = parse("wide", allocation_table.FORMATS)(document, None)
    assert wide.count("-node-") >= 5000
    assert "more" not in wide


def test_on_a_terminal_5000_nodes_stay_readable() -> None:
    text = parse("table", allocation_table.FORMATS)(documents.typed(documents.large(5000)), Screen(80, colour=True))
    assert len(text.splitlines()) < 30
    assert "and 1663 more" in " ".join(text.split())


def test_plain_text_has_no_escapes_and_no_boxes() -> None:
    text = rendered("small", "table", None)
    assert text.isascii()
    assert "\x1b" not in text


def test_colours_are_for_terminals_that_want_them() -> None:
    assert "\x1b[32m" in rendered("small", "table", Screen(200, colour=True))
    assert "\x1b" not in rendered("small", "table", Screen(200, colour=False))


@pytest.mark.parametrize("screen", [None, Screen(80, colour=True)])
def test_names_from_manifests_cannot_steer_the_terminal(screen: Screen | None) -> None:
    bad = documents.refused("node\x1b[2J\u202e", "NodeError", "two\nlines\x07")
    text = parse("table", allocation_table.FORMATS)(
        documents.typed(documents.plan(documents.claim_set("Pod/a/b", "DoesNotFit", bad))), screen
    )
    assert "\x1b[2J" not in text
    assert "\x07" not in text
    assert "\u202e" not in text
    assert "node\\x1b[2J" in text


def test_markup_in_names_is_text() -> None:
    node = documents.node("[red]x[/red]", documents.claim("c", documents.result("r", "d/p/[bold]")))
    document = documents.plan(documents.claim_set("Pod/a/b", "Fits", node))
    assert "d/p/[bold]" in parse("table", allocation_table.FORMATS)(documents.typed(document), Screen(200, colour=True))


@pytest.mark.parametrize("formats", [allocation_table.FORMATS, pool_table.FORMATS])
def test_a_name_that_is_longer_than_the_screen_runs_on(formats: Formats) -> None:
    name = "n" * 120
    if formats is pool_table.FORMATS:
        document = documents.pool_list() | {"pools": [documents.pool("d" * 60, name)]}
    else:
        document = documents.plan(documents.claim_set("Pod/a/b", "Fits", documents.node(name)))
    text = parse("table", formats)(documents.typed(document), Screen(60, colour=False))
    assert name in text
    assert [line for line in text.splitlines() if len(line) > 60 and name not in line and "d" * 60 not in line] == []


@pytest.mark.parametrize("width", [70, 72, 80, 90])
def test_lists_wrap_between_words_before_a_name_is_broken(width: int) -> None:
    nodes = [documents.node(f"hopper-{number}") for number in range(1, 5)]
    name = "deployment/research/next-generation-trainer"
    document = documents.plan(documents.claim_set("Deployment/research/next-generation-trainer", "Fits", *nodes))
    summary = parse("table", allocation_table.FORMATS)(documents.typed(document), Screen(width, colour=False)).split(
        "\n\n"
    )[0]
    assert len(summary.splitlines()) > 2, "the list has to wrap"
    assert name in summary
    assert all(f"hopper-{number}" in summary for number in range(1, 5))


def test_reasons_have_a_column_where_there_are_some() -> None:
    nodes = [documents.refused(name) for name in ("a", "b", "c")]
    nodes[1]["reasons"] = [NodeReason(code=code) for code in ("in-use", "tainted", "in-use")]
    text = parse("table", allocation_table.FORMATS)(
        documents.typed(documents.plan(documents.claim_set("Pod/x/y", "DoesNotFit", *nodes))), None
    )
    assert "REASONS" in text
    assert "in-use, tainted" in text
    assert [line.split()[-1] for line in text.splitlines() if "cannot allocate" in line] == ["b"]
    assert "REASONS" not in rendered("small", "table", None)
