"""Look-ups over an inventory: claims and templates by name, generated claims, controllers, and users of claims.

Contents: pods that are missing from the input, the index, and the notices about claim sets.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property

from dra_plan.api.core import Container, Node, NodeSelector, Pod, PodSpec, ResourceRequirements
from dra_plan.api.inventory import Inventory, Notice, ObjectKey, Origin
from dra_plan.api.meta import ObjectMeta
from dra_plan.api.quantity import QuantityError, parse
from dra_plan.api.resource import ResourceClaim, ResourceClaimTemplate
from dra_plan.api.selectors import node_matches
from dra_plan.api.well_known import IMPLICIT_PREFIX
from dra_plan.api.workloads import AnyWorkload, CustomWorkload, pod_template
from dra_plan.near import the_nearest

from .owners import DEPLOYMENT, MOST_OWNERS, Controllers, Dependents, deployment_of, is_waiting
from .pod_claims import GeneratedClaims, is_unmade
from .sets import ClaimSet, Owner

# -- pods missing from the input ---------------------------------------------------------------------------------------
# Claims are reserved for these pods.


class AbsentPods:
    """The pods that are missing from the input although allocated claims are reserved for them.

    Pods are given as NAMESPACE/NAME, in the order of the claims.
    """

    def __init__(self, inventory: Inventory) -> None:
        there = {(pod.metadata.namespace, pod.metadata.name) for pod in inventory.pods}
        self._by_node: dict[str, dict[str, None]] = defaultdict(dict)
        self._elsewhere: list[tuple[NodeSelector | None, str]] = []
        self.all: dict[str, None] = {}
        for claim in inventory.claims:
            if claim.status is None or claim.status.allocation is None:
                continue
            namespace, selector = claim.metadata.namespace, claim.status.allocation.node_selector
            for user in claim.status.reserved_for:
                if user.resource != "pods" or (namespace, user.name) in there:
                    continue
                name = f"{namespace}/{user.name}"
                self.all[name] = None
                nodes = list(only_nodes(selector))
                for node in nodes:
                    self._by_node[node][name] = None
                if not nodes:
                    self._elsewhere.append((selector, name))

    def on(self, node: Node) -> list[str]:
        """Return the missing pods that may be running on the node.

        A missing pod may be on any node where its allocated claims can be used.
        """
        name, labels = node.metadata.name, node.metadata.labels
        found = dict(self._by_node.get(name, {}))
        for selector, pod in self._elsewhere:
            if selector is None or node_matches(selector, name, labels):
                found[pod] = None
        return list(found)


def only_nodes(selector: NodeSelector | None) -> Iterator[str]:
    """Yield the node names in the selector if it selects nodes by name only."""
    for term in selector.node_selector_terms if selector is not None and len(selector.node_selector_terms) == 1 else ():
        if not term.match_expressions and [(each.key, each.operator) for each in term.match_fields] == [
            ("metadata.name", "In")
        ]:
            yield from term.match_fields[0].values or ()


# -- the index ---------------------------------------------------------------------------------------------------------

POD = "Pod"


def owner_of(of: Pod | AnyWorkload) -> Owner:
    """Return the identity of the pod or workload as an `Owner`."""
    return Owner(of.kind, of.metadata.namespace, of.metadata.name)


def template_spec(workload: AnyWorkload) -> PodSpec:
    """Return the pod spec in the workload's template."""
    return pod_template(workload).spec


class Index:
    """Look-ups for building claim sets and admitting pods. Each look-up is built when it is first used."""

    def __init__(self, inventory: Inventory, known: Index | None = None) -> None:
        """Create an index. `known` is the index of an inventory with the same claim templates."""
        self.inventory, self._known = inventory, known

    @cached_property
    def _claims(self) -> dict[tuple[str, str], ResourceClaim]:
        return {(c.metadata.namespace, c.metadata.name): c for c in reversed(self.inventory.claims)}

    @cached_property
    def _templates(self) -> dict[tuple[str, str], ResourceClaimTemplate]:
        if self._known is not None:
            return self._known._templates
        return {(t.metadata.namespace, t.metadata.name): t for t in reversed(self.inventory.templates)}

    def claim(self, namespace: str, name: str) -> ResourceClaim | None:
        """Return the claim with this name, or None."""
        return self._claims.get((namespace, name))

    def templates_in(self, namespace: str) -> list[str]:
        """Return the names of the templates in a namespace."""
        return [name for space, name in self._templates if space == namespace]

    def template(self, namespace: str, name: str | None) -> ResourceClaimTemplate | None:
        """Return the claim template with this name, or None."""
        return self._templates.get((namespace, name or ""))

    @cached_property
    def generated_claims(self) -> GeneratedClaims:
        """The claims that have already been created from the templates of pods."""
        return GeneratedClaims(self.inventory.claims)

    @cached_property
    def controllers(self) -> Controllers[Pod | AnyWorkload]:
        """The controllers of pods and workloads, without controllers of unknown kinds."""
        known = [workload for workload in self.inventory.workloads if not isinstance(workload, CustomWorkload)]
        return Controllers([*known, *self.inventory.pods])

    @cached_property
    def owners(self) -> Controllers[Pod | AnyWorkload]:
        """The controllers of pods and workloads, including controllers of unknown kinds."""
        return Controllers([*self.inventory.workloads, *self.inventory.pods])

    def is_planned_elsewhere(self, workload: AnyWorkload) -> bool:
        """Return whether the workload's pods are planned as part of another object.

        This is the case if the workload has a controller, or if it is of an unknown kind and already controls pods or
        workloads in the input.
        """
        if isinstance(workload, CustomWorkload) and (
            any(self.dependent_pods.of(workload)) or any(self.dependent_workloads.of(workload))
        ):
            return True
        return workload.metadata.controller is not None and self.controllers.of(workload.metadata) is not None

    def is_made_for_pod(self, claim: ResourceClaim) -> bool:
        """Return whether the claim was created for a pod in the input, or for an earlier pod of the same name.

        A recreated pod gets new claims and does not use those of its predecessor.
        """
        reference, namespace = claim.metadata.controller, claim.metadata.namespace
        if reference is None or reference.kind != POD:
            return False
        named = (namespace, reference.name) in self._pod_names
        return named or isinstance(self.controllers.of(claim.metadata), Pod)

    @cached_property
    def _pod_names(self) -> frozenset[tuple[str, str]]:
        return frozenset((pod.metadata.namespace, pod.metadata.name) for pod in self.inventory.pods)

    @cached_property
    def dependent_claims(self) -> Dependents[ResourceClaim]:
        """The claims that each object controls."""
        return Dependents(self.inventory.claims)

    @cached_property
    def dependent_pods(self) -> Dependents[Pod]:
        """The pods that each workload controls."""
        return Dependents(self.inventory.pods)

    @cached_property
    def _deployments(self) -> frozenset[tuple[str, str]]:
        return frozenset(
            (w.metadata.namespace, w.metadata.name) for w in self.inventory.workloads if w.kind == DEPLOYMENT
        )

    def is_controlled(self, metadata: ObjectMeta) -> bool:
        """Return whether a pod or workload in the input controls the object.

        A Deployment controls its pods even if the ReplicaSet between them is not in the input.
        """
        if self.controllers.of(metadata) is not None:
            return True
        return (metadata.namespace, deployment_of(metadata)) in self._deployments

    @cached_property
    def _of_unseen_replica_sets(self) -> dict[tuple[str, str], list[Pod]]:
        """The pods whose ReplicaSet is not in the input, by (namespace, name) of the Deployment."""
        found: dict[tuple[str, str], list[Pod]] = defaultdict(list)
        for pod in self.inventory.pods if self._deployments else ():
            if self.controllers.of(pod.metadata) is None:
                found[pod.metadata.namespace, deployment_of(pod.metadata)].append(pod)
        return found

    def pods_of(self, workload: AnyWorkload) -> list[Pod]:
        """Return the pods in the input that the workload controls, directly or through another workload."""
        return list(self._pods_below(workload, MOST_OWNERS))

    def top_of(self, pod: Pod) -> AnyWorkload | None:
        """Return the topmost workload in the input that controls the pod, directly or indirectly, or None."""
        found: AnyWorkload | None = None
        for above in self.owners.above(pod.metadata):
            if isinstance(above, Pod):
                break
            found = above
        return found

    def _pods_below(self, workload: AnyWorkload, deepest: int) -> Iterator[Pod]:
        yield from self.dependent_pods.of(workload)
        if deepest:
            for owned in self.dependent_workloads.of(workload):
                yield from self._pods_below(owned, deepest - 1)
        if workload.kind == DEPLOYMENT:
            yield from self._of_unseen_replica_sets.get((workload.metadata.namespace, workload.metadata.name), ())

    @cached_property
    def dependent_workloads(self) -> Dependents[AnyWorkload]:
        """The workloads that each workload controls."""
        return Dependents(self.inventory.workloads)

    @cached_property
    def served_resources(self) -> frozenset[str]:
        """The names of the extended resources that device classes in the input provide."""
        classes = self.inventory.classes
        explicit = {c.spec.extended_resource_name for c in classes if c.spec.extended_resource_name}
        return frozenset(explicit | {IMPLICIT_PREFIX + c.metadata.name for c in classes})

    @cached_property
    def used_claims(self) -> dict[tuple[str, str], list[Owner]]:
        """The pods and workloads that use each claim, in input order. The keys are the claims' namespaces and names."""
        users: dict[tuple[str, str], dict[Owner, None]] = defaultdict(dict)
        for owner, claim_name in self._uses():
            users[owner.namespace, claim_name][owner] = None
        return {key: list(owners) for key, owners in users.items()}

    @cached_property
    def absent_pods(self) -> AbsentPods:
        """The pods that are missing from the input although allocated claims are reserved for them."""
        return AbsentPods(self.inventory)

    def _uses(self) -> Iterator[tuple[Owner, str]]:
        for pod in self.inventory.pods:
            owner = owner_of(pod)
            for status in pod.status.resource_claim_statuses:
                if status.resource_claim_name:
                    yield owner, status.resource_claim_name
            special = pod.status.extended_resource_claim_status
            if special is not None and special.resource_claim_name:
                yield owner, special.resource_claim_name
            for entry in pod.spec.resource_claims:
                if entry.resource_claim_name:
                    yield owner, entry.resource_claim_name
                elif (claim := self.generated_claims.of(pod, entry.name)) is not None:
                    yield owner, claim.metadata.name
        for workload in self.inventory.workloads:
            for entry in template_spec(workload).resource_claims:
                if entry.resource_claim_name:
                    yield owner_of(workload), entry.resource_claim_name


# -- notices about claim sets ------------------------------------------------------------------------------------------
# These are facts for the user in addition to the result: rules that `allocate` does not check, and shared claims.


def of_pod_spec(spec: PodSpec, owner: Owner, origin: Origin | None, index: Index) -> Iterator[Notice]:
    """Yield notices about requirements of a pod that `allocate` does not take into account.

    `spec` is the specification of the pod, and `owner` is the pod or its workload.
    """
    source = str(origin) if origin else ""
    extended = _dra_backed(spec, index)
    if extended:
        message = f"{', '.join(extended)}: only `schedule` plans extended resources of device classes"
        yield Notice("extended-resources-not-evaluated", message, str(owner), source)


def missing_template(owner: Owner, template: ObjectKey, index: Index) -> Notice:
    """Return a notice that a missing template is the reason behind `ResourceClaim not created yet`."""
    _, namespace, name = template
    message = f"ResourceClaimTemplate {namespace}/{name} is not in the input, so the claim is not known"
    maker = index.inventory.template_makers.get((namespace, name))
    if maker is not None:
        message += f"; the controller of {maker[0]} {maker[1]}/{maker[2]} creates it in the cluster"
        if not any(one.metadata.is_stored for one in index.inventory.templates):  # a dump has all of them
            message += ": add the output of `kubectl get resourceclaimtemplates -A -o yaml`"
    elif meant := the_nearest(name, index.templates_in(namespace)):
        message += f" (did you mean {meant}?)"
    origin = index.inventory.origins.get(owner)
    return Notice("missing-template", message, str(owner), str(origin) if origin else "")


def missing_templates(asked: Iterable[tuple[Owner, Pod]], index: Index) -> Iterator[Notice]:
    """Yield a notice for each pod that still needs a claim from a missing template."""
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
    """Return the pending pods that already have a claim from the template, as NAMESPACE/NAME.

    Editing the template does not change existing claims.
    """
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
    """Yield one notice for each pending claim that several pods or workloads use."""
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
                f"used by {_joined([str(owner) for owner in owners])}: the first of them to be "
                "scheduled decides for all. Here each is planned as if it came first"
            )
            origin = index.inventory.origins.get(("ResourceClaim", *key))
            yield Notice("shared-claim", message, f"ResourceClaim {claim.key}", str(origin) if origin else "")


def not_judged(spec: PodSpec) -> list[str]:
    """Return the names of the pod's requirements that only `schedule` checks.

    These requirements depend on more than devices, node and pod.
    """
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
    """Return the requested resources that a device class serves, in name order."""
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
