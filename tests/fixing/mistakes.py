"""Correct manifests with the mistakes that `--fix` knows, in many layouts, by number."""

import json
import random
import re
from collections.abc import Callable
from typing import Any

import yaml

from tests.validation.objects import Data, claim, device, device_class, piece, pod, request, template

CEL = 'device.driver == "gpu.example.com" && {}'
MEMORY = 'device.capacity["gpu.example.com"].memory'
VERSION = 'device.attributes["gpu.example.com"].version'


def correct(random: random.Random) -> list[Data]:
    """Objects without findings of any severity above info."""
    compared = random.choice(
        [f'{MEMORY}.compareTo(quantity("64Gi")) >= 0', f'{VERSION}.compareTo(semver("1.2.3")) < 0', "true"]
    )
    selectors = [{"cel": {"expression": CEL.format(compared)}}]
    requests = [request("gpu", selectors=selectors, count=2), request("b", allocationMode="All", selectors=selectors)]
    requests.append({"name": "c", "firstAvailable": [{"name": "d", "deviceClassName": "gpu", "count": 1}]})
    random.shuffle(requests)
    attributes = {"model": {"string": "a 100"}, "index": {"int": 0}, "shared": {"bool": True}}
    made = {"capacity": {"memory": {"value": "80Gi"}}, "attributes": {**attributes, "version": {"version": "1.2.3"}}}
    things = [
        piece("node-a-gpu", device(**made), device("gpu-1", **made)),
        device_class("gpu", CEL.format(compared)),
        claim(*requests[: random.randint(1, 3)]),
        template(*requests[: random.randint(1, 3)]),
        pod({"name": "gpu"}),
    ]
    return random.sample(things, random.randint(1, len(things)))


def _requests(one: Data) -> list[Data]:
    spec = one["spec"].get("spec", one["spec"])
    return spec["devices"]["requests"] if one["kind"].startswith("ResourceClaim") else []


def _devices(one: Data) -> list[Data]:
    return one["spec"]["devices"] if one["kind"] == "ResourceSlice" else []


def flat(one: Data, random: random.Random) -> None:
    for each in _requests(one):
        if "exactly" in each and random.random() < 0.7:
            items = [("name", each.pop("name")), *each.pop("exactly").items()]
            random.shuffle(items)
            each.update(items)


def bare(one: Data, random: random.Random) -> None:
    for each in _devices(one):
        each["capacity"] = {name: amount["value"] for name, amount in each["capacity"].items()}
        if random.random() < 0.5:
            for name, value in each["attributes"].items():
                if "version" not in value:
                    [each["attributes"][name]] = value.values()


def wrapped(one: Data, random: random.Random) -> None:
    for each in _devices(one):
        inner = {key: each.pop(key) for key in list(each) if key != "name"}
        each.update([("basic", inner), ("name", each.pop("name"))] if random.random() < 0.5 else [("basic", inner)])


def older(one: Data, random: random.Random) -> None:
    if not one["apiVersion"].startswith("resource"):
        return
    one["apiVersion"] = f"resource.k8s.io/{random.choice(['v1beta1', 'v1beta2'])}"
    if one["apiVersion"].endswith("v1beta1"):
        wrapped(one, random)
        for each in _requests(one):
            each.update(each.pop("exactly", {}))


def quoted(one: Data, random: random.Random) -> None:
    for each in _requests(one):
        if "count" in each.get("exactly", {}):
            each["exactly"]["count"] = str(each["exactly"]["count"])
    one["metadata"]["labels"] = {"a": 1, "b": True}


def cased(one: Data, random: random.Random) -> None:
    for each in _requests(one):
        if "exactly" in each:
            each["exactly"]["deviceclassName"] = each["exactly"].pop("deviceClassName")
    if one["kind"] == "ResourceSlice":
        one["spec"]["NodeName"] = one["spec"].pop("nodeName")


def sourced(one: Data, random: random.Random) -> None:
    if one["kind"] == "Pod":
        for entry in one["spec"]["resourceClaims"]:
            entry["source"] = {"resourceClaimTemplateName": entry.pop("resourceClaimTemplateName")}


def signed(one: Data, random: random.Random) -> None:
    for selector in _selectors(one):
        expression = selector["cel"]["expression"]
        selector["cel"]["expression"] = re.sub(r"\.compareTo\((.*\))\) (>=|<) 0", r" \2 \1", expression)


def short(one: Data, random: random.Random) -> None:
    for selector in _selectors(one):
        selector["cel"] = selector["cel"]["expression"]


def _selectors(one: Data) -> list[Data]:
    found = [*one["spec"].get("selectors", [])] if one["kind"] == "DeviceClass" else []
    return found + [selector for each in _requests(one) for selector in each.get("exactly", {}).get("selectors", [])]


MISTAKES: list[Callable[[Data, random.Random], None]] = [
    *(flat, bare, wrapped, older, quoted, cased, sourced, signed, short),
]


class _Plain(yaml.SafeDumper):
    def ignore_aliases(self, _data: object) -> bool:
        return True


def block(objects: list[Data], random: random.Random) -> str:
    style = random.choice([False, None])
    indent = random.choice([2, 4])
    texts = (
        yaml.dump(one, Dumper=_Plain, sort_keys=False, width=10_000, default_flow_style=style, indent=indent)
        for one in objects
    )
    return "---\n".join(texts)


def listed(objects: list[Data], random: random.Random) -> str:
    return block([{"apiVersion": "v1", "kind": "List", "items": objects}], random)


def flow(objects: list[Data], random: random.Random) -> str:
    return "---\n".join(
        yaml.dump(one, Dumper=_Plain, sort_keys=False, width=random.choice([40, 10_000]), default_flow_style=True)
        for one in objects
    )


def kyaml(objects: list[Data], random: random.Random) -> str:
    texts = (re.sub(r'^(\s*)"(\w+)":', r"\1\2:", json.dumps(one, indent=2), flags=re.MULTILINE) for one in objects)
    return "---\n".join(re.sub(r'(["\w\]}])\n', r"\1,\n", text) + "\n" for text in texts)


def compact(objects: list[Data], random: random.Random) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}) + random.choice(["", "\n"])


def indented(objects: list[Data], random: random.Random) -> str:
    return "".join(json.dumps(one, indent=random.choice([1, 2, 4])) + "\n" for one in objects)


LAYOUTS: list[Callable[[list[Data], random.Random], str]] = [block, block, listed, flow, kyaml, compact, indented]


def commented(text: str, random: random.Random, *, between: bool) -> str:
    """Comments behind lines, and perhaps between them, where they are comments."""
    made, number = [], 0
    for line in text.split("\n"):
        depth = len(line) - len(line.lstrip())
        plain = re.fullmatch(r"[\s-]*[\w.]+:( [\w./-]+)?,?|[\s-]*[\w.]+: \{[^{}]*\},?", line)
        if plain and random.random() < 0.3:
            number += 1
            line += f"  # behind {number}"
        if between and line.strip() and random.random() < 0.2 and '"' not in line and "'" not in line:
            number += 1
            made.append(" " * depth + f"# above {number}")
        made.append(line)
    return "\n".join(made)


def manifest(number: int) -> tuple[list[Data], str]:
    """The correct objects, and the same with a mistake or two as text."""
    source = random.Random(number)
    objects = correct(source)
    wrong: list[Any] = json.loads(json.dumps(objects))
    mistakes = source.sample(MISTAKES, source.randint(1, 2))
    if mistakes == [cased, flat] or set(mistakes) == {wrapped, older}:
        mistakes.pop()  # what is misplaced and misspelt, or misplaced twice, could be anything
    for mistake in mistakes:
        for one in wrong:
            if source.random() < 0.8:
                # Not every mistake can be made after another one.
                changed = json.loads(json.dumps(one))
                try:
                    mistake(changed, source)
                except (KeyError, TypeError, AttributeError):
                    continue
                one.clear()
                one.update(changed)
    layout = source.choice(LAYOUTS)
    text = layout(wrong, source)
    if layout in (block, listed, kyaml) and source.random() < 0.7:
        # Comments between brackets that have to go keep these where they are.
        text = commented(text, source, between=layout is not kyaml)
    return objects, text.replace("\n", "\r\n") if source.random() < 0.3 else text


def damaged(number: int) -> str:
    """A manifest of which a few characters are gone, doubled or others."""
    source = random.Random(number)
    text = manifest(number)[1]
    for _ in range(source.randint(1, 3)):
        at = source.randrange(len(text))
        text = text[:at] + source.choice(["", text[at] * 2, source.choice("x0:-{}[]\"' #&*\n")]) + text[at + 1 :]
    return text
