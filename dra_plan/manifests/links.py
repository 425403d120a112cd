"""Symbolic links that lead out of a checkout. In a directory they are not followed, since its author chose the targets.

A checkout is the nearest directory with a `.git`, from the given directory upwards, or else the given directory itself.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from .faults import Fault


def checkout_of(folder: str | os.PathLike[str]) -> Path:
    """Return the checkout that contains the directory. Symbolic links are resolved."""
    place = Path(folder).resolve()
    return next((each for each in (place, *place.parents) if (each / ".git").exists()), place)


def refused(file: Path, checkout: Path) -> Fault | None:
    """Return a fault if the file, found in a directory, is a link out of the checkout; otherwise, None."""
    target = _target(file)
    if target is None or target.is_relative_to(checkout):
        return None
    return Fault(str(file), f"a link to {target}, outside of {checkout}", hint="to read it, name the file itself")


def notes(paths: Iterable[str]) -> Iterator[str]:
    """Yield a note for each path that is a link out of its checkout. The note gives the target.

    Such a link is followed, because the user named it.
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
