"""Checks that the API server accepts the planned pods and workloads, and their claims, templates and classes.

Every command checks the objects that it plans, and a rejected object is never part of a positive result. `run`
validates whole inputs.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import msgspec
from msgspec.structs import replace

from dra_plan.allocator import View
from dra_plan.api.core import Pod
from dra_plan.api.inventory import AsWritten, Inventory, ObjectKey, Origin, WrittenText
from dra_plan.api.meta import FieldPath, Object
from dra_plan.api.resource import ResourceClaim, ResourceClaimSpec, ResourceClaimTemplate
from dra_plan.api.workloads import AnyWorkload, CustomWorkload
from dra_plan.claims.index import Index
from dra_plan.claims.pod_claims import is_unmade
from dra_plan.explanation.selectors import Publications
from dra_plan.manifests import kinds
from dra_plan.manifests.kinds import Kind
from dra_plan.manifests.objects import pod_spec_of
from dra_plan.manifests.places import Place, label
from dra_plan.releases import Target

from . import objects, references, schema, selectors
from .admission import REFUSED_PODS, makes_pods, of_inventory, of_workload
from .formats import is_dns_label
from .reading import of_written
from .rule import Finding, Problem, Severity
from .served import RuntimeConfig
from .subject import Subject

Question = Pod | AnyWorkload | ResourceClaim | ResourceClaimTemplate
_USUAL = AsWritten()
_MARK = b'"\0"'


class ApiServerRefusals:
    """The objects in an inventory that the API server rejects, and the reasons.

    `runtime_config` selects the API versions that the API server serves: `{}` means the stable versions, and None means
    all versions that the target can serve.
    """

    def __init__(self, inventory: Inventory, target: Target, runtime_config: RuntimeConfig | None = None) -> None:
        self._inventory, self._target, self._config = inventory, target, runtime_config
        self._index = Index(inventory)
        self._classes = {one.metadata.name: one for one in inventory.classes}
        self._admission = of_inventory(inventory)
        self._judged: dict[int, tuple[Object, tuple[Finding, ...]]] = {}
        """The results by object identity, with the object to keep it alive, because copies have other objects'
        names."""
        self._sound: set[tuple[str, str, bytes]] = set()
        """Texts without findings and without the object's name, because many pods' texts differ only in the name."""
        self._labels = {one.metadata.name: one.metadata.labels or {} for one in inventory.namespaces}

    def of(self, asked: Question) -> tuple[Finding, ...]:
        """Return the findings that make the API server reject the object, an object that it needs, or its pods.

        The object's own findings come first, then those of its controllers in the input, and then those of the claims,
        templates and classes, in the order in which the object names them.
        """
        found = [finding for each in self._about(asked) for finding in self._findings(each)]
        return tuple(dict.fromkeys([*found, *self._of_claims_to_come(asked)]))

    def _of_claims_to_come(self, asked: Question) -> Iterator[Finding]:
        """Yield the findings for claims still to be created from the cluster's templates.

        The API server validates these claims again.
        """
        if isinstance(asked, ResourceClaim | ResourceClaimTemplate):
            return
        for entry in pod_spec_of(asked).resource_claims:
            template = self._index.template(asked.metadata.namespace, entry.resource_claim_template_name)
            is_made = isinstance(asked, Pod) and not is_unmade(asked, entry)
            if template is None or is_made or not template.metadata.is_stored:
                continue
            key: ObjectKey = (template.kind, template.metadata.namespace, template.metadata.name)
            origin = self._inventory.origins.get(key, Origin(""))
            kind = kinds.find(template.api_version, template.kind)
            subject = Subject(
                {}, Place(origin.source, line=origin.line), label(*key), kind, "v1", *key[1:], obj=template
            )
            for problem in self._of_admin_access(template):
                yield replace(subject.finding(problem), line=origin.line)

    def _about(self, asked: Question) -> Iterator[Object]:
        yield asked
        if isinstance(asked, ResourceClaim | ResourceClaimTemplate):
            yield from self._classes_of(_claim_spec(asked))
            return
        yield from self._index.owners.above(asked.metadata)
        namespace = asked.metadata.namespace
        for entry in pod_spec_of(asked).resource_claims:
            found: ResourceClaim | ResourceClaimTemplate | None
            if entry.resource_claim_name is not None:
                found = self._index.claim(namespace, entry.resource_claim_name)
            else:
                found = self._index.template(namespace, entry.resource_claim_template_name)
            if found is not None:
                yield found
                yield from self._classes_of(_claim_spec(found))

    def _classes_of(self, spec: ResourceClaimSpec) -> Iterator[Object]:
        for request in spec.devices.requests:
            for part in (request.exactly, *request.first_available):
                if part is not None and part.device_class_name in self._classes:
                    yield self._classes[part.device_class_name]

    def _findings(self, obj: Any) -> tuple[Finding, ...]:
        if id(obj) not in self._judged:
            key: ObjectKey = (obj.kind, obj.metadata.namespace, obj.metadata.name)
            kind = None if isinstance(obj, CustomWorkload) else kinds.find(obj.api_version, obj.kind)
            self._judged[id(obj)] = obj, () if kind is None else tuple(self._judge(obj, kind, key))
        return self._judged[id(obj)][1]

    def _judge(self, obj: Any, kind: Kind, key: ObjectKey) -> Iterator[Finding]:
        origin = self._inventory.origins.get(key, Origin(""))
        place = Place(origin.source, line=origin.line)
        for subject, problem in self._problems(obj, kind, key, place):
            if problem.path[:1] == ("status",):  # written by drivers and the scheduler, so it is the actual state
                continue
            refuses = problem.rule.refused_by == "APIServer" and problem.rule.severity is Severity.ERROR
            if (refuses or problem.rule is REFUSED_PODS) and not subject.follows_from_fault(problem):
                yield replace(subject.finding(problem), line=origin.line)

    def _problems(self, obj: Any, kind: Kind, key: ObjectKey, place: Place) -> Iterator[tuple[Subject, Problem]]:
        """Yield the problems with a new object from its text, which has fields that planning ignores.

        Other objects are checked as loaded.
        """
        written = self._inventory.texts.get(key)
        nameless = _nameless(written, key[2]) if written is not None else None
        form = self._inventory.as_written.get(key, _USUAL)
        subject: Subject | None = None
        if written is not None and (nameless is None or nameless not in self._sound):
            subject = of_written(written, place, key[1])
        if subject is not None:
            found = list(objects.of_one(subject, self._target, self._config))
            if not found and nameless is not None:
                self._sound.add(nameless)
        else:
            value = msgspec.to_builtins(obj) if kind.pod_spec and not isinstance(obj, Pod) else {}
            subject = Subject(value, place, label(*key), kind, form.version or "v1", *key[1:], obj=obj)
            sound = nameless is not None
            found = list(objects.of_metadata(subject, obj.metadata) if sound else self._as_loaded(subject, obj, form))
        if not obj.metadata.is_stored:
            found += self._of_new(subject, obj)
        elif kind.pod_spec and not isinstance(obj, Pod) and makes_pods(obj, self._index):
            found += self._of_pods(subject, obj)
        hinted = (selectors.hinted(one, self._published, self._target) if one.expression else one for one in found)
        yield from ((subject, problem) for problem in hinted)

    @cached_property
    def _published(self) -> Publications:
        """The published values of the input's devices."""
        gatherer = View.of(self._inventory, self._target).gatherer
        newest = (slice_ for pool in gatherer.slices for slice_ in gatherer.newest(pool).slices)
        return Publications(device for slice_ in newest for device in slice_.devices)

    def _as_loaded(self, subject: Subject, obj: Any, form: AsWritten) -> Iterator[Problem]:
        yield from objects.version(subject, self._target, self._config)
        for path in form.unknown:
            message = f"{subject.label} has no such field in {subject.version}"
            yield Problem(schema.UNKNOWN_FIELD, path, message, written=True, of_key=True)
        if form.has_source and subject.kind is not None:
            yield Problem(schema.CLAIM_SOURCE, (*subject.kind.pod_spec, "resourceClaims"), schema.SOURCE, written=True)
        yield from objects.of_typed(subject, obj, self._target)

    def _of_new(self, subject: Subject, obj: Any) -> Iterator[Problem]:
        """Check what is looked up in other objects when this object is created."""
        kind, namespace = subject.kind, subject.namespace
        if kind is not None and kind.namespaced:
            yield from self._admission.namespace(namespace)
        if kind is not None and kind.pod_spec:
            yield from self._of_pods(subject, obj)
        if isinstance(obj, ResourceClaim | ResourceClaimTemplate):
            yield from self._of_admin_access(obj)

    def _of_pods(self, subject: Subject, obj: Any) -> Iterator[Problem]:
        """Check what is looked up when a pod, or one of a workload's pods, is created."""
        path: FieldPath = subject.kind.pod_spec if subject.kind is not None else ()
        for problem in self._admission.pod(path, pod_spec_of(obj), subject.namespace):
            yield problem if isinstance(obj, Pod) else of_workload(problem)

    def _of_admin_access(self, obj: ResourceClaim | ResourceClaimTemplate) -> Iterator[Problem]:
        """Check for requests with admin access where the namespace does not allow it."""
        if not self._target.gates["DRAAdminAccess"]:
            return
        path: FieldPath = ("spec",) if isinstance(obj, ResourceClaim) else ("spec", "spec")
        for index, request in enumerate(_claim_spec(obj).devices.requests):
            if request.exactly is not None and request.exactly.admin_access:
                at = (*path, "devices", "requests", index, "exactly", "adminAccess")
                for problem in references.admin_label(at, obj.metadata.namespace, self._labels):
                    if problem.rule.severity is Severity.ERROR:
                        yield problem


def _nameless(written: WrittenText, name: str) -> tuple[str, str, bytes] | None:
    """Return the text with a mark for the name wherever it stands alone; None if the name cannot be used for this."""
    if not written.data or not is_dns_label(name):
        return None
    return written.api_version, written.kind, written.data.replace(f'"{name}"'.encode(), _MARK)


def _claim_spec(obj: ResourceClaim | ResourceClaimTemplate) -> ResourceClaimSpec:
    return obj.spec if isinstance(obj, ResourceClaim) else obj.spec.spec
