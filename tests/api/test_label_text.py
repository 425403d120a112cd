"""Label selectors as `-l` takes them: what kubectl accepts, rejects, and says of it.

The outcomes are those of kubectl itself (`kubectl create pdb --selector`, `kubectl drain --pod-selector`).
"""

from __future__ import annotations

import pytest

from dra_plan.api.selectors import labels_match, parse_selector
from dra_plan.errors import UsageError

LABELS = {"app": "web", "tier": "front", "rank": "3", "example.com/team": "a", "empty": ""}
NAME = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    "(e.g. 'MyName',  or 'my.name',  or '123-abc', "
    "regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
VALUE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', "
    "regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
PREFIX = (
    "prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and "
    "must start and end with an alphanumeric character (e.g. 'example.com', "
    r"regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
EXAMPLE = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
INTEGER = "for 'Gt', 'Lt' operators, the value must be an integer"
OPERATORS = "in, notin, =, ==, !=, gt, lt"


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("app=web", True),
        ("app==web", True),
        ("app = web", True),
        ("app=other", False),
        ("app!=other", True),
        ("missing!=other", True),
        ("app!=web", False),
        ("app", True),
        ("missing", False),
        ("!app", False),
        ("!missing", True),
        ("app in (web, api)", True),
        ("app in (api)", False),
        ("app notin (api,db)", True),
        ("missing notin (api)", True),
        ("missing in (api)", False),
        ("app=web,tier=front", True),
        ("app=web,tier=back", False),
        ("app in (web,api),!missing,tier", True),
        ("example.com/team=a", True),
        ("empty=", True),
        ("app=", False),
        ("rank>2", True),
        ("rank>3", False),
        ("rank<4", True),
        ("app>1", False),
        ("missing<1", False),
    ],
)
def test_matching(text: str, matches: bool) -> None:
    assert labels_match(parse_selector(text), LABELS) is matches


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a=b", [("a", "In", ["b"])]),
        ("a == b", [("a", "In", ["b"])]),
        ("a=", [("a", "In", [""])]),
        ("a=,b", [("a", "In", [""]), ("b", "Exists", None)]),
        ("a=in", [("a", "In", ["in"])]),
        ("a!=b", [("a", "NotIn", ["b"])]),
        ("a in (c,b,c)", [("a", "In", ["b", "c"])]),
        ("a\tin\n(b)", [("a", "In", ["b"])]),
        ("a in ()", [("a", "In", [""])]),
        ("a in (,)", [("a", "In", [""])]),
        ("a in (b,)", [("a", "In", ["", "b"])]),
        ("a in (,b)", [("a", "In", ["", "b"])]),
        ("a in (b,,c)", [("a", "In", ["", "b", "c"])]),
        ("a notin (b),d", [("a", "NotIn", ["b"]), ("d", "Exists", None)]),
        ("in in (in)", [("in", "In", ["in"])]),
        ("notin=x", [("notin", "In", ["x"])]),
        ("! a", [("a", "DoesNotExist", None)]),
        ("app.kubernetes.io/name=x,tier", [("app.kubernetes.io/name", "In", ["x"]), ("tier", "Exists", None)]),
        ("a>01", [("a", "Gt", ["01"])]),
    ],
)
def test_requirements(text: str, expected: list[tuple[str, str, list[str] | None]]) -> None:
    selector = parse_selector(text)
    assert selector is not None
    assert [(r.key, r.operator, r.values) for r in selector.match_expressions or ()] == expected


@pytest.mark.parametrize("text", [None, "", "  "])
def test_blank_text_is_no_selector(text: str | None) -> None:
    assert parse_selector(text) is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (",", "found ',', expected: !, identifier, or 'end of string'"),
        ("=b", "found '=', expected: !, identifier, or 'end of string'"),
        (")", "found ')', expected: !, identifier, or 'end of string'"),
        ("a,,b", "found ',', expected: identifier after ','"),
        ("a=b,", "found '', expected: identifier after ','"),
        ("a=b=c", "found '=', expected: ',' or 'end of string'"),
        ("a=b c", "found 'c', expected: ',' or 'end of string'"),
        ("a=b)", "found ')', expected: ',' or 'end of string'"),
        ("!a=b", "found '=', expected: ',' or 'end of string'"),
    ],
)
def test_what_stands_between_requirements(text: str, problem: str) -> None:
    assert refusal(text) == problem


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("!", "found '', expected: identifier"),
        ("!!a", "found '!', expected: identifier"),
        ("a b", f"found 'b', expected: {OPERATORS}"),
        ("a!b", f"found '!', expected: {OPERATORS}"),
        ("a )", f"found ')', expected: {OPERATORS}"),
        ("a===b", "found '=', expected: identifier"),
        ("a!==b", "found '=', expected: identifier"),
        ("a=!=b", "found '!=', expected: identifier"),
        ("a<>b", "found '>', expected: identifier"),
        ("a=(x)", "found '(', expected: identifier"),
        ("a in", "found '' expected: '('"),
        ("a in b", "found 'b' expected: '('"),
        ("a in notin", "found 'notin' expected: '('"),
        ("a in (", "found '', expected: ',', ')' or identifier"),
        ("a in (=)", "found '=', expected: ',', ')' or identifier"),
        ("a in (b", "found '', expected: ',' or ')'"),
        ("a in (b c)", "found 'c', expected: ',' or ')'"),
        ("a in (b,", "found '', expected: ',', or identifier"),
        ("a%=b", f'<nil>: Invalid value: "a%": name part {NAME}'),
        ("-a=b", f'<nil>: Invalid value: "-a": name part {NAME}'),
        ("é", f'<nil>: Invalid value: "é": name part {NAME}'),
        ('a"b', rf'<nil>: Invalid value: "a\"b": name part {NAME}'),
        ("a/", f'<nil>: Invalid value: "a/": name part must be non-empty; name part {NAME}'),
        ("/a", '<nil>: Invalid value: "/a": prefix part must be non-empty'),
        ("Ab/c=d", f'<nil>: Invalid value: "Ab/c": {PREFIX}'),
        ("x..y/z", f'<nil>: Invalid value: "x..y/z": {PREFIX}'),
        (
            "A.b/c/d",
            f'<nil>: Invalid value: "A.b/c/d": a qualified name {NAME} {EXAMPLE}',
        ),
        ("x" * 64, f'<nil>: Invalid value: "{"x" * 64}": name part must be no more than 63 bytes'),
        ("a=-b", f'values[0][a]: Invalid value: "-b": {VALUE}'),
        ("a=%", f'values[0][a]: Invalid value: "%": {VALUE}'),
        (f"a={'x' * 64}", f'values[0][a]: Invalid value: "{"x" * 64}": must be no more than 63 bytes'),
        (
            "a in (-b,_c)",
            f'[values[0][a]: Invalid value: "-b": {VALUE}, values[1][a]: Invalid value: "_c": {VALUE}]',
        ),
        ("a>x", f'values[0]: Invalid value: "x": {INTEGER}'),
        ("a>", f'values[0]: Invalid value: "": {INTEGER}'),
        ("a>1_0", f'values[0]: Invalid value: "1_0": {INTEGER}'),
        ("a<9223372036854775808", f'values[0]: Invalid value: "9223372036854775808": {INTEGER}'),
        ("a>-1", f'values[0][a]: Invalid value: "-1": {VALUE}'),
    ],
)
def test_what_a_requirement_may_not_be(text: str, problem: str) -> None:
    assert refusal(text) == f"unable to parse requirement: {problem}"


def refusal(text: str) -> str:
    """What is said of a text behind the words that name it."""
    with pytest.raises(UsageError) as caught:
        parse_selector(text)
    told = str(caught.value)
    named = "couldn't parse the selector string "
    assert told.startswith(f'{named}"')
    return told.removeprefix(named).split('": ', 1)[1]
