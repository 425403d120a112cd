"""Settings for validation and warnings, from `[tool.dra-plan]` in pyproject.toml or from `.dra-plan.toml`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from dra_plan.api.codes import checked
from dra_plan.errors import UsageError
from dra_plan.near import nearest
from dra_plan.validation.rule import Severity

OWN, PROJECT = ".dra-plan.toml", "pyproject.toml"


MOST_BYTES = 1_000_000
"""The maximum size of a settings file, in bytes. A pyproject.toml usually has a few kilobytes."""


_KEYS = ("select", "ignore", "per-file-ignores", "ignore-unknown", "fail-on", "ignore-warnings", "node-groups")


class Settings(Struct, frozen=True):
    """The settings of a project. Settings that are not given are None or empty."""

    source: str = ""
    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] | None = None
    per_file: Mapping[str, Sequence[str]] = field(default_factory=dict)
    ignore_unknown: bool | None = None
    fail_on: Severity | None = None
    ignore_warnings: tuple[str, ...] = ()
    """The codes of warnings that are left out of plans."""
    node_groups: str | None = None
    """The file with node groups, for `autoscale` and `explain`."""


def find(start: Path) -> Settings:
    """Return the settings in the nearest of `start` and its parent folders that has any.

    Within a folder, `.dra-plan.toml` takes precedence. Raises UsageError for an invalid file.
    """
    folder = start.resolve()
    for place in (folder, *folder.parents):
        for name in (OWN, PROJECT):
            path = place / name
            found = read(path) if path.is_file() else None
            if found is not None:
                return found
    return Settings()


def read(path: Path) -> Settings | None:
    """Return the settings in a file, or None for a pyproject.toml without `[tool.dra-plan]`."""
    import tomllib

    try:
        table: Any = tomllib.loads(_text(path))
    except OSError as failure:
        raise UsageError(f"{path}: {(failure.strerror or str(failure)).lower()}") from failure
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as failure:
        raise UsageError(f"{path}: {failure}") from failure
    except RecursionError as failure:
        raise UsageError(f"{path}: nested too deeply") from failure
    except ValueError as failure:  # Python's limit, whose message is for programmers
        raise UsageError(f"{path}: a number has too many digits") from failure
    if path.name == PROJECT:
        tools = table.get("tool", {})
        table = tools.get("dra-plan") if isinstance(tools, dict) else None
        if table is None:
            return None
    return _understood(str(path), table)


def _text(path: Path) -> str:
    with path.open("rb") as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise UsageError(f"{path}: settings of more than {MOST_BYTES:,} bytes")
    return data.decode()


def _understood(path: str, table: Any) -> Settings:
    if not isinstance(table, dict):
        raise UsageError(f"{path}: dra-plan: expected a table")
    for key in table:
        if key not in _KEYS:
            near = nearest(key, _KEYS)
            hint = f"; did you mean {near!r}?" if near else f": there are {', '.join(_KEYS)}"
            raise UsageError(f"{path}: no setting {key!r}{hint}")
    return Settings(
        source=path,
        select=_codes(path, "select", table.get("select")),
        ignore=_codes(path, "ignore", table.get("ignore")),
        per_file=_per_file(path, table.get("per-file-ignores", {})),
        ignore_unknown=_truth(path, "ignore-unknown", table.get("ignore-unknown")),
        ignore_warnings=checked(
            _codes(path, "ignore-warnings", table.get("ignore-warnings")) or (), f"{path}: ignore-warnings"
        ),
        node_groups=_file(path, "node-groups", table.get("node-groups")),
        fail_on=severity(table["fail-on"], f"{path}: fail-on") if "fail-on" in table else None,
    )


def severity(name: object, where: str) -> Severity:
    """Return the severity with this name. Raises UsageError for any other name."""
    known = {str(one): one for one in Severity}
    if not isinstance(name, str) or name not in known:
        raise UsageError(f"{where}: {name!r} is not one of {', '.join(sorted(known))}")
    return known[name]


def _codes(path: str, key: str, value: object) -> tuple[str, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(code, str) for code in value):
        raise UsageError(f'{path}: {key}: expected a list of codes, such as ["DRA1"]')
    return tuple(value)


def _file(path: str, key: str, value: object) -> str | None:
    """Return a file, whose path is relative to the folder of the settings."""
    if value is None:
        return None
    if not isinstance(value, str) or not value or "\0" in value:
        raise UsageError(f"{path}: {key}: expected the name of a file")
    return str(Path(path).parent / value)


def _truth(path: str, key: str, value: object) -> bool | None:
    if value is not None and not isinstance(value, bool):
        raise UsageError(f"{path}: {key}: expected true or false")
    return value


def _per_file(path: str, value: object) -> dict[str, tuple[str, ...]]:
    if not isinstance(value, dict):
        raise UsageError(f"{path}: per-file-ignores: expected a table of patterns and lists of codes")
    return {pattern: _codes(path, f"per-file-ignores: {pattern}", codes) or () for pattern, codes in value.items()}
