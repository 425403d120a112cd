"""The licences of what is installed with dra-plan, against a list of those allowed. `make licences` prints them."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ALLOWED = frozenset({"Apache-2.0", "MIT", "BSD-2-Clause", "BSD-3-Clause", "ISC", "PSF-2.0"})
"""SPDX names of licences that ask for no more than their text in copies."""

CLASSIFIED = {
    "License :: OSI Approved :: MIT License": "MIT",
    "License :: OSI Approved :: Apache Software License": "Apache-2.0",
    "License :: OSI Approved :: ISC License (ISCL)": "ISC",
    "License :: OSI Approved :: BSD License": "BSD-3-Clause",
    "License :: OSI Approved :: Python Software Foundation License": "PSF-2.0",
}
"""What packages without an SPDX expression say instead."""


def closure(name: str) -> dict[str, Distribution]:
    """`name` and everything that is installed with it on this machine, by canonical name."""
    found: dict[str, Distribution] = {}
    waiting = [name]
    while waiting:
        key = canonicalize_name(waiting.pop())
        if key in found:
            continue
        found[key] = distribution(key)
        waiting += _requirements(found[key])
    return dict(sorted(found.items()))


def _requirements(of: Distribution) -> Iterator[str]:
    for text in of.requires or ():
        requirement = Requirement(text)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            yield requirement.name


def licence(of: Distribution) -> str:
    """The SPDX expression of a package, or what it says instead; empty if it says nothing."""
    expression = of.metadata.get("License-Expression")
    if expression:
        return str(expression)
    named = [CLASSIFIED[line] for line in of.metadata.get_all("Classifier") or () if line in CLASSIFIED]
    return " AND ".join(dict.fromkeys(named)) or str(of.metadata.get("License") or "")


def is_allowed(expression: str) -> bool:
    """Whether every licence of a conjunction is allowed, or one of each choice."""
    parts = [part.strip(" ()") for part in re.split(r"\bAND\b", expression)]
    return all(any(one.strip(" ()") in ALLOWED for one in re.split(r"\bOR\b", part)) for part in parts)


def main() -> int:
    """Prints name, version and licence of each; 1 if one is not allowed."""
    try:
        found = closure("dra-plan")
    except PackageNotFoundError as missing:
        print(f"error: {missing.name} is not installed", file=sys.stderr)
        return 2
    refused = [name for name, each in found.items() if not is_allowed(licence(each))]
    for name, each in found.items():
        print(f"{name} {each.version}: {licence(each) or 'says nothing'}{' (not allowed)' if name in refused else ''}")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
