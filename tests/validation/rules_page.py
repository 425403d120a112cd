"""docs/rules.md, from the rules themselves and from their examples."""

from collections.abc import Iterator
from pathlib import Path

from dra_plan.questions.rule.answer import judged_example
from dra_plan.validation import examples
from dra_plan.validation.fixing import FIXES
from dra_plan.validation.registry import RULES
from dra_plan.validation.rule import Rule

UPDATES = """\
What `--against OLD` adds: an object that OLD has too (kind, namespace and name) is judged as an update of it. What is \
refused by the API server and was as bad before is no finding then, apart from what can't be decoded; the spec of \
claims and templates is not judged again, as it can't be changed; selectors and configuration of a class are judged \
again as a whole if anything in them is another. Objects that only the new input has are new. These rules are read \
from the API server's sources; no run of it was recorded for them."""

GROUPS = {
    "0": (
        "Schema and versions",
        "What the schema of the object's own API version tells. Of workloads only the pod template has one.",
    ),
    "1": ("API rules", "What the API server refuses, or silently drops, when the object is written."),
    "2": (
        "Rules across objects",
        "What other objects decide. The input is judged as one cluster: name the files with slices and classes too.",
    ),
    "3": ("Updates", UPDATES),
}
REFUSERS = {"APIServer": "API server", "Scheduler": "scheduler", None: "nobody"}
HEAD = """\
# Rules of `dra-plan validate`
<!-- Made from the code by `make golden`; a test fails when it is out of date. -->

Each finding has the code of its rule, which is never used for anything else. **error**: the API server or the \
scheduler refuses it, or the request can't be met. **warning**: probably a mistake. **info**: worth knowing. \
`--fail-on` says which of them make exit status 1; the default is error. Who refuses the object is told too \
(`refusedBy` in the document); what kubectl refuses before the API server sees it counts as refused by the API server. \
`dra-plan rule CODE` prints what stands here of a rule.

`--select` and `--ignore` take codes or their beginnings: `--ignore DRA010,DRA2`. The longer one wins, and of two that \
are equally long `--ignore`. A project keeps them in `.dra-plan.toml`, or in `[tool.dra-plan]` of `pyproject.toml`; \
the nearest one upwards from the current folder counts:

```toml
select = ["DRA"]
ignore = ["DRA010"]
ignore-unknown = false
fail-on = "warning"

[per-file-ignores]
"dumps/*" = ["DRA2"]
```

In YAML a comment spares a place: `# dra-plan: ignore=DRA101` behind a field spares its line, on a line above a field \
everything in that field, and above the first field of a document the whole document. Without `=CODES` it spares from \
every rule. A comment with a code that no rule has, or that is written otherwise, is told by the warning \
`comment-spares-nothing`, with its place.
"""


BASIS = """
## What the verdicts rest on
"The API server refuses it" was checked against Kubernetes 1.36.2: some 40,000 ResourceClaims, their templates, \
ResourceSlices, DeviceClasses, DeviceTaintRules and Pods, in all served versions and with gates on and off, went \
through its strict decoding, its defaults, the validation of a create, and of a first write of the status. Not recorded:

- updates of what is there (`--against`), and later writes of a status: these rules are read from the sources;
- other releases: 1.34, 1.35, 1.36.3 and 1.37 are judged by the rules of 1.36.2 with their own versions, fields and \
gates, and by what is known to have changed ([releases.md](releases.md));
- of Pods what is outside metadata, `resourceClaims` and the claims of containers: requests and limits, priority, \
service account and the fields of workloads were checked against single refusals of a running API server; PodGroups \
and Workloads; Nodes and what belongs to volumes;
- what acts on a request beside validation, but for namespaces, priority classes and service accounts: other admission \
plugins and policies, webhooks, used quota, rights, and the names that a server makes of `generateName`, whose five \
letters are chance.

Objects with a uid or a creationTimestamp come from a cluster, which has taken them: what only a create is refused for \
is not judged again (pod specs beyond their claims, workloads, namespaces, priorities, service accounts), so that \
dumps may leave fields out. The command judges versions as an API server with its default `--runtime-config` serves \
them, stable ones only; the option of that name says otherwise. `dra_plan.validate` in Python takes any version that \
the release can serve unless `runtime_config` is given.

What selectors do with the devices of the input is found out by evaluating them, once on each kind of device. A \
selector that the API server refuses for its estimated cost is not tried. Evaluations that cost more than 1,000 units \
each may cost 1,000,000 together, as much as the API server allows one of them; where that is used up, the warning \
`selectors-not-tried` says how many were left.
"""

FIXING = """
## Corrections that are certain
`--fix` writes them into the files and tells what is left; findings that do not count (`--ignore`, comments) are not \
touched. The exit status is that of what is left. `--diff` prints them as a unified diff (`patch -p0` applies it) and \
writes nothing; its exit status is 1 if there is any, as with other tools that check, and no finding counts for it. \
A `--report` beside it has all findings, and those that can be fixed fail; `-o` can't stand beside it. \
What is read from standard input can only be compared.

Text is changed where it is wrong, and nothing else moves: comments, quotes, line ends and layout stay. A correction \
says what the object is afterwards, and is made only if the changed text gives just that. So what an alias repeats, \
and comments between brackets that would go, keep a correction from being made. What it only brings to light, such as \
a selector that compiles now and fails on a device of the input, is told and keeps it from nothing.

| Rule | What is done | Why it is certain |
|---|---|---|
"""

COLUMNS = """\
| Code | Severity | Refused by | What |
|---|---|---|---|
"""


def page() -> str:
    """The whole page."""
    parts = [HEAD, BASIS, FIXING, *_fixes()]
    for digit, (title, about) in GROUPS.items():
        parts.append(f"\n## {title}\n{about}\n\n{COLUMNS}")
        for code, rule in RULES.items():
            if code[3] == digit:
                cells = (f"[{code}](#{code.lower()})", str(rule.severity), REFUSERS[rule.refused_by], rule.title)
                parts.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n")
        parts += [_section(rule) for code, rule in RULES.items() if code[3] == digit]
    return "".join(parts)


def _fixes() -> Iterator[str]:
    for code, fixes in sorted(FIXES.items()):
        for fix in fixes:
            yield f"| [{code}](#{code.lower()}) | {fix.title} | {fix.certain} |\n"


def _section(rule: Rule) -> str:
    """The rule under a heading that links can name, with its examples and what is said of the bad one."""
    example = examples.load(rule.code)
    told = [found for found in judged_example(rule.code) if found.code == rule.code]
    says = "".join(f"{found.line}:{found.column}: {found.message}\n" for found in told)
    gates = {**example.gates, **example.good_gates}
    switched = ", ".join(f"`{name}={str(on).lower()}`" for name, on in gates.items())
    about = "The good one" if example.good_gates else "Both"
    return (
        f"\n### {rule.code}\n**{rule.title}**: {rule.why} {rule.fix}\n\n"
        f"Bad:\n\n{_block(example.bad, 'yaml')}\nwhich gives\n\n{_block(says, 'text')}"
        f"\nGood:\n\n{_block(example.good, 'yaml')}"
        + (f"\nBoth against:\n\n{_block(example.old, 'yaml')}" if example.old else "")
        + (f"\nBoth with:\n\n{_block(example.around, 'yaml')}" if example.around else "")
        + (f"\n{about} with {switched}.\n" if switched else "")
    )


def _block(text: str, language: str) -> str:
    return f"```{language}\n{text}```\n"


PATH = Path(__file__).parents[2] / "docs" / "rules.md"
