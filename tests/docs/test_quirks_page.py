"""docs/quirks.md is written from the table of defects, so that it can't fall behind it."""

from __future__ import annotations

from pathlib import Path

from dra_plan import releases
from dra_plan.releases.autoscaler import NOT_SWITCHED, RELEASE
from tests.conftest import Golden

PAGE = Path(__file__).parents[2] / "docs" / "quirks.md"

INTRODUCTION = """# Known defects of Kubernetes
With `--quirks upstream` (the default), the answer matches the selected release, including its defects. If a defect
changes the answer for your input, `allocate`, `explain` and `diff` print the warning `upstream-defect`, which names the
defect and the answer that the API promises. `schedule`, `capacity`, `grow` and `place` reproduce the defects, but do
not name those that affect the answer. With `--quirks fixed`, the answer is computed without defects. Each release has
only its own defects.

The column Began contains the first recorded release with the defect; if this is the oldest recorded release, the
defect can be older. The column Ended contains the first recorded release without the defect, or `-` if the newest
release still has it. The recorded releases are RECORDED.

| Id | Issue | What happens | Began | Ended |
|---|---|---|---|---|
"""

AUTOSCALER = """
## Cluster Autoscaler

`autoscale` reproduces the defects of Cluster Autoscaler RELEASE for every Kubernetes release. If a defect changes the
answer, the warning `autoscaler-defect` names it, and says what the answer would be without the defect. With
`--quirks fixed`, the answer is computed without any of these defects.

| Id | Issue | What happens | With `--quirks fixed` |
|---|---|---|---|
"""

AUTOSCALER_LEFT_OUT = """
The following differences have no switch:

"""

LEFT_OUT = """
## Without a switch
The following defects have no switch, for the given reason:

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
