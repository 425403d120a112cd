"""LimitRange: defaults for containers without requests, and rejection of pods outside the limits (LimitRanger).

First, all LimitRanges in the namespace set their defaults. Then each one checks the pod, and reports all of its
violations at once. Limits of volume claims are ignored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from dra_plan.api.core import Container, LimitRange, LimitRangeItem, Pod, PodSpec
from dra_plan.api.meta import QuantityText
from dra_plan.api.quantity import Format, Quantity, canonical_text, make, parse
from dra_plan.scheduler.cluster.pod_requests import exact_limits, exact_requests

_CONTAINER, _POD = "Container", "Pod"
_NANO = 10**9

Listed = Mapping[str, QuantityText]
Amounts = Mapping[str, Quantity]


def defaulted(pod: Pod, limit_ranges: Iterable[LimitRange]) -> Pod:
    """Return the pod with the LimitRanges' defaults for its containers."""
    for limits in limit_ranges:
        for item in limits.spec.limits:
            if item.type == _CONTAINER:
                pod = replace(pod, spec=_with_defaults(pod, _default_limits(item), _default_requests(item)))
    return pod


def _default_limits(item: LimitRangeItem) -> Listed:
    """Return the default limits, or the maximum if no default is set."""
    return {**item.max, **item.default}


def _default_requests(item: LimitRangeItem) -> Listed:
    """Return the default requests, or if none are set, the default limit, or else the minimum."""
    return {**item.min, **_default_limits(item), **item.default_request}


def _with_defaults(pod: Pod, limits: Listed, requests: Listed) -> PodSpec:
    def filled(container: Container) -> Container:
        resources = container.resources
        filled_in = replace(
            resources, limits={**limits, **resources.limits}, requests={**requests, **resources.requests}
        )
        return replace(container, resources=filled_in)

    return replace(
        pod.spec,
        containers=[filled(each) for each in pod.spec.containers],
        init_containers=[filled(each) for each in pod.spec.init_containers],
    )


def given(pod: Pod, limit_ranges: Iterable[LimitRange]) -> Iterator[tuple[str, str, str, str]]:
    """Yield each default request that a LimitRange sets: the container, resource, amount and LimitRange name."""
    for limits in limit_ranges:
        for item in limits.spec.limits:
            if item.type != _CONTAINER:
                continue
            for each in (*pod.spec.containers, *pod.spec.init_containers):
                own = each.resources.requests.keys() | each.resources.limits.keys()
                for resource, amount in _default_requests(item).items():
                    if resource not in own:
                        yield each.name, resource, str(amount), limits.metadata.name
            pod = replace(pod, spec=_with_defaults(pod, _default_limits(item), _default_requests(item)))


def violation(pod: Pod, limit_ranges: Iterable[LimitRange]) -> str:
    """Return the violations reported by the first LimitRange that rejects the pod, or "" if none does."""
    for limits in limit_ranges:
        found = list(dict.fromkeys(text for item in limits.spec.limits for text in _of_item(pod, item)))
        if found:
            return joined(found)
    return ""


def joined(problems: Sequence[str]) -> str:
    """Return the problems as one text, in the API server's format for lists of errors."""
    return problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"


def _of_item(pod: Pod, item: LimitRangeItem) -> Iterator[str]:
    if item.type == _CONTAINER:
        for each in (*pod.spec.containers, *pod.spec.init_containers):
            yield from _violations(item, _amounts(each.resources.requests), _amounts(each.resources.limits))
    elif item.type == _POD:
        alone = replace(pod, spec=replace(pod.spec, overhead={}))
        yield from _violations(item, _summed(pod, exact_requests(alone)), _summed(pod, exact_limits(alone)))


def _amounts(listed: Listed) -> Amounts:
    return {name: parse(text) for name, text in listed.items()}


def _summed(pod: Pod, total: Mapping[str, int]) -> Amounts:
    """Return a whole pod's amounts in billionths, in the format in which its containers first write them."""
    forms: dict[str, Format] = {}
    for each in (*pod.spec.containers, *pod.spec.init_containers):
        for name, text in (*each.resources.requests.items(), *each.resources.limits.items()):
            forms.setdefault(name, parse(text).format)
    return {name: make(nano, -9, forms.get(name, "DecimalSI")) for name, nano in total.items()}


def _violations(item: LimitRangeItem, requests: Amounts, limits: Amounts) -> Iterator[str]:
    """Yield the violations: below the minimum, above the maximum, or too large a ratio of limit to request."""
    checks = ((item.min, _below), (item.max, _above), (item.max_limit_request_ratio, _too_far))
    for bounds, check in checks:
        for name, text in sorted(bounds.items()):
            problem = check(name, item.type, parse(text), requests.get(name), limits.get(name))
            if problem:
                yield problem


def _below(name: str, kind: str, least: Quantity, request: Quantity | None, limit: Quantity | None) -> str:
    said = f"minimum {name} usage per {kind} is {canonical_text(least)}"
    if request is None:
        return f"{said}.  No request is specified"
    if request.nano < least.nano:
        return f"{said}, but request is {canonical_text(request)}"
    return f"{said}, but limit is {canonical_text(limit)}" if limit is not None and limit.nano < least.nano else ""


def _above(name: str, kind: str, most: Quantity, request: Quantity | None, limit: Quantity | None) -> str:
    said = f"maximum {name} usage per {kind} is {canonical_text(most)}"
    if limit is None:
        return f"{said}.  No limit is specified"
    if limit.nano > most.nano:
        return f"{said}, but limit is {canonical_text(limit)}"
    return (
        f"{said}, but request is {canonical_text(request)}" if request is not None and request.nano > most.nano else ""
    )


def _too_far(name: str, kind: str, most: Quantity, request: Quantity | None, limit: Quantity | None) -> str:
    said = f"{name} max limit to request ratio per {kind} is {canonical_text(most)}"
    if request is None or not request.nano:
        return f"{said}, but no request is specified or request is 0"
    if limit is None or not limit.nano:
        return f"{said}, but no limit is specified or limit is 0"
    ratio = limit.nano / request.nano
    return f"{said}, but provided ratio is {ratio:f}" if ratio > most.nano / _NANO else ""
