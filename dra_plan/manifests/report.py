"""What reading an input has to say: faults, and notices that are made once however often their reason occurs."""

from __future__ import annotations

from collections.abc import Iterator

from dra_plan.api.inventory import AsWritten, Notice, Origin
from dra_plan.api.meta import FieldPath

from .convert import BASIC_DEVICES
from .faults import Fault
from .kinds import Kind
from .paths import pattern, render
from .places import Place

_NO_PATH: FieldPath = ()


class Report:
    """Faults and notices in the order in which they were found."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self._deprecated: dict[tuple[str, str], Origin] = {}
        self._lifted: list[tuple[str, Origin]] = []
        self._not_planned: list[Notice] = []
        self._whole_lists: set[str] = set()
        self._pages: dict[str, tuple[int, Origin]] = {}
        self.as_written: dict[str, AsWritten] = {}
        """By label, what objects have that their version does not have."""
        self._unknown: dict[tuple[str, str, tuple[str, ...]], list[tuple[str, Origin]]] = {}

    def fault(
        self, place: Place, message: str, *, label: str = "", path: FieldPath = _NO_PATH, hint: str = "", line: int = 0
    ) -> None:
        """Notes a fault of the field at `path` below the place; its line is looked up unless it is given."""
        line = line or (place.lines([path])[0] if path else place.line)
        # An unnamed object is known by its position in the document.
        where = path if label else (*place.prefix, *path)
        self.faults.append(Fault(place.source, message, line, place.document, label, render(where), hint))

    def deprecated_version(self, kind: Kind, version: str, origin: Origin) -> None:
        """An object of an old version was converted."""
        self._deprecated.setdefault((f"{kind.group}/{version}", kind.api_version), origin)

    def lifted_source(self, label: str, origin: Origin) -> None:
        """A pod had the claim references of releases before 1.31."""
        self._lifted.append((label, origin))
        self.as_written[label] = self.as_written.get(label, AsWritten())._replace(has_source=True)

    def unknown_fields(self, kind: Kind, version: str, paths: list[FieldPath], label: str, place: Place) -> None:
        """An object had fields that its version does not have."""
        origin = Origin(place.source, place.lines(paths[:1])[0])
        patterns = tuple(dict.fromkeys(pattern(path) for path in paths))
        key = (f"{kind.group}/{version}", kind.name, patterns)
        self._unknown.setdefault(key, []).append((label, origin))
        self.as_written[label] = self.as_written.get(label, AsWritten())._replace(unknown=tuple(paths))

    def not_planned(self, label: str, path: FieldPath, why: str, origin: Origin) -> None:
        """An object of an unknown kind has a pod template that can't be read."""
        message = f"{render(path)} looks like a pod template, but is none that can be planned: {why}"
        self._not_planned.append(Notice("workload-not-planned", message, label, str(origin)))

    def list_read(self, kind: object, *, goes_on: bool, origin: Origin) -> None:
        """A list, or a page of one, was read; `goes_on` if it says itself that there is more."""
        if not goes_on:
            self._whole_lists.add(str(kind))
        else:
            number, first = self._pages.get(str(kind), (0, origin))
            self._pages[str(kind)] = (number + 1, first)

    def _incomplete_lists(self) -> Iterator[Notice]:
        """Lists of which only the beginning was read: of those in pages, the last one goes on nowhere."""
        for kind, (number, origin) in self._pages.items():
            if kind not in self._whole_lists:
                pages = "1 page was" if number == 1 else f"{number} pages were"
                message = (
                    f"{pages} read of a {kind} that goes on (metadata.continue): add the other pages, or ask with"
                    " kubectl, which reads them all"
                )
                yield Notice("list-incomplete", message, "", str(origin))

    def notices(self) -> Iterator[Notice]:
        """All notices; the same one for many objects is made once, for the first."""
        yield from self._incomplete_lists()
        yield from self._not_planned
        for (old, new), origin in self._deprecated.items():
            yield Notice("deprecated-api", f"{old} is deprecated; converted to {new}", "", str(origin))
        if self._lifted:
            label, origin = self._lifted[0]
            message = (
                "resourceClaims[*].source, the form before Kubernetes 1.31, is read as if its fields stood outside"
            )
            yield Notice("deprecated-api", message + _others(self._lifted, "object"), label, str(origin))
        for (api_version, kind, patterns), found in self._unknown.items():
            label, origin = found[0]
            message = f"{api_version} has no {', '.join(patterns)}: dropped, as the API server does"
            if BASIC_DEVICES in patterns:
                message += "; `basic` is v1beta1's, so the devices are left with nothing but their names"
            yield Notice("unknown-field", message + _others(found, kind), label, str(origin))


def _others(found: list[tuple[str, Origin]], kind: str) -> str:
    more = len(found) - 1
    return f" (and in {more} more {kind}{'s' if more > 1 else ''})" if more else ""
