"""How the tests ask for explanations."""

from __future__ import annotations

from typing import Any

from dra_plan import Cluster, Explanation


def explain(objects: list[dict[str, Any]], **asked: Any) -> Explanation:
    target = ("kubernetes_version", "feature_gates", "quirks")
    cluster = Cluster.of(objects, **{option: asked.pop(option) for option in target if option in asked})
    owners = [asked.pop("name")] if "name" in asked else []
    return cluster.explain(*owners, **{"together": True, **asked})


def only_set(objects: list[dict[str, Any]], **asked: Any) -> dict[str, Any]:
    """The part of the document that concerns the one claim set."""
    [claim_set] = explain(objects, **asked).to_dict()["claimSets"]
    return claim_set


def only_story(objects: list[dict[str, Any]], **asked: Any) -> dict[str, Any]:
    [story] = only_set(objects, **asked)["stories"]
    return story
