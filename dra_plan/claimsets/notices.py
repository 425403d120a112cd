"""What the user should know of a claim set beside its answer: rules that `allocate` does not judge, shared claims."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dra_plan.api.core import Container, Pod, PodSpec, ResourceRequirements
from dra_plan.api.inventory import Notice, ObjectKey, Origin
from dra_plan.api.quantity import QuantityError, parse

from .index import Index
from .podclaims import is_unmade
from .podstate import is_waiting
from .sets import ClaimSet, Owner


def of_pod_spec(spec: PodSpec, owner: Owner, origin: Origin | None, index: Index) -> Iterator[Notice]:
    """What `allocate` leaves out of account for the pods of this spec."""
    source = str(origin) if origin else ""
    extended = _dra_backed(spec, index)
    if extended:
        message = f"{', '.join(extended)}: extended resources backed by device classes are planned by `schedule` only"
        yield Notice("extended-resources-not-evaluated", message, str(owner), source)


def missing_template(owner: Owner, template: ObjectKey, index: Index) -> Notice:
    """The reason behind `ResourceClaim not created yet`."""
    _, namespace, name = template
    message = f"ResourceClaimTemplate {namespace}/{name} is not in the input, so no claim can be made from it"
    maker = index.inventory.template_makers.get((namespace, name))
    if maker is not None:
        message += (
            f"; the controller of {maker[0]} {maker[1]}/{maker[2]} makes it in the cluster: add the output of"
            " `kubectl get resourceclaimtemplates -A -o yaml`"
        )
    origin = index.inventory.origins.get(owner)
    return Notice("missing-template", message, str(owner), str(origin) if origin else "")


def missing_templates(asked: Iterable[tuple[Owner, Pod]], index: Index) -> Iterator[Notice]:
    """That templates are not there from which claims of these pods would be made, which have none yet."""
    for owner, pod in asked:
        for entry in pod.spec.resource_claims:
            name = entry.resource_claim_template_name
            if not is_unmade(pod, entry) or name is None or index.template(pod.metadata.namespace, name) is not None:
                continue
            if index.generated_claims.of(pod, entry.name) is None:
                template = ("ResourceClaimTemplate", pod.metadata.namespace, name)
                yield missing_template(owner, template, index)
                break


def keeping_claims(template: ObjectKey, index: Index) -> list[str]:
    """NAMESPACE/NAME of the pods that wait and have a claim made from the template: it stays as it was made."""
    _, namespace, name = template
    return [
        pod.key
        for pod in index.inventory.pods
        if pod.metadata.namespace == namespace and is_waiting(pod) and _has_claim_from(pod, name, index)
    ]


def _has_claim_from(pod: Pod, template: str, index: Index) -> bool:
    return any(
        not is_unmade(pod, entry) or index.generated_claims.of(pod, entry.name) is not None
        for entry in pod.spec.resource_claims
        if entry.resource_claim_template_name == template
    )


def shared_claims(sets: Iterable[ClaimSet], index: Index) -> Iterator[Notice]:
    """One notice per pending claim that several pods or workloads use."""
    sets = list(sets)
    users = index.used_claims
    planned: dict[tuple[str, str], list[Owner]] = {}
    for owner, claims in ((one.owner, one.claims) for one in sets):
        if owner is not None:
            for claim in claims:
                planned.setdefault((claim.metadata.namespace, claim.metadata.name), []).append(owner)
    seen = set()
    for claim_set in sets:
        for claim in claim_set.claims:
            key = (claim.metadata.namespace, claim.metadata.name)
            owners = list(dict.fromkeys([*users.get(key, ()), *planned.get(key, ())]))
            if len(owners) < 2 or key in seen:
                continue
            seen.add(key)
            message = (
                f"used by {_joined([str(owner) for owner in owners])}: the first of them to be scheduled decides "
                "for all; each is planned here as if it came first"
            )
            origin = index.inventory.origins.get(("ResourceClaim", *key))
            yield Notice("shared-claim", message, f"ResourceClaim {claim.key}", str(origin) if origin else "")


def not_judged(spec: PodSpec) -> list[str]:
    """What the pod asks for that depends on more than devices, the node and the pod: `schedule` judges it."""
    return [name for name, present in _rules(spec) if present]


def _rules(spec: PodSpec) -> Iterator[tuple[str, bool]]:
    containers = [*spec.containers, *spec.init_containers]
    affinity = spec.affinity
    yield "affinity to pods", affinity is not None and bool(affinity.pod_affinity or affinity.pod_anti_affinity)
    yield "topology spread", bool(spec.topology_spread_constraints)
    yield "host ports", any(port.host_port for container in containers for port in container.ports)
    resources = [container.resources for container in containers] + ([spec.resources] if spec.resources else [])
    yield "resource requests", bool(spec.overhead) or any(r.requests for r in resources)


def _dra_backed(spec: PodSpec, index: Index) -> list[str]:
    """The requested resources that a device class serves, in the order of their names."""
    wanted = {
        name
        for container in (*spec.containers, *spec.init_containers)
        for name in _requested(container)
        if name in index.served_resources
    }
    return sorted(wanted)


def _requested(container: Container) -> Iterator[str]:
    resources: ResourceRequirements = container.resources
    for name, amount in resources.requests.items():
        try:
            if not parse(amount).is_zero:
                yield name
        except QuantityError:
            yield name


def _joined(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
