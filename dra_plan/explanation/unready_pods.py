"""Pods that should do something for the cluster and are not ready: which pods these are, and what is wrong with them.

Nothing in a cluster says which pods run the controller behind a name, such as a driver, a provisioner, or the domain of
a taint or a scheduling gate. Pods are assumed to be its own if their names, labels, images or paths have something in
common with the name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from dra_plan.api.core import ContainerStatus, Pod
from dra_plan.claims.owners import ended, is_ready, why_waiting
from dra_plan.documents.reasons import UnreadyPod

MOST_FOUND = 2
"""The maximum number of pods or DaemonSets that are named for one controller."""

REPAIRABLE = ("fault", "pending", "not-ready")
"""The states of a pod that can be repaired."""

FAULTS = (*REPAIRABLE, "deleted")
"""The states of a pod that exists and is not ready."""


def unready_among(pods: Iterable[Pod]) -> list[UnreadyPod]:
    """Return the pods of a controller that are not ready. Those with a container that fails come first."""
    told = (unready_pod(pod, pod.spec.node_name) for pod in pods if not (ended(pod) or is_ready(pod)))
    return sorted(told, key=lambda one: (not one.container, one.pod))[:MOST_FOUND]


def all_unready(pods: Sequence[Pod]) -> list[UnreadyPod]:
    """Return the pods of a controller if none of them is ready, as in `unready_among`."""
    return [] if any(is_ready(pod) and not ended(pod) for pod in pods) else unready_among(pods)


def gate_controllers(pods: Sequence[Pod], gates: Iterable[str]) -> list[UnreadyPod]:
    """Return the pods of the controllers that remove these scheduling gates, if none of them is ready.

    For a gate of a domain such as kueue.x-k8s.io, they are pods of a Deployment or StatefulSet that are named after it,
    and of these, the ones that call themselves a controller. Pods with the domain's own labels or gates are its users.
    """
    found: dict[str, UnreadyPod] = {}
    for domain in sorted({gate.rpartition("/")[0] for gate in gates} - {""}):
        own = [pod for pod in pods if is_controller(pod, domain) and _is_named(pod, domain)]
        servers = [pod for pod in own if not _is_user(pod, domain)]
        named = [pod for pod in servers if not _tokens(pod).isdisjoint(CONTROLLERS)] or servers
        found |= {one.pod: one for one in all_unready(named)}
    return list(found.values())


CONTROLLERS = frozenset(("controller", "manager", "operator"))
"""The words by which controllers call themselves."""


def _is_user(pod: Pod, domain: str) -> bool:
    gates = (one.name for one in pod.spec.scheduling_gates)
    return any(name.startswith(f"{domain}/") for name in (*(pod.metadata.labels or {}), *gates))


def _is_named(pod: Pod, name: str) -> bool:
    """Return whether a whole word of the pod's names and labels is a distinctive part of the name."""
    return not _tokens(pod).isdisjoint(_parts(name))


def _tokens(pod: Pod) -> set[str]:
    own = (pod.metadata.namespace, pod.metadata.name, *_own_texts(pod))
    return {token for text in own for token in re.split(r"[^a-z0-9]+", text.lower())}


def is_manager(pod: Pod) -> bool:
    """Return whether it is a pod of kube-controller-manager, as kubeadm and others label it."""
    component = (pod.metadata.labels or {}).get("component")
    return pod.metadata.namespace == "kube-system" and component == "kube-controller-manager"


def is_controller(pod: Pod, driver: str) -> bool:
    """Return whether the pod may run a driver's controller: a Deployment or StatefulSet, named alike, has it."""
    by = pod.metadata.controller
    if by is None or by.kind not in ("ReplicaSet", "Deployment", "StatefulSet") or ended(pod):
        return False
    return likeness(driver, ("", pod.metadata.name), pod) > 0


_COMMON = frozenset(
    ("com", "net", "org", "io", "k8s", "sigs", "dra", "driver", "device", "example", "gpu", "nic", "x-k8s")
)
"""The parts of drivers' names that say nothing about the DaemonSet."""


def likeness(driver: str, key: tuple[str, str], pod: Pod) -> int:
    """Return how much a DaemonSet has in common with the name of a driver: its own name counts most, then images.

    A path with the whole name, such as the driver's directory of plugins, outweighs the names.
    """
    paths = (volume.get("hostPath") for volume in pod.spec.volumes)
    if any(isinstance(path, dict) and driver in str(path.get("path", "")).split("/") for path in paths):
        return 100
    own, images = " ".join((*key, *_own_texts(pod))), _images(pod)
    return sum(10 * (word in own) + (word in images) for word in _parts(driver))


def _parts(name: str) -> set[str]:
    """Return the whole name of a driver or domain, and its distinctive parts."""
    return {name, name.replace(".", ""), *name.split(".")} - _COMMON


def _own_texts(pod: Pod) -> Iterable[str]:
    return (*(pod.metadata.labels or {}).values(), *(one.name for one in pod.spec.containers))


def _images(pod: Pod) -> str:
    return " ".join(one.image for one in pod.spec.containers)


_COMMON_OF_STORAGE = frozenset(("csi", "storage", "kubernetes"))
"""The parts of provisioners' names that say nothing about their pods."""

_SHORTEST = 3
"""The length of the shortest part of a name that is told apart from parts of other words."""


def telling_parts(provisioner: str) -> set[str]:
    """Return the parts of a provisioner's name that are not common; none if one is too short to be found in a text."""
    name = provisioner.removeprefix("cluster.local/").replace("/", ".")
    parts = set(name.split(".")) - _COMMON - _COMMON_OF_STORAGE
    return parts if all(len(part) >= _SHORTEST for part in parts) else set()


def provisions(pod: Pod, parts: set[str]) -> bool:
    """Return whether the pod has a container named as a provisioner, and all these parts in its names and images."""
    named = (pod.metadata.namespace, pod.metadata.name, *_own_texts(pod), _images(pod))
    kinds = (text for one in pod.spec.containers for text in (one.name, one.image.rpartition("/")[2]))
    whole = " ".join(named)
    return any("provisioner" in text for text in kinds) and all(part in whole for part in parts)


def unready_pod(pod: Pod, node: str) -> UnreadyPod:
    """Return a pod that is not ready, with the reason and message of its first waiting container."""
    told, waiting = fault(pod), _waiting(pod)
    return UnreadyPod(
        pod=pod.key,
        node=node,
        reason=told.get("reason", ""),
        message=told.get("message", ""),
        container=waiting.name if waiting is not None and "reason" in told else "",
    )


def fault(pod: Pod) -> dict[str, Any]:
    """Return the state of a pod that is not ready, with the reason of the first container that waits."""
    if not pod.spec.node_name:
        said = next((one.message for one in pod.status.conditions if one.type == "PodScheduled"), "")
        return {"pod": pod.key, "state": "pending", "message": said}
    if pod.metadata.deletion_timestamp is not None:
        return {"pod": pod.key, "state": "deleted"}
    status = _waiting(pod)
    if status is not None and status.state.waiting is not None:
        reason = status.state.waiting.reason
        return {"pod": pod.key, "state": "fault", "reason": reason, "message": why_waiting(status)}
    return {"pod": pod.key, "state": "not-ready"}


def _waiting(pod: Pod) -> ContainerStatus | None:
    """Return the first container that waits for something else than another container; None if there is none."""
    for status in (*pod.status.init_container_statuses, *pod.status.container_statuses):
        if status.state.waiting is not None and status.state.waiting.reason not in _LATER:
            return status
    return None


_LATER = ("", "PodInitializing")
"""The reasons of containers that wait for another one."""

STARTING = ("ContainerCreating",)
"""The reasons of containers that may still start without any help."""
