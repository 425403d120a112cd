"""Objects as a file that is validated, and findings as text."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from dra_plan import ValidationReport, validate
from dra_plan.validation.rule import Finding


class _Plain(yaml.SafeDumper):
    def ignore_aliases(self, _data: object) -> bool:
        return True


def as_yaml(objects: Iterable[dict[str, Any]]) -> str:
    return "---\n".join(yaml.dump(one, Dumper=_Plain, sort_keys=False, width=120) for one in objects)


def judged(folder: Path, text: str, **options: Any) -> ValidationReport:
    path = folder / "input.yaml"
    path.write_text(text, encoding="utf-8")
    return validate(path, **options)


def line(finding: Finding) -> str:
    where = f"{Path(finding.file).name}:{finding.line}:{finding.column}"
    about = ": ".join(part for part in (finding.object, finding.field, finding.message) if part)
    suggestion = f"\n    suggestion: {finding.suggestion}" if finding.suggestion else ""
    return f"{where}: {finding.severity} {finding.code}: {about}{suggestion}\n"
