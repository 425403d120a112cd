"""Text from manifests acts on no terminal and on no CI runner: every text field, every command, every format."""

import itertools
import json
from operator import itemgetter
from pathlib import Path
from unittest.mock import patch

import pytest

from dra_plan.cli import printing
from dra_plan.cli.running import guarded
from dra_plan.manifests import kinds
from dra_plan.text.columns import Screen
from tests.build import claim, device_class, node, pod, slice_

from . import hostile
from .running import in_process

OBJECTS = hostile.objects()
LARGE = {kind.name for kind in kinds.every() if kind.pod_spec}
SOME = [one for one in OBJECTS if one["kind"] not in LARGE] + [one for one in OBJECTS if one["kind"] in LARGE][::97]
PATH = "jsonpath={..name}{..poolName}{..message}"
TABLES = ("table", "wide", "name", "json", "yaml", PATH)
FORMATS = {
    "allocate": TABLES,
    "schedule": TABLES,
    "pools": TABLES,
    "capacity": TABLES,
    "grow": TABLES,
    "place": TABLES,
    "diff": (*TABLES, "markdown"),
    "validate": TABLES,
    "explain": ("text", "markdown", "json", "yaml", PATH),
}
NEEDED = {"grow": ["--like", hostile.TEXT]}
"""Options without which a command does nothing."""
MORE = {
    "schedule": ["--trace"],
    "capacity": ["--limit", "2"],
    "grow": [*NEEDED["grow"], "--limit", "2"],
    "diff": ["fixtures/quickstart", "--to-quirks", "fixed"],
}
"""Options that go with a command in the sweep."""
REPORTED = ("allocate", "explain", "schedule", "validate")
RUNS = [(command, form) for command, forms in FORMATS.items() for form in forms]
SHARES = 4
"""Each format is given one part of so many of the objects; the formats of a command have all of them together."""
POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}


def fitting() -> list[dict[str, object]]:
    """A node, a pod and a claim of hostile names, for which there is room."""
    named = [node(hostile.TEXT), slice_(hostile.TEXT, "gpu-0"), claim(hostile.TEXT), pod(hostile.TEXT)]
    return [device_class(), *named]


def safe(command: list[str], objects: list[dict[str, object]], *, statuses: tuple[int, ...] = (0, 1)) -> str:
    """What a run printed, which acts on nothing."""
    ran = in_process(*command, "-", stdin=json.dumps(objects))
    assert ran.status in statuses, ran.err[-2000:]
    assert hostile.faults(ran.out)[:3] == []
    assert hostile.faults(ran.err)[:3] == []
    return ran.out + ran.err


@pytest.fixture(scope="module")
def taken() -> list[dict[str, object]]:
    """Objects that planning takes: a sample of the kinds with pods, all of the others."""
    return hostile.unrefused(SOME)


def share(taken: list[dict[str, object]], number: int) -> list[dict[str, object]]:
    """A part of the objects, some of each kind; `test_every_field` gives all to each command and format."""
    kinds_of = itertools.groupby(sorted(taken, key=itemgetter("kind")), key=itemgetter("kind"))
    return [one for _, alike in kinds_of for one in list(alike)[number % SHARES :: SHARES]]


def some(taken: list[dict[str, object]], number: int) -> list[dict[str, object]]:
    """A part of the objects, and those of hostile names, which every answer has."""
    named = [one for one in share(taken, number) if one["metadata"] != {"name": hostile.TEXT}]
    return [*named, *fitting()]


def without_selectors(taken: list[dict[str, object]]) -> list[dict[str, object]]:
    """The objects without node selectors: one that can't be read ends the answer, the same for every claim set."""
    return [one for one in taken if "nodeSelector" not in json.dumps(one)]


def test_the_sweep_has_every_kind_and_most_are_taken(taken: list[dict[str, object]]) -> None:
    assert {one["kind"] for one in SOME} == {one["kind"] for one in taken} == {kind.name for kind in kinds.every()}
    assert len(taken) > 0.8 * len(SOME)
    assert {one["kind"] for one in share(taken, SHARES - 1)} == {one["kind"] for one in taken}
    assert sorted(map(json.dumps, taken)) == sorted(json.dumps(one) for n in range(SHARES) for one in share(taken, n))


@pytest.mark.parametrize(("command", "form"), RUNS)
def test_answers(command: str, form: str, taken: list[dict[str, object]]) -> None:
    taken = some(taken, FORMATS[command].index(form))
    if command in ("pools", "explain"):
        taken = without_selectors(taken)
    if command == "place" or (form == "name" and command in ("allocate", "schedule")):
        taken = fitting()
    if command == "grow":
        taken = [*fitting(), pod(f"{hostile.TEXT}2", cpu="99")]
    told = safe([command, "-o", form, *MORE.get(command, [])], taken)
    assert "BROKEN" in told


@pytest.mark.parametrize("command", FORMATS)
def test_refusals(command: str) -> None:
    assert "stop-commands" in safe([command, *NEEDED.get(command, [])], SOME, statuses=(0, 1, 2))


def test_an_answer_that_ends_in_an_error(taken: list[dict[str, object]]) -> None:
    some = [one for one in taken if "nodeSelector" in json.dumps(one) or one["kind"] == "Node"]
    assert "failed to parse node selector" in safe(["pools"], some, statuses=(2,))


@pytest.mark.parametrize("command", REPORTED)
def test_reports(command: str, taken: list[dict[str, object]], tmp_path: Path) -> None:
    files = {form: tmp_path / form for form in ("junit", "sarif", "gitlab")}
    reports = [part for form, file in files.items() for part in ("--report", f"{form}={file}")]
    safe([command, "--report", "github", *reports], share(taken, REPORTED.index(command)))
    for file in files.values():
        assert hostile.faults(file.read_text(encoding="utf-8"), wrapped=True) == []


@pytest.mark.parametrize("command", FORMATS)
def test_on_a_narrow_terminal(command: str, taken: list[dict[str, object]]) -> None:
    if command == "place":
        taken = fitting()
    if command == "explain":
        taken = without_selectors(taken)
    with patch.object(printing, "screen", lambda _stream: Screen(width=40, colour=False)):
        ran = in_process(command, *MORE.get(command, []), "-", stdin=json.dumps(some(taken, SHARES - 1)))
    assert "BROKEN" in ran.out + ran.err
    assert hostile.faults(ran.out + ran.err, wrapped=True)[:3] == []


@pytest.mark.parametrize("command", FORMATS)
def test_kinds_that_are_skipped(command: str) -> None:
    unknown = {"apiVersion": "example.com/v1", "kind": hostile.TEXT, "metadata": {"name": "a"}}
    statuses = (0, 1, 2)  # there is nothing to plan
    told = safe([command, *NEEDED.get(command, [])], [unknown, {**POD, "spec": {"containers": []}}], statuses=statuses)
    assert "BROKEN" in told or command == "validate"


def test_selectors_of_the_command_line() -> None:
    ran = in_process("cel", f"device.driver == {json.dumps(hostile.TEXT)} && '::' == '##[a'")
    assert hostile.faults(ran.out + ran.err) == []


def test_defects_of_our_own(capsys: pytest.CaptureFixture[str]) -> None:
    def action() -> None:
        try:
            raise KeyError("first")
        except KeyError as error:
            raise ValueError(hostile.TEXT) from error

    guarded(action)
    err = capsys.readouterr().err
    assert "stop-commands" in err
    assert hostile.faults(err) == []


@pytest.mark.long
@pytest.mark.parametrize(("command", "form"), RUNS)
@pytest.mark.parametrize("part", range(24))
def test_every_field(command: str, form: str, part: int) -> None:
    objects = OBJECTS[part::24]
    asked = [command, "-o", form, *(MORE[command] if command in ("capacity", "grow", "diff") else ())]
    safe(asked, objects, statuses=(0, 1, 2))
    safe(asked, hostile.unrefused(objects), statuses=(0, 1, 2))


@pytest.mark.parametrize("form", ["table", "wide", "name"])
@pytest.mark.parametrize("command", ["allocate", "schedule"])
def test_objects_of_unknown_kinds(command: str, form: str) -> None:
    """Their kinds, and the names of the fields in which pod templates are found."""

    def unknown(spec: dict[str, object]) -> dict[str, object]:
        metadata = {"name": hostile.TEXT, "namespace": "default"}
        return {"apiVersion": f"{hostile.TEXT}/v1", "kind": hostile.TEXT, "metadata": metadata, "spec": spec}

    template = {
        "spec": {"containers": [{"name": "c"}], "resourceClaims": [{"name": "x", "resourceClaimName": hostile.TEXT}]}
    }
    planned = unknown({hostile.TEXT: {"template": template}, "other": [{"template": template}]})
    broken = {**unknown({hostile.TEXT: {"spec": {"containers": [{"name": 5}]}}}), "kind": f"Z{hostile.TEXT}"}
    objects = [*fitting()[:-1], planned, broken]
    assert "BROKEN" in safe([command, "-o", form], objects)
