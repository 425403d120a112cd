import pytest

from dra_plan.cel.environment import environment
from dra_plan.cel.lexer import ExpressionText
from dra_plan.cel.parse import parse

from .shown import shown

MACROS = environment("1.36").macros


def parsed(text: str) -> str:
    expr, faults = parse(text, MACROS)
    assert faults == []
    assert expr is not None
    return shown(expr)


def refused(text: str) -> str:
    expr, faults = parse(text, MACROS)
    assert expr is None
    return ExpressionText(text).display(faults)


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("a || b && c", "_||_(a, _&&_(b, c))"),
        ("a ? b : c ? d : e", "_?_:_(a, b, _?_:_(c, d, e))"),
        ("a + b * c - d", "_-_(_+_(a, _*_(b, c)), d)"),
        ("a % b / c", "_/_(_%_(a, b), c)"),
        ("a < b == c", "_==_(_<_(a, b), c)"),
        ("a in b in c", "@in(@in(a, b), c)"),
        ("!a.b", "!_(a.b)"),
        ("-a.b(c)", "-_(a.b(c))"),
        ("!!!a", "!_(a)"),
        ("!!a", "a"),
        ("--a", "a"),
        ("-1", "-1"),
        ("- 1", "-1"),
        ("--1", "1"),
        ("---1", "-_(1)"),
        ("1-1", "_-_(1, 1)"),
        ("1 - -1", "_-_(1, -1)"),
        ("-1.size()", "-1.size()"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("0x1F + -0x10", "_+_(31, -16)"),
        ("18446744073709551615u", "18446744073709551615u"),
        ("0xfU", "15u"),
        ("1.5e3 + .5 + 1e-1", "_+_(_+_(1500.0, 0.5), 0.1)"),
        ("1.e5", "1.e5"),
        ("null == true", "_==_(null, true)"),
        (".a.b", ".a.b"),
        (".f(x)", ".f(x)"),
        ("a.if", "a.if"),
        ("a.b[c][0]", "_[_](_[_](a.b, c), 0)"),
        ("a.?b[?c]", "_[?_](_?._(a, 'b'), c)"),
        ("[a, ?b,]", "[a, ?b]"),
        ("[,]", "[]"),
        ("{a: 1, ?b: c,}", "{a: 1, ?b: c}"),
        ("{}", "{}"),
        ("a.b.C{x: 1, ?y: 2}", "a.b.C{x: 1, ?y: 2}"),
        (".a.C{}", ".a.C{}"),
        ("a // b\n+ c", "_+_(a, c)"),
        ("(((a)))", "a"),
    ],
)
def test_grammar(text, meaning):
    assert parsed(text) == meaning


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r'"\a\b\f\n\r\t\v\\\'\"\`\?"', "\a\b\f\n\r\t\v\\'\"`?"),
        (r"'\x41\X42\103\u00e9\U0001F600'", "ABCé😀"),
        (r"r'\d\n'", r"\d\n"),
        ('R"""a"b\\"""', 'a"b\\'),
        ("'''a'b\r\nc'''", "a'b\nc"),
        ('"""a""" ', "a"),
        (r"b'\xff\377\n'", b"\xff\xff\n"),
        ('b"é"', "é".encode()),
        (r"bR'\x'", b"\\x"),
        ("'\U0001f600'", "\U0001f600"),
    ],
)
def test_strings_and_bytes(text, value):
    assert parsed(text) == repr(value)


@pytest.mark.parametrize("count", range(1, 12))
def test_chains_of_and_become_balanced_trees_in_the_same_order(count):
    names = [f"x{index}" for index in range(count)]
    meaning = parsed(" && ".join(names))
    assert list(meaning.replace("_&&_(", "").replace(")", "").split(", ")) == names
    depth = max(meaning[:at].count("(") - meaning[:at].count(")") for at in range(len(meaning) + 1))
    assert depth <= count.bit_length()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1:1: Syntax error: mismatched input '<EOF>' expecting {'[', "),
        ("1 +", "1:4: Syntax error: mismatched input '<EOF>' expecting {'[', "),
        ("a b", "1:3: Syntax error: extraneous input 'b' expecting <EOF>"),
        ("(a", "1:3: Syntax error: mismatched input '<EOF>' expecting ')'"),
        ("f(a,)", "1:5: Syntax error: mismatched input ')' expecting {'[', "),
        ("a.in", "1:3: Syntax error: mismatched input 'in' expecting IDENTIFIER"),
        ("a.null", "1:3: Syntax error: mismatched input 'null' expecting IDENTIFIER"),
        ("-!a", "1:2: Syntax error: extraneous input '!' expecting {'[', "),
        ('"\\q"', "1:1: Syntax error: token recognition error at: '\"'"),
        ("a # b", "1:3: Syntax error: token recognition error at: '#'"),
        ("0XFF", "1:2: Syntax error: extraneous input 'XFF' expecting <EOF>"),
        ("1 ==\n  )", "2:3: Syntax error: mismatched input ')' expecting {'[', "),
        ("f(){a: 1}", "1:4: Syntax error: extraneous input '{' expecting <EOF>"),
        ("9223372036854775808", "1:1: invalid int literal"),
        ("9" * 5000, "1:1: invalid int literal"),
        ("18446744073709551616u", "1:1: invalid uint literal"),
        ("1e999", "1:1: invalid double literal"),
        ('"\\ud800"', "1:1: unable to unescape string"),
        ("b'\\u0041'", "1:1: unable to unescape string"),
        ("if", "1:1: reserved identifier: if"),
        ("1 + while(a)", "1:5: reserved identifier: while"),
        ("a.`b`", "1:3: unsupported syntax: '`'"),
        ("has(a)", "1:5: invalid argument to has() macro"),
        ("[1].all(x.y, true)", "1:10: argument must be a simple name"),
        ("[1].map(1, true)", "1:9: argument is not an identifier"),
        ("[1].all(__result__, true)", "1:9: iteration variable overwrites accumulator variable"),
        ("[1].all(a, a, true)", "1:12: duplicate variable name: a"),
        ("cel.bind(1, 2, 3)", "1:10: cel.bind() variable names must be simple identifiers"),
        ("a.optMap(b.c, 1)", "1:11: optMap() variable name must be a simple identifier"),
        ("{}.sortBy(x, x)", "1:1: sortBy can only be applied to a list, identifier, comprehension, call or select"),
    ],
)
def test_faults_have_their_place(text, message):
    assert refused(text).startswith(f"ERROR: <input>:{message}")


def test_every_literal_and_macro_fault_is_reported_in_text_order():
    faults = refused("1e999 == has(a) || if")
    assert [line.split(": ", 1)[1] for line in faults.split("\n") if line.startswith("ERROR")] == [
        "<input>:1:1: invalid double literal",
        "<input>:1:14: invalid argument to has() macro",
        "<input>:1:20: reserved identifier: if",
    ]


def test_the_caret_is_wide_below_wide_text():
    assert refused("'é' +\t'ü' ~").endswith("\n | 'é' + 'ü' ~\n | .\uff0e.....\uff0e..^")


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("(" * 249 + "a" + ")" * 249, None),
        ("(" * 250 + "a" + ")" * 250, "expression recursion limit exceeded: 250"),
        ("1+(" * 124 + "a" + ")" * 124, None),
        ("1+(" * 125 + "a" + ")" * 125, "expression recursion limit exceeded: 250"),
        ("a?a:" * 249 + "a", None),
        ("a?a:" * 250 + "a", "expression recursion limit exceeded: 250"),
        ("a" + ".b" * 250, None),
        ("a" + ".b" * 251, "max recursion depth exceeded"),
        ("a" + "+a" * 250, None),
        ("a" + "+a" * 251, "max recursion depth exceeded"),
        ("a" + "&&a" * 3000, None),
        ("!" * 9999 + "a", None),
        ("[" * 5000, "expression recursion limit exceeded: 250"),
        ("a.optMap(a, " * 40 + "a" + ")" * 40, None),
        ("a" + ".optMap(a, a)" * 40, "expression is too large after macro expansion"),
        ("'" + "a" * 100_000 + "'", "expression code point size exceeds limit: size: 100002, limit 100000"),
    ],
)
def test_limits(text, limit):
    from dra_plan.cel.ast import with_room

    expr, faults = with_room(lambda: parse(text, MACROS))
    if limit is None:
        assert expr is not None
    else:
        assert ExpressionText(text).display(faults) == f"ERROR: <input>:-1:0: {limit}"
