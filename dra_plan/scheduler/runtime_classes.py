"""What the API server adds to new pods that name a RuntimeClass (the admission plugin RuntimeClass, KEP-585, KEP-688).

Pods that are stored already have it. RuntimeClasses that the input lacks add nothing, because dumps often lack them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from dra_plan.api.core import Pod, RuntimeClass


def by_name(classes: Iterable[RuntimeClass]) -> dict[str, RuntimeClass]:
    """Return the RuntimeClasses by name."""
    return {one.metadata.name: one for one in classes}


def admitted(pod: Pod, classes: Mapping[str, RuntimeClass]) -> Pod:
    """Return the pod with the node selector, the tolerations and the overhead of its RuntimeClass, if it is new."""
    found = classes.get(pod.spec.runtime_class_name)
    if found is None or pod.metadata.is_stored:
        return pod
    spec, scheduling = pod.spec, found.scheduling
    tolerations = [*spec.tolerations, *(one for one in scheduling.tolerations if one not in spec.tolerations)]
    return replace(
        pod,
        spec=replace(
            spec,
            node_selector={**scheduling.node_selector, **spec.node_selector},
            tolerations=tolerations,
            overhead=spec.overhead or found.overhead.pod_fixed,
        ),
    )


def conflict(pod: Pod, classes: Mapping[str, RuntimeClass]) -> str:
    """Return the API server's message if the node selector of a new pod excludes that of its RuntimeClass, or ""."""
    found, own = classes.get(pod.spec.runtime_class_name), pod.spec.node_selector
    for key, value in sorted(found.scheduling.node_selector.items()) if found is not None else ():
        if own.get(key, value) != value:
            both = f"runtimeClass.scheduling.nodeSelector[{key}] = {value}; pod.spec.nodeSelector[{key}] = {own[key]}"
            return f'pods "{pod.metadata.name}" is forbidden: conflict: {both}'
    return ""
