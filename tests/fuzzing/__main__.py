"""`python -m tests.fuzzing [N] [--first SEED]`: N inputs, shared by as many processes as there are cores.

Exit status 1 if any broke a rule; each is told with its seed, and `python -m tests.fuzzing --show SEED` prints the
command line and the input.
"""

from __future__ import annotations

import argparse
import collections
import multiprocessing
import os
import resource
import sys
from collections.abc import Iterator
from multiprocessing.pool import Pool

from .inputs import run_of
from .judging import BYTES, SECONDS, Judged, judge

TOLD = 50
"""Faults that are told at most."""
CHUNK = 50
"""Inputs that a process is given at a time."""
WAITING = 4 * SECONDS * CHUNK
"""Seconds to the next input that is done: more than a process that lives can need for a chunk, wherever it stands."""
ADDRESSES = 2 * BYTES
"""Address space of a process, so that an input that asks for everything gets a MemoryError and not the machine."""


def _confine() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))


def _judged(pool: Pool, first: int, number: int) -> Iterator[Judged]:
    """All inputs, in chunks as they are done; a TimeoutError where a process died, and its inputs with it."""
    seeds = range(first, first + number)
    chunks = [seeds[start : start + CHUNK] for start in range(0, number, CHUNK)]
    done = pool.imap_unordered(_judge_chunk, chunks)
    for _ in chunks:
        yield from done.next(WAITING)


def _judge_chunk(seeds: range) -> list[Judged]:
    return [judge(seed) for seed in seeds]


def main() -> int:
    """Run the inputs, and say how they went."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("number", nargs="?", type=int, default=2_000)
    parser.add_argument("--first", type=int, default=0, metavar="SEED")
    parser.add_argument("--show", type=int, metavar="SEED")
    options = parser.parse_args()
    if options.show is not None:
        run = run_of(options.show)
        print("dra-plan", *run.arguments, file=sys.stderr)
        print(run.text)
        return 0
    statuses: collections.Counter[int] = collections.Counter()
    slowest = Judged(0, 0, 0.0, "")
    broken = 0
    with multiprocessing.Pool(os.cpu_count(), _confine, maxtasksperchild=20) as pool:
        for done, judged in enumerate(_judged(pool, options.first, options.number), start=1):
            statuses[judged.status] += 1
            slowest = max(slowest, judged, key=lambda one: one.seconds)
            if judged.fault:
                broken += 1
                if broken <= TOLD:
                    print(f"seed {judged.seed}: {judged.fault}", flush=True)
            if done % 5_000 == 0:
                print(f"{done:,} inputs, {broken} broke a rule", flush=True)
    found = ", ".join(f"{number:,} with exit status {status}" for status, number in sorted(statuses.items()))
    told = f"slowest: seed {slowest.seed}, {slowest.seconds:.1f} s"
    print(f"{options.number:,} inputs: {found}; {broken} broke a rule; {told}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
