"""What API server and controllers do before the scheduler sees a pod: priorities, replicas, generated claims."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from dra_plan.api.core import (
    Affinity,
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    Pod,
    PodResourceClaim,
    PodResourceClaimStatus,
    PodSpec,
    PodTemplateSpec,
    Toleration,
)
from dra_plan.api.inventory import Inventory
from dra_plan.api.meta import ObjectMeta, OwnerReference
from dra_plan.api.resource import ResourceClaim, ResourceClaimTemplate
from dra_plan.api.workloads import AnyWorkload, CronJob, Job
from dra_plan.claimsets.generated import is_generated_for, make_claim
from dra_plan.claimsets.sets import Owner

from .cluster import ended
from .keys import ClaimKey, claim_key
from .plugins.nodeaffinity import matches
from .plugins.tainttoleration import untolerated

_SYSTEM_PRIORITIES = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}
_DAEMON_TOLERATIONS = (
    *(
        Toleration(key=f"node.kubernetes.io/{key}", operator="Exists", effect="NoExecute")
        for key in ("not-ready", "unreachable")
    ),
    *(
        Toleration(key=f"node.kubernetes.io/{key}", operator="Exists", effect="NoSchedule")
        for key in ("disk-pressure", "memory-pressure", "pid-pressure", "unschedulable")
    ),
)


class Admission:
    """Turns the pods and workloads of an input into the pods that the scheduler sees, with their claims."""

    def __init__(self, inventory: Inventory) -> None:
        self._inventory = inventory
        self._priorities = {c.metadata.name: c for c in inventory.priority_classes}
        self._default = next((c for c in inventory.priority_classes if c.global_default), None)
        self._templates = {(t.metadata.namespace, t.metadata.name): t for t in inventory.templates}

    def pods(self) -> list[Pod]:
        """Pods of the input by namespace and name, as the scheduler lists them, then those of workloads."""
        given = sorted(self._inventory.pods, key=lambda p: (p.metadata.namespace, p.metadata.name))
        made = [pod for workload in self._inventory.workloads for pod in self._replicas(workload)]
        return [self._admit(pod) for pod in (*given, *made)]

    def _admit(self, pod: Pod) -> Pod:
        """The pod with a uid, its priority and its preemption policy."""
        if not pod.metadata.uid:
            pod = replace(pod, metadata=replace(pod.metadata, uid=f"pod:{pod.key}"))
        spec = pod.spec
        named = self._priorities.get(spec.priority_class_name) if spec.priority_class_name else self._default
        if spec.priority is None:
            value = named.value if named is not None else _SYSTEM_PRIORITIES.get(spec.priority_class_name)
            if value is not None:
                spec = replace(spec, priority=value)
        if spec.preemption_policy is None and named is not None and named.preemption_policy:
            spec = replace(spec, preemption_policy=named.preemption_policy)
        return pod if spec is pod.spec else replace(pod, spec=spec)

    # Workloads

    def _replicas(self, workload: AnyWorkload) -> Iterator[Pod]:
        """The pods that the workload's controller would still create."""
        if self._is_owned(workload.metadata) or workload.metadata.deletion_timestamp is not None:
            return
        if workload.kind == "DaemonSet":
            yield from self._daemons(workload)
            return
        template, count = _template_of(workload)
        have = self._owned_pods(workload.kind, workload.metadata)
        for index in range(have, count):
            yield _pod_of(workload, template, f"{workload.metadata.name}-{index}")

    def _is_owned(self, metadata: ObjectMeta) -> bool:
        owner = metadata.controller
        return owner is not None and any(
            _is_owner(owner, workload.kind, workload.metadata)
            for workload in self._inventory.workloads
            if workload.metadata.namespace == metadata.namespace
        )

    def _owned_pods(self, kind: str, metadata: ObjectMeta) -> int:
        """Pods of the input that belong to the workload, directly or through a workload that it owns."""

        def owned(other: ObjectMeta) -> bool:
            owner = other.controller
            return owner is not None and other.namespace == metadata.namespace and _is_owner(owner, kind, metadata)

        direct = sum(owned(pod.metadata) and not ended(pod) for pod in self._inventory.pods)
        below = [w for w in self._inventory.workloads if owned(w.metadata)]
        return direct + sum(self._owned_pods(w.kind, w.metadata) for w in below)

    def _daemons(self, workload: AnyWorkload) -> Iterator[Pod]:
        """One pod for each node that may take it, bound to that node by name."""
        template, _ = _template_of(workload)
        spec = replace(template.spec, tolerations=[*template.spec.tolerations, *_DAEMON_TOLERATIONS])
        present = {
            pod.spec.node_name
            for pod in self._inventory.pods
            if (owner := pod.metadata.controller) and _is_owner(owner, workload.kind, workload.metadata)
        }
        for node in sorted(self._inventory.nodes, key=lambda n: n.metadata.name):
            name = node.metadata.name
            pod = _pod_of(workload, replace(template, spec=spec), f"{workload.metadata.name}-{name}")
            if name in present or not matches(pod, name, node.metadata.labels):
                continue
            if untolerated(node.spec.taints, spec.tolerations) is None:
                yield replace(pod, spec=_on_node(spec, name))

    # Claims

    def claims(self, pods: Iterable[Pod]) -> tuple[list[Pod], list[ResourceClaim]]:
        """The pods with the generated claims noted in their status, and all claims, those of the input first."""
        claims = {claim_key(claim): _identified(claim) for claim in self._inventory.claims}
        done = [self._with_claims(pod, claims) for pod in pods]
        return done, list(claims.values())

    def _with_claims(self, pod: Pod, claims: dict[ClaimKey, ResourceClaim]) -> Pod:
        if pod.spec.node_name or pod.metadata.deletion_timestamp is not None or ended(pod):
            return pod
        known = {status.name for status in pod.status.resource_claim_statuses}
        added = [
            PodResourceClaimStatus(name=entry.name, resource_claim_name=name)
            for entry in pod.spec.resource_claims
            if entry.resource_claim_template_name is not None and entry.name not in known
            if (name := self._generate(pod, entry, claims)) is not None
        ]
        if not added:
            return pod
        listed = [*pod.status.resource_claim_statuses, *added]
        return replace(pod, status=replace(pod.status, resource_claim_statuses=listed))

    def _generate(self, pod: Pod, entry: PodResourceClaim, claims: dict[ClaimKey, ResourceClaim]) -> str | None:
        """The name of the entry's claim, which is made if need be; None without its template."""
        namespace = pod.metadata.namespace
        existing = next((c for c in self._generated(namespace) if is_generated_for(c, pod, entry.name)), None)
        if existing is not None:
            return existing.metadata.name
        template = self._templates.get((namespace, entry.resource_claim_template_name or ""))
        if template is None:
            return None
        claim = self._free_name(_from_template(template, pod, entry), claims)
        claims[claim_key(claim)] = claim
        return claim.metadata.name

    def _generated(self, namespace: str) -> list[ResourceClaim]:
        return [c for c in self._inventory.claims if c.metadata.namespace == namespace and _may_be_generated(c)]

    @staticmethod
    def _free_name(claim: ResourceClaim, claims: dict[ClaimKey, ResourceClaim]) -> ResourceClaim:
        """The claim under a name that no other claim has."""
        name, number = claim.metadata.name, 1
        while (claim.metadata.namespace, name) in claims:
            number += 1
            name = f"{claim.metadata.name}-{number}"
        return _identified(replace(claim, metadata=replace(claim.metadata, name=name)))


def _may_be_generated(claim: ResourceClaim) -> bool:
    return bool(claim.metadata.owner_references or claim.metadata.annotations)


def _from_template(template: ResourceClaimTemplate, pod: Pod, entry: PodResourceClaim) -> ResourceClaim:
    return make_claim(template, Owner("Pod", pod.metadata.namespace, pod.metadata.name), pod.metadata.uid, entry.name)


def _identified(claim: ResourceClaim) -> ResourceClaim:
    """The claim with a uid, by which claims in flight are known."""
    if claim.metadata.uid:
        return claim
    return replace(claim, metadata=replace(claim.metadata, uid=f"claim:{claim.key}"))


def _is_owner(reference: OwnerReference, kind: str, metadata: ObjectMeta) -> bool:
    if (reference.kind, reference.name) != (kind, metadata.name):
        return False
    return not reference.uid or not metadata.uid or reference.uid == metadata.uid


def _template_of(workload: AnyWorkload) -> tuple[PodTemplateSpec, int]:
    """The pod template, and how many pods there are to be at a time."""
    spec = workload.spec.job_template.spec if isinstance(workload, CronJob) else workload.spec
    if isinstance(workload, Job | CronJob):
        suspended = spec.suspend or workload.spec.suspend  # type: ignore[union-attr]
        parallel = 1 if spec.parallelism is None else spec.parallelism  # type: ignore[union-attr]
        completions = parallel if spec.completions is None else spec.completions  # type: ignore[union-attr]
        return spec.template, 0 if suspended else min(parallel, completions)
    replicas = spec.replicas  # type: ignore[union-attr]
    return spec.template, 1 if replicas is None else replicas


def _pod_of(workload: AnyWorkload, template: PodTemplateSpec, name: str) -> Pod:
    """A pod of the workload. A Deployment's pods name it as their controller, its ReplicaSet being left out."""
    owner = OwnerReference(
        api_version=workload.api_version,
        kind=workload.kind,
        name=workload.metadata.name,
        uid=workload.metadata.uid,
        controller=True,
    )
    metadata = ObjectMeta(
        name=name,
        namespace=workload.metadata.namespace,
        labels=template.metadata.labels,
        annotations=template.metadata.annotations,
        owner_references=[owner],
    )
    return Pod(metadata=metadata, spec=template.spec)


def _on_node(spec: PodSpec, node: str) -> PodSpec:
    """The spec with the node's name required in every term, as the DaemonSet controller writes it."""
    affinity = spec.affinity or Affinity()
    near = affinity.node_affinity or NodeAffinity()
    by_name = NodeSelectorRequirement(key="metadata.name", operator="In", values=[node])
    selector = NodeSelector(node_selector_terms=[NodeSelectorTerm(match_fields=[by_name])])
    near = replace(near, required_during_scheduling_ignored_during_execution=selector)
    return replace(spec, affinity=replace(affinity, node_affinity=near))
