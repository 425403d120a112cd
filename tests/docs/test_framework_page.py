"""docs/framework.md: every name of Kubernetes' framework is mapped, what it is mapped to exists, and tests use it."""

from __future__ import annotations

import functools
import importlib
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "framework.md"
TESTS = Path(__file__).parents[1]

FIRST = frozenset(
    re.findall(
        r"\S+",
        """
Plugin PluginContext PluginContext.Read PluginContext.Write PluginContext.Delete Registry Registry.Register
Registry.Unregister PluginFactory ReservePlugin.Reserve UnreservePlugin.Unreserve PermitPlugin.Permit
PrebindPlugin.Prebind PostbindPlugin.Postbind BindPlugin.Bind PrefilterPlugin.Prefilter FilterPlugin.Filter
PostFilterPlugin.PostFilter ScorePlugin.Score ScoreWithNormalizePlugin.NormalizeScore QueueSortPlugin.Less
WaitingPod WaitingPod.GetPod WaitingPod.Allow WaitingPod.Reject Status Status.Message Status.IsSuccess Code Framework
FrameworkHandle FrameworkHandle.NodeInfoSnapshot FrameworkHandle.IterateOverWaitingPods FrameworkHandle.GetWaitingPod
Success Error Unschedulable UnschedulableAndUnresolvable Wait Skip
""",
    )
)
"""The names of v1alpha1."""

TODAY = frozenset(
    re.findall(
        r"\S+",
        """
Plugin CycleState CycleState.Read CycleState.Write CycleState.Delete CycleState.Clone Registry Registry.Register
Registry.Unregister Registry.Merge PluginFactory PreEnqueuePlugin.PreEnqueue EnqueueExtensions.EventsToRegister
QueueSortPlugin.Less PreFilterPlugin.PreFilter PreFilterResult PreFilterExtensions.AddPod PreFilterExtensions.RemovePod
FilterPlugin.Filter PostFilterPlugin.PostFilter PostFilterResult NominatingInfo PreScorePlugin.PreScore
ScorePlugin.Score ScoreExtensions.NormalizeScore ReservePlugin.Reserve ReservePlugin.Unreserve PermitPlugin.Permit
PreBindPlugin.PreBind PreBindPlugin.PreBindPreFlight BindPlugin.Bind PostBindPlugin.PostBind Handle PodNominator
PodActivator.Activate WaitingPod WaitingPod.GetPendingPlugins WaitingPod.Preempt Status Status.Reasons Code Framework
ClusterEvent ClusterEventWithHint QueueingHint QueueingHintFn Diagnosis FitError Extender
Success Error Unschedulable UnschedulableAndUnresolvable Wait Skip Pending
""",
    )
)
"""The names of today's framework."""

DEFECTS = [f"P{number}" for number in range(1, 15)]


def rows(columns: int) -> list[list[str]]:
    """The rows of the page's tables with that many columns, without their heads."""
    found = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.read_text().splitlines()
             if line.startswith("| ")]  # fmt: skip
    return [cells for cells in found if len(cells) == columns and cells[0] not in ("v1alpha1", "Id")]


NAMES = rows(3)
OURS = sorted({cells[2].strip("`") for cells in NAMES})


@functools.cache
def sources() -> str:
    """The text of all tests but this one."""
    files = sorted((TESTS / "scheduler").glob("*.py"))
    return "\n".join(file.read_text() for file in files)


def test_every_name_of_both_frameworks_is_mapped() -> None:
    assert FIRST - {cells[0] for cells in NAMES} == set()
    assert TODAY - {cells[1] for cells in NAMES} == set()


@pytest.mark.parametrize("name", OURS)
def test_what_it_is_mapped_to_exists_and_is_used_in_a_test(name: str) -> None:
    path = name.split(".")
    module = "dra_plan.scheduler"
    while hasattr(owner := importlib.import_module(module), "__path__"):
        module = f"{module}.{path.pop(0)}"
    for part in path:
        known = hasattr(owner, part) or part in getattr(owner, "__annotations__", {}) or _is_set(owner, part)
        assert known, name
        owner = getattr(owner, part, None)
    assert re.search(rf"\b{path[-1]}\b", sources()), f"no test uses {name}"


def _is_set(owner: object, attribute: str) -> bool:
    """Whether instances of a class get the attribute in `__init__`."""
    code = getattr(getattr(owner, "__init__", None), "__code__", None)
    return code is not None and attribute in code.co_names


def test_every_defect_is_listed_and_has_its_test() -> None:
    listed = {cells[0]: cells[3].strip("`") for cells in rows(4)}
    assert list(listed) == DEFECTS
    for defect, test in listed.items():
        assert f"def {test}(" in sources(), defect
        assert test.startswith(f"test_{defect.lower()}_")
