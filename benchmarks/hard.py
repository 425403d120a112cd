"""Searches, in processor time: the recorded hard ones node by node, generated hard ones, the ordinary ones by case.

    python benchmarks/hard.py

Targets: every node of hard.jsonl.gz within 1 s and decided; the cases' median at most 3 ms, none over 1 s.
"""

import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1]))

from benchmarks.inputs.hard import KINDS, description
from dra_plan import allocate
from tests.allocator.described import objects
from tests.conformance.recorded import cases, gates

GENERATED = 30
MOST_STEPS = 35_000


def timed(made: list[dict[str, Any]], **options: Any) -> tuple[float, set[str]]:
    """Processor time for an input, and how it ended on its nodes."""
    start = time.process_time()
    plan = allocate(made, together=True, **options)
    seconds = time.process_time() - start
    return seconds, {each.outcome.value for claim_set in plan.claim_sets for each in claim_set.nodes}


def hard() -> Iterator[tuple[float, set[str], str]]:
    """Each node of the recorded hard cases."""
    for number, case in enumerate(cases("hard")):
        for item in case["objects"]:
            if item["kind"] == "Node":
                name = item["metadata"]["name"]
                yield *timed(case["objects"], feature_gates=gates(case), nodes=[name]), f"case {number}, {name}"


def generated(kind: str) -> Iterator[tuple[float, set[str], str]]:
    """The generated inputs of a kind."""
    for seed in range(GENERATED):
        yield *timed(objects(description(kind, seed)), max_steps=MOST_STEPS), f"{kind} {seed}"


def tell(name: str, rows: Iterator[tuple[float, set[str], str]], shown: int) -> None:
    """How many, how many undecided, and the slowest."""
    found = sorted(rows, key=lambda row: row[0], reverse=True)
    undecided = sum("Undecided" in outcomes for _, outcomes, _ in found)
    fitting = sum("Fits" in outcomes for _, outcomes, _ in found)
    middle = statistics.median(seconds for seconds, _, _ in found)
    print(f"{name}: {len(found)}, {fitting} fit, {undecided} undecided, median {middle:.3f} s; the slowest:")
    for seconds, outcomes, which in found[:shown]:
        print(f"  {seconds:6.3f} s  {which}: {', '.join(sorted(outcomes))}")


def main() -> None:
    timed(next(iter(cases("cases")))["objects"])  # loads what is loaded once
    tell("hard.jsonl.gz", hard(), shown=5)
    for kind in KINDS:
        tell(kind, generated(kind), shown=1)
    times = [timed(case["objects"], feature_gates=gates(case))[0] for case in cases("cases")]
    print(f"cases: {len(times)}, median {statistics.median(times) * 1e3:.2f} ms, slowest {max(times):.3f} s")


if __name__ == "__main__":
    main()
