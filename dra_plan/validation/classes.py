"""Rules of the API server about single device classes (DRA148)."""

from __future__ import annotations

from collections.abc import Iterator

from dra_plan.api.meta import FieldPath
from dra_plan.api.resource import DeviceClass
from dra_plan.releases import Target

from . import claims, formats, limits, selectors
from .formats import no_extended_resource
from .limits import at_most
from .rule import Problem, refused

EXTENDED_RESOURCE = refused(
    "DRA148",
    "invalid extended resource name",
    (
        "An extended resource name needs a domain that does not end in kubernetes.io, and must "
        "not start with `requests.`. The name must also be a valid label name when `requests.` is put in front of it, "
        "as quotas do."
    ),
    "Use your own domain, such as example.com/gpu.",
)
RULES = (EXTENDED_RESOURCE,)

_SPEC: FieldPath = ("spec",)


def check(device_class: DeviceClass, target: Target) -> Iterator[Problem]:
    """Check a device class."""
    spec = device_class.spec
    yield from selectors.check((*_SPEC, "selectors"), spec.selectors, target)
    yield from at_most((*_SPEC, "config"), spec.config, limits.CONFIGS, "configuration")
    for index, entry in enumerate(spec.config):
        yield from claims.check((*_SPEC, "config", index), entry.opaque)
    name = spec.extended_resource_name
    if name is not None and not is_extended_resource(name):
        yield EXTENDED_RESOURCE.at((*_SPEC, "extendedResourceName"), no_extended_resource(name))


def is_extended_resource(name: str) -> bool:
    """Return whether this is a valid name of an extended resource."""
    native = "/" not in name or "kubernetes.io/" in name
    return not native and not name.startswith("requests.") and formats.is_label_name(f"requests.{name}")
