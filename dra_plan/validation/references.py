"""Rules about references to objects that do not exist (DRA201 to DRA208, DRA227)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from dra_plan.api.core import Namespace, Pod, PodResourceClaim, PodSpec
from dra_plan.api.meta import FieldPath
from dra_plan.api.resource import DeviceClass, ResourceClaim, ResourceClaimSpec, ResourceClaimTemplate
from dra_plan.api.well_known import ADMIN_ACCESS

from .formats import absent_of, listed, nearest, shown
from .rule import Problem, error, info, refused, unschedulable, warning
from .subject import Subject

if TYPE_CHECKING:
    from .input import Input

NO_CLASS = unschedulable(
    "DRA201",
    "device class that does not exist",
    ("The scheduler reports `device class CLASS does not exist`, and does not schedule any pod that uses the claim."),
    "Correct the name, or add the class.",
)
NO_CLAIM = unschedulable(
    "DRA202",
    "claim or claim template that does not exist",
    "A pod stays pending until its claims exist. Claims and templates must be in the pod's namespace.",
    "Correct the name or the namespace, or add the object.",
)
NOT_GIVEN = info(
    "DRA203",
    "reference that cannot be checked",
    "The referenced object is probably defined elsewhere: the input contains no objects of this kind, "
    "or the claim that was created for a pod is not in the input either.",
    "Add the files that contain these objects. "
    "`kubectl get deviceclasses,resourceclaims,resourceclaimtemplates -A -o yaml` prints the objects of a cluster.",
)
NO_REQUEST = error(
    "DRA204",
    "container that uses a request that is not in the claim",
    (
        "An entry in `resources.claims` can name a single request in the claim. If the request does not "
        "exist, the container gets no device."
    ),
    "Correct the name, or remove `request` to use all devices that are allocated for the claim.",
)
NO_ADMIN = refused(
    "DRA205",
    "admin access in a namespace that does not allow it",
    (
        "The API server rejects claims with admin access unless their namespace has the label "
        '`resource.kubernetes.io/admin-access: "true"`.'
    ),
    "Add the label to the namespace.",
)
ADMIN_UNKNOWN = warning(
    "DRA206",
    "admin access in a namespace that is not in the input",
    (
        "The API server rejects claims with admin access unless their namespace has the label "
        '`resource.kubernetes.io/admin-access: "true"`.'
    ),
    "Add the Namespace object to the input, or check the label in the cluster.",
    refused_by="APIServer",
)
SAME_RESOURCE = warning(
    "DRA207",
    "extended resource name used by several classes",
    (
        "If several classes have the same extended resource name, the scheduler uses the newest "
        "class. If the classes are equally old, it uses the first one by name. It ignores all "
        "other classes with the name."
    ),
    "Give each class its own extended resource name.",
)
UNUSED_CLAIM = warning(
    "DRA208",
    "pod claim that no container uses",
    (
        "The pod waits for the claim and reserves its devices, but no container can use them. A container "
        "can use only the claims in its `resources.claims`."
    ),
    ("Add the claim to the `resources.claims` of the container that needs it, or remove the claim from the pod."),
)
SAME_UID = warning(
    "DRA227",
    "`metadata.uid` that another object also has",
    (
        "The API server gives every object its own uid. Objects with the same uid are usually "
        "copies of the output of `kubectl get -o yaml`. dra-plan reads the copies as new objects "
        "without a uid."
    ),
    "Remove `metadata.uid`.",
)
RULES = (NO_CLASS, NO_CLAIM, NOT_GIVEN, NO_REQUEST, NO_ADMIN, ADMIN_UNKNOWN, SAME_RESOURCE, UNUSED_CLAIM, SAME_UID)

Found = Iterator[tuple[Subject, Problem]]


def check(given: Input) -> Found:
    """Check all references from objects in the input to other objects."""
    yield from _classes(given)
    yield from _extended(given)
    known = _KnownClaims.of(given)
    created = {subject: _created(pod) for subject, pod in given.of(Pod)}
    for subject, path, spec in given.pods():
        for problem in _pod(known, subject.namespace, path, spec, created.get(subject, {})):
            yield subject, problem
    yield from _admin(given)
    yield from _uids(given)


def _created(pod: Pod) -> dict[str, str]:
    """Return the claims that the controller has created for a pod, by their names in the pod."""
    return {one.name: one.resource_claim_name for one in pod.status.resource_claim_statuses if one.resource_claim_name}


def _uids(given: Input) -> Found:
    first: dict[str, Subject] = {}
    for subject, obj in given.objects():
        uid: str = obj.metadata.uid  # type: ignore[attr-defined]
        other = first.setdefault(uid, subject) if uid else subject
        if other.key != subject.key:
            yield subject, SAME_UID.at(("metadata", "uid"), f"{other.label} has the same uid")


def _classes(given: Input) -> Found:
    told: set[tuple[Subject, str]] = set()
    classes = {name: one for name, one in given.view.classes.items() if name}
    for request in given.requests():
        name = request.written.device_class_name if request.written is not None else ""
        if not name or request.want.device_class is not None:
            continue
        path = (*request.path, "deviceClassName")
        if classes:
            message = absent_of(f"DeviceClass {shown(name)}", classes)
            yield request.subject, NO_CLASS.at(path, message, nearest(name, classes) or "")
        elif (request.subject, name) not in told:
            told.add((request.subject, name))
            yield request.subject, NOT_GIVEN.at(path, f"DeviceClass {shown(name)}: the input has no device classes")


def _extended(given: Input) -> Found:
    first: dict[str, str] = {}
    for subject, device_class in given.of(DeviceClass):
        name = device_class.spec.extended_resource_name
        if name and name in first:
            also = f"DeviceClass {first[name]} also has the extended resource name {shown(name)}"
            message = f"{also}; only one of the classes is used"
            yield subject, SAME_RESOURCE.at(("spec", "extendedResourceName"), message)
        elif name:
            first[name] = subject.name


class _KnownClaims(Struct, frozen=True):
    """Claims and templates by (namespace, name)."""

    claims: dict[tuple[str, str], ResourceClaimSpec]
    templates: dict[tuple[str, str], ResourceClaimSpec]
    made: dict[tuple[str, str], str]
    """The templates that controllers will create, each with the object from which it is created."""

    @classmethod
    def of(cls, given: Input) -> _KnownClaims:
        """Return the known claims in the input."""
        claims = {(s.namespace, s.name): claim.spec for s, claim in given.of(ResourceClaim)}
        templates = {(s.namespace, s.name): made.spec.spec for s, made in given.of(ResourceClaimTemplate)}
        return cls(claims, templates, {key: maker for maker, key in given.template_makers() if key not in templates})


def _pod(
    known: _KnownClaims, namespace: str, path: FieldPath, spec: PodSpec, created: Mapping[str, str]
) -> Iterator[Problem]:
    specs: dict[str, ResourceClaimSpec] = {}
    for index, entry in enumerate(spec.resource_claims):
        found = _entry(known, namespace, entry, created.get(entry.name, ""))
        if isinstance(found, ResourceClaimSpec):
            specs[entry.name] = found
        elif found is not None:
            yield _placed(found, (*path, "resourceClaims", index))
    used = {use.name for one in (*spec.init_containers, *spec.containers) for use in one.resources.claims}
    for index, entry in enumerate(spec.resource_claims):
        if entry.name and entry.name not in used:
            message = f"no container lists {shown(entry.name)} in resources.claims, so no container can use its devices"
            suggestion = f"claims: [{{name: {entry.name}}}]"
            yield UNUSED_CLAIM.at((*path, "resourceClaims", index, "name"), message, suggestion)
    for name, containers in (("initContainers", spec.init_containers), ("containers", spec.containers)):
        for index, container in enumerate(containers):
            for i, use in enumerate(container.resources.claims):
                if not use.request or use.name not in specs:
                    continue
                requests = [request.name for request in specs[use.name].devices.requests]
                if use.request not in requests:
                    at = (*path, name, index, "resources", "claims", i, "request")
                    message = f"claim {shown(use.name)} has no request {shown(use.request)}; it has {listed(requests)}"
                    yield NO_REQUEST.at(at, message, nearest(use.request, requests) or "")


def _placed(problem: Problem, path: FieldPath) -> Problem:
    return problem.rule.at((*path, *problem.path), problem.message, problem.suggestion)


def _entry(
    known: _KnownClaims, namespace: str, entry: PodResourceClaim, created: str
) -> ResourceClaimSpec | Problem | None:
    if entry.resource_claim_name is not None:
        return _named("ResourceClaim", "resourceClaimName", entry.resource_claim_name, namespace, known.claims)
    if entry.resource_claim_template_name is not None:
        name = entry.resource_claim_template_name
        if (namespace, name) in known.made:
            message = f"ResourceClaimTemplate {shown(name)} is made by the controller of {known.made[namespace, name]}"
            return NOT_GIVEN.at(("resourceClaimTemplateName",), message)
        if (namespace, name) not in known.templates and (namespace, created) in known.claims:
            return known.claims[namespace, created]
        if created and known.templates and (namespace, name) not in known.templates:
            message = (
                f"ResourceClaimTemplate {shown(name)} is not in the input; the pod already has claim {shown(created)}"
            )
            return NOT_GIVEN.at(("resourceClaimTemplateName",), message)
        return _named("ResourceClaimTemplate", "resourceClaimTemplateName", name, namespace, known.templates)
    return None


def _named(
    kind: str, field: str, name: str, namespace: str, known: dict[tuple[str, str], ResourceClaimSpec]
) -> ResourceClaimSpec | Problem:
    if (namespace, name) in known:
        return known[namespace, name]
    if not known:
        return NOT_GIVEN.at((field,), f"{kind} {shown(name)}: the input has no {kind} objects")
    elsewhere = sorted(space for space, other in known if other == name)
    if elsewhere:
        spaces = "namespace" if len(elsewhere) == 1 else "namespaces"
        message = f"no {kind} {shown(name)} in namespace {namespace}; there is one in {spaces} {listed(elsewhere)}"
        return NO_CLAIM.at((field,), message)
    here = [other for space, other in known if space == namespace]
    there = f"; it has {listed(sorted(here))}" if here else ""
    message = f"namespace {namespace} has no {kind} {shown(name)}{there}"
    return NO_CLAIM.at((field,), message, nearest(name, here) or "")


def _admin(given: Input) -> Found:
    asking = [request for request in given.requests() if request.want.admin]
    if not asking:
        return
    labels = {subject.name: namespace.metadata.labels or {} for subject, namespace in given.of(Namespace)}
    for request in asking:
        for problem in admin_label((*request.path, "adminAccess"), request.subject.namespace, labels):
            yield request.subject, problem


def admin_label(path: FieldPath, namespace: str, labels: Mapping[str, Mapping[str, str]]) -> Iterator[Problem]:
    """Check that the namespace permits the admin access that is requested at `path`.

    `labels` contains the labels of the namespaces in the input.
    """
    if namespace not in labels:
        message = f'namespace {namespace} is not in the input; it needs the label {ADMIN_ACCESS}: "true"'
        yield ADMIN_UNKNOWN.at(path, message)
    elif labels[namespace].get(ADMIN_ACCESS) != "true":
        message = f'namespace {namespace} lacks the label {ADMIN_ACCESS}: "true"'
        yield NO_ADMIN.at(path, message, f'{ADMIN_ACCESS}: "true"')
