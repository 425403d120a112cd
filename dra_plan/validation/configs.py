"""DRA147: configuration entries of classes and claims."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from dra_plan.api.meta import FieldPath
from dra_plan.api.resource import OpaqueDeviceConfiguration
from dra_plan.manifests.diagnose import expected

from . import names
from .limits import OPAQUE_BYTES, TOO_LONG
from .rule import Problem, refused

CONFIG = refused(
    "DRA147",
    "configuration that is no object for a driver",
    "A configuration entry has `opaque`: the driver's name and an object of parameters, which only the driver reads.",
    "Write `- opaque: {driver: ..., parameters: {...}}`.",
)
RULES = (CONFIG,)


def check(path: FieldPath, opaque: OpaqueDeviceConfiguration | None) -> Iterator[Problem]:
    """One configuration entry."""
    path = (*path, "opaque")
    if opaque is None:
        yield CONFIG.at(path, "missing")
        return
    yield from names.driver((*path, "driver"), opaque.driver)
    if opaque.parameters is None:
        return  # told from the schema
    if not isinstance(opaque.parameters, dict):
        yield CONFIG.at((*path, "parameters"), expected("an object", opaque.parameters))
        return
    size = len(msgspec.json.encode(opaque.parameters))
    if size > OPAQUE_BYTES:
        yield TOO_LONG.at((*path, "parameters"), f"parameters of {size} bytes; at most {OPAQUE_BYTES} are allowed")
