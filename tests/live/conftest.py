"""A real kubectl for the tests that need one: where CI runs it has to be there."""

import os
import shutil
import subprocess
from pathlib import Path

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


@pytest.fixture(scope="session")
def oldest_kubectl(tmp_path_factory: pytest.TempPathFactory) -> str:
    """kubectl 1.20, the oldest that is promised: Debian 12 has it. Unpacked, not installed."""
    folder = tmp_path_factory.mktemp("kubectl-1.20")
    fetched = shutil.which("apt-get") and subprocess.run(
        ["apt-get", "download", "kubernetes-client"], cwd=folder, capture_output=True, check=False
    )
    packages = list(folder.glob("*1.20*.deb"))
    if not fetched or not packages:
        pytest.skip("Debian's kubernetes-client 1.20 is not to be had here")
    subprocess.run(["dpkg-deb", "-x", str(packages[0]), str(folder)], check=True, capture_output=True)
    return str(Path(folder, "usr", "bin", "kubectl"))
