"""The faults in an input, and the error that carries them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from dra_plan import shown
from dra_plan.errors import InputError

TEMPLATE = "a template has to be rendered first"
CUT = "the text ends here, so the file may be cut off"
NO_SUCH_PATH = "no such file or directory"


def set_twice(key: str) -> str:
    """Return the message for a key that is repeated in a map."""
    return f"key {key!r} is set twice in one map"


def given_twice(first: object) -> str:
    """Return the message for an object that is defined twice in a source.

    `first` is the place of the first definition.
    """
    return f"defined twice; first in {first}"


def nothing_found(names: Iterable[str]) -> str:
    """Return the message for sources that contain no objects."""
    return f"no Kubernetes object found in {', '.join(names)}"


class Fault(NamedTuple):
    """A fault in the input: its place and a message. Lines and documents are numbered from 1; 0 means unknown.

    `object` is `KIND NAMESPACE/NAME` without the unknown parts. `path` is the path of the field.
    """

    source: str
    message: str
    line: int = 0
    document: int = 0
    object: str = ""
    path: str = ""
    hint: str = ""

    def text(self) -> str:
        """Return the fault as one line, `SOURCE:LINE: OBJECT: FIELD: MESSAGE (HINT)`, without the unknown parts."""
        where = f"{self.source}:{self.line}" if self.line else self.source
        parts = [part for part in (where, self.object, self.path, self.message) if part]
        return shown.line(": ".join(parts) + (f" ({self.hint})" if self.hint else ""))


class ManifestErrors(InputError):  # noqa: N818 - it carries many
    """The error raised if the input cannot be read as Kubernetes objects. `faults` lists every fault."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults: list[Fault] = list(faults)
        self.lines = tuple(fault.text() for fault in self.faults)
        super().__init__("\n".join(self.lines))
