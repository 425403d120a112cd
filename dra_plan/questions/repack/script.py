"""`repack -o script`: kubectl commands that carry out the waves in order. dra-plan does not run them.

Names are quoted for the shell. Pods are evicted through the API, which enforces disruption budgets again.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence
from urllib.parse import quote

from dra_plan import shown
from dra_plan.questions.repack.document import RepackDocument, RepackedPod

WAIT = "10m"
"""How long a step waits for pods."""

_HEAD = """\
#!/bin/sh
# Moves pods to make room for {room}.
# The cluster may have changed: run dra-plan again before you start, and between waves.
# The commands use the current kubectl context.
set -eu
nodes={nodes}
saved=$(mktemp -d)
end() {{
  status=$?
  if [ "$status" -eq 0 ]; then rm -rf "$saved"; return; fi
  echo "Stopped with status $status. To uncordon the nodes: kubectl uncordon -- $nodes" >&2
  for file in "$saved"/*.json; do if [ -e "$file" ]; then echo "Pod not created again: $file" >&2; fi; done
}}
trap end EXIT
trap 'exit 130' INT TERM
# uid NAMESPACE POD NODE: prints the UID of the pod; fails if the pod is no longer on the node.
uid() {{
  there=$(kubectl get --namespace="$1" -o 'jsonpath={{.spec.nodeName}} {{.metadata.uid}}' -- "pod/$2")
  if [ "${{there% *}}" != "$3" ]; then echo "Pod $1/$2 is not on node $3: run dra-plan again." >&2; return 1; fi
  echo "${{there##* }}"
}}
# gone NAMESPACE POD UID: waits up to 10 minutes until the pod is gone; a new pod may already have its name.
gone() {{
  tries=300
  while there=$(kubectl get --namespace="$1" --ignore-not-found -o 'jsonpath={{.metadata.uid}}' -- "pod/$2"); do
    if [ "$there" != "$3" ]; then return; fi
    tries=$((tries - 1))
    if [ "$tries" -eq 0 ]; then echo "Pod $1/$2 still exists." >&2; return 1; fi
    sleep 2
  done
  return 1
}}
# ready NAMESPACE KIND/NAME: waits until the workload has all of its pods ready.
ready() {{
  pods=$(kubectl get --namespace="$1" -o 'jsonpath={{.spec.replicas}}' -- "$2")
  kubectl wait --namespace="$1" --for=jsonpath='{{.status.readyReplicas}}'="$pods" --timeout=10m -- "$2"
}}
"""

_REFILLED = {
    "Deployment": "deployment",
    "StatefulSet": "statefulset",
    "ReplicaSet": "replicaset",
    "ReplicationController": "replicationcontroller",
}


def script(document: RepackDocument) -> str:
    """Return a POSIX shell script, which consists only of comments if no pod has to move."""
    if not document.waves:
        return _comment(f"{document.outcome}: there is nothing to move.")
    nodes = shlex.join(sorted({node for wave in document.waves for node in wave.cordoned}))
    lines = [_HEAD.format(room=shown.line(document.room), nodes=shlex.quote(nodes))]
    cordoned: set[str] = set()
    later = {(pod.namespace, pod.name): pod for wave in document.waves for pod in wave.moved}
    files = {key: number for number, key in enumerate(later)}
    evicted: set[tuple[str, str]] = set()
    for number, wave in enumerate(document.waves, 1):
        lines.append(_comment(f"Wave {number}: {len(wave.moved)} of {document.moves} moves"))
        wanted = set(wave.cordoned)
        lines += _nodes("cordon", sorted(wanted - cordoned))
        lines += _nodes("uncordon", sorted(cordoned - wanted))
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
        yield f"uid_{number}=$({shlex.join(['uid', pod.namespace, pod.name, pod.from_node])})\n"
        if pod.owner is None:
            got = shlex.join(["kubectl", "get", f"--namespace={pod.namespace}", "-o", "json", "--", f"pod/{pod.name}"])
            yield f'{got} > "$saved/{number}.json"\n'
        yield _eviction(pod)
    for number, pod in zip(files, pods, strict=True):
        yield f'{shlex.join(["gone", pod.namespace, pod.name])} "$uid_{number}"\n'
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
    return f'kubectl patch -f "$saved/{number}.json" {options} | kubectl create -f -\nrm "$saved/{number}.json"\n'


def _ready(pods: Sequence[RepackedPod]) -> Iterator[str]:
    """Yield commands that wait until the replacements are ready: by name if known, else through their controller."""
    owners: dict[tuple[str, str, str], None] = {}
    for pod in pods:
        if pod.owner is None:
            options = [f"--namespace={pod.namespace}", "--for=condition=Ready", f"--timeout={WAIT}"]
            yield _command("kubectl", "wait", *options, "--", f"pod/{pod.name}")
        else:
            owners[pod.owner.kind, pod.owner.namespace, pod.owner.name] = None
    for kind, namespace, name in owners:
        if kind in ("Deployment", "StatefulSet"):
            options = [f"--namespace={namespace}", f"--timeout={WAIT}", "--", f"{_REFILLED[kind]}/{name}"]
            yield _command("kubectl", "rollout", "status", *options)
        elif kind in _REFILLED:
            yield _command("ready", namespace, f"{_REFILLED[kind]}/{name}")
        else:
            asked = f"Wait until all pods of {kind} {namespace}/{name} are ready, then press Enter."
            yield _command("echo", shown.line(asked))
            yield "read -r _ < /dev/tty\n"
