"""Option values that are read here."""

import pytest

from dra_plan.cli.labels import parse
from dra_plan.cli.options import parse_gates
from dra_plan.errors import UsageError


def test_gates() -> None:
    assert parse_gates(None) == {}
    assert parse_gates(["A=true,B=false", "C=True", "A=false"]) == {"A": False, "B": False, "C": True}


@pytest.mark.parametrize("text", ["A", "A=", "A=maybe", "A=true;B=false"])
def test_bad_gates(text: str) -> None:
    with pytest.raises(UsageError, match="is not NAME=true or NAME=false"):
        parse_gates([text])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a=b", [("a", "In", ["b"])]),
        ("a == b", [("a", "In", ["b"])]),
        ("a!=b", [("a", "NotIn", ["b"])]),
        ("a in (b, c)", [("a", "In", ["b", "c"])]),
        ("a notin (b),d", [("a", "NotIn", ["b"]), ("d", "Exists", None)]),
        ("!a", [("a", "DoesNotExist", None)]),
        ("a=", [("a", "In", [""])]),
        ("app.kubernetes.io/name=x,tier", [("app.kubernetes.io/name", "In", ["x"]), ("tier", "Exists", None)]),
    ],
)
def test_label_selectors(text: str, expected: list[tuple[str, str, list[str] | None]]) -> None:
    selector = parse(text)
    assert selector is not None
    assert [(r.key, r.operator, r.values) for r in selector.match_expressions or ()] == expected


def test_no_selector() -> None:
    assert parse(None) is None
    assert parse(" ") is None


@pytest.mark.parametrize("text", ["a=b=c", "a in b", "a in (b", "a b", ",", "a>1", "=b", "a=b,"])
def test_bad_label_selectors(text: str) -> None:
    with pytest.raises(UsageError, match="--selector: can't read"):
        parse(text)
