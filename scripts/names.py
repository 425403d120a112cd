"""One class name stands for one thing: fails where two classes of the package have the same. `make lint` runs it."""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "dra_plan"


def homonyms(package: Path = PACKAGE) -> dict[str, list[str]]:
    """The names that several classes have, each with the places of these classes (FILE:LINE)."""
    places: dict[str, list[str]] = defaultdict(list)
    for path in sorted(package.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(f"{path.relative_to(package.parent)}:{node.lineno}")
    return {name: found for name, found in sorted(places.items()) if len(found) > 1}


def main() -> int:
    """Print the names that stand for several things; the exit status is 1 if there is any."""
    wrong = homonyms()
    for name, places in wrong.items():
        print(f"{name} stands for several things: {', '.join(places)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
