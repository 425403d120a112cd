"""Runs the benchmarks, and puts what each prints into its place in benchmarks/RESULTS.md. `make bench` runs it.

    python -m scripts.bench [NAME...]    all of them, or some: pods, explain, cel, ...

The place of a benchmark is between `<!-- NAME -->` and `<!-- end -->`; what stands around it is written by hand, and to
be read again when figures change. Benchmarks measure processor time; a busy machine still takes up to twice as much of
it as one at rest.
"""

from __future__ import annotations

import datetime
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "RESULTS.md"
PLACE = re.compile(r"^<!-- (?P<name>(?!end )\w+) -->\n.*?^<!-- end -->$", re.MULTILINE | re.DOTALL)


def places(page: str) -> list[str]:
    """The benchmarks that have a place on the page, in its order."""
    return [match["name"] for match in PLACE.finditer(page)]


def with_figures(page: str, name: str, printed: str, measured: str) -> str:
    """The page with what a benchmark printed: Markdown as it stands, anything else as plain text."""
    figures = printed.strip() if printed.startswith("|") else f"```text\n{printed.strip()}\n```"
    new = f"<!-- {name} -->\n{measured}\n\n{figures}\n<!-- end -->"
    return PLACE.sub(lambda place: new if place["name"] == name else place[0], page)


def main(names: list[str]) -> int:
    """Run the benchmarks of these names, without any all of them; 2 if one has no place."""
    known = places(RESULTS.read_text(encoding="utf-8"))
    unknown = set(names) - set(known)
    if unknown:
        print(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(known)}", file=sys.stderr)
        return 2
    python, cores = platform.python_version(), os.cpu_count()
    for name in names or known:
        print(f"{name} ...", flush=True)
        file = f"benchmarks/{name}.py"
        done = subprocess.run([sys.executable, file], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
        load = f"{os.getloadavg()[0]:.0f} processes at work" if hasattr(os, "getloadavg") else "load unknown"
        measured = f"`python {file}`, {datetime.date.today()}, CPython {python}, {cores} cores, {load}:"
        page = RESULTS.read_text(encoding="utf-8")
        RESULTS.write_text(with_figures(page, name, done.stdout, measured), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
