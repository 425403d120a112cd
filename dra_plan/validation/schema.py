"""Rules from the published schemas: headers, types, unknown and required fields, and versions (DRA0xx)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from dra_plan.api.go_text import go_quote
from dra_plan.api.meta import FieldPath
from dra_plan.manifests import kinds
from dra_plan.manifests.convert import BASIC_DEVICES, lift_claim_sources
from dra_plan.manifests.diagnose import DecodedFields, expected
from dra_plan.manifests.kinds import Kind
from dra_plan.manifests.paths import is_plain_key, pattern, render, value_at
from dra_plan.manifests.places import Header

from .formats import nearest
from .rule import Problem, Rule, info, refused, warning

WRONG_TYPE = refused(
    "DRA001",
    "field of the wrong type",
    "The API server cannot decode the object and rejects it.",
    "Write a value of the field's type.",
)
UNKNOWN_FIELD = refused(
    "DRA002",
    "field that the API version does not have",
    (
        "With `--validate=strict`, kubectl rejects the field. Otherwise the API server drops the field, "
        "and the object no longer means what its author intended."
    ),
    "Correct the name, or move the field to where it belongs.",
)
MISSING_FIELD = refused(
    "DRA003",
    "required field missing",
    "The schema requires the field. The API server rejects the object, or treats the field as empty.",
    "Set the field.",
)
UNKNOWN_VERSION = refused(
    "DRA004",
    "API version that does not exist",
    "No API server serves this version.",
    "Use a version that exists.",
)
NO_HEADER = refused(
    "DRA005",
    "`apiVersion` or `kind` missing",
    "Without these two fields, the type of the object is unknown.",
    "Set both fields.",
)
NO_NAME = refused(
    "DRA006",
    "object without a name",
    "The API server requires `metadata.name` or `metadata.generateName`.",
    "Give the object a name.",
)
GIVEN_TWICE = refused(
    "DRA007",
    "object defined twice",
    (
        "Only one object with a given kind, namespace and name can exist. Creating the second one fails "
        "with `already exists`; if both are applied, the later one overwrites the earlier one."
    ),
    "Rename or remove one of the objects.",
)
BASIC_IN_V1 = refused(
    "DRA008",
    "devices with the field `basic` in an API version that does not have this field",
    (
        "Only v1beta1 has the field `basic`. In v1beta2 and v1, its fields are directly in the device. If "
        "`basic` is dropped, the device keeps its name but loses its attributes and capacity."
    ),
    "Move the fields of `basic` one level up, or write the slice in v1beta1.",
)
CLAIM_SOURCE = refused(
    "DRA009",
    "pod claim in the format used before Kubernetes 1.31",
    (
        "The field `source` no longer exists. If it is dropped, the entry names neither a claim nor a "
        "template, and the API server rejects the pod."
    ),
    "Set `resourceClaimName` or `resourceClaimTemplateName` directly in the entry.",
)
DEPRECATED = warning(
    "DRA010",
    "deprecated API version",
    "The version is still served, but a later release will remove it.",
    "Write the object in the version that replaces it.",
)
NOT_SERVED = refused(
    "DRA011",
    "API version that the API server does not serve",
    (
        "kubectl reports that the kind does not exist. The release determines which versions are "
        "served. Alpha and beta versions are served only if the API server's `--runtime-config` "
        "enables them."
    ),
    "Write the object in a served version, or pass the API server's `--runtime-config` to dra-plan.",
)
ZERO_BY_DEFAULT = info(
    "DRA012",
    "required field omitted and read as 0 or empty",
    "The schema requires the field. The API server reads the missing field as zero or as an empty object.",
    "Set the value explicitly.",
)
UNDECODABLE = refused(
    "DRA013",
    "object that cannot be decoded",
    "The API server cannot decode the object and rejects it.",
    "Correct the cause that the message names.",
)
UNREADABLE = refused(
    "DRA016",
    "document that cannot be read",
    ("kubectl rejects the file. The rest of the input is checked as if the objects in the document did not exist."),
    "Correct the text, or remove the file.",
)
RULES = (
    UNREADABLE,
    WRONG_TYPE,
    UNKNOWN_FIELD,
    MISSING_FIELD,
    UNKNOWN_VERSION,
    NO_HEADER,
    NO_NAME,
    GIVEN_TWICE,
    BASIC_IN_V1,
    CLAIM_SOURCE,
    DEPRECATED,
    NOT_SERVED,
    ZERO_BY_DEFAULT,
    UNDECODABLE,
)

_ZERO = frozenset({"generation", "value"})
"""Fields that the schema requires and that may be zero."""
_EMPTY = frozenset(
    {"spec", "spec.devices", "spec.spec", "spec.spec.devices"}
    | {f"{conditions}[*].message" for conditions in ("status.conditions", "status.devices[*].conditions")}
)
"""Fields that the schema requires and that may be empty; other rules check their required contents."""
_DRA = "resource.k8s.io"
_HOMES = {kind.name: kind for kind in kinds.every()}
_GROUPS = frozenset(kind.group for kind in kinds.every())
"""Kubernetes' own API groups, to which new kinds cannot be added."""
_UNREAD = frozenset({"ResourcePoolStatusRequest"})
"""Kinds in the group that exist but are not read here."""
_MEND_SHOWN = 6


def header_problems(header: Header) -> Iterator[Problem]:
    """Yield the problems that make it impossible to tell an object's kind."""
    if header.api_version in (None, "") and header.kind in (None, ""):
        yield NO_HEADER.at((), "has neither apiVersion nor kind, and so is no manifest")
        return
    for name, given in (("apiVersion", header.api_version), ("kind", header.kind)):
        if given is None or given == "":
            yield NO_HEADER.at((name,), "missing")
        elif not isinstance(given, str):
            yield WRONG_TYPE.at((name,), expected("a string", given))


def unknown_version(api_version: str, kind: Kind) -> Problem:
    """Return the problem with an apiVersion that was never published, in an API group that is known."""
    return next(removed(api_version), None) or wrong_version(
        UNKNOWN_VERSION, f"there is no {kind.name} in {api_version}", kind.api_version
    )


def removed(api_version: str) -> Iterator[Problem]:
    """Yield the problem with an object of the first DRA API. Changing only the apiVersion does not fix it."""
    if message := kinds.removed(api_version):
        yield UNKNOWN_VERSION.at(("apiVersion",), message)


def wrong_version(rule: Rule, message: str, better: str) -> Problem:
    """Return a problem with the apiVersion. `better` is the correct one, or "" if it is unknown."""
    return replace(rule.at(("apiVersion",), message, f"apiVersion: {better}" if better else ""), value=better)


def no_such_kind(api_version: str, kind: str) -> Iterator[Problem]:
    """Yield a problem if no API server can serve this kind in this apiVersion, even with extensions."""
    if kinds.removed(api_version):
        yield from removed(api_version)
        return
    group = kinds.split_version(api_version)[0]
    home = _HOMES.get(kind)
    elsewhere = home is not None and group in _GROUPS and group != home.group
    if (group == _DRA and kind not in _UNREAD) or api_version == _DRA or elsewhere:
        better = home.api_version if home is not None else ""
        yield wrong_version(UNKNOWN_VERSION, f"there is no {kind} in {api_version}", better)


def undecodable(reason: str) -> Problem:
    """Return the problem with an object that cannot be decoded. No other rule covers the reason."""
    return UNDECODABLE.at((), f"can't be decoded: {reason}")


def problems(value: dict[str, Any], decoded: DecodedFields, kind: Kind, version: str) -> Iterator[Problem]:
    """Yield the problems that were found when the object was decoded with the schema of its own API version."""
    for path, message, hint in decoded.wrong:
        yield Problem(WRONG_TYPE, path, message, hint, written=True)
    for path in decoded.missing:
        if path[0] == "status" and kind.group != "resource.k8s.io":
            continue  # components report this object, and it is not written by hand
        if path[-2:] == ("requestPolicy", "default"):
            continue  # a separate rule checks when this is needed
        if path[-1] == "deviceClassName" and _has_alternatives(value, path[:-1]):
            continue  # v1beta1 has the fields of `exactly` next to firstAvailable, where they must be omitted
        if kind.group == "resource.k8s.io" and pattern(path) in _EMPTY:
            yield Problem(ZERO_BY_DEFAULT, path, "missing, so the API server reads it as empty", written=True)
        elif path[-1] in _ZERO:
            yield Problem(ZERO_BY_DEFAULT, path, "missing, so the API server reads it as 0", written=True)
        else:
            yield Problem(MISSING_FIELD, path, "missing", written=True)
    yield from _unknown(value, decoded.unknown, kind, version)


def _has_alternatives(value: dict[str, Any], request: FieldPath) -> bool:
    found = value_at(value, request)
    return isinstance(found, dict) and bool(found.get("firstAvailable"))


def _unknown(
    value: dict[str, Any], unknown: Mapping[FieldPath, Collection[str]], kind: Kind, version: str
) -> Iterator[Problem]:
    is_slice = kind.name == "ResourceSlice"
    wrapped = [path for path in unknown if is_slice and pattern(path) == BASIC_DEVICES]
    if wrapped:
        lost = f"all {len(wrapped)} devices would keep only their names"
        lost = lost if len(wrapped) > 1 else "the device would keep only its name"
        message = f"{version} has no field `basic`, so {lost}"
        lifted = _lifted(value_at(value, wrapped[0]))
        problem = Problem(BASIC_IN_V1, wrapped[0], message, lifted, written=True, of_key=True)
        yield problem if len(wrapped) == 1 else problem.called(render(wrapped[0][:2]))
    for path, known in unknown.items():
        if path not in wrapped and not _is_claim_source(path, kind):
            close = nearest(str(path[-1]), known)
            message = f"{kind.group + '/' if kind.group else ''}{version} {kind.name} has no such field"
            problem = Problem(UNKNOWN_FIELD, path, message, f"{close}:" if close else "", written=True, of_key=True)
            yield problem if is_plain_key(path[-1]) else problem.called(_as_decoder(path))


def _as_decoder(path: FieldPath) -> str:
    """Return the path as strict decoding writes it.

    Unusual keys also follow a dot, and control characters are quoted as in Go.
    """
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return go_quote(text[1:])[1:-1]


def _lifted(payload: object) -> str:
    names = list(payload) if isinstance(payload, dict) else []
    return f"{', '.join(names[:_MEND_SHOWN])} directly in the device" if names else ""


def _is_claim_source(path: FieldPath, kind: Kind) -> bool:
    inner = path[len(kind.pod_spec) :] if kind.pod_spec else ()
    return len(inner) == 3 and inner[0] == "resourceClaims" and inner[2] == "source"


def without_sources(value: dict[str, Any], kind: Kind) -> tuple[dict[str, Any], list[Problem]]:
    """Return the object with the pod's claims in the current form, and a problem for each claim in the old form.

    The old form, with `source`, was used before Kubernetes 1.31.
    """
    if not kind.pod_spec:
        return value, []
    claims = value_at(value, (*kind.pod_spec, "resourceClaims"))
    path: FieldPath = (*kind.pod_spec, "resourceClaims")
    found = [
        Problem(CLAIM_SOURCE, (*path, index, "source"), SOURCE, _inner(claim), written=True, of_key=True)
        for index, claim in enumerate(claims if isinstance(claims, list) else ())
        if isinstance(claim, dict) and isinstance(claim.get("source"), dict)
    ]
    return (_replaced(value, kind.pod_spec), found) if found else (value, found)


SOURCE = "`source` was removed in Kubernetes 1.31; its fields are now directly in the entry"


def _inner(claim: dict[str, Any]) -> str:
    return ", ".join(f"{key}: {value}" for key, value in claim["source"].items() if isinstance(value, str))


def _replaced(value: Any, path: FieldPath) -> Any:
    if not path:
        return lift_claim_sources(value)
    return {**value, path[0]: _replaced(value[path[0]], path[1:])}
