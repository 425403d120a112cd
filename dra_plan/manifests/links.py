"""Links that leave a checkout. Of a directory they are not followed: who writes it chooses where they lead.

A checkout is the nearest directory above with a `.git`; without one it is the directory that was named.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from .faults import Fault


def checkout_of(folder: str | os.PathLike[str]) -> Path:
    """The checkout that a directory is part of, without links."""
    place = Path(folder).resolve()
    return next((each for each in (place, *place.parents) if (each / ".git").exists()), place)


def refused(file: Path, checkout: Path) -> Fault | None:
    """The fault of a file of a directory that is a link out of the checkout; None for any other file."""
    target = _target(file)
    if target is None or target.is_relative_to(checkout):
        return None
    return Fault(str(file), f"a link to {target}, outside of {checkout}", hint="to read it, name the file itself")


def notes(paths: Iterable[str]) -> Iterator[str]:
    """What is told of named files that are links out of their checkout: that they are followed, and where to."""
    for name in paths:
        target = _target(Path(name))
        if target is not None and target.is_file() and not target.is_relative_to(checkout_of(Path(name).parent)):
            yield f"{name} is a link to {target}"


def _target(file: Path) -> Path | None:
    """Where a link leads; None for what is no link, or leads nowhere."""
    try:
        return file.resolve(strict=True) if file.is_symlink() else None
    except (OSError, RuntimeError, ValueError):
        return None
