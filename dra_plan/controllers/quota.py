"""ResourceQuota and LimitRange: what the API server charges for an object, and which objects it rejects.

A claim is charged for its requests when it is created, whatever is allocated later (KEP-4381, quota/v1/evaluator/core
resource_claims.go). It is charged as one object, and its devices are charged by class, under
`CLASS.deviceclass.resource.k8s.io/devices` and the class's extended resource names. A pod is charged for the extended
resources that it requests; the claim that the scheduler creates for them is charged only for the rest.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from dra_plan.api.core import (
    Affinity,
    LimitRange,
    Pod,
    ResourceQuota,
    ScopedResourceSelectorRequirement,
)
from dra_plan.api.inventory import Inventory
from dra_plan.api.meta import QuantityText
from dra_plan.api.quantity import canonical_text, make, parse
from dra_plan.api.resource import DeviceClass, DeviceRequest, ResourceClaim
from dra_plan.api.storage import PersistentVolumeClaim
from dra_plan.api.well_known import COUNTED_OBJECTS, IMPLICIT_PREFIX
from dra_plan.claims.owners import ended, is_new
from dra_plan.claims.pod_claims import special_claim_owner
from dra_plan.documents.refusals import OverQuota
from dra_plan.manifests import kinds
from dra_plan.near import nearest
from dra_plan.scheduler.cluster.pod_requests import exact_limits, exact_requests, is_extended

from . import limits
from .over_quota import DEVICES, first_pods

DEVICES_OF_ALL = 32
"""The number of devices charged for a request for all devices, which is the maximum that a request may get."""
_CLAIM_COUNT = "count/resourceclaims.resource.k8s.io"
_BOTH_NAMES = ("cpu", "memory", "ephemeral-storage")
_REQUESTED = ("cpu", "memory")
"""The resources that a quota requires every container to state, whatever it limits."""
_NANO = 10**9
BESIDE_PODS = ("templates", "workloads", "services", "quotas", "volume_claims")
CHARGED = ("pods", "claims", *BESIDE_PODS)
"""The fields of an inventory whose objects quotas may count."""

Charges = Mapping[str, int]
"""Amounts in billionths, by resource name."""


class Quotas:
    """The quotas and limits of all namespaces, and their usage."""

    def __init__(self, inventory: Inventory) -> None:
        self._quotas: dict[str, list[ResourceQuota]] = {}
        self._limits: dict[str, list[LimitRange]] = {}
        self._hard: dict[str, Mapping[str, int]] = {}
        """Each quota's limits, in billionths."""
        self._given = inventory
        self.exceeded: dict[str, list[OverQuota]] = {}
        """The exceeded amounts, by rejection message."""
        self.renew(inventory)
        self._classes: Callable[[], Iterable[DeviceClass]] = lambda: inventory.classes
        self._objects: Callable[[str], Iterable[object]] = lambda _namespace: ()

    @cached_property
    def _there(self) -> Set[tuple[str, str]]:
        """The pods and claims that exist before anything is created, by kind and key."""
        pods = (pod for pod in self._given.pods if not is_new(self._given, pod))
        return {*(("Pod", pod.key) for pod in pods), *(("ResourceClaim", claim.key) for claim in self._given.claims)}

    def renew(self, inventory: Inventory) -> None:
        """Replace the quotas and limits with those of the inventory."""
        self._quotas, self._limits, self._hard = defaultdict(list), defaultdict(list), {}
        for quota in inventory.quotas:
            self._quotas[quota.metadata.namespace].append(quota)
            self._hard[quota_key(quota)] = {name: parse(text).nano for name, text in quota.spec.hard.items()}
        for each in inventory.limit_ranges:
            self._limits[each.metadata.namespace].append(each)

    def watch(self, classes: Callable[[], Iterable[DeviceClass]], objects: Callable[[str], Iterable[object]]) -> None:
        """Set the sources of the device classes and of the objects that count towards a namespace's quotas."""
        self._classes, self._objects = classes, objects

    @property
    def exist(self) -> bool:
        """True if any namespace has a quota or limits."""
        return bool(self._quotas or self._limits)

    def limited(self, pod: Pod) -> Pod:
        """Return the pod with the defaults that its namespace's LimitRanges set for its containers."""
        return limits.defaulted(pod, self._limits.get(pod.metadata.namespace, ()))

    def refuses(self, obj: object, kept: dict[str, Counter[str]] | None = None) -> str:
        """Return the reason why the API server rejects the object, or "" if it accepts the object.

        The object must have its defaults. `kept` caches the usage of quotas, by NAMESPACE/NAME; missing usage is added
        to it.
        """
        namespace = obj.metadata.namespace  # type: ignore[attr-defined]
        if isinstance(obj, Pod):
            problem = _invalid(obj)
            if not problem and (said := limits.violation(obj, self._limits.get(namespace, ()))):
                problem = f"{_forbidden(obj)}{said}"
        else:
            problem = _invalid_quota(obj) if isinstance(obj, ResourceQuota) else ""
        if problem:
            return problem
        counting = self.of(obj)
        if not counting:
            return ""
        # the resources that all quotas require to be stated are checked before the remaining amounts
        problems = chain(
            (f"failed quota: {name}: must specify {lacking}" for name, lacking in _unstated(counting, obj)),
            (self._exceeded(quota, obj, kept) for quota in counting),
        )
        problem = next(filter(None, problems), "")
        if not problem:
            return ""
        refusal = f"{_forbidden(obj)}{problem}"
        if problem in self.exceeded:
            self.exceeded[refusal] = self.exceeded[problem]
        return refusal

    def all_of(self, namespace: str) -> Sequence[ResourceQuota]:
        """Return the quotas in the namespace, ordered by name."""
        return sorted(self._quotas.get(namespace, ()), key=lambda each: each.metadata.name)

    def of(self, obj: object) -> list[ResourceQuota]:
        """Return the quotas that count the object, ordered by name."""
        if not self._quotas:
            return []
        quotas = self.all_of(obj.metadata.namespace)  # type: ignore[attr-defined]
        return [quota for quota in quotas if in_scope(quota, obj)]

    def _excess(
        self, quota: ResourceQuota, obj: object, kept: dict[str, Counter[str]] | None
    ) -> tuple[list[str], Mapping[str, int], Mapping[str, int]]:
        """Return the resources of which the quota has too little for the object, what it is charged, what is used."""
        hard = self._hard[quota_key(quota)]
        charged = {key: value for key, value in self.charges(obj).items() if key in hard}
        if not charged:
            return [], {}, {}
        if kept is None:
            used = self.used(quota, charged)
        else:
            key = quota_key(quota)
            if key not in kept:
                kept[key] = self.used(quota, hard)
            used = kept[key]
        over = sorted(key for key, value in charged.items() if value > 0 and used[key] + value > hard[key])
        return over, charged, used

    def _exceeded(self, quota: ResourceQuota, obj: object, kept: dict[str, Counter[str]] | None) -> str:
        name, hard = quota.metadata.name, self._hard[quota_key(quota)]
        over, charged, used = self._excess(quota, obj, kept)
        if not over:
            return ""

        def listed(amounts: Mapping[str, int]) -> str:
            return ",".join(f"{key}={_text(amounts[key], quota.spec.hard[key])}" for key in over)

        said = f"exceeded quota: {name}, requested: {listed(charged)}, used: {listed(used)}, limited: {listed(hard)}"
        if said not in self.exceeded:
            self.exceeded[said] = [self._amounts(quota, key, charged[key], used[key]) for key in over]
        return said

    def _amounts(self, quota: ResourceQuota, resource: str, requested: int, used: int) -> OverQuota:
        """Return the amounts of a resource that the quota has too little of, and the new pods that use some of it."""
        like = quota.spec.hard[resource]
        objects = [one for one in self._objects(quota.metadata.namespace) if in_scope(quota, one)]
        charged = [(one, amount) for one in objects if (amount := self.charges(one).get(resource, 0))]
        now = min(used, sum(amount for one, amount in charged if not self._is_made(one)))
        return OverQuota(
            quota=quota.metadata.name,
            resource=resource,
            requested=_text(requested, like),
            used=_text(used, like),
            used_now=_text(now, like),
            later=_text(used - now, like),
            first=first_pods((one for one, _ in charged if self._is_made(one)), objects),
            hard=str(like),
        )

    def _is_made(self, obj: object) -> bool:
        """Return whether the object is a pod or claim that did not exist before."""
        return isinstance(obj, Pod | ResourceClaim) and (obj.kind, obj.key) not in self._there

    def overdrawn(self, quota: ResourceQuota) -> list[tuple[str, str, str]]:
        """Return the resources whose usage exceeds the quota, each with the used and the allowed amount.

        No pod is evicted for this.
        """
        hard = self._hard[quota_key(quota)]
        used = self.used(quota, hard)
        over = [name for name in hard if used[name] > hard[name]]
        return [(name, *amounts) for name, amounts in self.amounts(quota, over).items()]

    def amounts(self, quota: ResourceQuota, names: Sequence[str]) -> dict[str, tuple[str, str]]:
        """Return the used and the allowed amount of each resource, as text."""
        hard, like = self._hard[quota_key(quota)], quota.spec.hard
        used = self.used(quota, names)
        return {name: (_text(used[name], like[name]), _text(hard[name], like[name])) for name in names}

    def used(self, quota: ResourceQuota, names: Iterable[str]) -> Counter[str]:
        """Return how much of each resource the objects in the quota's namespace use."""
        total: Counter[str] = Counter(dict.fromkeys(names, 0))
        for obj in self._objects(quota.metadata.namespace):
            if in_scope(quota, obj):
                for name, value in self.charges(obj).items():
                    if name in total:
                        total[name] += value
        return total

    def charges(self, obj: object) -> Charges:
        """Return what quotas charge for the object, in billionths."""
        if isinstance(obj, Pod):
            return _of_pod(obj)
        if isinstance(obj, ResourceClaim):
            return self._of_claim(obj)
        if isinstance(obj, PersistentVolumeClaim):
            return _of_volume_claim(obj)
        return {_count_name(obj): _NANO}

    def _of_claim(self, claim: ResourceClaim) -> Charges:
        total: Counter[str] = Counter({_CLAIM_COUNT: _NANO})
        classes = {each.metadata.name: each for each in self._classes()}
        for request in claim.spec.devices.requests:
            for name, count in _devices(request).items():
                total[name + DEVICES] += count * _NANO
                total[f"requests.{IMPLICIT_PREFIX}{name}"] += count * _NANO
                known = classes.get(name)
                if known is not None and known.spec.extended_resource_name:
                    total[f"requests.{known.spec.extended_resource_name}"] += count * _NANO
        paid = self._paid_by_pod(claim)
        return {name: max(0, value - paid.get(name, 0)) for name, value in total.items()} if paid else total

    def _paid_by_pod(self, claim: ResourceClaim) -> Charges:
        """Return what a pod was already charged for its claim for extended resources."""
        owner = special_claim_owner(claim)
        if owner is None:
            return {}
        for obj in self._objects(claim.metadata.namespace):
            if isinstance(obj, Pod) and obj.metadata.name == owner[0]:
                return {name: value for name, value in _of_pod(obj).items() if "/" in name and name != "count/pods"}
        return {}


@dataclass(frozen=True)
class QuotaExcess:
    """A resource of which objects need more than a quota allows, even if nothing else uses the quota."""

    quota: str
    resource: str
    charged: str
    limit: str


def beyond(quotas: Quotas, objects: Sequence[tuple[object, int]]) -> Iterator[QuotaExcess]:
    """Yield each quota limit that these numbers of objects exceed even if nothing else uses the quota.

    All objects must be in the same namespace.
    """
    first = objects[0][0]
    for quota in quotas.all_of(first.metadata.namespace):  # type: ignore[attr-defined]
        total: Counter[str] = Counter()
        for obj, number in objects:
            if quota in quotas.of(obj):
                total.update({name: value * number for name, value in quotas.charges(obj).items()})
        for name, limit in sorted(quota.spec.hard.items()):
            if total[name] > parse(limit).nano:
                yield QuotaExcess(quota.metadata.name, name, _text(total[name], limit), str(limit))


def unstated(quotas: Quotas, pod: Pod) -> Iterator[tuple[str, str]]:
    """Yield the quotas that reject the pod for not setting requests or limits, with their messages."""
    return _unstated(quotas.of(pod), pod)


def unset(quotas: Quotas, quota: ResourceQuota, pod: Pod) -> list[str]:
    """Return the resources that the quota requires and that neither the pod nor a LimitRange default sets."""
    return [*_unset(quotas.limited(pod), quota.spec.hard)] if in_scope(quota, pod) else []


def counts_pods_or_claims(resource: str) -> bool:
    """Return whether a quota counts pods or claims under this resource name."""
    if resource in ("pods", "count/pods", _CLAIM_COUNT, *_BOTH_NAMES) or resource.endswith(DEVICES):
        return True
    return resource.startswith(("requests.", "limits.")) and resource != "requests.storage"


def never_counted(resource: str, classes: Sequence[str]) -> str:
    """Return why nothing is ever counted under this resource name, or "" if it can be used.

    Only names for the devices of a class are checked.
    """
    implicit = f"requests.{IMPLICIT_PREFIX}"
    own = resource.removesuffix(DEVICES) if resource.endswith(DEVICES) else ""
    own = own or (resource.removeprefix(implicit) if resource.startswith(implicit) else "")
    if not classes or own in classes or ("deviceclass.resource." not in resource and not own):
        return ""
    if own:
        meant = nearest(own, classes)
        return f"no DeviceClass is called {own}{f' (did you mean {meant}?)' if meant else ''}"
    meant = nearest(resource, [name for each in classes for name in (f"{each}{DEVICES}", f"{implicit}{each}")])
    return f"no resource has this name{f' (did you mean {meant}?)' if meant else ''}"


def _unstated(quotas: Iterable[ResourceQuota], obj: object) -> Iterator[tuple[str, str]]:
    for quota in quotas:
        lacking = _unset(obj, quota.spec.hard) if isinstance(obj, Pod) else {}
        if lacking:
            said = (f"{name} for: {','.join(sorted(missing))}" for name, missing in lacking.items())
            yield quota.metadata.name, "; ".join(said)


class QuotaLedger:
    """The usage of quotas, cached so that each further charge is fast.

    The usage is correct only if every object that is created is charged here.
    """

    def __init__(self, quotas: Quotas) -> None:
        self._quotas = quotas
        self._used: dict[str, Counter[str]] = {}

    def refuses(self, obj: object) -> str:
        """Return the reason why the API server rejects the object, or "" if it accepts the object.

        An accepted object is charged, so the caller must create it.
        """
        refusal = self._quotas.refuses(obj, self._used)
        quotas = [] if refusal else self._quotas.of(obj)
        if quotas:
            charges = self._quotas.charges(obj)
            for quota in quotas:
                used = self._used.get(quota_key(quota), Counter[str]())
                for name in used:
                    used[name] += charges.get(name, 0)
        return refusal

    def forget(self) -> None:
        """Discard the cached usage. Call this when objects change without being charged here."""
        self._used.clear()


def _forbidden(obj: object) -> str:
    """Return the beginning of the API server's message when it rejects an object."""
    return f'{_resource(obj)} "{obj.metadata.name}" is forbidden: '  # type: ignore[attr-defined]


def without_name(obj: object, message: str) -> str:
    """Return the API server's message without the name of the object at its beginning."""
    head = _forbidden(obj)
    return message[len(head) :] if message[: len(head)] == head else message


def quota_key(quota: ResourceQuota) -> str:
    """Return the key of the quota, NAMESPACE/NAME."""
    return f"{quota.metadata.namespace}/{quota.metadata.name}"


def _devices(request: DeviceRequest) -> Counter[str]:
    """Return the number of devices charged for each class; for firstAvailable, each class's largest alternative."""
    found: Counter[str] = Counter()
    for each in (request.exactly,) if request.exactly is not None else request.first_available:
        count = DEVICES_OF_ALL if each.allocation_mode == "All" else each.count or 1
        found[each.device_class_name] = max(found[each.device_class_name], count)
    return found


def _of_pod(pod: Pod) -> Charges:
    """Return the charges for a pod; a pod that has finished counts only as an object."""
    total = {"count/pods": _NANO}
    if ended(pod):
        return total
    total["pods"] = _NANO
    for name, value in exact_requests(pod).items():
        total[f"requests.{name}"] = value
        if name in _BOTH_NAMES or name.startswith("hugepages-"):
            total[name] = value
    if any(each.resources.limits for each in (*pod.spec.containers, *pod.spec.init_containers)) or pod.spec.resources:
        for name, value in exact_limits(pod).items():
            if name in _BOTH_NAMES:
                total[f"limits.{name}"] = value
    return total


def _of_volume_claim(claim: PersistentVolumeClaim) -> Charges:
    """Return the charges for a claim on a volume: one object and its request, in total and for its StorageClass."""
    storage = claim.spec.resources.requests.get("storage")
    amounts = {"persistentvolumeclaims": _NANO, **({"requests.storage": parse(storage).nano} if storage else {})}
    total = {_count_name(claim): _NANO, **amounts}
    if claim.spec.storage_class_name:
        total |= {f"{claim.spec.storage_class_name}{_OF_CLASS}{name}": value for name, value in amounts.items()}
    return total


_OF_CLASS = ".storageclass.storage.k8s.io/"


def _unset(pod: Pod, hard: Iterable[str]) -> Mapping[str, list[str]]:
    """Return the resources that the quota requires every container to state, with the containers that do not.

    A pod that specifies requests or limits at pod level need not specify them for each container.
    """
    of_pod = pod.spec.resources
    if of_pod is not None and (of_pod.requests or of_pod.limits):
        return {}
    found: dict[str, list[str]] = {}
    for name in sorted(hard):
        plain = name.removeprefix("requests.").removeprefix("limits.")
        if plain not in _REQUESTED:
            continue
        for container in (*pod.spec.init_containers, *pod.spec.containers):
            stated = container.resources.limits if name.startswith("limits.") else container.resources.requests
            if plain not in stated:
                found.setdefault(name, []).append(container.name)
    return found


def _invalid(pod: Pod) -> str:
    """Return the error for a request above its limit, in the words of pod validation.

    A LimitRange's default limit can cause it.
    """
    found = []
    for field, containers in (("containers", pod.spec.containers), ("initContainers", pod.spec.init_containers)):
        for index, container in enumerate(containers):
            for name, text in sorted(container.resources.requests.items()):
                limit = container.resources.limits.get(name)
                if limit is not None and parse(text).nano > parse(limit).nano:
                    found.append(
                        f'spec.{field}[{index}].resources.requests: Invalid value: "{canonical_text(parse(text))}": '
                        f"must be less than or equal to {name} limit of {canonical_text(parse(limit))}"
                    )
    return f'Pod "{pod.metadata.name}" is invalid: {limits.joined(found)}' if found else ""


def _invalid_quota(quota: ResourceQuota) -> str:
    """Return quota validation's error for negative amounts, and for fractions of whole-number resources."""
    found = []
    for name, text in sorted(quota.spec.hard.items()):
        amount = parse(text)
        shown = f'spec.hard[{name}]: Invalid value: "{canonical_text(amount)}"'
        if amount.nano < 0:
            found.append(f"{shown}: must be greater than or equal to 0")
        if amount.nano % _NANO and (name in COUNTED_OBJECTS or is_extended(name)):
            found.append(f"{shown}: must be an integer")
    if not found:
        return ""
    return f'ResourceQuota "{quota.metadata.name}" is invalid: {limits.joined(found)}'


# Scopes


def in_scope(quota: ResourceQuota, obj: object) -> bool:
    """Return whether the quota counts the object. A quota with scopes counts only pods."""
    selector = quota.spec.scope_selector
    if not quota.spec.scopes and (selector is None or not selector.match_expressions):
        return True
    if not isinstance(obj, Pod):
        return False
    requirements = [ScopedResourceSelectorRequirement(scope_name=name, operator="Exists") for name in quota.spec.scopes]
    requirements += selector.match_expressions if selector is not None else []
    return all(_matches(requirement, obj) for requirement in requirements)


def scopes_of(quota: ResourceQuota) -> list[str]:
    """Return the scopes of the quota as text.

    A scope from the scopeSelector includes its operator and values, unless the operator is Exists.
    """
    selector = quota.spec.scope_selector
    found = [*quota.spec.scopes]
    for each in selector.match_expressions if selector is not None else []:
        plain = each.operator == "Exists"
        found.append(each.scope_name if plain else f"{each.scope_name} {each.operator} {','.join(each.values)}".strip())
    return found


def _matches(requirement: ScopedResourceSelectorRequirement, pod: Pod) -> bool:
    scope = requirement.scope_name
    if scope == "PriorityClass":
        named = pod.spec.priority_class_name
        if requirement.operator == "In":
            return named in requirement.values
        if requirement.operator == "NotIn":
            return named not in requirement.values
        return bool(named) == (requirement.operator == "Exists")
    if scope in ("BestEffort", "NotBestEffort"):
        return _is_best_effort(pod) == (scope == "BestEffort")
    if scope in ("Terminating", "NotTerminating"):
        return (pod.spec.active_deadline_seconds is not None) == (scope == "Terminating")
    return scope == "CrossNamespacePodAffinity" and _names_other_namespaces(pod)


def _is_best_effort(pod: Pod) -> bool:
    """Return whether neither the pod nor any of its containers requests CPU or memory."""
    every = [each.resources for each in (*pod.spec.containers, *pod.spec.init_containers)]
    every += [pod.spec.resources] if pod.spec.resources is not None else []
    amounts = (listed.get(name) for each in every for listed in (each.requests, each.limits) for name in _REQUESTED)
    return not any(text is not None and parse(text).nano > 0 for text in amounts)


def _names_other_namespaces(pod: Pod) -> bool:
    affinity = pod.spec.affinity or Affinity()
    terms = []
    for kind in (affinity.pod_affinity, affinity.pod_anti_affinity):
        if kind is not None:
            terms += kind.required_during_scheduling_ignored_during_execution
            terms += [each.pod_affinity_term for each in kind.preferred_during_scheduling_ignored_during_execution]
    return any(term.namespaces or term.namespace_selector is not None for term in terms)


# Texts


def _text(nano: int, like: QuantityText) -> str:
    """Return an amount in Kubernetes' notation, in the form of the quota's own amount."""
    return canonical_text(make(nano, -9, parse(like).format))


def _resource(obj: object) -> str:
    """Return the object's PLURAL.GROUP, as in API errors."""
    name = _count_name(obj)
    return name.removeprefix("count/")


def _count_name(obj: object) -> str:
    kind = kinds.find(obj.api_version, obj.kind)  # type: ignore[attr-defined]
    if kind is None:
        return "count/"
    return f"count/{kind.plural}.{kind.group}" if kind.group else f"count/{kind.plural}"
