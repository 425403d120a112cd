"""Our parser of the selector language beside cel-python's grammar on lark: start-up, time, and what they take.

    python benchmarks/cel_parsers.py

Behind decision 8. On the recorded selectors of tests/conformance; processor time, best of five
runs.
"""

import contextlib
import gzip
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

ROOT = Path(__file__).parents[1]
RUNS = 5
CORNERS = {
    "x.?a": "optional selection",
    "x[?0]": "optional index",
    "[?x]": "optional element",
    "[1,]": "trailing comma in a list",
    "{'a': 1,}": "trailing comma in a map",
    "x.in": "keyword as a field",
    "x.null": "literal as a field",
    "'\\q'": "unknown escape",
    "b'\\u0041'": "Unicode escape in bytes",
    "f(){a: 1}": "message literal behind a call",
    "(" * 300 + "1" + ")" * 300: "300 parentheses",
}
"""Expressions and what is special about them; the scheduler takes the first five."""


def best(work: Callable[[], object]) -> float:
    """ms of the quickest run."""
    times = []
    for _ in range(RUNS):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times) * 1e3


def started(program: str) -> float:
    """ms of processor time that a new interpreter takes for the program."""
    times = []
    for _ in range(RUNS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", program], check=True, cwd=ROOT)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(times) * 1e3


def own_modules() -> float:
    """ms that the modules of our parser take, without those that the type check needs anyway."""
    command = [sys.executable, "-X", "importtime", "-c", "import dra_plan.cel"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stderr.splitlines()
    times = {line.rsplit("|", 1)[1].strip(): line.split("|")[0].split(":")[1] for line in lines[1:]}
    names = ("lexer", "literals", "cursor", "parse", "builder", "macros")
    return sum(int(times[f"dra_plan.cel.{name}"]) for name in names) / 1e3


def recorded() -> list[str]:
    """The recorded selectors."""
    with gzip.open(ROOT / "tests" / "conformance" / "cel.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line)["expression"] for line in lines]


def takes(parse: Callable[[str], object], text: str) -> bool:
    """Whether the parser takes the text."""
    try:
        return parse(text) is not False
    except Exception:  # lark has many kinds
        return False


def parse_all(parse: Callable[[str], object], texts: Iterable[str]) -> None:
    """Parse all, errors or not."""
    for text in texts:
        with contextlib.suppress(Exception):
            parse(text)


def main() -> None:
    from celpy.celparser import CELParser

    from dra_plan.cel.environment import environment
    from dra_plan.cel.parse import parse

    macros = environment("1.36").macros
    theirs = CELParser().parse
    texts = recorded()
    bare = started("pass")
    everything = started("import dra_plan.cel") - bare
    print(f"import of dra_plan.cel (ms, above a bare interpreter): {everything:.0f}, of which msgspec ", end="")
    print(f"{started('import msgspec') - bare:.0f}")
    print(f"start-up (ms, above a bare interpreter): {'lark':>8}{'our own':>10}")
    own = min(own_modules() for _ in range(RUNS))
    print(f"    import of the parser's modules       {started('import lark') - bare:8.0f}{own:10.0f}")
    build = "from celpy.celparser import CELParser; import time; s = time.process_time(); CELParser(); "
    build += "print((time.process_time() - s) * 1e3)"
    built = min(float(subprocess.check_output([sys.executable, "-c", build])) for _ in range(RUNS))
    print(f"    building the tables                  {built:8.0f}{0:10}")
    lark_time, own_time = (
        best(lambda: parse_all(theirs, texts)),
        best(lambda: parse_all(lambda text: parse(text, macros), texts)),
    )
    print(f"ms for one of {len(texts)} recorded selectors  {lark_time / len(texts):8.3f}{own_time / len(texts):10.3f}")
    for text, what in CORNERS.items():
        ours = takes(lambda text: parse(text, macros)[0] is not None, text)
        print(f"    {what:37}{'taken' if takes(theirs, text) else 'refused':>8}{'taken' if ours else 'refused':>10}")


if __name__ == "__main__":
    main()
