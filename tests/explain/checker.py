"""Holds an explanation against the objects it is about, by asking the allocator; nothing of `explanation` is used.

Statements that are checked: each suggestion, applied by its patches and by its words; each blocking set, as a whole and
without each of its elements; each funnel, device by device; and the examples that reasons give.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from dra_plan import Cluster, allocate
from dra_plan.cel import compile_selector
from dra_plan.planner.claim_sets import SetPlanner
from dra_plan.planner.owners import choose_sets

from .apply import applied, of_requests
from .json_patch import patched

Object = dict[str, Any]

ENDLESS = str(10**30)
MARK, MARKED = "check.example/it", '"it" in device.attributes["check.example"]'


@dataclass
class Checked:
    """How many statements were checked, by what they are about, and those that are wrong."""

    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def that(self, about: str, said: bool, what: object) -> None:
        self.counts[about] += 1
        if not said:
            self.wrong.append(f"{about}: {what}")


def check(objects: list[Object], claim_set: Object, asked: Object) -> Checked:
    """All statements about the claims of a case, which are planned together; `asked` are the options of `allocate`."""
    checked = Checked()
    for suggestion in claim_set["suggestions"]:
        _suggestion(checked, objects, suggestion, asked)
    for story in claim_set["stories"]:
        if story["blockingSet"] is not None and story["blockingSet"]["proven"]:
            _blocking(checked, objects, story, asked)
    _funnels(checked, objects, claim_set, asked)
    for absent in claim_set["absent"]:
        _absent(checked, objects, absent)
    return checked


def pending(objects: list[Object]) -> list[Object]:
    return [o for o in objects if o["kind"] == "ResourceClaim" and not o.get("status", {}).get("allocation")]


# -- suggestions ---------------------------------------------------------------------------------------------------


def _suggestion(checked: Checked, objects: list[Object], suggestion: Object, asked: Object) -> None:
    checked.that("two changes at most", 1 <= len(suggestion["changes"]) <= 2, suggestion)
    gates = {**asked["feature_gates"], **suggestion.get("featureGates", {})}
    by_words = applied(objects, [c for c in suggestion["changes"] if c["code"] != "enable-gate"])
    for way, changed in (("patches", patched(objects, suggestion["patches"])), ("words", by_words)):
        plan = allocate(changed, **{**asked, "feature_gates": gates}, together=True).to_dict()["claimSets"][0]
        fits = plan["outcome"] == "Fits" and suggestion["node"] in plan["fittingNodes"]
        checked.that(f"suggestion by {way}", fits, suggestion)
    for change in suggestion["changes"]:
        checked.that("what is there now", _is_there(objects, change), change)


def _is_there(objects: list[Object], change: Object) -> bool:
    """Whether the input has what the change says that it has."""
    if "class" in change and "selector" in change:
        part = _find(objects, "DeviceClass", change["class"])["spec"]
    elif "claim" in change and "request" in change and change["code"] != "drop-request":
        part = _part(_find(objects, "ResourceClaim", change["claim"]["name"]), change["request"])
    else:
        return True
    if "selector" in change:
        return part["selectors"][change["selector"]]["cel"]["expression"] == change["expression"]
    if change["code"] == "lower-capacity":
        return str(part["capacity"]["requests"][change["capacity"]]) == change["from"]
    if change["code"] == "request-capacity":
        return change["capacity"] not in part.get("capacity", {}).get("requests", {})
    if change["code"] == "lower-count":
        return part.get("count", 1) == change["from"] > change["to"]
    return change["code"] != "change-class" or part["deviceClassName"] == change.get("from", part["deviceClassName"])


def _find(objects: list[Object], kind: str, name: str) -> Object:
    return next(o for o in objects if o["kind"] == kind and o["metadata"]["name"] == name)


def _part(claim: Object, request: str) -> Object:
    """What stands under `exactly`, or the alternative."""
    name, _, alternative = request.partition("/")
    found = next(r for r in claim["spec"]["devices"]["requests"] if r["name"] == name)
    if not alternative:
        return found.get("exactly", {}) if "firstAvailable" not in found else found
    return next(option for option in found["firstAvailable"] if option["name"] == alternative)


# -- blocking sets -------------------------------------------------------------------------------------------------

Element = tuple[Any, ...]


def _elements(objects: list[Object]) -> Iterator[Element]:
    for item in objects:
        devices = item.get("spec", {}).get("devices", {})
        if item["kind"] == "ResourceClaim" and item.get("status", {}).get("allocation"):
            yield "claim", item["metadata"]["name"]
        elif item["kind"] == "ResourceClaim":
            yield from (("request", item["metadata"]["name"], r["name"]) for r in devices["requests"])
            constraints = devices.get("constraints") or ()
            yield from (("constraint", item["metadata"]["name"], at) for at in range(len(constraints)))
        elif item["kind"] == "ResourceSlice":
            spec = item["spec"]
            for counter_set in spec.get("sharedCounters") or ():
                for counter in counter_set["counters"]:
                    yield "counter", spec["driver"], spec["pool"]["name"], counter_set["name"], counter


def _named(told: Object) -> Element:
    if told["kind"] == "counter":
        return "counter", told["pool"]["driver"], told["pool"]["pool"], told["counterSet"], told["counter"]
    if told["kind"] == "claim":
        return "claim", told["claim"]["name"]
    return told["kind"], told["claim"]["name"], told.get("request", told.get("constraint"))


def _without(objects: list[Object], gone: set[Element]) -> list[Object]:
    """The objects in which these elements do not hold."""
    kept = []
    for item in copy.deepcopy(objects):
        name = item["metadata"]["name"]
        if item["kind"] == "ResourceClaim" and item.get("status", {}).get("allocation"):
            if ("claim", name) in gone:
                continue
        elif item["kind"] == "ResourceClaim":
            _relax(item["spec"]["devices"], name, gone)
        elif item["kind"] == "ResourceSlice":
            spec = item["spec"]
            for counter_set in spec.get("sharedCounters") or ():
                for counter in counter_set["counters"]:
                    if ("counter", spec["driver"], spec["pool"]["name"], counter_set["name"], counter) in gone:
                        counter_set["counters"][counter] = {"value": ENDLESS}
        kept.append(item)
    return kept


def _relax(devices: Object, name: str, gone: set[Element]) -> None:
    devices["requests"] = [r for r in devices["requests"] if ("request", name, r["name"]) not in gone]
    names = {r["name"] for r in devices["requests"]}
    constraints = [
        constraint
        for at, constraint in enumerate(devices.get("constraints") or ())
        if ("constraint", name, at) not in gone
    ]
    devices["constraints"] = list(of_requests(constraints, names))
    devices["config"] = list(of_requests(devices.get("config") or (), names))


def _blocking(checked: Checked, objects: list[Object], story: Object, asked: Object) -> None:
    every, held = set(_elements(objects)), [_named(told) for told in story["blockingSet"]["elements"]]
    checked.that("elements of a blocking set", set(held) <= every and len(set(held)) == len(held), held)
    others = every - set(held)

    def fits(gone: set[Element]) -> bool:
        one = {**asked, "quirks": "fixed", "nodes": story["nodes"][:1], "together": True}
        return bool(allocate(_without(objects, gone), **one).to_dict()["claimSets"][0]["outcome"] == "Fits")

    checked.that("a blocking set", not fits(others), held)
    for element in held:
        checked.that("an element of a blocking set", fits(others | {element}), (element, held))


# -- funnels -------------------------------------------------------------------------------------------------------


def _funnels(checked: Checked, objects: list[Object], claim_set: Object, asked: Object) -> None:
    """Each device alone is offered to each request alone, on each node of a story."""
    stories = [story for story in claim_set["stories"] if story["requests"]]
    if not stories:
        return
    usable = _certain(objects, asked)
    for story in stories:
        for request in story["requests"]:
            key = (request["claim"]["name"], request["request"])
            _funnel(checked, request, [usable.get((node, *key), {}) for node in story["nodes"]])
            for removed in request["removed"]:
                _examples(checked, objects, removed, asked)


def _funnel(checked: Checked, request: Object, nodes: list[dict[str, str]]) -> None:
    """`nodes` has for each node of the story the outcome by device."""
    total = request["left"] + sum(removed["count"] for removed in request["removed"])
    checked.that("the sum of a funnel", total == request["devices"], request)
    first = nodes[0]
    for device in map(_device, request["leftDevices"]):
        checked.that("a device left", first[device] != "DoesNotFit", (device, request["claim"], request["request"]))
    for removed in request["removed"]:
        for device in map(_device, removed["examples"]):
            checked.that("a device removed", first[device] != "Fits", (device, removed["code"], request["request"]))
    counted = [Counter(outcomes.values()) for outcomes in nodes]
    certain = [found["Fits"] for found in counted]
    possible = [found["Fits"] + found["Error"] + found["NodeError"] for found in counted]
    numbers = (request["left"], certain[0], possible[0])
    checked.that("how many are left", certain[0] <= request["left"] <= possible[0], (numbers, request))
    least, most = request["leftFrom"], request["leftTo"]
    checked.that("the least left", min(certain) <= least <= min(possible), (least, min(certain), request["request"]))
    checked.that("the most left", max(certain) <= most <= max(possible), (most, max(certain), request["request"]))


def _device(told: Object) -> str:
    return f"{told['driver']}/{told['pool']}/{told['device']}"


def _usable(objects: list[Object], asked: Object) -> dict[tuple[str, str, str], dict[str, str]]:
    """By node, claim and request: for each device, the outcome of asking for that device alone."""
    found: dict[tuple[str, str, str], dict[str, str]] = {}
    wants = dict(_wants(objects))
    rest = [o for o in objects if o not in pending(objects)]
    slices = [item for item in rest if item["kind"] == "ResourceSlice"]
    for item in slices:
        for at, device in enumerate(item["spec"].get("devices") or ()):
            marked = copy.deepcopy(item)
            marked["spec"]["devices"][at].setdefault("attributes", {})[MARK] = {"bool": True}
            changed = [marked if other is item else _guarded(other) for other in rest]
            name = f"{item['spec']['driver']}/{item['spec']['pool']['name']}/{device['name']}"
            for (claim, request), outcomes in zip(wants, _outcomes([*changed, *wants.values()], asked), strict=True):
                for node, outcome in outcomes.items():
                    known = found.setdefault((node, claim, request), {})
                    if known.get(name) != "Fits":  # an older generation has devices of the same names
                        known[name] = outcome
    return found


def _outcomes(objects: list[Object], asked: Object) -> Iterator[dict[str, str]]:
    """For each claim, the outcome by node as in `allocate`, without the reasons, which take most of the time."""
    cluster = Cluster.of(objects, **asked)
    question = cluster.question((), {})
    planner = SetPlanner(cluster.view, cluster.inventory.nodes, question, question.deadline())
    for claim_set in choose_sets(cluster.inventory, cluster.target, question).expansion.sets:
        yield {each.node: each.outcome.value for each in planner.plan(claim_set).plan.nodes}


def _certain(objects: list[Object], asked: Object) -> dict[tuple[str, str, str], dict[str, str]]:
    """The same; where a release looks at another device than the one at hand (C1), only what holds with and without."""
    found = _usable(objects, asked)
    if asked["kubernetes_version"] == "1.34":
        repaired = _usable(objects, {**asked, "quirks": "fixed"})
        for key, outcomes in found.items():
            for device, outcome in outcomes.items():
                outcomes[device] = outcome if repaired[key][device] == outcome else "Error"
    return found


def _guarded(item: Object) -> Object:
    """A class whose selectors look at the marked device only, so that they fail on no other."""
    if item["kind"] != "DeviceClass":
        return item
    selectors = [_guard(selector) for selector in item["spec"].get("selectors") or ()]
    return {**item, "spec": {**item["spec"], "selectors": selectors}}


def _guard(selector: Object) -> Object:
    expression = selector.get("cel", {}).get("expression")
    return selector if expression is None else {"cel": {"expression": f"{MARKED} && (\n{expression}\n)"}}


def _wants(objects: list[Object]) -> Iterator[tuple[tuple[str, str], Object]]:
    """Each request, or alternative, as a claim of its own that asks for one device."""
    for claim in pending(objects):
        name, devices = claim["metadata"]["name"], claim["spec"]["devices"]
        for request in devices["requests"]:
            options = request.get("firstAvailable") or [None]
            for option in options:
                full = request["name"] if option is None else f"{request['name']}/{option['name']}"
                part = copy.deepcopy(request.get("exactly") or {} if option is None else option)
                part.pop("name", None)
                selectors = [_guard(selector) for selector in part.get("selectors") or ()]
                part.update(
                    allocationMode="ExactCount",
                    count=1,
                    selectors=[*selectors, _guard({"cel": {"expression": "true"}})],
                )
                mine = {request["name"], full}
                constraints = [
                    {**constraint, "requests": []}
                    for constraint in devices.get("constraints") or ()
                    if not constraint.get("requests") or mine & set(constraint["requests"])
                ]
                made = {"requests": [{"name": "it", "exactly": part}], "constraints": constraints}
                metadata = {"name": f"want-{name}-{full.replace('/', '-')}", "namespace": "default"}
                yield (name, full), {**claim, "metadata": metadata, "spec": {"devices": made}}


# -- examples ------------------------------------------------------------------------------------------------------


def _examples(checked: Checked, objects: list[Object], removed: Object, asked: Object) -> None:
    for example in removed["examples"]:
        for found in _devices(objects, example):
            said = _holds(objects, removed, example, found, asked)
            if said is not None:
                checked.that(removed["code"], said, (example, {k: v for k, v in removed.items() if k != "selectors"}))


def _devices(objects: list[Object], named: Object) -> list[Object]:
    """The devices of that name: one, unless the pool has several generations."""
    return [
        device
        for item in objects
        if item["kind"] == "ResourceSlice"
        and (item["spec"]["driver"], item["spec"]["pool"]["name"]) == (named["driver"], named["pool"])
        for device in item["spec"].get("devices") or ()
        if device["name"] == named["device"]
    ][:1]


def _holds(objects: list[Object], removed: Object, name: Object, device: Object, asked: Object) -> bool | None:
    """Whether the reason is true by what the objects say; None where they do not say it plainly."""
    code = removed["code"]
    if code == "in-use":
        return any(_has(claim, name) for claim in objects if claim["kind"] == "ResourceClaim")
    if code == "selector-false":
        selector = compile_selector(removed["expression"], feature_gates=asked["feature_gates"], rules="stored")
        return not selector.evaluate(device, driver=name["driver"]).match
    if code == "not-tolerated":
        rules = [o["spec"].get("taint", {}) for o in objects if o["kind"] == "DeviceTaintRule"]
        return any(
            (t.get("key"), t.get("value", ""), t.get("effect"))
            == (removed["taint"]["key"], removed["taint"]["value"], removed["taint"]["effect"])
            for t in (*(device.get("taints") or ()), *rules)
        )
    if code == "attribute-missing":
        domain, _, plain = removed["attribute"].partition("/")
        own = {plain} if domain == name["driver"] else set()
        return not ({removed["attribute"]} | own) & set(device.get("attributes") or ())
    if code == "capacity-missing":
        return removed["capacity"] not in (device.get("capacity") or {})
    return None


def _has(claim: Object, name: Object) -> bool:
    allocation = claim.get("status", {}).get("allocation") or {}
    results = (allocation.get("devices") or {}).get("results") or ()
    return any((r["driver"], r["pool"], r["device"]) == (name["driver"], name["pool"], name["device"]) for r in results)


def _absent(checked: Checked, objects: list[Object], told: Object) -> None:
    """No device has the value; those that have others have them so many times."""
    found: Counter[Any] = Counter()
    for item in objects:
        if item["kind"] == "ResourceSlice":
            for device in item["spec"].get("devices") or ():
                found.update(_values(told, item["spec"]["driver"], device))
    checked.that("a value that is nowhere", told["wanted"] not in found and bool(found), told)
    for value in told["values"]:
        checked.that("a value that is there", found[value["value"]] == value["count"], told)


def _values(told: Object, driver: str, device: Object) -> list[Any]:
    if told["kind"] == "driver":
        return [driver]
    attributes = device.get("attributes") or {}
    full = f"{told['domain']}/{told['name']}"
    value = attributes.get(full, attributes.get(told["name"]) if told["domain"] == driver else None)
    return [] if value is None else [next(one for one in value.values() if not isinstance(one, list))]
