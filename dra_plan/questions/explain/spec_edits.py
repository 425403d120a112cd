"""`explain`: pod specs with a suggested change, and the patches for the change.

Topology spread and anti-affinity become preferences, or spread ignores tainted nodes; affinity selects pods in more
namespaces; a host port is given up; a node label or its value is replaced or no longer required; another amount or
another resource is requested.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import structs

from dra_plan.api.core import (
    Container,
    ContainerPort,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    Pod,
    PodAffinity,
    PodAffinityTerm,
    PodSpec,
    ResourceRequirements,
    Toleration,
    WeightedPodAffinityTerm,
)
from dra_plan.api.meta import LabelSelector
from dra_plan.api.selectors import selector_text
from dra_plan.documents.suggestions import PatchOperation
from dra_plan.explanation.suggest import patches
from dra_plan.questions.explain.editing import CONTAINER_LISTS, with_containers
from dra_plan.scheduler.cluster.pod_requests import is_scalar
from dra_plan.scheduler.plugins.node_affinity import required_terms

ANYWAY = "ScheduleAnyway"
HONOR = "Honor"
_WEIGHT = 100
"""The weight of a term that was required: no preference counts more."""


def spreading_anyway(spec: PodSpec, key: str) -> PodSpec:
    """Return the spec with spread constraints for this topology key as preferences, without minDomains."""
    made = [
        structs.replace(one, when_unsatisfiable=ANYWAY, min_domains=None) if one.topology_key == key else one
        for one in spec.topology_spread_constraints
    ]
    return structs.replace(spec, topology_spread_constraints=made)


def spreading_over(spec: PodSpec, key: str, selector: str, **fields: object) -> PodSpec:
    """Return the spec with these fields of the spread constraints for this key and selector changed."""
    made = [
        structs.replace(one, **fields)
        if (one.topology_key, selector_text(one.label_selector)) == (key, selector)
        else one
        for one in spec.topology_spread_constraints
    ]
    return structs.replace(spec, topology_spread_constraints=made)


def with_domains(spec: PodSpec, key: str, least: int) -> PodSpec:
    """Return the spec with spread constraints for this topology key that require at most `least` domains."""
    made = [
        structs.replace(one, min_domains=least) if one.topology_key == key and (one.min_domains or 0) > least else one
        for one in spec.topology_spread_constraints
    ]
    return structs.replace(spec, topology_spread_constraints=made)


def honoring_taints(spec: PodSpec, key: str) -> PodSpec:
    """Return the spec with spread constraints for this topology key that respect taints.

    The constraints then count only nodes whose taints the pod tolerates.
    """
    made = [
        structs.replace(one, node_taints_policy=HONOR) if one.topology_key == key else one
        for one in spec.topology_spread_constraints
    ]
    return structs.replace(spec, topology_spread_constraints=made)


def preferring_distance(spec: PodSpec, key: str) -> PodSpec:
    """Return the spec with preferred anti-affinity terms in place of the required ones for this topology key."""
    if spec.affinity is None or spec.affinity.pod_anti_affinity is None:
        return spec
    made = _preferred(spec.affinity.pod_anti_affinity, key)
    return structs.replace(spec, affinity=structs.replace(spec.affinity, pod_anti_affinity=made))


def preferring_pods(spec: PodSpec, key: str) -> PodSpec:
    """Return the spec with preferred pod affinity terms in place of the required ones for this topology key."""
    if spec.affinity is None or spec.affinity.pod_affinity is None:
        return spec
    made = _preferred(spec.affinity.pod_affinity, key)
    return structs.replace(spec, affinity=structs.replace(spec.affinity, pod_affinity=made))


def _preferred(rules: PodAffinity, key: str) -> PodAffinity:
    """Return the terms about pods, with those for this topology key preferred instead of required."""
    required = rules.required_during_scheduling_ignored_during_execution
    relaxed = [WeightedPodAffinityTerm(_WEIGHT, term) for term in required if term.topology_key == key]
    return structs.replace(
        rules,
        required_during_scheduling_ignored_during_execution=[one for one in required if one.topology_key != key],
        preferred_during_scheduling_ignored_during_execution=[
            *rules.preferred_during_scheduling_ignored_during_execution,
            *relaxed,
        ],
    )


def without_port(spec: PodSpec, port: int, protocol: str) -> PodSpec:
    """Return the spec without this host port."""

    def closed(of: Container) -> Container:
        ports = [
            structs.replace(one, host_port=0) if (one.host_port, one.protocol or "TCP") == (port, protocol) else one
            for one in of.ports
        ]
        return structs.replace(of, ports=ports)

    return with_containers(spec, closed)


def with_port(spec: PodSpec, port: int, protocol: str, to: int) -> PodSpec:
    """Return the spec with another host port. In the host's network, the container listens on this port."""

    def moved(one: ContainerPort) -> ContainerPort:
        if (one.host_port, one.protocol or "TCP") != (port, protocol):
            return one
        return structs.replace(one, host_port=to, container_port=to if spec.host_network else one.container_port)

    return with_containers(spec, lambda of: structs.replace(of, ports=list(map(moved, of.ports))))


def asking_for_label(spec: PodSpec, label: str, before: str, after: str) -> PodSpec:
    """Return the spec with another value of a label in its node selector and required terms."""
    if spec.node_selector.get(label) == before:
        spec = structs.replace(spec, node_selector={**spec.node_selector, label: after})

    def asks(one: NodeSelectorRequirement) -> NodeSelectorRequirement:
        values = [after if value == before else value for value in one.values]
        return structs.replace(one, values=values) if (one.key, one.operator) == (label, "In") else one

    return _with_requirements(spec, asks)


def with_bound(spec: PodSpec, label: str, operator: str, before: str, after: str) -> PodSpec:
    """Return the spec in which the required terms compare a label with another bound."""

    def asks(one: NodeSelectorRequirement) -> NodeSelectorRequirement:
        return structs.replace(one, values=[after]) if _is(one, label, operator, [before]) else one

    return _with_requirements(spec, asks)


def asking_for_other_label(spec: PodSpec, label: str, other: str) -> PodSpec:
    """Return the spec with another label in its node selector and required terms."""
    selector = {other if key == label else key: value for key, value in spec.node_selector.items()}

    def asks(one: NodeSelectorRequirement) -> NodeSelectorRequirement:
        return structs.replace(one, key=other) if one.key == label else one

    return _with_requirements(structs.replace(spec, node_selector=selector), asks)


def merging_requirements(spec: PodSpec, label: str) -> PodSpec:
    """Return the spec with a single expression for the label in each term.

    The expression accepts every value that the term lists for the label.
    """
    selected = [spec.node_selector[label]] if label in spec.node_selector else []
    spec = structs.replace(spec, node_selector={key: one for key, one in spec.node_selector.items() if key != label})

    def merged(term: NodeSelectorTerm) -> NodeSelectorTerm:
        listing = [one for one in term.match_expressions if (one.key, one.operator) == (label, "In")]
        if not listing:
            return term
        values = list(dict.fromkeys([*selected, *(value for one in listing for value in one.values)]))
        first = structs.replace(listing[0], values=values)
        made = [first if one is listing[0] else one for one in term.match_expressions if one not in listing[1:]]
        return structs.replace(term, match_expressions=made)

    return _with_terms(spec, merged)


def _with_requirements(spec: PodSpec, asks: Callable[[NodeSelectorRequirement], NodeSelectorRequirement]) -> PodSpec:
    """Return the spec with each requirement of its required terms edited."""
    return _with_terms(spec, lambda of: structs.replace(of, match_expressions=list(map(asks, of.match_expressions))))


def _with_terms(spec: PodSpec, edit: Callable[[NodeSelectorTerm], NodeSelectorTerm]) -> PodSpec:
    """Return the spec with its required terms edited."""
    required = required_terms(Pod(spec=spec))
    if required is None or spec.affinity is None or spec.affinity.node_affinity is None:
        return spec
    return _with_required(
        spec, structs.replace(required, node_selector_terms=list(map(edit, required.node_selector_terms)))
    )


def _with_required(spec: PodSpec, required: NodeSelector | None) -> PodSpec:
    """Return the spec with these required node terms, or without any."""
    if spec.affinity is None or spec.affinity.node_affinity is None:
        return spec
    near = structs.replace(spec.affinity.node_affinity, required_during_scheduling_ignored_during_execution=required)
    return structs.replace(spec, affinity=structs.replace(spec.affinity, node_affinity=near))


def without_requirement(spec: PodSpec, label: str, operator: str, values: Sequence[str]) -> PodSpec:
    """Return the spec without this requirement for a node label, in the node selector and in required terms.

    Terms are alternatives. If a term has no other requirement, all terms are dropped, because an empty term would match
    no node.
    """
    kept = {
        key: value for key, value in spec.node_selector.items() if not _is_selected(key, value, operator, values, label)
    }
    spec = structs.replace(spec, node_selector=kept)

    def without(term: NodeSelectorTerm) -> NodeSelectorTerm:
        expressions = [one for one in term.match_expressions if not _is(one, label, operator, values)]
        return structs.replace(term, match_expressions=expressions)

    required = required_terms(Pod(spec=spec))
    emptied = [
        term
        for term in (required.node_selector_terms if required is not None else ())
        if term.match_expressions and not (without(term).match_expressions or term.match_fields)
    ]
    return _with_required(spec, None) if emptied else _with_terms(spec, without)


def requiring(spec: PodSpec, label: str, operator: str, values: Sequence[str]) -> list[str]:
    """Return the fields with this requirement for a node label: `nodeSelector`, `nodeAffinity`, both or none."""
    required = required_terms(Pod(spec=spec))
    terms = required.node_selector_terms if required is not None else ()
    selected = any(_is_selected(key, value, operator, values, label) for key, value in spec.node_selector.items())
    listed = any(_is(one, label, operator, values) for term in terms for one in term.match_expressions)
    return [name for name, found in (("nodeSelector", selected), ("nodeAffinity", listed)) if found]


def _is_selected(key: str, value: str, operator: str, values: Sequence[str], label: str) -> bool:
    return key == label and operator == "In" and [value] == list(values)


def _is(one: NodeSelectorRequirement, label: str, operator: str, values: Sequence[str]) -> bool:
    return (one.key, one.operator, list(one.values or ())) == (label, operator, list(values))


def near_pods_in(spec: PodSpec, key: str, selector: str, namespaces: Sequence[str]) -> PodSpec:
    """Return the spec with required pod affinity terms for this selector that also select pods in these namespaces."""

    def widened(term: PodAffinityTerm) -> PodAffinityTerm:
        return structs.replace(term, namespaces=list(dict.fromkeys([*term.namespaces, *namespaces])))

    return _with_near_terms(spec, key, selector, widened)


def near_pods_with(spec: PodSpec, key: str, selector: str, labels: Mapping[str, str]) -> PodSpec:
    """Return the spec with required pod affinity terms for this selector that select pods with these labels."""
    return _with_near_terms(spec, key, selector, lambda term: structs.replace(term, label_selector=labelled(labels)))


def away_from_pods_with(spec: PodSpec, key: str, selector: str, labels: Mapping[str, str]) -> PodSpec:
    """Return the spec with required anti-affinity terms for this selector that select pods with these labels."""
    away = spec.affinity.pod_anti_affinity if spec.affinity is not None else None
    if spec.affinity is None or away is None:
        return spec
    made = _with_terms_about(away, key, selector, lambda term: structs.replace(term, label_selector=labelled(labels)))
    return structs.replace(spec, affinity=structs.replace(spec.affinity, pod_anti_affinity=made))


def labelled(labels: Mapping[str, str]) -> LabelSelector:
    """Return a selector for pods with these labels."""
    return LabelSelector(match_labels={**labels})


def _with_near_terms(
    spec: PodSpec, key: str, selector: str, edit: Callable[[PodAffinityTerm], PodAffinityTerm]
) -> PodSpec:
    """Return the spec after its required pod affinity terms with this key and selector have been edited."""
    if spec.affinity is None or spec.affinity.pod_affinity is None:
        return spec
    made = _with_terms_about(spec.affinity.pod_affinity, key, selector, edit)
    return structs.replace(spec, affinity=structs.replace(spec.affinity, pod_affinity=made))


def _with_terms_about(
    rules: PodAffinity, key: str, selector: str, edit: Callable[[PodAffinityTerm], PodAffinityTerm]
) -> PodAffinity:
    """Return the terms about pods after the required ones with this key and selector have been edited."""
    terms = [
        edit(one) if (one.topology_key, selector_text(one.label_selector)) == (key, selector) else one
        for one in rules.required_during_scheduling_ignored_during_execution
    ]
    return structs.replace(rules, required_during_scheduling_ignored_during_execution=terms)


def lowering(spec: PodSpec, name: str, resource: str, to: str) -> PodSpec:
    """Return the spec with this request of a container or init container or, without a name, of the whole pod."""
    if not name and spec.resources is not None:
        return structs.replace(spec, resources=_asked(spec.resources, resource, to))
    return with_containers(spec, lambda one: _asking(one, name, resource, to))


def asking_for_other(spec: PodSpec, resource: str, other: str) -> PodSpec:
    """Return the spec with containers that request another resource instead of this one."""

    def renamed(amounts: Mapping[str, Any]) -> dict[str, Any]:
        return {other if name == resource else name: amount for name, amount in amounts.items()}

    def asking(one: Container) -> Container:
        asked = one.resources
        if resource not in asked.requests and resource not in asked.limits:
            return one
        changed = structs.replace(asked, requests=renamed(asked.requests), limits=renamed(asked.limits))
        return structs.replace(one, resources=changed)

    return with_containers(spec, asking)


def without_resource(spec: PodSpec, resource: str, containers: Collection[str]) -> PodSpec:
    """Return the spec without requests for a resource in these containers."""

    def without(one: Container) -> Container:
        if one.name not in containers:
            return one
        kept = [{key: amount for key, amount in of.items() if key != resource} for of in _amounts(one)]
        return structs.replace(one, resources=structs.replace(one.resources, requests=kept[0], limits=kept[1]))

    return with_containers(spec, without)


def _amounts(of: Container) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    return of.resources.requests, of.resources.limits


def without_claim(spec: PodSpec, entry: str) -> PodSpec:
    """Return the spec without an entry of its claims and without its uses in containers."""

    def without(one: Container) -> Container:
        kept = [each for each in one.resources.claims if each.name != entry]
        return structs.replace(one, resources=structs.replace(one.resources, claims=kept))

    kept = [each for each in spec.resource_claims if each.name != entry]
    return with_containers(structs.replace(spec, resource_claims=kept), without)


def _asking(container: Container, name: str, resource: str, to: str) -> Container:
    """Return the container, with another request if it has that name."""
    if container.name != name:
        return container
    return structs.replace(container, resources=_asked(container.resources, resource, to))


def _asked(asked: ResourceRequirements, resource: str, to: str) -> ResourceRequirements:
    """Return the amounts with another request; the limit follows where both must be equal."""
    limits = {**asked.limits, resource: to} if is_scalar(resource) and resource in asked.limits else asked.limits
    return structs.replace(asked, requests={**asked.requests, resource: to}, limits=limits)


# -- patches ----------------------------------------------------------------------------------------------------------


def of_spec(before: PodSpec, after: PodSpec, path: str) -> Iterator[PatchOperation]:
    """Yield the operations that change the pod spec at `path` from `before` to `after`.

    Only differences that edits in this module can make are found. Members that may contain defaults are replaced as a
    whole.
    """
    for label, value in after.node_selector.items():
        if before.node_selector.get(label) != value:
            op = "replace" if label in before.node_selector else "add"
            yield PatchOperation(op=op, path=path + patches.pointer("nodeSelector", label), value=value)
    for label in sorted(before.node_selector.keys() - after.node_selector.keys()):
        yield PatchOperation(op="remove", path=path + patches.pointer("nodeSelector", label))
    yield from _of_priority(before, after, path)
    yield from _of_terms(before, after, path)
    yield from _of_rules(before, after, path)
    for at, (had, has) in enumerate(zip(before.tolerations, after.tolerations, strict=False)):  # new ones come last
        if had != has:
            yield PatchOperation(op="replace", path=f"{path}/tolerations/{at}", value=plain(has))
    new = [_toleration(each) for each in after.tolerations[len(before.tolerations) :]]
    if new and not before.tolerations:
        yield PatchOperation(op="add", path=f"{path}/tolerations", value=new)
    else:
        yield from (PatchOperation(op="add", path=f"{path}/tolerations/-", value=each) for each in new)
    yield from _of_claims(before.resource_claims, after.resource_claims, f"{path}/resourceClaims")
    if before.resources is not None and after.resources is not None:
        yield from _of_resources(before.resources, after.resources, f"{path}/resources")
    for field, name in CONTAINER_LISTS.items():
        lists = [getattr(spec, name) for spec in (before, after)]
        for at, (had, has) in enumerate(zip(*lists, strict=True)):
            yield from _of_resources(had.resources, has.resources, f"{path}/{field}/{at}/resources")


def _of_priority(before: PodSpec, after: PodSpec, path: str) -> Iterator[PatchOperation]:
    """Yield the differences of the class, and of what the API server sets from it."""
    if before.priority_class_name == after.priority_class_name:
        return
    yield PatchOperation(op="add", path=f"{path}/priorityClassName", value=after.priority_class_name)
    for field, had in (("priority", before.priority), ("preemptionPolicy", before.preemption_policy)):
        if had is not None:
            yield PatchOperation(op="remove", path=f"{path}/{field}")


def _of_claims(before: Sequence[Any], after: Sequence[Any], path: str) -> Iterator[PatchOperation]:
    """Yield the differences of entries with names: the last is removed first, and new ones come last."""
    names = [one.name for one in after]
    for at, old in reversed([*enumerate(before)]):
        if old.name not in names:
            yield PatchOperation(op="remove", path=f"{path}/{at}")
    kept = [old for old in before if old.name in names]
    for at, (old, new) in enumerate(zip(kept, after, strict=False)):
        if old != new:
            yield PatchOperation(op="replace", path=f"{path}/{at}", value=plain(new))
    added = [plain(one) for one in after[len(kept) :]]
    if added and not before:
        yield PatchOperation(op="add", path=path, value=added)
    else:
        yield from (PatchOperation(op="add", path=f"{path}/-", value=one) for one in added)


def _of_resources(before: ResourceRequirements, after: ResourceRequirements, path: str) -> Iterator[PatchOperation]:
    """Yield the differences of a container's requests and limits; without any before, the field may be absent."""
    members = {one: dict(getattr(after, one)) for one in ("requests", "limits")}
    changed = {one: asked for one, asked in members.items() if asked != getattr(before, one)}
    if before.claims != after.claims:
        yield from _of_claims(before.claims, after.claims, f"{path}/claims")
    if changed and before == ResourceRequirements():
        yield PatchOperation(op="add", path=path, value=changed)
    else:
        yield from (PatchOperation(op="add", path=f"{path}/{one}", value=asked) for one, asked in changed.items())


def _of_terms(before: PodSpec, after: PodSpec, path: str) -> Iterator[PatchOperation]:
    """Yield the differences of the required node terms."""
    pair = required_terms(Pod(spec=before)), required_terms(Pod(spec=after))
    if pair[0] is None:
        return
    whole = f"{path}/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution"
    if pair[1] is None:
        yield PatchOperation(op="remove", path=whole)
        return
    at = f"{whole}/nodeSelectorTerms"
    for number, (had, has) in enumerate(
        zip(pair[0].node_selector_terms, pair[1].node_selector_terms, strict=True),
    ):
        whole = f"{at}/{number}/matchExpressions"
        if len(had.match_expressions) != len(has.match_expressions):
            yield PatchOperation(op="replace", path=whole, value=[plain(one) for one in has.match_expressions])
            continue
        for place, (old, new) in enumerate(zip(had.match_expressions, has.match_expressions, strict=True)):
            there = f"{whole}/{place}"
            if old.key != new.key:
                yield PatchOperation(op="replace", path=f"{there}/key", value=new.key)
            if old.values != new.values:
                yield PatchOperation(op="replace", path=f"{there}/values", value=list(new.values))


def _toleration(of: Toleration) -> dict[str, Any]:
    return {key: value for key, value in structs.asdict(of).items() if key != "toleration_seconds" and value}


def _of_rules(before: PodSpec, after: PodSpec, path: str) -> Iterator[PatchOperation]:
    """Yield the differences of relaxed rules, whose number is unchanged."""
    spreads = zip(before.topology_spread_constraints, after.topology_spread_constraints, strict=True)
    for at, (had, has) in enumerate(spreads):
        if had.when_unsatisfiable != has.when_unsatisfiable:
            place = f"{path}/topologySpreadConstraints/{at}/whenUnsatisfiable"
            yield PatchOperation(op="replace", path=place, value=has.when_unsatisfiable)
        if had.topology_key != has.topology_key:
            place = f"{path}/topologySpreadConstraints/{at}/topologyKey"
            yield PatchOperation(op="replace", path=place, value=has.topology_key)
        if had.label_selector != has.label_selector:
            place = f"{path}/topologySpreadConstraints/{at}/labelSelector"
            yield PatchOperation(op="replace", path=place, value=plain(has.label_selector))
        if had.max_skew != has.max_skew:
            yield PatchOperation(
                op="replace", path=f"{path}/topologySpreadConstraints/{at}/maxSkew", value=has.max_skew
            )
        if had.min_domains != has.min_domains:
            place = f"{path}/topologySpreadConstraints/{at}/minDomains"
            to = {} if has.min_domains is None else {"value": has.min_domains}
            yield PatchOperation(op="replace" if to else "remove", path=place, **to)
        if had.node_taints_policy != has.node_taints_policy:
            place = f"{path}/topologySpreadConstraints/{at}/nodeTaintsPolicy"
            yield PatchOperation(op="add", path=place, value=has.node_taints_policy)
    near = [each.affinity.pod_affinity if each.affinity is not None else None for each in (before, after)]
    if near[0] != near[1]:
        yield PatchOperation(op="replace", path=f"{path}/affinity/podAffinity", value=plain(near[1]))
    away = [each.affinity.pod_anti_affinity if each.affinity is not None else None for each in (before, after)]
    if away[0] != away[1]:
        yield PatchOperation(op="replace", path=f"{path}/affinity/podAntiAffinity", value=plain(away[1]))
    for field, name in CONTAINER_LISTS.items():
        for at, (old, new) in enumerate(zip(getattr(before, name), getattr(after, name), strict=True)):
            for number, (had, has) in enumerate(zip(old.ports, new.ports, strict=True)):
                place = f"{path}/{field}/{at}/ports/{number}"
                if had.host_port and not has.host_port:
                    yield PatchOperation(op="remove", path=f"{place}/hostPort")
                elif had.host_port != has.host_port:
                    yield PatchOperation(op="add", path=f"{place}/hostPort", value=has.host_port)
                if had.container_port != has.container_port:
                    yield PatchOperation(op="add", path=f"{place}/containerPort", value=has.container_port)


def plain(of: object) -> Any:
    """Return the value as it appears in a manifest, without empty members."""
    return _filled(msgspec.to_builtins(of))


def _filled(of: Any) -> Any:
    if isinstance(of, dict):
        return {key: _filled(value) for key, value in of.items() if value not in (None, "", [], {})}
    return [_filled(each) for each in of] if isinstance(of, list) else of
