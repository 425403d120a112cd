"""docs/rules.md, from the rules themselves and from their examples."""

from collections.abc import Iterator
from pathlib import Path

from dra_plan.questions.rule.answer import judged_example
from dra_plan.validation import examples
from dra_plan.validation.fixing import FIXES
from dra_plan.validation.registry import RULES
from dra_plan.validation.rule import Rule

UPDATES = """\
With `--against OLD`, an object that OLD also has (same kind, namespace and name) is checked as an update. Errors that \
the old object had too are not reported, except for objects that cannot be decoded. The spec of claims and templates \
is immutable, so it is not checked again. The selectors and the configuration of a class are each checked as a whole \
if anything in them has changed. Objects that only the new input has are new. These rules follow the API server's \
source; no outcomes were recorded for them."""

GROUPS = {
    "0": (
        "Schema and versions",
        "These rules come from the schema of the API version. Of workloads, only the pod template has one.",
    ),
    "1": ("API rules", "The API server rejects the object, or silently drops a field, when the object is written."),
    "2": (
        "Rules across objects",
        "These rules depend on other objects. The input counts as one cluster, so include slices and classes.",
    ),
    "3": ("Updates", UPDATES),
}
REFUSERS = {"APIServer": "API server", "Scheduler": "scheduler", None: "-"}
HEAD = """\
# Rules of `dra-plan validate`
<!-- Made from the code by `make golden`; a test fails when it is out of date. -->

Each finding has the code of its rule. Codes are never reused. **error**: the API server or the scheduler rejects it, \
or the request cannot be met. **warning**: probably a mistake. **info**: worth knowing. `--fail-on` sets the lowest \
severity that gives exit status 1 (default: error). The finding also says who rejects the object (`refusedBy` in the \
document); kubectl's own rejections count as those of the API server. `dra-plan rule CODE` prints the text of a rule.

`--select` and `--ignore` take codes or prefixes of codes: `--ignore DRA010,DRA2`. The longer one wins; if both are \
equally long, `--ignore` wins. A project sets them in `.dra-plan.toml`, or in `[tool.dra-plan]` of `pyproject.toml`. \
The nearest file in the current folder or above is used:

```toml
select = ["DRA"]
ignore = ["DRA010"]
ignore-unknown = false
fail-on = "warning"

[per-file-ignores]
"dumps/*" = ["DRA2"]
```

In YAML a comment ignores findings. `# dra-plan: ignore=DRA101` after a field applies to its line, on a line above a \
field to the whole field, and above the first field of a document to the whole document. Without `=CODES` it applies \
to all rules. A comment with an unknown code, or in another form, gives the warning `comment-spares-nothing`.
"""


BASIS = """
## How the rules were checked
The rejections of the API server were checked against Kubernetes 1.36.2. Some 40,000 ResourceClaims, templates, \
ResourceSlices, DeviceClasses, DeviceTaintRules and Pods, in all served versions and with gates on and off, went \
through its strict decoding, its defaults, and the validation of a create and of a first status write. Not recorded:

- updates (`--against`), and later status writes: these rules follow the source;
- other releases: 1.34, 1.35, 1.36.3 and 1.37 use the rules of 1.36.2 with their own versions, fields and gates, and \
with known changes ([releases.md](releases.md));
- parts of Pods other than metadata, `resourceClaims` and the claims of containers: requests and limits, priority, \
service account and the fields of workloads were checked only against single rejections of a running API server. The \
same holds for PodGroups, Workloads, Nodes and volumes;
- other admission steps, except for namespaces, priority classes and service accounts: other admission plugins and \
policies, webhooks, quota usage, permissions, and the random names from `generateName`.

Objects with a uid or a creationTimestamp come from a cluster, which has accepted them. Rules that apply only to a \
create are skipped for them (pod specs beyond their claims, workloads, namespaces, priorities, service accounts), so \
dumps may omit fields. The command assumes an API server with the default `--runtime-config`, which serves only stable \
versions; its own option of that name changes this. `dra_plan.validate` in Python accepts any version that the release \
can serve, unless `runtime_config` is given.

Selectors are evaluated on the devices of the input, once on each kind of device. A selector that the API server \
rejects for its estimated cost is not evaluated. All evaluations that cost more than 1,000 units may cost 1,000,000 \
together, the API server's limit for a single one. When that is used up, the warning `selectors-not-tried` says how \
many selectors were skipped.
"""

FIXING = """
## Corrections that are certain
`--fix` writes corrections into the files and reports the remaining findings; ignored findings (`--ignore`, comments) \
are not fixed. The exit status is that of the remaining findings. `--diff` prints the corrections as a unified diff \
(`patch -p0` applies it) and writes nothing. Its exit status is 1 if there are any corrections, and 0 otherwise, even \
with other findings. With `--diff`, a `--report` has all findings, and those that can be fixed fail. `-o` cannot be \
combined with either. Standard input cannot be fixed, only compared.

A correction changes only the wrong text: comments, quotes, line ends and layout stay. It is applied only if the \
changed text gives exactly the intended object. So there is no correction for text that an alias repeats, or if \
comments between brackets would be lost. New findings that a correction reveals, such as a selector that now compiles \
and fails on a device, are reported and do not prevent it.

| Rule | Correction | Why it is certain |
|---|---|---|
"""

COLUMNS = """\
| Code | Severity | Rejected by | What |
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
