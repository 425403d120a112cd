"""Rules about pods, claims and workloads that exceed a ResourceQuota even if nothing else uses it (DRA228, DRA229).

`controllers/quota.py` defines what is charged. Objects that already exist in a cluster are not checked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from dra_plan.api.core import LimitRange, Pod, PodSpec, ResourceQuota
from dra_plan.api.inventory import Inventory
from dra_plan.api.meta import FieldPath, Object, ObjectMeta
from dra_plan.api.resource import DeviceClass, ResourceClaim, ResourceClaimTemplate
from dra_plan.api.workloads import CronJob, CustomWorkload, Job, ReplicationController, Workload
from dra_plan.claims.owners import wanted
from dra_plan.claims.pod_claims import make_claim
from dra_plan.controllers.quota import QuotaExcess, Quotas, beyond, unstated

from .admission import of_workload
from .input import Input
from .rule import Problem, error, refused
from .subject import Subject

BEYOND_QUOTA = refused(
    "DRA228",
    "pod or claim that a quota never allows",
    (
        "On its own, the object needs more than a ResourceQuota in its namespace allows, or the quota "
        "requires requests or limits that the pod does not set. The API server rejects the object even if "
        "the namespace is empty."
    ),
    "Request less, set the missing requests or limits, or raise the quota.",
)
NEVER_WHOLE = error(
    "DRA229",
    "workload that a quota never admits completely",
    (
        "The pods and their generated claims need more than a ResourceQuota in the namespace allows, even "
        "if nothing else uses the quota. The API server rejects some of the pods or claims, so some pods "
        "never start."
    ),
    "Request less, or raise the quota.",
)
RULES = (BEYOND_QUOTA, NEVER_WHOLE)

Found = Iterator[tuple[Subject, Problem]]


def check(given: Input) -> Found:
    """Check all new objects in the input against the quotas in the input."""
    quotas = [one for _, one in given.of(ResourceQuota)]
    if not quotas:
        return
    known = Quotas(
        Inventory(
            quotas=quotas,
            limit_ranges=[one for _, one in given.of(LimitRange)],
            classes=[one for _, one in given.of(DeviceClass)],
        )
    )
    templates = {(s.namespace, s.name): one for s, one in given.of(ResourceClaimTemplate)}
    for subject, claim in given.of(ResourceClaim):
        if not claim.metadata.is_stored:
            for excess in beyond(known, [(claim, 1)]):
                yield subject, BEYOND_QUOTA.at(("spec", "devices", "requests"), _said(excess, "the claim needs"))
    for subject, path, spec in given.pods():
        obj = subject.obj
        if obj is not None and not _metadata(obj).is_stored:
            for problem in _ChargedPods(known, templates, subject, obj, path, spec).problems():
                yield subject, problem


class _ChargedPods:
    """A pod, or a workload's pods, with the claims that are created for them."""

    def __init__(
        self,
        quotas: Quotas,
        templates: Mapping[tuple[str, str], ResourceClaimTemplate],
        subject: Subject,
        obj: Object,
        path: FieldPath,
        spec: PodSpec,
    ) -> None:
        self._quotas, self._obj, self._path = quotas, obj, path
        metadata = _metadata(obj)
        pod = Pod(metadata=ObjectMeta(name=metadata.name, namespace=subject.namespace), spec=spec)
        self._pod = quotas.limited(pod)
        self._claims = [
            (index, make_claim(template, self._pod, entry.name))
            for index, entry in enumerate(spec.resource_claims)
            if (template := templates.get((subject.namespace, entry.resource_claim_template_name or ""))) is not None
        ]

    def problems(self) -> Iterator[Problem]:
        """Yield the problems with what exceeds a quota.

        A quota can be exceeded by the pod, by one of its claims, by all its claims together, or by all pods of the
        workload.
        """
        found = list(self._of_pod())
        if not found:
            found = list(self._of_claims())
        if not found and not isinstance(self._obj, Pod):
            found = list(self._together(self._number, _number_path(self._obj)))
        yield from found

    def _of_pod(self) -> Iterator[Problem]:
        problems = [
            *(
                BEYOND_QUOTA.at(self._path, _said(each, "a pod needs"))
                for each in beyond(self._quotas, [(self._pod, 1)])
            ),
            *(
                BEYOND_QUOTA.at((*self._path, "containers"), f"quota {name} requires {lacking} to be set")
                for name, lacking in unstated(self._quotas, self._pod)
            ),
        ]
        return (each if isinstance(self._obj, Pod) else of_workload(each) for each in problems)

    def _of_claims(self) -> Iterator[Problem]:
        """Check single claims, then all of one pod's claims."""
        for index, claim in self._claims:
            for excess in beyond(self._quotas, [(claim, 1)]):
                path = (*self._path, "resourceClaims", index)
                yield NEVER_WHOLE.at(path, _said(excess, "the claim that is created for each pod needs"))
                return
        if self._claims:
            yield from self._together(1, (*self._path, "resourceClaims"))

    def _together(self, number: int, path: FieldPath) -> Iterator[Problem]:
        objects: Sequence[tuple[object, int]] = [(self._pod, number), *((claim, number) for _, claim in self._claims)]
        if number:
            who = "one pod and its claims need" if number == 1 else f"{number} pods and their claims need"
            for excess in beyond(self._quotas, objects):
                yield NEVER_WHOLE.at(path, _said(excess, who))

    @property
    def _number(self) -> int:
        """Return the number of pods that exist at the same time; 0 if unknown."""
        obj = self._obj
        if isinstance(obj, CronJob):
            obj = Job(metadata=obj.metadata, spec=obj.spec.job_template.spec)
        if isinstance(obj, Job):
            return wanted(replace(obj, spec=replace(obj.spec, suspend=False)), ()).number
        if isinstance(obj, Workload | ReplicationController | CustomWorkload) and obj.kind != "DaemonSet":
            return wanted(obj, ()).number
        return 0


def _number_path(obj: Object) -> FieldPath:
    """Return the field with the number of pods that exist at the same time."""
    if isinstance(obj, CronJob):
        return "spec", "jobTemplate", "spec", "parallelism"
    if isinstance(obj, Job):
        return "spec", "parallelism"
    return ("spec",) if isinstance(obj, CustomWorkload) else ("spec", "replicas")


def _said(excess: QuotaExcess, who: str) -> str:
    return f"quota {excess.quota} allows {excess.limit} of {excess.resource}, but {who} {excess.charged}"


def _metadata(obj: Object) -> ObjectMeta:
    metadata: ObjectMeta = obj.metadata  # type: ignore[attr-defined]
    return metadata
