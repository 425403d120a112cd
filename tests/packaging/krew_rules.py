"""What krew asks of a manifest before it installs anything, and which platform of it it takes.

The rules are those of krew's index/validation and of the checks of its plugin index.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

SPEC = {"version", "homepage", "shortDescription", "description", "caveats", "platforms"}
PLATFORM = {"uri", "sha256", "selector", "files", "license", "bin"}
SEMVER = re.compile(r"v(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?")
MOST_SHORT = 50
"""Characters of a short description that `kubectl krew search` shows."""


def faults(manifest: dict[str, Any], file_name: str) -> list[str]:
    """What krew would reject; empty for a manifest that it takes."""
    return list(_faults(manifest, file_name))


def _faults(manifest: dict[str, Any], file_name: str) -> Iterator[str]:
    name, spec = manifest.get("metadata", {}).get("name", ""), manifest.get("spec", {})
    if manifest.get("apiVersion") != "krew.googlecontainertools.github.com/v1alpha2":
        yield "apiVersion"
    if manifest.get("kind") != "Plugin":
        yield "kind"
    if not re.fullmatch(r"[\w-]+", name, re.ASCII) or f"{name}.yaml" != file_name:
        yield "metadata.name"
    if set(spec) - SPEC:
        yield "unknown fields of spec"
    short = spec.get("shortDescription", "")
    if not short or len(short) > MOST_SHORT or re.search(r"[\r\n]", short):
        yield "shortDescription"
    if not SEMVER.fullmatch(spec.get("version", "")):
        yield "version"
    if not spec.get("homepage") or not spec.get("description"):
        yield "homepage or description"
    if not spec.get("platforms"):
        yield "platforms"
    for platform in spec.get("platforms", ()):
        yield from _faults_of_platform(platform)


def _faults_of_platform(platform: dict[str, Any]) -> Iterator[str]:
    if set(platform) - PLATFORM:
        yield "unknown fields of a platform"
    if not platform.get("uri", "").startswith("https://") or not platform["uri"].endswith((".tar.gz", ".zip")):
        yield "uri"
    if not re.fullmatch(r"[a-f0-9]{64}", platform.get("sha256", "")):
        yield "sha256"
    if not platform.get("bin"):
        yield "bin"
    if "files" in platform and not all(each.get("from") and each.get("to") for each in platform["files"] or [{}]):
        yield "files"
    labels = platform.get("selector", {}).get("matchLabels")
    if not labels or set(labels) - {"os", "arch"}:
        yield "selector"


def matching(manifest: dict[str, Any], system: str, machine: str) -> list[dict[str, Any]]:
    """The platforms for a machine: krew takes the first."""
    here = {"os": system, "arch": machine}
    return [
        each
        for each in manifest["spec"]["platforms"]
        if all(here[key] == value for key, value in each["selector"]["matchLabels"].items())
    ]
