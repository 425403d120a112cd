"""`explain`: requirements that a pod has although its controller's template does not, because something else adds them.

An admission plugin or a webhook may change each new pod: a VerticalPodAutoscaler changes requests, and an annotation of
the namespace (PodNodeSelector, and its counterpart in OpenShift) or the RuntimeClass adds a node selector. An edit of
the pod or its workload does not help, because the next pod is changed again. Defaults from LimitRanges are in `peaks`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from dra_plan.api.core import Container, Pod, PodSpec
from dra_plan.api.workloads import AnyWorkload, CronJob, CustomWorkload, Job, Workload, pod_template
from dra_plan.claims.index import Index
from dra_plan.documents.cluster_changes import (
    NodeRequirementDropped,
    NodeRequirementsMerged,
    NodeSelectorChanged,
    ResourceLowered,
)
from dra_plan.documents.node_obstacles import RequirementOrigin
from dra_plan.documents.suggestions import SuggestedChange
from dra_plan.questions.explain.peaks import given_by_limit_range
from dra_plan.scheduler.cluster.pod_requests import amount_text, amounts
from dra_plan.scheduler.new_pods import pod_of

_SELECTORS = ("openshift.io/node-selector", "scheduler.alpha.kubernetes.io/node-selector")
"""The annotations of a namespace that add a node selector to its pods."""

_REVISION = "controller-revision-hash"
"""The label with the revision of the template from which a StatefulSet or a DaemonSet created a pod."""

_AUTOSCALED = "vpaUpdates"
"""The annotation in which a VerticalPodAutoscaler lists what it has set in a pod."""

_UPDATED = re.compile(r"Pod resources updated by (?P<name>[a-z0-9.-]{1,253}):")


_PROBABLY = "probably changed by a webhook"
_BY_AUTOSCALER = ", such as that of a VerticalPodAutoscaler"
"""What may have changed a request. An autoscaler changes only cpu and memory."""


class SetElsewhere:
    """What is set neither by a pod nor by its controller, as far as the input shows."""

    def __init__(self, index: Index, pod: Pod) -> None:
        self._index, self._pod = index, pod

    def origin_of(self, label: str, value: str) -> RequirementOrigin | None:
        """Return what adds this label value to the node selector, or None if the pod or its controller may add it."""
        if self._pod.spec.node_selector.get(label) != value:
            return None
        namespace = self._pod.metadata.namespace
        found = next((one for one in self._index.inventory.namespaces if one.metadata.name == namespace), None)
        annotations = (found.metadata.annotations or {}) if found is not None else {}
        for annotation in _SELECTORS:
            if (label, value) in _pairs(annotations.get(annotation, "")):
                return RequirementOrigin(annotation=annotation, namespace=namespace)
        name = self._pod.spec.runtime_class_name
        known = next((one for one in self._index.inventory.runtime_classes if one.metadata.name == name), None)
        if known is not None and known.scheduling.node_selector.get(label) == value:
            return RequirementOrigin(runtime_class=name)
        if self._template is None or self._template.node_selector.get(label) == value:
            return None
        return RequirementOrigin(controller=self._controller, runtime_class=name if known is None else "")

    def amount_of(self, resource: str) -> str:
        """Return the controller's own request, and what probably changed it, or "" if nothing differs."""
        differing = [name for name in self._own if self._is_changed(name, resource)]
        if not differing:
            return ""
        total = sum(_asked(self._given[name], resource) for name in differing)
        amount = amount_text(resource, total) if total else "none"
        where = f" in container {differing[0]}" if len(self._own) > 1 and len(differing) == 1 else ""
        asks = f"{self._controller} asks for {amount}{where}"
        by = self._autoscaler(resource)
        if by:
            return f"set by VerticalPodAutoscaler {by}; {asks}"
        return f"{asks}: {_PROBABLY}{_BY_AUTOSCALER if resource in ('cpu', 'memory') else ''}"

    def sets_again(self, change: SuggestedChange) -> bool:
        """Return whether an edit of the pod or its workload has no effect, because the value is set again."""
        match change:
            case NodeSelectorChanged():
                return self.origin_of(change.label, change.from_) is not None
            case NodeRequirementDropped() | NodeRequirementsMerged():
                return any(self.origin_of(change.label, value) is not None for value in change.values)
            case ResourceLowered():
                return self._is_changed(change.container, change.resource)
        return False

    def _is_changed(self, container: str, resource: str) -> bool:
        own, given = self._own.get(container), self._given.get(container)
        if own is None or given is None or container in given_by_limit_range(self._pod, resource):
            return False
        return _asked(own, resource) != _asked(given, resource)

    def _autoscaler(self, resource: str) -> str:
        """Return the VerticalPodAutoscaler that says in the pod that it has set this request, or ""."""
        said = (self._pod.metadata.annotations or {}).get(_AUTOSCALED, "")
        found = _UPDATED.match(said)
        return found["name"] if found is not None and f"{resource} request" in said else ""

    @cached_property
    def _above(self) -> list[AnyWorkload]:
        """Return the controllers of the pod in the input, the nearest first; none if its template may be a newer one.

        A ReplicaSet of a Deployment and a Job keep their templates. A pod of a StatefulSet names its revision.
        """
        above = self._index.owners.above(self._pod.metadata)
        found: list[AnyWorkload] = [one for one in above if not isinstance(one, Pod | CronJob | CustomWorkload)]
        return found if found and _is_of_pod(found[0], self._pod) else []

    @cached_property
    def _template(self) -> PodSpec | None:
        return pod_template(self._above[0]).spec if self._above else None

    @property
    def _controller(self) -> str:
        """The topmost controller with the template of the nearest one: the Deployment of a ReplicaSet, for example."""
        alike = [one for one in self._above if pod_template(one).spec == self._template]
        return f"{alike[-1].kind} {alike[-1].metadata.name}" if alike else ""

    @cached_property
    def _own(self) -> dict[str, Container]:
        return _by_name(self._pod.spec)

    @cached_property
    def _given(self) -> dict[str, Container]:
        """Return the containers of a new pod of the controller, with the defaults of LimitRanges."""
        from dra_plan.controllers import limits  # few pods differ, and start-up time matters

        if not self._above:
            return {}
        made = pod_of(self._above[0], pod_template(self._above[0]), self._pod.metadata.name)
        namespace = self._pod.metadata.namespace
        ranges = [one for one in self._index.inventory.limit_ranges if one.metadata.namespace == namespace]
        return _by_name(limits.defaulted(made, ranges).spec)


def _is_of_pod(workload: AnyWorkload, pod: Pod) -> bool:
    """Return whether the pod was created from the present template of its controller."""
    if isinstance(workload, Job):
        return True
    if workload.kind == "ReplicaSet":
        return workload.metadata.controller is not None
    revision = (pod.metadata.labels or {}).get(_REVISION, "")
    return isinstance(workload, Workload) and revision == workload.status.update_revision


def _by_name(spec: PodSpec) -> dict[str, Container]:
    return {one.name: one for one in (*spec.init_containers, *spec.containers)}


def _asked(container: Container, resource: str) -> int:
    """Return the request of a container; without one, the API server takes the limit."""
    own = container.resources
    return amounts({**own.limits, **own.requests}).get(resource, 0)


def _pairs(selector: str) -> Iterator[tuple[str, str]]:
    """Yield the labels of a selector such as `tenant=hr, stage=prod`."""
    for part in selector.split(","):
        label, _, value = part.partition("=")
        yield label.strip(), value.strip()
