"""The manifest with which krew, the package manager of kubectl's plugins, finds, checks and installs dra-plan.

Facts: krew's index/validation (what a manifest must hold) and installation (the archive is unpacked, and `bin` linked
as kubectl-NAME, with underscores for dashes).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from dra_plan import __version__

NAME = "dra-plan"
"""Called as `kubectl dra-plan`."""
BIN = "kubectl-dra_plan"
"""The program's name in the archive, and on PATH."""
_TARGET = tuple[str, str]


def archive_name(system: str, machine: str) -> str:
    """The file name of the archive for a platform, in the words of Go: linux, darwin; amd64, arm64."""
    return f"{NAME}_v{__version__}_{system}_{machine}.tar.gz"


def manifest(digests: Mapping[_TARGET, str], address: str) -> dict[str, Any]:
    """The manifest of archives that lie under an address, by platform, with their SHA-256 sums."""
    return {
        "apiVersion": "krew.googlecontainertools.github.com/v1alpha2",
        "kind": "Plugin",
        "metadata": {"name": NAME},
        "spec": {
            "version": f"v{__version__}",
            "homepage": address,
            "shortDescription": "Explain why pods with DRA claims stay Pending",
            "description": (
                "Runs the allocator of kube-scheduler on the cluster's devices, slices and claims, and says on which\n"
                "nodes claims of Dynamic Resource Allocation fit, which devices they would get, and if nothing fits,\n"
                "why, down to the device. Reads through kubectl with your rights, and writes nothing.\n"
            ),
            "caveats": (
                "Needs Python 3.11, 3.12 or 3.13 on PATH.\n"
                "The first start unpacks it into a folder pex of your caches (PEX_ROOT names another one).\n"
            ),
            "platforms": [_platform(*target, digest, address) for target, digest in sorted(digests.items())],
        },
    }


def _platform(system: str, machine: str, digest: str, address: str) -> dict[str, Any]:
    return {
        "selector": {"matchLabels": {"os": system, "arch": machine}},
        "uri": f"{address.rstrip('/')}/{archive_name(system, machine)}",
        "sha256": digest,
        "bin": BIN,
    }


def text(document: Mapping[str, Any]) -> str:
    """A manifest as YAML, in the order in which krew's own have their fields."""

    class Dumper(yaml.SafeDumper):
        pass

    def string(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)

    Dumper.add_representer(str, string)
    return yaml.dump(document, Dumper=Dumper, sort_keys=False, width=200)
