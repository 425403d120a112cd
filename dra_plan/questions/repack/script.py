"""`repack -o script`: the kubectl commands that carry out the waves, in order. This module runs none of them.

Names are quoted for the shell, whatever they contain; comments have one line each. Pods are evicted through the API,
which enforces disruption budgets again.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence
from urllib.parse import quote

from dra_plan import shown
from dra_plan.questions.repack.document import RepackDocument, RepackedPod

WAIT = "10m"
"""The time that a step waits for pods."""

_HEAD = """\
#!/bin/sh
# Moves pods to make room for {room}.
# The cluster may have changed: run dra-plan again before you start, and between waves.
set -eu
saved=$(mktemp -d)
trap 'rm -rf "$saved"' EXIT
"""

_REFILLED = {
    "Deployment": "deployment",
    "StatefulSet": "statefulset",
    "ReplicaSet": "replicaset",
    "ReplicationController": "replicationcontroller",
}


def script(document: RepackDocument) -> str:
    """Return a script for a POSIX shell; only comments if there is nothing to do."""
    if not document.waves:
        return _comment(f"{document.outcome}: there is nothing to move.")
    room = shown.line(document.room)
    lines = [_HEAD.format(room=room)]
    cordoned: set[str] = set()
    later = {(pod.namespace, pod.name): pod for wave in document.waves for pod in wave.moved}
    files = {key: number for number, key in enumerate(later)}
    evicted: set[tuple[str, str]] = set()
    for number, wave in enumerate(document.waves, 1):
        lines.append(_comment(f"Wave {number}: {len(wave.moved)} of {document.moves} moves"))
        wanted = set(wave.cordoned)
        lines += _nodes("uncordon", sorted(cordoned - wanted))
        lines += _nodes("cordon", sorted(wanted - cordoned))
        cordoned = wanted
        first = [pod for pod in wave.moved if (pod.namespace, pod.name) not in evicted]
        then = [later[each.namespace, each.name] for each in wave.waiting]
        for pods in (first, then):
            lines += _leaving(pods, [files[pod.namespace, pod.name] for pod in pods])
            evicted.update((pod.namespace, pod.name) for pod in pods)
        lines += _ready(wave.moved)
    lines.append(_comment("All pods have moved."))
    lines += _nodes("uncordon", sorted(cordoned))
    return "".join(lines)


def _comment(text: str) -> str:
    return f"# {shown.line(text)}\n"


def _command(*words: str) -> str:
    return f"{shlex.join(words)}\n"


def _nodes(verb: str, nodes: Sequence[str]) -> Iterator[str]:
    if nodes:
        yield _command("kubectl", verb, "--", *nodes)


def _leaving(pods: Sequence[RepackedPod], files: Sequence[int]) -> Iterator[str]:
    """Yield the commands that evict pods; those that no controller recreates are saved in these files first."""
    for number, pod in zip(files, pods, strict=True):
        yield _comment(f"{pod.namespace}/{pod.name}: {pod.from_node} to {pod.to_node}")
        if pod.owner is None:
            got = shlex.join(["kubectl", "get", f"--namespace={pod.namespace}", "-o", "json", "--", f"pod/{pod.name}"])
            yield f'{got} > "$saved/{number}.json"\n'
        yield _eviction(pod)
    for pod in pods:
        yield _wait(pod, "delete")
    for number, pod in zip(files, pods, strict=True):
        if pod.owner is None:
            yield _recreated(number)


def _eviction(pod: RepackedPod) -> str:
    metadata = {"name": pod.name, "namespace": pod.namespace}
    body = json.dumps({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata})
    path = f"/api/v1/namespaces/{quote(pod.namespace, safe='')}/pods/{quote(pod.name, safe='')}/eviction"
    return f"printf '%s' {shlex.quote(body)} | {shlex.join(['kubectl', 'create', '--raw', path, '-f', '-'])}\n"


def _recreated(number: int) -> str:
    patch = json.dumps([{"op": "remove", "path": "/spec/nodeName"}])
    options = shlex.join(["--local", "--type=json", f"--patch={patch}", "-o", "json"])
    return f'kubectl patch -f "$saved/{number}.json" {options} | kubectl create -f -\n'


def _wait(pod: RepackedPod, what: str) -> str:
    names = [f"--namespace={pod.namespace}", f"--for={what}", f"--timeout={WAIT}", "--", f"pod/{pod.name}"]
    return _command("kubectl", "wait", *names)


def _ready(pods: Sequence[RepackedPod]) -> Iterator[str]:
    """Yield commands that wait until the replacements are ready: by name if known, else through their controller."""
    owners: dict[tuple[str, str, str], int | None] = {}
    for pod in pods:
        if pod.owner is None:
            yield _wait(pod, "condition=Ready")
        else:
            owners[pod.owner.kind, pod.owner.namespace, pod.owner.name] = pod.replicas
    for (kind, namespace, name), replicas in owners.items():
        if kind in ("Deployment", "StatefulSet"):
            options = [f"--namespace={namespace}", f"--timeout={WAIT}", "--", f"{_REFILLED[kind]}/{name}"]
            yield _command("kubectl", "rollout", "status", *options)
        elif kind in _REFILLED and replicas is not None:
            ready = f"--for=jsonpath={{.status.readyReplicas}}={replicas}"
            options = [f"--namespace={namespace}", ready, f"--timeout={WAIT}", "--", f"{_REFILLED[kind]}/{name}"]
            yield _command("kubectl", "wait", *options)
        else:
            yield _comment(f"Wait until all pods of {kind} {namespace}/{name} are ready, then press Enter.")
            yield _command("read", "-r", "_")
