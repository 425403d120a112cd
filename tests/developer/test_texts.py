"""Texts of the package: each has one home, and none is read to know what happened."""

from pathlib import Path

import pytest

from scripts import texts

SAID = "nobody has such a device"


def package(folder: Path, **modules: str) -> Path:
    made = folder / "package"
    for name, source in modules.items():
        path = made / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")
    return made


@pytest.mark.parametrize(
    "again",
    [f"SAID = {SAID!r}\n", f"def f(x):\n    return [x, {SAID!r}]\n", f"def f(x):\n    return f'{{x}}{SAID}{{x}}'\n"],
)
def test_a_text_in_two_modules_is_found_wherever_they_stand(tmp_path: Path, again: str) -> None:
    made = package(tmp_path, a=f"\nTEXT = {SAID!r}\n", deep__b=again)
    line = 1 if again.startswith("SAID") else 2
    assert texts.twice(made) == {SAID: ["package/a.py:2", f"package/deep/b.py:{line}"]}


@pytest.mark.parametrize(
    "again",
    [
        f'"""{SAID}"""\n',
        f'X = 1\n"""{SAID}"""\n',
        f"X = {SAID.title()!r}\n",
        f"X = ({SAID[:18]!r}, 1)\n",
    ],
)
def test_docstrings_other_texts_and_short_ones_are_none(tmp_path: Path, again: str) -> None:
    made = package(tmp_path, a=f"X = {SAID!r}\nY = {SAID[:18]!r}\n", b=again)
    assert texts.twice(made) == {}


def test_names_stand_wherever_they_are_needed(tmp_path: Path) -> None:
    source = "X = ('DRAPartitionableDevices', 'counter_slices_everywhere', 'ResourceClaimTemplate ')\n"
    assert texts.twice(package(tmp_path, a=source, b=source)) == {}
    label = "X = 'topology.kubernetes.io/zone'\n"
    assert list(texts.twice(package(tmp_path, a=label, b=label))) == ["topology.kubernetes.io/zone"]


def test_a_text_may_stand_twice_in_its_module(tmp_path: Path) -> None:
    assert texts.twice(package(tmp_path, a=f"X = {SAID!r}\nY = {SAID!r}\n")) == {}


MATCHING = [
    "of.message == 'Too many pods'",
    "TOO_MANY != of.message",
    "of.message in ('a', 'b')",
    "'Insufficient' in of.message",
    "words._NO_HELP in of.message",
    "f'Insufficient {name}' == of.message",
    "of.message.removeprefix('Insufficient ')",
    "of.message.startswith(START)",
    "message.partition(': ')[2]",
    "of.message.splitlines() and of.message.split(': ')",
    "re.match(r'Insufficient (.*)', of.message)",
    "PATTERN.fullmatch(of.message)",
    "'Too many pods' in status.reasons",
    "reason.text == 'Too many pods'",
    "[reason for reason in status.reasons if reason == 'Too many pods']",
    "[reason for reason in status.reasons if reason.text.startswith('x')]",
]


@pytest.mark.parametrize("expression", MATCHING)
def test_matching_a_message_is_found(tmp_path: Path, expression: str) -> None:
    assert texts.matched(package(tmp_path, a=f"\n\ndef f(of):\n    return {expression}\n")) == ["package/a.py:4"]


@pytest.mark.parametrize(
    "body",
    [
        "    said = of.message\n    return said == 'Too many pods'\n",
        "    if (said := of.message) and said.startswith('x'):\n        return 1\n",
        "    try:\n        g()\n    except CelError as error:\n        return 'no such key' in str(error)\n",
        "    for one in of.reasons:\n        pass\n    return one == 'x'\n",
        "    match of.message:\n        case 'Too many pods':\n            return 1\n",
    ],
)
def test_matching_it_by_another_name_is_found(tmp_path: Path, body: str) -> None:
    assert len(texts.matched(package(tmp_path, a=f"def f(of):\n{body}"))) == 1


@pytest.mark.parametrize(
    "body",
    [
        "    return of.message != other.message\n",
        "    return of.message == '' or not of.message\n",
        "    return {of.message: 1, 'x': of.message.strip()}\n",
        "    return of.kind == 'Resource' and of.code.startswith('x')\n",
        "    return {'message': 1}['message'] and 'message' in of\n",
        "    try:\n        g()\n    except json.DecodeError as error:\n        return PATTERN.match(str(error))\n",
    ],
)
def test_what_only_carries_messages_is_none(tmp_path: Path, body: str) -> None:
    assert texts.matched(package(tmp_path, a=f"def f(of):\n{body}")) == []


def test_the_page_may_match_until_it_is_made_from_documents(tmp_path: Path) -> None:
    source = "X = of.message == 'x'\n"
    assert texts.matched(package(tmp_path, page__told=source, text__told=source)) == ["package/text/told.py:1"]
