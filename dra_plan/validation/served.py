"""The versions of a kind that an API server serves, depending on the release and on `--runtime-config`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from dra_plan.errors import UsageError
from dra_plan.manifests.kinds import Kind
from dra_plan.releases import Target

DRA = "resource.k8s.io"
RuntimeConfig = Mapping[str, bool]
"""The settings in `--runtime-config`. A key is `api/all`, `api/beta`, or GROUP/VERSION, optionally with /RESOURCE."""

_COULD: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "DeviceTaintRule": {
        "1.34": ("v1alpha3",),
        "1.35": ("v1alpha3",),
        "1.36": ("v1beta2", "v1alpha3"),
        "1.37": ("v1", "v1beta2", "v1alpha3"),
    },
    "PodGroup": {"1.34": (), "1.35": (), "1.36": ("v1alpha2",), "1.37": ("v1beta1", "v1alpha3")},
    "Workload": {"1.34": (), "1.35": ("v1alpha1",), "1.36": ("v1alpha2",), "1.37": ("v1beta1", "v1alpha3")},
}
"""The versions that a release can serve, by kind and release, newest first; other kinds are the same in all
releases."""
_GATES = {"DeviceTaintRule": "DRADeviceTaintRules", "PodGroup": "GenericWorkload", "Workload": "GenericWorkload"}
"""Kinds whose newest version is enabled with a gate, which is set only if the API is served."""
_STAGE = re.compile(r"v[0-9]+(alpha|beta)[0-9]+\Z")
_ENTRY = re.compile(r"[a-z0-9.-]+/[a-z0-9]+(/[a-z]+)?\Z")


def is_versioned(kind: Kind) -> bool:
    """Return whether releases or API servers differ in the versions of this kind that they serve."""
    return kind.group == DRA or kind.name in _COULD


def could_serve(kind: Kind, target: Target) -> tuple[str, ...]:
    """Return the versions of the kind that the target can serve, newest first."""
    known = _COULD.get(kind.name)
    return ("v1", "v1beta2", "v1beta1") if known is None else known[target.version]


def served(kind: Kind, target: Target, config: RuntimeConfig | None) -> tuple[str, ...]:
    """Return the versions of the kind that an API server with this `--runtime-config` serves, newest first.

    By default, it serves only stable versions (KEP-3136). If `config` is None, it serves all versions.
    """
    could = could_serve(kind, target)
    if config is None:
        return could
    return tuple(version for version in could if _is_on(kind, version, could[0], target, config))


def _is_on(kind: Kind, version: str, newest: str, target: Target, config: RuntimeConfig) -> bool:
    stage = _STAGE.match(version)
    names = [f"{kind.group}/{version}/{kind.plural}", f"{kind.group}/{version}"]
    names += [f"api/{stage[1]}"] if stage else ["api/ga"]
    for name in (*names, "api/all"):
        if name in config:
            return config[name]
    gate = _GATES.get(kind.name)
    return stage is None or (version == newest and gate is not None and target.gates.get(gate, False))


def parse(options: list[str] | None) -> dict[str, bool]:
    """Parse `--runtime-config` options, which have kube-apiserver's format, for example `api/beta=true,GROUP/VERSION`.

    A key without a value means true. The last value of a repeated key is used. Raises UsageError for other forms.
    """
    config: dict[str, bool] = {}
    for item in (part.strip() for option in options or () for part in option.split(",")):
        name, _, value = item.partition("=")
        if item and (not _ENTRY.match(name) or value not in ("", "true", "false")):
            raise UsageError(f"--runtime-config: {item!r} is not GROUP/VERSION=true or api/beta=true")
        if item:
            config[name] = value != "false"
    return config
