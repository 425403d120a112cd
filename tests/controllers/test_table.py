"""What `schedule --settle` prints for a reader."""

from __future__ import annotations

import json
from pathlib import Path

from tests.build import gpus, pod
from tests.cli.running import in_process

RULE = {
    "apiVersion": "resource.k8s.io/v1beta2",
    "kind": "DeviceTaintRule",
    "metadata": {"name": "r"},
    "spec": {"deviceSelector": {"pool": "a"}, "taint": {"key": "k", "effect": "NoExecute"}},
}


def test_who_ended_what_was_refused_and_the_end(tmp_path: Path) -> None:
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "q", "namespace": "default"},
        "spec": {"hard": {"pods": "1"}},
    }
    template = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "t", "namespace": "default"},
        "spec": {"spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu.example.com"}}]}}},
    }
    cluster, events = tmp_path / "c.json", tmp_path / "e.jsonl"
    items = [*gpus("a"), template, quota, pod("p", templates={"x": "t"})]
    cluster.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    steps = [{"create": pod("q")}, {"create": RULE}]
    events.write_text("\n".join(map(json.dumps, steps)))
    ran = in_process("schedule", str(cluster), "--settle", "--events", str(events))
    assert "default/p        a      device taint   0 s     -" in ran.out
    assert 'Pod/default/q   pods "q" is forbidden: exceeded quota: q' in ran.out
    assert "Settled after 1 round of controllers: 0 pods have a node, 0 wait." in ran.out
    alone = in_process("schedule", str(cluster))
    assert "quota" not in alone.out  # it rejects none of the input's pods
