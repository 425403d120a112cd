"""How the tests ask for explanations."""

from __future__ import annotations

from typing import Any

from dra_plan.manifests.decode import from_dicts
from dra_plan.planner.explanation import Explanation, explain_inventory
from dra_plan.planner.question import Question


def explain(objects: list[dict[str, Any]], **asked: Any) -> Explanation:
    choice = {option: asked.pop(option) for option in ("name", "devices") if option in asked}
    return explain_inventory(from_dicts(objects), Question(**{"together": True, **asked}), **choice)


def only_set(objects: list[dict[str, Any]], **asked: Any) -> dict[str, Any]:
    """The part of the document that concerns the one claim set."""
    [claim_set] = explain(objects, **asked).to_dict()["claimSets"]
    return claim_set


def only_story(objects: list[dict[str, Any]], **asked: Any) -> dict[str, Any]:
    [story] = only_set(objects, **asked)["stories"]
    return story
