"""What planning says, read from its document: who is where, and why not."""

from __future__ import annotations

from typing import Any

from dra_plan import schedule
from dra_plan.manifests.decode import from_dicts
from dra_plan.questions.schedule.answer import schedule_document
from dra_plan.releases import target
from dra_plan.scheduler.simulate import simulate
from dra_plan.scheduler.simulation import Simulation


def plan(objects: list[dict], **options: Any) -> dict[str, Any]:
    return schedule(objects, **options).to_dict()


def unchecked(objects: list[dict], gates: dict[str, bool] | None = None) -> dict[str, Any]:
    """What the scheduler says of objects that no API server of today takes, such as those of an older one."""
    return schedule_document(simulate(simulation(objects, gates=gates))).to_dict()


def outcome(document: dict[str, Any], name: str) -> dict[str, Any]:
    [found] = [entry for entry in document["pods"] if entry["name"] == name]
    return found


def where(document: dict[str, Any]) -> dict[str, str | None]:
    return {entry["name"]: entry["nodeName"] for entry in document["pods"]}


def message(document: dict[str, Any], name: str) -> str:
    found = outcome(document, name)["message"]
    assert found is not None
    return found


def claim_of(document: dict[str, Any], name: str) -> dict[str, Any]:
    [found] = [entry for entry in document["claims"] if entry["name"] == name]
    return found


def users(document: dict[str, Any], name: str) -> list[str]:
    return [user["name"] for user in claim_of(document, name)["reservedFor"]]


def devices(document: dict[str, Any], name: str) -> list[str]:
    given = claim_of(document, name)["allocation"]
    return [f"{r['pool']}/{r['device']}" for r in given["devices"]["results"]] if given else []


def codes(document: dict[str, Any]) -> set[str]:
    return {warning["code"] for warning in document["warnings"]}


def simulation(objects: list[dict], *, quirks: str = "upstream", gates: dict[str, bool] | None = None, **options: Any):
    return Simulation(from_dicts(objects), target=target("1.36", gates, quirks), **options)


def volumes(document: dict[str, Any]) -> dict[str, str]:
    """What each claim gets: a volume, or @NODE for a new one made there."""
    return {
        entry["pvc"].removeprefix("default/"): entry.get("pv")
        or (f"@{entry['provision']}" if "provision" in entry else "")
        for entry in document["volumes"]
    }
