"""Runs the benchmarks, and puts what each prints into its place in benchmarks/RESULTS.md. `make bench` runs it.

    python -m scripts.bench [NAME...]    all of them, or some: pods, explain, cel, ...

With the variable BEFORE, which names a checkout of an earlier version, each is run with that first, and both stand in
its place: `git worktree add --detach ../before v1; make bench B=fleet BEFORE=../before`.

The place of a benchmark is between `<!-- NAME -->` and `<!-- end -->`; what stands around it is written by hand, and to
be read again when figures change. Benchmarks measure processor time; a busy machine still takes up to twice as much of
it as one at rest.
"""

from __future__ import annotations

import compileall
import datetime
import os
import platform
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "RESULTS.md"
PLACE = re.compile(r"^<!-- (?P<name>(?!end )\w+) -->\n.*?^<!-- end -->$", re.MULTILINE | re.DOTALL)


def places(page: str) -> list[str]:
    """The benchmarks that have a place on the page, in its order."""
    return [match["name"] for match in PLACE.finditer(page)]


def with_figures(page: str, name: str, printed: str, measured: str) -> str:
    """The page with what a benchmark printed."""
    new = f"<!-- {name} -->\n{measured}\n\n{figures(printed)}\n<!-- end -->"
    return PLACE.sub(lambda place: new if place["name"] == name else place[0], page)


def figures(printed: str) -> str:
    """Markdown as it stands, anything else as plain text."""
    is_markdown = printed.startswith(("|", "Before ("))
    return printed.strip() if is_markdown else f"```text\n{printed.strip()}\n```"


def run(file: str, checkout: Path) -> str:
    """What the benchmark of this version, with this version's inputs, prints of the package in a checkout."""
    compileall.compile_dir(checkout / "dra_plan", quiet=2)  # as it is installed; not every environment writes it
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / "dra_plan").symlink_to(checkout / "dra_plan")
        paths = os.pathsep.join((place, str(ROOT)))
        environment = {**os.environ, "PYTHONPATH": paths, "CHECKOUT": str(checkout)}
        command = [sys.executable, file]
        return subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout


def run_before(file: str, checkout: Path) -> str:
    """The same of an earlier version, which may not have what the benchmark asks for."""
    try:
        return figures(run(file, checkout))
    except subprocess.CalledProcessError:
        return "It does not have what is measured here."


def commit(checkout: Path) -> str:
    """The commit of a checkout, for short."""
    command = ["git", "-C", str(checkout), "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def main(names: list[str]) -> int:
    """Run the benchmarks of these names, without any all of them; 2 if one has no place."""
    known = places(RESULTS.read_text(encoding="utf-8"))
    unknown = set(names) - set(known)
    if unknown:
        print(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(known)}", file=sys.stderr)
        return 2
    before = Path(os.environ["BEFORE"]).resolve() if os.environ.get("BEFORE") else None
    python, cores = platform.python_version(), os.cpu_count()
    for name in names or known:
        print(f"{name} ...", flush=True)
        file = f"benchmarks/{name}.py"
        printed = run(file, ROOT)
        if before:
            earlier = run_before(file, before)
            printed = f"Before ({commit(before)}):\n\n{earlier}\n\nNow:\n\n{figures(printed)}"
        load = f"{os.getloadavg()[0]:.0f} processes at work" if hasattr(os, "getloadavg") else "load unknown"
        measured = f"`python {file}`, {datetime.date.today()}, CPython {python}, {cores} cores, {load}:"
        page = RESULTS.read_text(encoding="utf-8")
        RESULTS.write_text(with_figures(page, name, printed, measured), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
