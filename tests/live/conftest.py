"""A real kubectl for the tests that need one: where CI runs it has to be there."""

import os
import shutil

import pytest


@pytest.fixture
def kubectl() -> str:
    """The kubectl on PATH. Without one the test is skipped, but in CI it fails: `make kubectl` installs one."""
    found = os.environ.get("KUBECTL_PATH") or shutil.which("kubectl")
    if found is None:
        missing = "no kubectl is on PATH: `make kubectl` installs one"
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)
    return found
