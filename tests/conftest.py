"""What tests of all folders share: texts kept in files (golden texts), which `make golden` writes anew; settings."""

import gc
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from dra_plan.cel.selector import _inspector  # pyright: ignore[reportPrivateUsage]

os.environ.pop("COLUMNS", None)  # workers of pytest-xdist have one, and it sets the width of what is printed

settings.register_profile(
    "same",  # the same examples on every run: a change is judged by what it changes
    deadline=None,  # hypothesis measures in wall clock, which fails on a busy machine
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=True,
)
settings.register_profile("new", settings.get_profile("same"), derandomize=False)  # --hypothesis-profile=new hunts
settings.load_profile("same")

LAST_LINES = 12
"""How much of an error is printed at once; all of it follows at the end of the run."""


class FailuresAtOnce:
    """Prints the name and the last lines of each failure when it happens: a run that is cut has said what it saw."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        printer = self._config.pluginmanager.get_plugin("terminalreporter")
        if report.failed and printer is not None:
            printer.write_line("")
            printer.write_line(f"FAILED {report.nodeid} ({report.when})", red=True)
            for line in report.longreprtext.splitlines()[-LAST_LINES:]:
                printer.write_line(f"  {line}")


def pytest_configure(config: pytest.Config) -> None:
    """Failures are printed at once where workers run the tests, and by the process that hears all of them."""
    if getattr(config.option, "numprocesses", None) and not hasattr(config, "workerinput"):
        config.pluginmanager.register(FailuresAtOnce(config))


Golden = Callable[[Path, str], None]
KEEPERS = frozenset({"updating", "snapshot"})
"""Fixtures through which a test may rewrite a kept text; a test that uses one, also indirectly, is marked golden."""


COLLECTED = pytest.StashKey[list[pytest.Item]]()
"""All tests of the run, before `-m` and `-k` choose among them."""


@pytest.hookimpl(tryfirst=True)  # before `-m golden` chooses
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark every test that has a kept text, and as long what is not in the sample of a test's cases."""
    config.stash[COLLECTED] = list(items)
    met: Counter[str] = Counter()
    for item in items:
        if sampled := item.get_closest_marker("sampled"):
            name = item.nodeid.partition("[")[0]
            if met[name] % sampled.args[0]:
                item.add_marker(pytest.mark.long)
            met[name] += 1
        if isinstance(item, pytest.Function) and KEEPERS.intersection(item.fixturenames):
            item.add_marker(pytest.mark.golden)


@pytest.fixture
def updating(request: pytest.FixtureRequest) -> bool:
    """Whether kept texts are to be written instead of compared (`--snapshot-update`)."""
    return bool(request.config.getoption("update_snapshots"))


@pytest.fixture
def golden(updating: bool) -> Golden:
    """Compare a text with a file, or write the file."""

    def check(path: Path, text: str) -> None:
        if updating:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert path.exists(), f"{path} is missing: make golden writes it"
        assert text == path.read_text(encoding="utf-8")

    return check


@pytest.fixture(autouse=True)
def what_was_there_before_is_not_collected() -> None:
    """Collections look at what the test has made: its processor time does not depend on the tests before it.

    What earlier tests have left is collected first: frozen garbage would stay for ever, half a gigabyte in 1,500 tests.
    So would their devices, up to the bound of those that selectors know to be sound.
    """
    for lists in (False, True):
        _inspector(lists).sound.clear()
    gc.collect()
    gc.freeze()
