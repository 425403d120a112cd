"""A cluster in mid-life: pods with controllers, bare ones, a daemon, claims of their own and shared ones."""

from __future__ import annotations

from typing import Any

from tests.build import claim, generated, gpus, owned, running, template, used


def mid_life() -> list[dict[str, Any]]:
    """Node a is full, b has one device free, c has no pods at all."""
    return [
        *gpus("a", "b", "c"),
        template("one"),
        running("served", "a", "served-gpu-x7k2p", templates={"gpu": "one"}, metadata=owned("ReplicaSet", "serve")),
        generated("served", "gpu", "a", "gpu-0"),
        running("notebook", "a", claims={"gpu": "own"}),
        claim("own", status=used("a", "gpu-1", "notebook")),
        running("agent", "a", metadata=owned("DaemonSet", "agents")),
        running("reader", "b", claims={"gpu": "both"}, metadata=owned("ReplicaSet", "readers")),
        running("writer", "b", claims={"gpu": "both"}),
        claim("both", status=used("b", "gpu-0", "reader", "writer")),
    ]
