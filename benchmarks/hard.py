"""Recorded searches: the hard ones node by node, the ordinary ones case by case.

    python benchmarks/hard.py

Targets: every node of hard.jsonl.gz within 1 s and decided; the cases' median at most 3 ms, none over 1 s.
"""

import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from dra_plan import allocate
from tests.conformance.recorded import cases, gates


def timed(case: dict[str, Any], node: str | None = None) -> tuple[float, set[str]]:
    """Seconds of processor time for a case, or for one node of it, and how it ended there."""
    start = time.process_time()
    plan = allocate(case["objects"], feature_gates=gates(case), together=True, nodes=[node] if node else None)
    seconds = time.process_time() - start
    return seconds, {each.outcome.value for claim_set in plan.claim_sets for each in claim_set.nodes}


def hard() -> Iterator[tuple[float, str, set[str]]]:
    for number, case in enumerate(cases("hard")):
        for item in case["objects"]:
            if item["kind"] == "Node":
                name = item["metadata"]["name"]
                seconds, outcomes = timed(case, name)
                yield seconds, f"case {number}, {name}", outcomes


def main() -> None:
    timed(next(iter(cases("cases"))))  # loads what is loaded once
    found = sorted(hard(), key=lambda row: row[0], reverse=True)
    undecided = sum("Undecided" in outcomes for _, _, outcomes in found)
    print(f"hard: {len(found)} nodes, {undecided} undecided; the slowest:")
    for seconds, name, outcomes in found[:5]:
        print(f"  {seconds:6.3f} s  {name}: {', '.join(sorted(outcomes))}")
    times = [timed(case)[0] for case in cases("cases")]
    median, slowest = statistics.median(times), max(times)
    print(f"cases: {len(times)}, median {median * 1e3:.2f} ms, slowest {slowest:.3f} s")


if __name__ == "__main__":
    main()
