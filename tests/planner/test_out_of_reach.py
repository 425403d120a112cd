"""A pod with a claim that has its devices: nodes that would do for the other claim, and do not reach these."""

from __future__ import annotations

import pytest

from dra_plan import Cluster
from tests.build import allocation, claim, gpus, pod, template


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_document_marks_them_and_the_table_names_them(jobs: int) -> None:
    held = claim("held", status={"allocation": allocation("a", "gpu-0")})
    wants = pod("p", claims={"h": "held"}, templates={"g": "one"})
    twin = pod("q", claims={"h": "held"}, templates={"g": "one"})
    plan = Cluster.of([*gpus("a", "b", each=2), template("one"), held, wants, twin]).allocate(jobs=jobs)
    for claim_set in plan.to_dict()["claimSets"]:
        here, there = claim_set["nodes"]
        assert (here["outcome"], here.get("outOfReach")) == ("Fits", None)
        assert (there["outcome"], there.get("outOfReach")) == ("DoesNotFit", True)
    assert "resourceclaim not available on the node" in str(plan)
