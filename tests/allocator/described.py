"""Nodes and claims in a few lines of text, for tests in which everything should be seen at a glance.

gpu-0 root=0 model=1           a device with integer attributes
p uses=2 of s taint            it takes from a counter set; `taint` taints it
h holds=10                     a shared device with a capacity `mem`
counter s 4                    a counter set, with one counter, of its name but for digits
claim                          begins another claim (the first need not be begun)
want gpus 2 model=1            a request; alternatives stand one after the other: `want gpu 1 model=1 | 2 model=2`
want part 1 share=3            a request for so much of the capacity `mem`
match root                     matchAttribute over all requests of the claim; `distinct root`
"""

from __future__ import annotations

from typing import Any

from tests.build import node

from .build import DRIVER, claim, device, device_class, pool


def objects(description: str) -> list[dict[str, Any]]:
    """The Kubernetes objects that a description stands for."""
    devices: list[dict[str, Any]] = []
    counters: dict[str, str] = {}
    claims: list[dict[str, list[dict[str, Any]]]] = [{"requests": [], "constraints": []}]
    for line in filter(None, description.splitlines()):
        first, *words = line.split()
        if first == "counter":
            counters[words[0]] = words[1]
        elif first == "claim":
            claims.append({"requests": [], "constraints": []})
        elif first == "want":
            claims[-1]["requests"].append(_request(words[0], " ".join(words[1:]).split(" | ")))
        elif first in ("match", "distinct"):
            claims[-1]["constraints"].append({f"{first}Attribute": f"{DRIVER}/{words[0]}"})
        else:
            devices.append(_device(first, words))
    made = [
        claim(*each["requests"], name=f"c{number}", constraints=each["constraints"])
        for number, each in enumerate((each for each in claims if each["requests"]), 1)
    ]
    return [node(), device_class(), *_slices(devices, counters), *made]


def _slices(devices: list[dict[str, Any]], counters: dict[str, str]) -> list[dict[str, Any]]:
    """The slices of one pool."""
    slices = pool(*devices, counters=counters or None)
    if counters:
        sets = [{"name": name, "counters": _amount(name, value)} for name, value in counters.items()]
        slices[1]["spec"]["sharedCounters"] = sets
    return slices


def _amount(counter_set: str, value: str) -> dict[str, Any]:
    return {counter_set.rstrip("0123456789"): {"value": value}}


def _device(name: str, words: list[str]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    if "taint" in words:
        fields["taints"] = [{"key": "broken", "effect": "NoSchedule"}]
    values = dict(word.split("=") for word in words if "=" in word)
    uses, holds = values.pop("uses", None), values.pop("holds", None)
    if uses:
        counter_set = words[words.index("of") + 1]
        fields["consumesCounters"] = [{"counterSet": counter_set, "counters": _amount(counter_set, uses)}]
    if holds:
        fields["allowMultipleAllocations"] = True
        fields["capacity"] = {"mem": {"value": holds, "requestPolicy": {"default": "1"}}}
    return device(name, attributes={key: {"int": int(value)} for key, value in values.items()}, **fields)


def _request(name: str, options: list[str]) -> dict[str, Any]:
    made = [_option(option.split()) for option in options]
    if len(made) == 1:
        return {"name": name, "exactly": made[0]}
    return {"name": name, "firstAvailable": [{"name": f"o{number}", **option} for number, option in enumerate(made, 1)]}


def _option(words: list[str]) -> dict[str, Any]:
    option: dict[str, Any] = {"deviceClassName": "a", "allocationMode": "ExactCount", "count": int(words[0])}
    values = dict(word.split("=") for word in words[1:])
    share = values.pop("share", None)
    if share:
        option["capacity"] = {"requests": {"mem": share}}
    if values:
        conditions = [f'device.attributes["{DRIVER}"].{key} == {value}' for key, value in values.items()]
        option["selectors"] = [{"cel": {"expression": " && ".join(conditions)}}]
    return option
