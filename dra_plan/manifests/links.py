"""Links that lead out of a checkout. Links in a directory are not followed, because its author chooses their targets.

A checkout is the nearest parent directory with a `.git`; if there is none, it is the directory that was named.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from .faults import Fault


def checkout_of(folder: str | os.PathLike[str]) -> Path:
    """Return the checkout to which a directory belongs. Symbolic links are resolved."""
    place = Path(folder).resolve()
    return next((each for each in (place, *place.parents) if (each / ".git").exists()), place)


def refused(file: Path, checkout: Path) -> Fault | None:
    """Return a fault if the file is a link to a place outside the checkout. Return None for any other file.

    The file is one that was found in a directory.
    """
    target = _target(file)
    if target is None or target.is_relative_to(checkout):
        return None
    return Fault(str(file), f"a link to {target}, outside of {checkout}", hint="to read it, name the file itself")


def notes(paths: Iterable[str]) -> Iterator[str]:
    """Yield a note for each path that is itself a link to a place outside its checkout.

    Such a link is followed, and the note says where it leads.
    """
    for name in paths:
        target = _target(Path(name))
        if target is not None and target.is_file() and not target.is_relative_to(checkout_of(Path(name).parent)):
            yield f"{name} is a link to {target}"


def _target(file: Path) -> Path | None:
    """Return the target of a link; None for a file that is not a link, or a link without a target."""
    try:
        return file.resolve(strict=True) if file.is_symlink() else None
    except (OSError, RuntimeError, ValueError):
        return None
