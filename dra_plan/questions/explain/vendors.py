"""`explain`: names of one vendor, or of one family of extended resources.

A vendor's names contain its domain: the resource nvidia.com/gpu, and the device class and driver gpu.nvidia.com.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from dra_plan.api.resource import DeviceClass
from dra_plan.cel.parts import strings

_WORDS = re.compile(r"[a-z0-9]+")

_PARTS = {"gpu": "mig"}
"""By the first word of a resource: the first word of the resources for parts of such devices (NVIDIA's MIG)."""


def vendor_of(name: str) -> str:
    """Return the vendor's domain, for example nvidia.com for nvidia.com/gpu and gpu.nvidia.com, or ""."""
    domain = name.partition("/")[0]
    return ".".join(domain.split(".")[-2:]) if "." in domain else ""


def classes_for(resource: str, classes: Iterable[DeviceClass]) -> list[DeviceClass]:
    """Return the device classes of the resource's vendor, in name order.

    If the names of some have the first word of the resource, such as gpu in gpu.nvidia.com, only these are returned.
    """
    vendor, word = vendor_of(resource), _first_word(resource.partition("/")[2])
    own = sorted((one for one in classes if vendor in _vendors(one)), key=lambda one: one.metadata.name)
    named = [one for one in own if word in _WORDS.findall(one.metadata.name)]
    return named or own


def _vendors(of: DeviceClass) -> set[str]:
    """Return the domains of vendors in the name and in the selectors of a class."""
    expressions = [one.cel.expression for one in of.spec.selectors if one.cel is not None]
    texts = [of.metadata.name, *(text for one in expressions for text in strings(one))]
    return {vendor for vendor in map(vendor_of, texts) if vendor}


def same_family(resource: str, names: Iterable[str]) -> list[str]:
    """Return the names in the same domain that begin with the same word, or with the word for parts of such devices.

    For example, nvidia.com/gpu.shared and nvidia.com/mig-1g.5gb are in one family with nvidia.com/gpu, and
    nvidia.com/fabric is not. Names with the same first word come first.
    """
    domain, _, rest = resource.partition("/")
    own = _first_word(rest)
    found = []
    for name in set(names) - {resource}:
        other_domain, _, other = name.partition("/")
        word = _first_word(other)
        if other_domain == domain and (word == own or _PARTS.get(word) == own or _PARTS.get(own) == word):
            found.append((word != own, name))
    return [name for _, name in sorted(found)]


def _first_word(name: str) -> str:
    word = _WORDS.match(name.lower())
    return word.group() if word is not None else ""
