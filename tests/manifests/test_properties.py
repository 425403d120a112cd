"""Laws of loading: the same objects whatever the form, the order or the way in; broken input only in known ways."""

from __future__ import annotations

import copy
import functools
import io
import itertools
import json
import resource
from dataclasses import fields
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dra_plan.api.inventory import Inventory
from dra_plan.claims import expand
from dra_plan.manifests.decode import from_dicts
from dra_plan.manifests.faults import ManifestErrors
from dra_plan.manifests.load import load, load_objects
from tests.limits import at_most

from .objects import Plain
from .samples import SAMPLES

QUICK = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
LONG = settings(max_examples=6_000, deadline=None, suppress_health_check=list(HealthCheck))


FORM = ("origins", "notices", "texts")
"""What says in which form objects were read."""


def content(inventory: Inventory) -> dict[str, object]:
    """Everything but where it was read."""
    held = {f.name: getattr(inventory, f.name) for f in fields(inventory) if f.name not in FORM}
    return {**held, "notices": [(n.code, n.message, n.object) for n in inventory.notices]}


def loaded(text: str | bytes) -> Inventory:
    return load(["-"], stdin=io.BytesIO(text.encode() if isinstance(text, str) else text))


def key_of(obj) -> tuple[str, str, str]:
    return obj.kind, obj.metadata.namespace, obj.metadata.name


def as_list(objects: list[Plain]) -> Plain:
    return {"apiVersion": "v1", "kind": "List", "items": objects}


FORMS = {
    "YAML documents": functools.partial(yaml.dump_all, Dumper=yaml.CSafeDumper, sort_keys=False),
    "YAML List": lambda objects: yaml.dump(as_list(objects), Dumper=yaml.CSafeDumper),
    "flow YAML": lambda objects: "".join(f"---\n{json.dumps(o, indent=1)}\n" for o in objects),
    "JSON List": lambda objects: json.dumps(as_list(objects)),
    "indented JSON List": lambda objects: json.dumps(as_list(objects), indent=4),
    "JSON array": json.dumps,
    "JSON values": lambda objects: "\n".join(json.dumps(o) for o in objects),
    "JSON values without space": lambda objects: "".join(json.dumps(o) for o in objects),
    "JSON with CRLF": lambda objects: json.dumps(as_list(objects), indent=2).replace("\n", "\r\n"),
    "UTF-16": lambda objects: yaml.dump_all(objects, Dumper=yaml.CSafeDumper).encode("utf-16"),
    "byte order mark": lambda objects: json.dumps(as_list(objects)).encode("utf-8-sig"),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_objects(form):
    assert content(loaded(FORMS[form](SAMPLES))) == content(from_dicts(SAMPLES))


@pytest.mark.parametrize("form", FORMS)
def test_plain_objects_come_out_as_they_went_in(form):
    text = FORMS[form](SAMPLES)
    plain = load_objects(["-"], stdin=io.BytesIO(text.encode() if isinstance(text, str) else text))
    assert plain == SAMPLES
    assert content(from_dicts(plain)) == content(loaded(text))


@pytest.mark.parametrize("form", ["YAML documents", "YAML List", "indented JSON List", "JSON values"])
def test_origins_have_the_lines_of_the_objects(form):
    text = FORMS[form](SAMPLES)
    lines = text.split("\n")
    origins = loaded(text).origins
    assert len(origins) == len(SAMPLES) - 1
    for (kind, _, _), origin in origins.items():
        shown = lines[origin.line - 1 :]
        assert any(kind in line for line in shown[:3]), (kind, origin, shown[:3])


@given(st.permutations(SAMPLES), st.lists(st.integers(0, len(SAMPLES)), max_size=4), st.booleans())
@settings(QUICK, max_examples=25)
def test_the_order_of_files_does_not_matter(tmp_path_factory, objects, cuts, as_json):
    folder = tmp_path_factory.mktemp("files")
    bounds = [0, *sorted(cuts), len(objects)]
    paths = []
    for number, (begin, end) in enumerate(itertools.pairwise(bounds)):
        path = Path(folder, f"{number}.yaml")
        path.write_text(FORMS["JSON values" if as_json else "YAML documents"](objects[begin:end]))
        paths.append(str(path))
    found, expected = load(paths), from_dicts(SAMPLES)
    assert set(found.origins) == set(expected.origins)
    assert found.as_written == expected.as_written
    assert found.texts.keys() == expected.texts.keys()
    for f in fields(found):
        if f.name not in (*FORM, "skipped", "cluster_info", "overridden", "as_written", "accounts"):
            assert sorted(getattr(found, f.name), key=key_of) == sorted(getattr(expected, f.name), key=key_of)


def test_a_directory_is_its_files(tmp_path):
    Path(tmp_path, "b").mkdir()
    Path(tmp_path, "2.yaml").write_text(FORMS["YAML documents"](SAMPLES[1:3]))
    Path(tmp_path, "1.json").write_text(FORMS["JSON List"](SAMPLES[:1]))
    Path(tmp_path, "b/3.yml").write_text(FORMS["YAML documents"](SAMPLES[3:]))
    Path(tmp_path, "notes.txt").write_text("{")
    assert content(load([tmp_path]))["nodes"] == from_dicts(SAMPLES[:1]).nodes
    assert load([tmp_path]).classes == []
    assert content(load([tmp_path], recursive=True)) == content(from_dicts(SAMPLES))
    twice = [tmp_path, Path(tmp_path, "1.json"), Path(tmp_path, "b", "..", "2.yaml")]
    assert content(load(twice)) == content(load([tmp_path]))


# Hostile input

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=8)
    | st.sampled_from(["1Gi", "", "v1", "resource.k8s.io/v1", "gpu", "All"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["name", "basic", "items"]), inner),
    max_leaves=6,
)  # fmt: skip


@st.composite
def mutated_objects(draw):
    """Samples in which some values are replaced, removed or added."""
    objects = copy.deepcopy(draw(st.lists(st.sampled_from(SAMPLES), min_size=1, max_size=3)))
    for _ in range(draw(st.integers(1, 4))):
        place: object = draw(st.sampled_from(objects))
        while isinstance(place, dict | list) and place:
            key = draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
            inner = place[key]
            if not isinstance(inner, dict | list) or not inner or draw(st.integers(0, 3)) == 0:
                action = draw(st.sampled_from(["replace", "replace", "remove", "add"]))
                if action == "remove":
                    del place[key]
                elif action == "add" and isinstance(place, dict):
                    place[draw(st.sampled_from(["extra", "basic", "exactly", "source", "items"]))] = draw(JSON_VALUES)
                else:
                    place[key] = draw(JSON_VALUES)
                break
            place = inner
    return objects


def outcome(function, *arguments):
    """The content of an inventory, or the faults without their places."""
    try:
        return content(function(*arguments))
    except ManifestErrors as errors:
        return [(fault.object, fault.path.partition("]")[2] or fault.path, fault.message) for fault in errors.faults]


def check_mutated_objects(objects):
    before = repr(objects)
    found = outcome(from_dicts, objects)
    assert repr(objects) == before
    if not isinstance(found, list):
        expand(from_dicts(objects))
    try:
        text = json.dumps(objects, allow_nan=False)
    except ValueError:
        return
    straight = outcome(load_leniently, text)
    assert repr(straight) == repr(outcome(from_dicts, json.loads(text)))


def load_leniently(text: str) -> Inventory:
    """The fast way from JSON, without what only the command line asks for."""
    from dra_plan.manifests.collect import Collector
    from dra_plan.manifests.places import Place

    collector = Collector(namespace="default")
    data = text.encode()
    collector.add_json(data, 0, len(data), Place("-"))
    return collector.finish()


OF_THE_WHOLE = ("starts as UTF-16 but is not valid UTF-16", "gzip cannot unpack it")
"""Faults without a line."""
SLOW = 5.0
"""Seconds of processor time in which any of the short texts here is read."""


@at_most(SLOW)
def check_bytes(data: bytes):
    """Anything but ManifestErrors with its places fails the test, and so does a text that takes long."""
    try:
        expand(loaded(data))
    except ManifestErrors as errors:
        for fault in errors.faults:
            assert fault.message
            placed = fault.source == "-" and (fault.line > 0 or fault.message in OF_THE_WHOLE)
            assert placed or fault.message == "no Kubernetes object found in standard input", fault


NOISE = [
    b"\0", b"\t", b"\n",
    b"---", b"- ", b": ", b"&a ", b"*a", b"!!x ", b"{", b"}", b"[", b"]", b",", b'"', b"'", b"|", b"#",
    b"%", b"<<: *a", b"\xff", b"\xe2\x82", b"\\u", b"1e999", b"null",
]  # fmt: skip


@st.composite
def mutated_bytes(draw):
    """Texts of the samples with pieces cut, doubled, swapped and overwritten."""
    objects = draw(st.lists(st.sampled_from(SAMPLES), min_size=1, max_size=2))
    text = FORMS[draw(st.sampled_from(list(FORMS)))](objects)
    data = bytearray(text.encode() if isinstance(text, str) else text)
    noise = st.sampled_from(NOISE)
    for _ in range(draw(st.integers(1, 5))):
        begin = draw(st.integers(0, len(data)))
        end = min(len(data), begin + draw(st.integers(0, 12)))
        data[begin:end] = draw(noise | st.binary(max_size=4)) * draw(st.integers(1, 2))
    return bytes(data)


@given(mutated_objects())
@QUICK
def test_mutated_objects(objects):
    check_mutated_objects(objects)


@given(mutated_bytes())
@QUICK
def test_mutated_text(data):
    check_bytes(data)


def test_small_texts_take_little_memory():
    """Texts made to grow: aliases, merge keys, long numbers, deep nesting, many documents."""
    bombs = [
        "a: &a [" + "x, " * 100 + "]\n" + "".join(f"b{i}: &b{i} [" + f"*b{i - 1}, " * 50 + "]\n" for i in range(1, 20)),
        "a: &a {k: v}\n" + "".join(f"b{i}: &b{i} {{<<: [" + f"*b{i - 1}, " * 50 + "], k: v}\n" for i in range(1, 20)),
        "a: " + "9" * 100_000,
        "kind: " + "[" * 50_000,
        "{" * 50_000,
        "---\n" * 100_000,
        "? " * 50_000,
        "- " * 50_000,
        '{"a": 1e' + "9" * 5_000 + "}",
        "a: !!binary " + "A" * 1_000_000,
        "a: |\n" + "  x\n" * 300_000,
        "%TAG ! tag:x,2000:" + "a" * 100_000 + "\n---\n!a b",
    ]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for bomb in [*bombs, *(bomb.replace("b0", "a") for bomb in bombs[:2])]:
        check_bytes(bomb.encode())
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 400_000  # KiB


@pytest.mark.long
@given(mutated_objects())
@LONG
def test_many_mutated_objects(objects):
    check_mutated_objects(objects)


@pytest.mark.long
@given(mutated_bytes() | st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
@LONG
def test_much_mutated_text(data):
    check_bytes(data)
