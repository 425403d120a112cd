"""docs/quirks.md is written from the table of defects, so that it can't fall behind it."""

from __future__ import annotations

from pathlib import Path

from dra_plan import releases
from dra_plan.releases.autoscaler import NOT_SWITCHED, RELEASE
from tests.conftest import Golden

PAGE = Path(__file__).parents[2] / "docs" / "quirks.md"

INTRODUCTION = """# Known defects of Kubernetes
With `--quirks upstream` (the default) the answer is that of the release, including its defects. If one of them changes
the answer on your input, `allocate`, `explain` and `diff` name it (warning `upstream-defect`), with the answer that the
API promises. `schedule`, `capacity`, `grow` and `place` reproduce the defects, but do not say which ones mattered.
`--quirks fixed` answers without them. Each release has only its own defects.

Began is the first recorded release with the defect; those that began with the oldest one may be older. Ended is the
first recorded release without it; `-` if the newest still has it. Recorded releases: RECORDED.

| Id | Issue | What happens | Began | Ended |
|---|---|---|---|---|
"""

AUTOSCALER = """
## Cluster Autoscaler

`autoscale` has the defects of Cluster Autoscaler RELEASE, for every release of Kubernetes. If a defect changes the
answer, the warning `autoscaler-defect` names it, with the answer without it. `--quirks fixed` answers without all of
them.

| Id | Issue | What happens | With `--quirks fixed` |
|---|---|---|---|
"""

AUTOSCALER_LEFT_OUT = """
Without a switch:

"""

LEFT_OUT = """
## Without a switch

"""


def render() -> str:
    rows = [
        f"| {d.id} | {_issue(d.issue)} | {d.title}{d.remark and f' ({d.remark})'} | {d.began} | {d.ended or '-'} |"
        for d in releases.DEFECTS
    ]
    left_out = [f"- **{name}**: {why}" for name, why in sorted(releases.NOT_APPLICABLE.items())]
    introduction = INTRODUCTION.replace("RECORDED", ", ".join(releases.RECORDED))
    kubernetes = introduction + "\n".join(rows) + "\n" + LEFT_OUT + "\n".join(left_out) + "\n"
    return kubernetes + _autoscaler()


def _autoscaler() -> str:
    rows = [f"| {d.id} | {_links(d.issue)} | {d.title} | {d.instead} |" for d in releases.AUTOSCALER_DEFECTS]
    left_out = [f"- {_links(issues)}: {why}" for issues, why in NOT_SWITCHED.items()]
    introduction = AUTOSCALER.replace("RELEASE", RELEASE)
    return introduction + "\n".join(rows) + "\n" + AUTOSCALER_LEFT_OUT + "\n".join(left_out) + "\n"


def _links(issues: str) -> str:
    return ", ".join(map(_link, issues.split(", ")))


def _link(issue: str) -> str:
    repository, _, number = issue.partition("#")
    return f"[{issue}](https://github.com/{repository}/issues/{number})" if issue else ""


def _issue(number: int) -> str:
    return f"[#{number}](https://github.com/kubernetes/kubernetes/issues/{number})" if number else ""


def test_the_page_says_what_the_table_says(golden: Golden) -> None:
    golden(PAGE, render())
