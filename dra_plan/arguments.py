"""Validation of the arguments of the Python API. A wrong argument raises a UsageError that names the argument."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from dra_plan.api.inventory import Inventory
from dra_plan.api.meta import LabelSelector
from dra_plan.api.selectors import parse_selector
from dra_plan.planner.question import AskedRelease, Question

from . import shown
from .allocator import Probe
from .errors import InputError, UsageError
from .releases import Target

Objects = dict[str, Any] | Iterable[dict[str, Any]]
"""One Kubernetes object as a plain dict, or several of them."""

_MOST = 2**63
"""The upper bound for a number of steps, nodes or processes; this number and larger ones are rejected."""


def question(owners: Iterable[str] = (), options: Mapping[str, Any] | None = None) -> Question:
    """Return a `Question` with this cluster and these options. Raises UsageError for invalid options."""
    given = {**_NOTHING, **(options or {})}
    return Question(
        owners=names(owners, "owners"),
        nodes=names(given["nodes"], "nodes"),
        namespace=optional(given["namespace"], str, "namespace", "a name"),
        selector=label_selector(given["selector"]),
        together=truth(given["together"], "together"),
        infer_nodes=truth(given["infer_nodes"], "infer_nodes"),
        devices_only=truth(given["devices_only"], "devices_only"),
        max_steps=None if given["max_steps"] is None else at_least_one(given["max_steps"], "max_steps"),
        timeout=seconds(given["timeout"], "timeout"),
        progress=callback(given["progress"], "progress"),
        probe=optional(given["probe"], Probe, "probe", "a Probe"),
    )


_NOTHING: Mapping[str, Any] = {
    **dict.fromkeys(("nodes", "namespace", "selector", "max_steps", "timeout", "progress", "probe")),
    **dict.fromkeys(("together", "infer_nodes", "devices_only"), False),
}
"""The values of options that a question does not set."""


def names(given: str | Iterable[str] | None, argument: str = "names") -> tuple[str, ...]:
    """Return the names in an argument that is one name, several names or None. Raises UsageError for other values."""
    if given is None or isinstance(given, str):
        return (given,) if given is not None else ()
    wrong: Any = given
    if isinstance(given, Iterable) and not isinstance(given, bytes | os.PathLike | Mapping):
        found = tuple(given)
        wrong = next((name for name in found if not isinstance(name, str)), None)
        if all(isinstance(name, str) for name in found):
            return found
    raise _unlike(argument, "a name or several", wrong)


def required(given: Any, kind: Any, argument: str, what: str) -> Any:
    """Return the value if it has the type `kind`. Otherwise, raise a UsageError saying that `what` was expected."""
    if not isinstance(given, kind):
        raise _unlike(argument, what, given)
    return given


def optional(given: Any, kind: Any, argument: str, what: str) -> Any:
    """Return the value if it is None or has the type `kind`.

    Otherwise, raise a UsageError saying that `what` was expected.
    """
    return None if given is None else required(given, kind, argument, what)


def callback(given: Any, argument: str) -> Any:
    """Return the value if it is None or callable. Raises UsageError otherwise."""
    if given is not None and not callable(given):
        raise _unlike(argument, "a function", given)
    return given


def able(given: Any, method: str, argument: str, what: str) -> Any:
    """Return the value if it has this method. Otherwise, raise a UsageError saying that `what` was expected."""
    if not callable(getattr(given, method, None)):
        raise _unlike(argument, what, given)
    return given


def truth(given: Any, argument: str) -> bool:
    """Return the value if it is True or False. Raises UsageError otherwise."""
    if not isinstance(given, bool):
        raise _unlike(argument, "True or False", given)
    return given


def whole_number(given: Any, argument: str) -> int:
    """Return the value if it is a whole number that Python can print. Raises UsageError otherwise."""
    if not isinstance(given, int) or isinstance(given, bool) or abs(given) >= _MOST:
        raise _unlike(argument, "a whole number", given)
    return given


def at_least_one(given: Any, argument: str) -> int:
    """Return the value if it is a whole number of at least 1. Raises UsageError otherwise."""
    if whole_number(given, argument) < 1:
        raise _unlike(argument, "a whole number of at least 1", given)
    return given  # type: ignore[no-any-return]


def seconds(given: Any, argument: str) -> float | None:
    """Return the number of seconds as a float, or None.

    Raises UsageError unless the value is None or a number of at least 0.
    """
    if given is None:
        return None
    if not isinstance(given, int | float) or isinstance(given, bool) or not given >= 0:
        raise _unlike(argument, "a number of seconds, at least 0", given)
    try:
        return float(given)
    except OverflowError:
        return math.inf


def label_selector(given: str | LabelSelector | None) -> LabelSelector | None:
    """Return the label selector in an argument, which may also be text. Raises UsageError for an invalid selector."""
    if isinstance(given, str):
        return parse_selector(given)
    found: LabelSelector | None = optional(given, LabelSelector, "selector", 'labels such as "a=b,c in (d,e)"')
    return found


def gates_of(given: Any, argument: str) -> Mapping[str, bool]:
    """Return the feature gates if they are a dict of names and booleans. Raises UsageError otherwise."""
    for name, value in required(given, Mapping, argument, "a dict of names and booleans").items():
        required(name, str, argument, "names of gates")
        truth(value, f"{argument}: {name}")
    return given  # type: ignore[no-any-return]


def asked_release(
    kubernetes_version: str | None = None,
    feature_gates: Mapping[str, bool] | None = None,
    quirks: str = "upstream",
    strict_version: bool = False,
) -> AskedRelease:
    """Return the release that the caller asked for. Without a version, the release is determined from the input.

    Raises UsageError for arguments of the wrong type.
    """
    if kubernetes_version is not None and not isinstance(kubernetes_version, str | float):
        raise _unlike("kubernetes_version", 'a version such as "1.36"', kubernetes_version)
    if not isinstance(quirks, str):
        raise _unlike("quirks", '"upstream" or "fixed"', quirks)
    if feature_gates is not None:
        gates_of(feature_gates, "feature_gates")
    named = None if kubernetes_version is None else str(kubernetes_version)
    return AskedRelease(named, feature_gates, quirks, truth(strict_version, "strict_version"))


def target_of(
    inventory: Inventory,
    kubernetes_version: str | None,
    feature_gates: Mapping[str, bool] | None,
    quirks: str = "upstream",
) -> Target:
    """Return the target for a version, changed feature gates and a quirk mode.

    Without a version, the release is determined from the input. Raises UsageError for invalid arguments.
    """
    return asked_release(kubernetes_version, feature_gates, quirks).target(inventory)


def list_of(given: Any, argument: str, what: str) -> list[Any]:
    """Return the items of an argument as a list.

    Raises UsageError for a string, a path or a single object.
    """
    if isinstance(given, str | bytes | os.PathLike | dict) or not isinstance(given, Iterable):
        raise _unlike(argument, f"a list of {what}", given)
    return list(given)


def paths_of(given: Any, argument: str = "paths") -> list[str | os.PathLike[str]]:
    """Return the paths in an argument that is one path or several. Raises UsageError for other values."""
    found = [given] if isinstance(given, str | os.PathLike) else list_of(given, argument, "paths")
    for path in found:
        required(path, (str, os.PathLike), argument, "paths")
    return found


def prices(given: Any) -> dict[str, Decimal]:
    """Return the prices by name, or an empty dict for None. Raises UsageError for a price that is not a number."""
    found = {}
    for name, price in (optional(given, Mapping, "cost", "a dict of names and numbers") or {}).items():
        if not isinstance(price, int | float | Decimal) or isinstance(price, bool):
            raise _unlike("cost", f"a number for {shown.value(name)}", price)
        found[required(name, str, "cost", "names")] = Decimal(str(price))
    return found


def _unlike(argument: str, wanted: str, given: Any) -> UsageError:
    return UsageError(f"{argument}: expected {wanted}, got {shown.value(given)}")


def yaml_of(path: str, option: str, most: int) -> Any:
    """Return the content of a YAML or JSON file. `option` is the option that names the file.

    Raises an InputError that names the option and the file if it cannot be read, is larger than `most` bytes, or is
    neither YAML nor JSON.
    """
    from pathlib import Path

    import yaml

    try:
        with Path(path).open("rb") as file:
            data = file.read(most + 1)
        text = data.decode("utf-8")
    except (OSError, UnicodeError) as error:
        said = error.strerror if isinstance(error, OSError) and error.strerror else "not UTF-8"
        raise InputError(f"{option} {path}: {said.lower()}") from error
    if len(data) > most:
        raise InputError(f"{option} {path}: larger than {most:,} bytes")
    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise InputError(f"{option} {path}: not readable as YAML") from error
