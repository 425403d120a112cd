"""No test measures wall clock: on a busy machine it would fail for nothing."""

import re

from tests.cli.running import ROOT

WALL_CLOCK = re.compile(r"perf_counter|time\.monotonic\(|time\.time\(|signal\.alarm|\btimeout=\d")


def test_tests_measure_processor_time() -> None:
    here = ROOT / "tests" / "developer" / "test_clock.py"
    found = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        if path != here
        for match in WALL_CLOCK.finditer(path.read_text(encoding="utf-8"))
    ]
    assert found == []
