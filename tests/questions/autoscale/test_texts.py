"""The texts of `autoscale`, whole, at 80 and 200 columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dra_plan import Cluster
from dra_plan.questions.autoscale.document import AutoscaleDocument
from dra_plan.questions.autoscale.text import parse
from dra_plan.text.columns import Screen
from tests.build import slice_
from tests.cli.running import ROOT
from tests.questions.autoscale.clusters import ready_node, waiting
from tests.questions.autoscale.test_expanders import sizes

HERE = Path(__file__).parent / "golden"
NODEPOOL = "cloud.google.com/gke-nodepool"


def example() -> AutoscaleDocument:
    """That of the page."""
    found = Cluster.load([ROOT / "tests/cli/inputs/autoscale.yaml"], kubernetes_version="1.36")
    return found.autoscale(str(ROOT / "tests/cli/inputs/autoscale-groups.yaml")).document


def several() -> AutoscaleDocument:
    """Two groups that could grow, and no expander."""
    return Cluster.of(waiting(4), kubernetes_version="1.36").autoscale(sizes()).document


def labelled() -> AutoscaleDocument:
    """A group that a label names, and an idle node of another."""
    nodes = [ready_node(name, labels={NODEPOOL: pool}) for name, pool in (("a", "gpu"), ("b", "cpu"))]
    return Cluster.of([*nodes, slice_("a", "gpu-0"), *waiting(3)], kubernetes_version="1.36").autoscale().document


CASES = {"example": example, "several": several, "labelled": labelled}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("form", ["table", "wide"])
@pytest.mark.parametrize("width", [80, 200])
def test_whole_text(name: str, form: str, width: int, golden: Any) -> None:
    text = parse(form)(CASES[name](), Screen(width, colour=False))
    assert max(map(len, text.splitlines())) <= width
    golden(HERE / f"{name}-{form}-{width}.txt", text)


@pytest.mark.parametrize("name", CASES)
def test_whole_markdown(name: str, golden: Any) -> None:
    golden(HERE / f"{name}.md", parse("markdown")(CASES[name](), None))


def test_names_are_the_groups_that_grow() -> None:
    assert parse("name")(example(), None) == "gpu-pool\n"
