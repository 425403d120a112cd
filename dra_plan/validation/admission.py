"""Rules that the API server's admission plugins enforce when an object is created (DRA209, DRA218, DRA219, DRA224-226).

They concern namespaces, priority classes and service accounts. Existing pods are not checked. Existing workloads are
checked only if they will create more pods.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from dra_plan.api.core import Namespace, Pod, PodSpec, PriorityClass
from dra_plan.api.inventory import Inventory
from dra_plan.api.meta import FieldPath, ObjectMeta
from dra_plan.api.workloads import AnyWorkload
from dra_plan.claims.index import Index
from dra_plan.claims.owners import ended, is_over, wanted
from dra_plan.manifests.paths import value_at
from dra_plan.scheduler.admission import SYSTEM_PRIORITIES

from .formats import absent_of, nearest, shown
from .rule import Problem, error, refused, warning
from .subject import Subject
from .workloads import PRIORITY_CLASS

if TYPE_CHECKING:
    from .input import Input

NO_NAMESPACE = refused(
    "DRA209",
    "namespace that does not exist",
    (
        "Nothing can be created in a namespace that does not exist. This rule is checked only if the "
        "input contains the namespace `default`, which indicates that it contains all namespaces of a "
        "cluster."
    ),
    "Correct the name, or add the Namespace.",
)
NO_PRIORITY_CLASS = refused(
    "DRA218",
    "priority class that does not exist",
    "The API server rejects pods that name a PriorityClass that does not exist.",
    "Correct the name, or add the PriorityClass.",
)
PRIORITY_CLASS_UNKNOWN = warning(
    "DRA219",
    "priority class that is not in the input",
    ("The input contains no PriorityClass. The API server rejects pods that name a PriorityClass that does not exist."),
    "Add the output of `kubectl get priorityclasses -o yaml` to the input.",
    refused_by="APIServer",
)
PRIORITY = refused(
    "DRA224",
    "priority that differs from the PriorityClass",
    (
        "The API server sets `priority` and `preemptionPolicy` from the PriorityClass that the "
        "pod names, or from the default PriorityClass. It rejects pods that set other values."
    ),
    "Name a PriorityClass, and remove the two fields.",
)
NO_ACCOUNT = refused(
    "DRA225",
    "service account that does not exist",
    (
        "The API server rejects pods whose service account does not exist. This rule is checked "
        "only if the input contains the namespace `default`. If the input is a dump of a running "
        "cluster, it must also contain service accounts."
    ),
    "Correct the name, or add the ServiceAccount.",
)
REFUSED_PODS = error(
    "DRA226",
    "workload whose pods the API server rejects",
    (
        "The API server accepts the workload, but the pod template makes it reject every pod that the workload's "
        "controller tries to create."
    ),
    "Add the object that the template names, or name another one in the template.",
)
RULES = (NO_NAMESPACE, NO_PRIORITY_CLASS, PRIORITY_CLASS_UNKNOWN, PRIORITY, NO_ACCOUNT, REFUSED_PODS)

_DEFAULT = "default"
_ALWAYS_THERE = frozenset({_DEFAULT, "kube-system", "kube-public", "kube-node-lease"})
_PREEMPTS = "PreemptLowerPriority"
_SNAPSHOT = ("dra-plan/v1alpha1", "ClusterInfo")
Found = Iterator[tuple[Subject, Problem]]


class AdmissionPlugins(Struct, frozen=True):
    """The objects that admission plugins look up when an object is created.

    `namespaces` and `accounts` are None if the namespaces or service accounts are unknown.
    """

    namespaces: frozenset[str] | None
    classes: Mapping[str, PriorityClass]
    accounts: frozenset[tuple[str, str]] | None
    """The namespaces and names of the service accounts."""

    def namespace(self, name: str) -> Iterator[Problem]:
        """Check that objects can be created in this namespace."""
        if self.namespaces is not None and name and name not in self.namespaces and name not in _ALWAYS_THERE:
            message = absent_of(f"Namespace {shown(name)}", self.namespaces)
            yield NO_NAMESPACE.at(("metadata", "namespace"), message, nearest(name, sorted(self.namespaces)) or "")

    def pod(self, path: FieldPath, spec: PodSpec, namespace: str) -> Iterator[Problem]:
        """Check a new pod by the rules of the admission plugins Priority and ServiceAccount."""
        yield from self._class(path, spec)
        account = spec.service_account_name
        if self.accounts is None or account in ("", _DEFAULT) or (namespace, account) in self.accounts:
            return
        here = sorted(name for space, name in self.accounts if space == namespace)
        message = f"no ServiceAccount {shown(account)} in namespace {namespace}"
        yield NO_ACCOUNT.at((*path, "serviceAccountName"), message, nearest(account, here) or "")

    def _class(self, path: FieldPath, spec: PodSpec) -> Iterator[Problem]:
        name = spec.priority_class_name
        named = self.classes.get(name) if name else self._default
        if name and named is None and name not in SYSTEM_PRIORITIES:
            at = (*path, "priorityClassName")
            if self.classes:
                message = absent_of(f"PriorityClass {shown(name)}", self.classes)
                yield NO_PRIORITY_CLASS.at(at, message, nearest(name, sorted(self.classes)) or "")
            else:
                yield PRIORITY_CLASS_UNKNOWN.at(at, f"PriorityClass {shown(name)}: the input has no priority classes")
            return
        if not name and not self.classes:
            return  # it is unknown whether there is a default class
        value = named.value if named is not None else SYSTEM_PRIORITIES.get(name, 0)
        source = f"PriorityClass {named.metadata.name if named else name}" if named or name else "no PriorityClass"
        if spec.priority is not None and spec.priority != value:
            message = f"the pod has {source}, so its priority is {value}, not {spec.priority}"
            yield PRIORITY.at((*path, "priority"), message, str(value))
        policy = (named.preemption_policy if named is not None else None) or _PREEMPTS
        if spec.preemption_policy and spec.preemption_policy != policy:
            message = f"the pod has {source}, so its preemption policy is {policy}, not {spec.preemption_policy}"
            yield PRIORITY.at((*path, "preemptionPolicy"), message, policy)

    @property
    def _default(self) -> PriorityClass | None:
        defaults = [one for one in self.classes.values() if one.global_default]
        return min(defaults, key=lambda one: one.value, default=None)


def of_inventory(inventory: Inventory) -> AdmissionPlugins:
    """Return the objects that admission plugins look up, for a cluster that consists of this inventory."""
    return _admission(
        inventory.namespaces,
        inventory.priority_classes,
        inventory.pods,
        None if inventory.cluster_info is not None else frozenset(inventory.accounts),
    )


def _of(given: Input) -> AdmissionPlugins:
    namespaces = [one for _, one in given.of(Namespace)]
    is_snapshot = any(True for _ in given.skipped(*_SNAPSHOT))
    accounts = None if is_snapshot else frozenset(map(_written_name, given.skipped("v1", "ServiceAccount")))
    classes, pods = [one for _, one in given.of(PriorityClass)], [one for _, one in given.of(Pod)]
    return _admission(namespaces, classes, pods, accounts)


def _admission(
    namespaces: Iterable[Namespace],
    classes: Iterable[PriorityClass],
    pods: Iterable[Pod],
    accounts: frozenset[tuple[str, str]] | None,
) -> AdmissionPlugins:
    """Return the admission plugins for these objects.

    The namespaces are known only if the input has the one that every cluster has; the accounts of pods exist. A running
    cluster has accounts, so if the namespaces come from a cluster and there are no accounts, the accounts were not
    listed.
    """
    names = {one.metadata.name: one.metadata for one in namespaces}
    is_cluster = _DEFAULT in names
    if not accounts and is_cluster and names[_DEFAULT].is_stored:
        accounts = None
    used = {
        (pod.metadata.namespace or _DEFAULT, pod.spec.service_account_name)
        for pod in pods
        if pod.spec.service_account_name and pod.metadata.is_stored
    }
    return AdmissionPlugins(
        frozenset(names) if is_cluster else None,
        {one.metadata.name: one for one in classes if one.metadata.name},
        accounts | used if accounts is not None and is_cluster else None,
    )


def check(given: Input) -> Found:
    """Yield a problem for each object that admission plugins would reject if the cluster consisted of the input."""
    admission = _of(given)
    for subject, obj in given.objects():
        if subject.kind is not None and subject.kind.namespaced and not _metadata(obj).is_stored:
            for problem in admission.namespace(subject.namespace):
                yield subject, problem
    index = _index(given)
    for subject, path, spec in given.pods():
        problems = [] if _is_past(subject.obj) else list(admission.pod(path, spec, subject.namespace))
        if isinstance(subject.obj, Pod):
            yield from ((subject, problem) for problem in problems)
        elif problems:
            found = [of_workload(problem) for problem in problems]
            if _metadata(subject.obj).is_stored:
                found = [each for each in found if each.rule is REFUSED_PODS and makes_pods(subject.obj, index())]
            yield from ((subject, each) for each in found)
    yield from _defaults(given)


def makes_pods(workload: Any, index: Index) -> bool:
    """Return whether an existing workload will create more pods.

    The API server validates each pod when it is created.
    """
    if not isinstance(workload, AnyWorkload) or is_over(workload):
        return False
    pods = [pod for pod in index.pods_of(workload) if not ended(pod)]
    return wanted(workload, pods).number > len(pods)


def _is_past(obj: object) -> bool:
    """Return whether the object is a pod that exists already."""
    return isinstance(obj, Pod) and obj.metadata.is_stored


def _index(given: Input) -> Callable[[], Index]:
    """Return a function that finds each workload's pods on first use."""

    @cache
    def found() -> Index:
        objects = [obj for _, obj in given.objects()]
        pods = [obj for obj in objects if isinstance(obj, Pod)]
        return Index(Inventory(pods=pods, workloads=[obj for obj in objects if isinstance(obj, AnyWorkload)]))

    return found


def of_workload(problem: Problem) -> Problem:
    """Return a problem with the workload, if this problem makes the API server reject the workload's pods.

    Other problems are returned unchanged.
    """
    if problem.rule.severity < NO_ACCOUNT.severity:
        return problem
    return REFUSED_PODS.at(problem.path, problem.message, problem.suggestion)


def _metadata(obj: object) -> ObjectMeta:
    metadata: ObjectMeta = obj.metadata  # type: ignore[attr-defined]
    return metadata


def _written_name(subject: Subject) -> tuple[str, str]:
    """Return the namespace and name of an object that is not decoded here."""
    space, name = (value_at(subject.value, ("metadata", field)) for field in ("namespace", "name"))
    return space if isinstance(space, str) and space else _DEFAULT, name if isinstance(name, str) else ""


def _defaults(given: Input) -> Found:
    """Yield the second class that would be the default (the Priority plugin)."""
    first: str | None = None
    for subject, one in given.of(PriorityClass):
        if one.global_default and first is None:
            first = subject.name
        elif one.global_default and not one.metadata.is_stored:
            message = f"PriorityClass {first} is already the default; there can be only one"
            yield subject, PRIORITY_CLASS.at(("globalDefault",), message, "false")
