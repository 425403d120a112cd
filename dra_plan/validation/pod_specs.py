"""Rules of the API server about new pods and pod templates (`ValidatePodSpec`; DRA149, DRA151, DRA165, DRA168, DRA171).

`resources` checks requests and limits. Fields that do not affect scheduling (probes, volumes, security) are not
checked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dra_plan.api.core import (
    Affinity,
    Container,
    ContainerPort,
    PodAffinity,
    PodAffinityTerm,
    PodSpec,
    Toleration,
    TopologySpreadConstraint,
)
from dra_plan.api.meta import FieldPath, LabelSelector
from dra_plan.manifests.paths import value_at
from dra_plan.releases import Target

from . import formats, names, resources, selectors
from .formats import EXISTS_WITH_VALUE, nearest, shown
from .rule import Problem, Rule, refused
from .schema import MISSING_FIELD

RESTART_POLICY = refused(
    "DRA165",
    "restart policy that the pod cannot have",
    (
        "Pods of jobs must have restartPolicy OnFailure or Never, but the default is Always. Pods of "
        "other workloads must have Always."
    ),
    "Set `restartPolicy` in the pod template.",
)
EPHEMERAL = refused(
    "DRA168",
    "ephemeral containers in a new pod",
    ("Ephemeral containers can only be added to running pods (`kubectl debug`). A pod cannot be created with them."),
    "Remove the ephemeral containers.",
)
SCHEDULING = refused(
    "DRA171",
    "scheduling field of a pod that the API server rejects",
    (
        "The API restricts operators, effects, weights and numbers in tolerations, affinity, topology "
        "spread constraints, scheduling gates and ports. A pod with scheduling gates must not set "
        "`nodeName`."
    ),
    "Correct the field.",
)
RULES = (RESTART_POLICY, EPHEMERAL, SCHEDULING)

ALWAYS, ON_FAILURE, NEVER = "Always", "OnFailure", "Never"
_POLICIES = (ALWAYS, ON_FAILURE, NEVER)
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_OPERATORS = ("Exists", "Equal")
_COMPARISONS = ("Lt", "Gt")
_UNSATISFIABLE = ("DoNotSchedule", "ScheduleAnyway")
_INCLUSION = ("Honor", "Ignore")
_PROTOCOLS = ("TCP", "UDP", "SCTP")
_SELECTOR_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")
_PREEMPTION = ("Never", "PreemptLowerPriority")
_PORTS = range(1, 65536)
_WEIGHTS = range(1, 101)


def check(path: FieldPath, spec: PodSpec, written: Mapping[str, Any], target: Target) -> Iterator[Problem]:
    """Check the pod spec at a path in an object. `written` is the object as it is in the manifest."""
    yield from _containers(path, spec)
    if value_at(written, (*path, "ephemeralContainers")):
        yield EPHEMERAL.at((*path, "ephemeralContainers"), "can't be set when a pod is created")
    yield from resources.check_containers(path, spec)
    if target.gates.get("PodLevelResources", True):
        yield from resources.check_pod(path, spec)
    if spec.restart_policy:
        yield from one_of(RESTART_POLICY, (*path, "restartPolicy"), spec.restart_policy, _POLICIES)
    if spec.preemption_policy:
        yield from one_of(SCHEDULING, (*path, "preemptionPolicy"), spec.preemption_policy, _PREEMPTION)
    if spec.node_name:
        yield from names.subdomain((*path, "nodeName"), spec.node_name, "node name")
    for field, name in (
        ("priorityClassName", spec.priority_class_name),
        ("serviceAccountName", spec.service_account_name),
    ):
        if name:
            yield from names.subdomain((*path, field), name, "object name")
    for key, value in spec.node_selector.items():
        yield from names.label_name((*path, "nodeSelector", key), key)
        yield from names.label_value((*path, "nodeSelector", key), value)
    yield from _tolerations((*path, "tolerations"), spec.tolerations, target)
    yield from _gates(path, spec)
    if spec.affinity is not None:
        yield from _affinity((*path, "affinity"), spec.affinity)
    yield from _spread((*path, "topologySpreadConstraints"), spec.topology_spread_constraints)


def one_of(rule: Rule, path: FieldPath, text: str, known: Sequence[str]) -> Iterator[Problem]:
    """Yield a problem if the text is not one of the allowed texts."""
    if text not in known:
        yield rule.at(path, f"{shown(text)} is not one of {', '.join(known)}", nearest(text, known) or "")


def _containers(path: FieldPath, spec: PodSpec) -> Iterator[Problem]:
    if not spec.containers:
        yield MISSING_FIELD.at((*path, "containers"), "missing or empty: a pod has at least one container")
    taken: set[str] = set()
    ports: set[tuple[str, str, int]] = set()
    for field, containers in (("initContainers", spec.init_containers), ("containers", spec.containers)):
        for index, container in enumerate(containers):
            at = (*path, field, index)
            yield from names.dns_label((*at, "name"), container.name, "container name")
            if container.name and container.name in taken:
                yield names.NOT_UNIQUE.at((*at, "name"), f"container {shown(container.name)} is listed twice")
            taken.add(container.name)
            if not container.image.strip():
                yield MISSING_FIELD.at((*at, "image"), "missing or empty")
            for number, port in enumerate(container.ports):
                yield from _port((*at, "ports", number), port)
            if field == "containers":
                yield from _host_ports((*at, "ports"), container, ports)


def _port(path: FieldPath, port: ContainerPort) -> Iterator[Problem]:
    if not port.container_port:
        yield MISSING_FIELD.at((*path, "containerPort"), "missing or 0")
    for name, number in (("containerPort", port.container_port), ("hostPort", port.host_port)):
        if number and number not in _PORTS:
            yield SCHEDULING.at((*path, name), f"{number} is not a port number: expected 1 to {_PORTS[-1]}")
    if port.protocol:
        yield from one_of(SCHEDULING, (*path, "protocol"), port.protocol, _PROTOCOLS)


def _host_ports(path: FieldPath, container: Container, taken: set[tuple[str, str, int]]) -> Iterator[Problem]:
    """Check the node's ports, which a pod's containers share."""
    for index, port in enumerate(container.ports):
        key = (port.protocol, port.host_ip, port.host_port)
        if port.host_port and key in taken:
            yield names.NOT_UNIQUE.at((*path, index, "hostPort"), f"host port {port.host_port} is listed twice")
        taken.add(key)


def _tolerations(path: FieldPath, given: Sequence[Toleration], target: Target) -> Iterator[Problem]:
    compares = target.gates.get("TaintTolerationComparisonOperators", False)
    operators = (*_OPERATORS, *_COMPARISONS) if compares else _OPERATORS
    for index, one in enumerate(given):
        at, operator = (*path, index), one.operator or "Equal"
        if one.key:
            yield from names.label_name((*at, "key"), one.key)
        elif operator != "Exists":
            yield SCHEDULING.at((*at, "operator"), f"{operator} without a key; only Exists has none", "Exists")
        if one.toleration_seconds is not None and one.effect != "NoExecute":
            yield SCHEDULING.at((*at, "effect"), "tolerationSeconds is only allowed with effect NoExecute", "NoExecute")
        if operator == "Exists" and one.value:
            yield SCHEDULING.at((*at, "operator"), EXISTS_WITH_VALUE, "Equal")
        elif operator == "Equal":
            yield from names.label_value((*at, "value"), one.value)
        yield from one_of(SCHEDULING, (*at, "operator"), operator, operators)
        if one.effect:
            yield from one_of(SCHEDULING, (*at, "effect"), one.effect, _EFFECTS)


def _gates(path: FieldPath, spec: PodSpec) -> Iterator[Problem]:
    taken: set[str] = set()
    for index, gate in enumerate(spec.scheduling_gates):
        at = (*path, "schedulingGates", index, "name")
        yield from names.label_name(at, gate.name)
        if gate.name in taken:
            yield names.NOT_UNIQUE.at(at, f"scheduling gate {shown(gate.name)} is listed twice")
        taken.add(gate.name)
    if spec.scheduling_gates and spec.node_name:
        yield SCHEDULING.at((*path, "nodeName"), "can't be set until all scheduling gates are gone")


def _affinity(path: FieldPath, affinity: Affinity) -> Iterator[Problem]:
    required, preferred = (
        "requiredDuringSchedulingIgnoredDuringExecution",
        "preferredDuringSchedulingIgnoredDuringExecution",
    )
    node = affinity.node_affinity
    if node is not None:
        selector = node.required_during_scheduling_ignored_during_execution
        at: FieldPath = (*path, "nodeAffinity", required, "nodeSelectorTerms")
        if selector is not None and not selector.node_selector_terms:
            yield MISSING_FIELD.at(at, "missing or empty: a node selector has at least one term")
        yield from selectors.check_terms(at, selector.node_selector_terms if selector is not None else ())
        for index, term in enumerate(node.preferred_during_scheduling_ignored_during_execution):
            at = (*path, "nodeAffinity", preferred, index)
            yield from _weight((*at, "weight"), term.weight)
            yield from selectors.check_term((*at, "preference"), term.preference)
    for field, pods in (("podAffinity", affinity.pod_affinity), ("podAntiAffinity", affinity.pod_anti_affinity)):
        if pods is not None:
            yield from _pod_affinity((*path, field), pods, required, preferred)


def _pod_affinity(path: FieldPath, pods: PodAffinity, required: str, preferred: str) -> Iterator[Problem]:
    for index, term in enumerate(pods.required_during_scheduling_ignored_during_execution):
        yield from _pod_term((*path, required, index), term)
    for index, weighted in enumerate(pods.preferred_during_scheduling_ignored_during_execution):
        at = (*path, preferred, index)
        yield from _weight((*at, "weight"), weighted.weight)
        yield from _pod_term((*at, "podAffinityTerm"), weighted.pod_affinity_term)


def _weight(path: FieldPath, weight: int) -> Iterator[Problem]:
    if weight not in _WEIGHTS:
        yield SCHEDULING.at(path, f"{weight} is not a weight: expected 1 to {_WEIGHTS[-1]}")


def _pod_term(path: FieldPath, term: PodAffinityTerm) -> Iterator[Problem]:
    yield from names.required((*path, "topologyKey"), term.topology_key)
    if term.topology_key:
        yield from names.label_name((*path, "topologyKey"), term.topology_key)
    for index, namespace in enumerate(term.namespaces):
        yield from names.dns_label((*path, "namespaces", index), namespace, "namespace")
    yield from label_selector((*path, "labelSelector"), term.label_selector)
    yield from label_selector((*path, "namespaceSelector"), term.namespace_selector)


def label_selector(path: FieldPath, selector: LabelSelector | None) -> Iterator[Problem]:
    """Check a label selector (upstream: `ValidateLabelSelector`)."""
    if selector is None:
        return
    for key, value in (selector.match_labels or {}).items():
        yield from names.label_name((*path, "matchLabels", key), key)
        yield from names.label_value((*path, "matchLabels", key), value)
    for index, one in enumerate(selector.match_expressions or ()):
        at = (*path, "matchExpressions", index)
        yield from names.label_name((*at, "key"), one.key)
        yield from one_of(SCHEDULING, (*at, "operator"), one.operator, _SELECTOR_OPERATORS)
        if one.operator in ("In", "NotIn") and not one.values:
            yield SCHEDULING.at((*at, "values"), f"none; {one.operator} needs at least one")
        elif one.operator in ("Exists", "DoesNotExist") and one.values:
            yield SCHEDULING.at((*at, "values"), f"{one.operator} takes none")
        for number, value in enumerate(one.values or ()):
            if not formats.is_label_value(value):
                yield SCHEDULING.at((*at, "values", number), f"{shown(value)} is not {formats.LABEL_VALUE}")


def _spread(path: FieldPath, constraints: Sequence[TopologySpreadConstraint]) -> Iterator[Problem]:
    taken: set[tuple[str, str]] = set()
    for index, one in enumerate(constraints):
        at = (*path, index)
        if one.max_skew <= 0:
            yield SCHEDULING.at((*at, "maxSkew"), f"{one.max_skew} {formats.NOT_POSITIVE}")
        yield from names.required((*at, "topologyKey"), one.topology_key)
        if one.topology_key:
            yield from names.label_name((*at, "topologyKey"), one.topology_key)
        yield from one_of(SCHEDULING, (*at, "whenUnsatisfiable"), one.when_unsatisfiable, _UNSATISFIABLE)
        if (one.topology_key, one.when_unsatisfiable) in taken:
            message = (
                f"there is already a constraint with topologyKey {shown(one.topology_key)} and {one.when_unsatisfiable}"
            )
            yield names.NOT_UNIQUE.at(at, f"{message} already")
        taken.add((one.topology_key, one.when_unsatisfiable))
        if one.min_domains is not None and one.min_domains <= 0:
            yield SCHEDULING.at((*at, "minDomains"), f"{one.min_domains} {formats.NOT_POSITIVE}")
        if one.min_domains is not None and one.when_unsatisfiable != "DoNotSchedule":
            yield SCHEDULING.at((*at, "minDomains"), "only allowed with DoNotSchedule")
        for field, policy in (
            ("nodeAffinityPolicy", one.node_affinity_policy),
            ("nodeTaintsPolicy", one.node_taints_policy),
        ):
            if policy is not None:
                yield from one_of(SCHEDULING, (*at, field), policy, _INCLUSION)
        yield from label_selector((*at, "labelSelector"), one.label_selector)


# -- claims of pods ----------------------------------------------------------------------------------------------------

POD_CLAIM = refused(
    "DRA149",
    "pod claim that does not name exactly one claim or template",
    "An entry in `resourceClaims` must name either a ResourceClaim or a ResourceClaimTemplate.",
    "Set either `resourceClaimName` or `resourceClaimTemplateName`.",
)
UNKNOWN_POD_CLAIM = refused(
    "DRA151",
    "container that uses a claim that the pod does not list",
    "A container's `resources.claims` must name entries in the pod's `resourceClaims`.",
    "Correct the name, or add the entry to the pod.",
)
POD_RULES = (POD_CLAIM, UNKNOWN_POD_CLAIM)


def check_pod(path: FieldPath, spec: PodSpec) -> Iterator[Problem]:
    """Check the claims in a pod spec."""
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
                    yield names.NOT_UNIQUE.at((*used, i), f"claim {shown(whole)} is listed twice")
                seen.add(whole)
                named.add(entry.name)
                if entry.request:
                    yield from names.dns_label((*used, i, "request"), entry.request, "request name")
                if entry.name not in known:
                    message = f"the pod has no claim {shown(entry.name)} in resourceClaims"
                    yield UNKNOWN_POD_CLAIM.at((*used, i, "name"), message, nearest(entry.name, known) or "")
