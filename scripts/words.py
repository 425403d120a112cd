"""The texts that people read are in plain English: words and phrases that none of them has. `make lint` runs it.

A text is a literal of the package with a space in it, or a piece of one between the holes of an f-string; or a line of
a page (PAGES), without what is code in it. Docstrings are not checked, nor are the messages of Kubernetes, which are
repeated exactly (FOLDERS_OF_KUBERNETES). docs/internals/style.md says how to write instead.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from scripts.texts import PACKAGE, modules

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / name for name in ("README.md", "SECURITY.md", "CONTRIBUTING.md")] + sorted(
    (ROOT / "docs").rglob("*.md")
)
"""The pages that are checked; the changelog keeps its old entries."""

FOLDERS_OF_KUBERNETES = {"scheduler", "cel", "allocator", "controllers"}
"""Packages whose texts are for the most part Kubernetes' own."""

REFUSED = {
    r"\bsought\b": "searched for",
    r"\b[Ss]eeks?\b": "find, search",
    r"\bso many\b": "at most N, N",
    r"\bwhole story\b": "every check",
    r"\bnobody\b": "nothing, no pod, not known",
    r"\bwhoever\b": "the user who",
    r"\banew\b": "again, recreated",
    r"\b[Jj]udged?\b": "checked",
    r"\bis no (?:valid|semantic|device|name|request|Kubernetes|number|UUID|address|port|weight|start)\b": "is not",
    r"\bis none of\b": "is not one of",
    r"\bis there already\b": "is listed twice",
    r"\bis not more than\b": "is not greater than",
    r"\ban error ends\b": "the scheduler stops with an error",
    r"\b[Ee]xcluded by\b": "rejected by",
    r"\b[Ii]n the way of\b": "why not",
    r"\bthat it is asked for\b": "leave it out",
    r"\bwhatever devices are there\b": "before any device is checked",
    r"\bmissing ones\b": "pending replicas",
    r"\bCLAIM SET\b": "WORKLOAD",
    r"\b[Mm]end(?:s|ed)? it\b": "fix",
    r": wanted ": ": expected ",
    r"\b[Tt]old\b": "shown, known, reported",
    r"\bbeside\b": "next to, in addition to",
    r"\bpass(?:es|ed|ing)? over\b": "skip",
    r"\bas things are\b": "now, already",
    r"\bnone of 1\b": "the only one is not",
    r"\b[Tt]he least [a-z]+ that\b": "the lowest, the smallest",
    r"\bon the mean\b": "on average",
}
"""What is rejected, as patterns, and what is better."""

REFUSED_IN_PAGES = {
    r"\bof which\b": "a sentence of its own",
    r"\bby itself\b": "alone",
    r"\bdoes? not do\b": "is not enough",
    r"\bstands? (?:in|beside|below|above|on|behind|there)\b": "is",
}
"""What is rejected in pages as well."""


def texts(tree: ast.Module) -> Iterator[ast.Constant]:
    """The texts of a module that somebody may read."""
    said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or id(node) in said:
            continue
        if " " in node.value.strip():
            yield node


def refused(package: Path = PACKAGE) -> list[str]:
    """A line for each rejected word: FILE:LINE, the text, and what is better."""
    found = []
    for path, tree in modules(package):
        if FOLDERS_OF_KUBERNETES.intersection(path.parts[1:2]):
            continue
        for node in texts(tree):
            for pattern, better in REFUSED.items():
                if re.search(pattern, node.value):
                    found.append(f"{path}:{node.lineno}: {node.value!r}: rather {better}")
    return found


def prose(page: str) -> list[str]:
    """The lines of a page, without code, fenced or in backticks, and without what is quoted."""
    fenced = re.sub(r"^```.*?^```$", lambda code: "\n" * code[0].count("\n"), page, flags=re.DOTALL | re.MULTILINE)
    return [re.sub(r"`[^`]*`|\"[^\"]*\"", "``", line) for line in fenced.splitlines()]


def refused_in(path: Path) -> list[str]:
    """The same for a page; the style guide's table has the words in its first column."""
    return [
        f"{path}:{number}: {found[0]!r}: rather {better}"
        for number, line in enumerate(prose(path.read_text(encoding="utf-8")), 1)
        for pattern, better in {**REFUSED, **REFUSED_IN_PAGES}.items()
        if (found := re.search(pattern, line)) and not (path.name == "style.md" and line.startswith("| "))
    ]


def main() -> int:
    """Print what is rejected; the exit status is 1 if there is any."""
    lines = [*refused(), *(line for path in PAGES for line in refused_in(path))]
    print("\n".join(lines), end="\n" if lines else "")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
