"""DRA149, DRA151: claims in pods and pod templates, as the API server judges them."""

from __future__ import annotations

from collections.abc import Iterator

from dra_plan.api.core import PodSpec
from dra_plan.api.meta import FieldPath

from . import names
from .rule import Problem, refused
from .words import nearest, shown

POD_CLAIM = refused(
    "DRA149",
    "pod claim with not exactly one of claim and template",
    "An entry of resourceClaims names either a ResourceClaim or a ResourceClaimTemplate.",
    "Set resourceClaimName or resourceClaimTemplateName.",
)
UNKNOWN_POD_CLAIM = refused(
    "DRA151",
    "container that uses a claim which the pod does not list",
    "resources.claims of a container names entries of the pod's resourceClaims.",
    "Correct the name, or add the entry to the pod.",
)
RULES = (POD_CLAIM, UNKNOWN_POD_CLAIM)


def check(path: FieldPath, spec: PodSpec) -> Iterator[Problem]:
    """The claims of one pod spec."""
    claims = (*path, "resourceClaims")
    yield from names.unique(
        (((*claims, index, "name"), claim.name) for index, claim in enumerate(spec.resource_claims)), "pod claim"
    )
    for index, claim in enumerate(spec.resource_claims):
        at = (*claims, index)
        yield from names.dns_label((*at, "name"), claim.name, "pod claim name")
        given = [claim.resource_claim_name, claim.resource_claim_template_name]
        for name, value in zip(("resourceClaimName", "resourceClaimTemplateName"), given, strict=True):
            if value is not None:
                yield from names.subdomain((*at, name), value, "object name")
        if given == [None, None]:
            yield POD_CLAIM.at(at, "neither resourceClaimName nor resourceClaimTemplateName is set")
        elif None not in given:
            message = "resourceClaimName and resourceClaimTemplateName are both set"
            yield POD_CLAIM.at((*at, "resourceClaimTemplateName"), message)
    known = [claim.name for claim in spec.resource_claims]
    for name, containers in (("containers", spec.containers), ("initContainers", spec.init_containers)):
        for index, container in enumerate(containers):
            used = (*path, name, index, "resources", "claims")
            seen: set[str] = set()
            named: set[str] = set()
            for i, entry in enumerate(container.resources.claims):
                whole = f"{entry.name}/{entry.request}".rstrip("/")
                if entry.name in seen or whole in seen or (entry.name in named and not entry.request):
                    yield names.NOT_UNIQUE.at((*used, i), f"claim {shown(whole)} is there already")
                seen.add(whole)
                named.add(entry.name)
                if entry.request:
                    yield from names.dns_label((*used, i, "request"), entry.request, "request name")
                if entry.name not in known:
                    message = f"the pod has no claim {shown(entry.name)} in resourceClaims"
                    yield UNKNOWN_POD_CLAIM.at((*used, i, "name"), message, nearest(entry.name, known) or "")
