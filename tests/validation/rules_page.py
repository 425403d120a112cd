"""docs/rules.md, from the rules themselves and from the cases that break them."""

from pathlib import Path

from dra_plan.validation.registry import RULES

GROUPS = {
    "0": (
        "Schema and versions",
        "What the schema of the object's own API version tells. Of workloads only the pod template has one.",
    ),
    "1": ("API rules", "What the API server refuses, or silently drops, when the object is written."),
    "2": (
        "Rules across objects",
        "What no API server checks. The input is judged as one cluster: name the files with slices and classes too.",
    ),
}
REFUSERS = {"APIServer": "API server", "Scheduler": "scheduler", None: "nobody"}
HEAD = """\
# Rules of `dra-plan validate`
<!-- Made from the code by `make golden`; a test fails when it is out of date. -->

Each finding has the code of its rule, which is never used for anything else. **error**: the API server or the \
scheduler refuses it, or the request can't be met. **warning**: probably a mistake. **info**: worth knowing. \
`--fail-on` says which of them make exit status 1; the default is error. Who refuses the object is told too \
(`refusedBy` in the document); what kubectl refuses before the API server sees it counts as refused by the API server.

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
every rule.
"""


COLUMNS = """\
| Code | Severity | Refused by | What | Why | What to do |
|---|---|---|---|---|---|
"""


def page() -> str:
    """The whole page."""
    parts = [HEAD]
    for digit, (title, about) in GROUPS.items():
        parts.append(f"\n## {title}\n{about}\n\n{COLUMNS}")
        for code, rule in RULES.items():
            if code[3] == digit:
                cells = (f"`{code}`", str(rule.severity), REFUSERS[rule.refused_by], rule.title, rule.why, rule.fix)
                parts.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n")
    return "".join(parts)


PATH = Path(__file__).parents[2] / "docs" / "rules.md"
