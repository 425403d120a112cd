"""docs/rules.md, from the rules themselves and from their examples."""

from collections.abc import Iterator
from pathlib import Path

from dra_plan.questions.rule.answer import judged_example
from dra_plan.validation import examples
from dra_plan.validation.fixing import FIXES
from dra_plan.validation.registry import RULES
from dra_plan.validation.rule import Rule

UPDATES = """\
With `--against OLD`, an object that OLD also contains (same kind, namespace and name) is checked as an update. Errors \
that the old object already had are not reported, unless the object cannot be decoded. The spec of claims and \
templates is immutable, so it is not checked again. If any selector of a class has changed, all selectors of the class \
are checked; the same applies to the configuration of a class. Objects that are not in OLD are checked as new objects. \
These rules follow the API server's source code, and have not been compared with recorded outcomes."""

GROUPS = {
    "0": (
        "Schema and versions",
        "These rules come from the schema of the API version. For workloads, only the pod template has a schema.",
    ),
    "1": (
        "API rules",
        (
            "When an object that breaks one of these rules is written, the API server rejects it or silently drops a "
            "field. A few rules warn about values that the API server accepts but that have no effect or fail later."
        ),
    ),
    "2": (
        "Rules across objects",
        (
            "These rules depend on other objects. The input is treated as one cluster, so include ResourceSlices and "
            "DeviceClasses."
        ),
    ),
    "3": ("Updates", UPDATES),
}
REFUSERS = {"APIServer": "API server", "Scheduler": "scheduler", None: "-"}
HEAD = """\
# Rules of `dra-plan validate`
<!-- Made from the code by `make golden`; a test fails when it is out of date. -->

Each finding has the code of the rule that reports it. Codes are never reused. A rule has one of three severities:

- **error**: the API server or the scheduler rejects the object, or the request cannot be satisfied;
- **warning**: the object probably contains a mistake;
- **info**: the object may be correct, but there is something that you should know.

The exit status is 1 if there is a finding with the `--fail-on` severity (default: error) or a higher one. A finding \
also names the component that rejects the object (`refusedBy` in the document). If kubectl itself rejects an object, \
the finding names the API server. `dra-plan rule CODE` prints the text of a rule.

`--select` and `--ignore` take codes or prefixes of codes, as in `--ignore DRA010,DRA2`. If several of them match a \
rule, the longest one takes precedence. If two are equally long, `--ignore` takes precedence. A project can set these \
options in `.dra-plan.toml`, or in the `[tool.dra-plan]` table of `pyproject.toml`. `validate` looks for these files \
in the current directory and its parent directories, and reads the nearest one:

```toml
select = ["DRA"]
ignore = ["DRA010"]
ignore-unknown = false
fail-on = "warning"

[per-file-ignores]
"dumps/*" = ["DRA2"]
```

In YAML, comments can suppress findings. If the comment `# dra-plan: ignore=DRA101` follows a field, it applies to \
that line. On the line above a field, it applies to the whole field. Above the first field of a document, it applies \
to the whole document. Without `=DRA101`, the comment applies to all rules. A comment with an unknown code or in \
another format causes the `comment-spares-nothing` warning.
"""


BASIS = """
## How the rules were checked
The rules that predict rejections by the API server were checked against Kubernetes 1.36.2. For about 40,000 objects, \
the results were compared with those of the API server's strict decoding, its defaulting, and its validation of create \
requests and first status updates. The objects were ResourceClaims, templates, ResourceSlices, DeviceClasses, \
DeviceTaintRules and Pods, in all served versions and with feature gates on and off. The following were not recorded:

- updates (`--against`) and later status updates, for which the rules follow the source code;
- other releases: for 1.34, 1.35, 1.36.3 and 1.37, dra-plan uses the rules for 1.36.2, but with the selected \
release's API versions, fields and gates, and with known changes ([releases.md](releases.md));
- most parts of Pods: only metadata, `resourceClaims` and the claims of containers were recorded. The rules for \
requests and limits, priority, service accounts and the fields of workloads were compared only with individual \
rejections by a running API server. The same is true for PodGroups, Workloads, Nodes and volumes;
- most of admission: only the checks of namespaces, priority classes and service accounts are simulated. Other \
admission plugins and policies, webhooks, quota usage, permissions, and the random names that `generateName` produces \
are not.

Objects with a uid or a creationTimestamp come from a cluster, which has already accepted them. For objects from a \
cluster, `validate` skips the rules that apply only when an object is created, so dumps may omit fields. The skipped \
rules are those for workloads, namespaces, priorities and service accounts, and for pod specs except their claims. \
`validate` assumes that the API server runs with the default `--runtime-config`, which serves only stable versions. If \
your API server serves other versions, set dra-plan's `--runtime-config` option. In Python, `dra_plan.validate` \
accepts any version that the release can serve, unless `runtime_config` is given.

Selectors are evaluated on the devices in the input, once for each kind of device. A selector that the API server \
rejects because of its estimated cost is not evaluated. All evaluations that cost more than 1,000 units share a budget \
of 1,000,000 units, which is the API server's limit for a single evaluation. When this budget is used up, the \
remaining selectors are skipped, and the `selectors-not-tried` warning gives their number.
"""

FIXING = """
## Corrections that are certain
`--fix` writes corrections into the files and reports the remaining findings, which determine the exit status. \
Findings that are ignored (`--ignore`, comments) are not fixed. `--diff` prints the corrections as a unified diff and \
does not write any files. You can apply the diff with `patch -p0`. With `--diff`, the exit status is 1 if there are \
any corrections. Otherwise, it is 0, even if there are other findings. A `--report` still contains all findings, and \
those that can be fixed count as failures. `-o` cannot be combined with `--fix` or `--diff`. `--diff` can read \
standard input, but `--fix` cannot.

A correction changes only the incorrect text and leaves comments, quotes, line endings and layout as they are. It is \
applied only if the changed text decodes to exactly the intended object. Therefore, no correction is made if a YAML \
alias repeats the text, or if comments between brackets would be lost. A correction can reveal new findings. For \
example, a corrected selector may compile but fail on a device. New findings are reported and do not prevent the \
correction.

| Rule | Correction | Why it is certain |
|---|---|---|
"""

COLUMNS = """\
| Code | Severity | Rejected by | Subject |
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
    """The rule under a heading that links can name, with its examples and what is reported for the bad one."""
    example = examples.load(rule.code)
    told = [found for found in judged_example(rule.code) if found.code == rule.code]
    says = "".join(f"{found.line}:{found.column}: {found.message}\n" for found in told)
    gates = {**example.gates, **example.good_gates}
    switched = ", ".join(f"`{name}={str(on).lower()}`" for name, on in gates.items())
    about = "The good example is" if example.good_gates else "Both examples are"
    return (
        f"\n### {rule.code}\n**{rule.title}**: {rule.why} {rule.fix}\n\n"
        f"Bad:\n\n{_block(example.bad, 'yaml')}\nFinding:\n\n{_block(says, 'text')}"
        f"\nGood:\n\n{_block(example.good, 'yaml')}"
        + (f"\nBoth examples are checked as updates to:\n\n{_block(example.old, 'yaml')}" if example.old else "")
        + (f"\nBoth examples also need:\n\n{_block(example.around, 'yaml')}" if example.around else "")
        + (f"\n{about} checked with {switched}.\n" if switched else "")
    )


def _block(text: str, language: str) -> str:
    return f"```{language}\n{text}```\n"


PATH = Path(__file__).parents[2] / "docs" / "rules.md"
