"""docs/quirks.md is written from the table of defects, so that it can't fall behind it."""

from __future__ import annotations

from pathlib import Path

from dra_plan import releases
from dra_plan.releases.autoscaler import NOT_SWITCHED, RELEASE
from tests.conftest import Golden

PAGE = Path(__file__).parents[2] / "docs" / "quirks.md"

INTRODUCTION = """# Known defects of Kubernetes
With `--quirks upstream` (the default), dra-plan reproduces the defects of the selected release. If a defect changes the
result for your input, `allocate`, `explain` and `diff` print the `upstream-defect` warning. The warning names the
defect and the result that the API promises. `schedule`, `capacity`, `grow` and `place` also reproduce the defects, but
do not say which of them changed the result. With `--quirks fixed`, dra-plan reproduces no defects.

The Began column contains the first recorded release with the defect. If this is the oldest recorded release, the
defect may be older. The Ended column contains the first recorded release without the defect, or `-` if the newest
release still has it. The recorded releases are RECORDED.

| Id | Issue | What happens | Began | Ended |
|---|---|---|---|---|
"""

AUTOSCALER = """
## Cluster Autoscaler

`autoscale` reproduces the defects of Cluster Autoscaler RELEASE, whichever Kubernetes release is simulated. If a defect
changes the result, the `autoscaler-defect` warning names the defect and shows the result without it. With
`--quirks fixed`, dra-plan reproduces none of these defects.

| Id | Issue | What happens | With `--quirks fixed` |
|---|---|---|---|
"""

AUTOSCALER_LEFT_OUT = """
The following differences have no switch:

"""

LEFT_OUT = """
## Without a switch
The following defects have no switch:

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
