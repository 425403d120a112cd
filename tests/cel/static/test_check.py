import pytest

from dra_plan.cel.environment import environment
from dra_plan.cel.format_strings import Checked
from dra_plan.cel.lexer import CelCompileError
from dra_plan.cel.selector import check

from .shown import shown

SCOPE = environment("1.36")


def typed(expression: str) -> Checked:
    return check(expression, SCOPE)


def first_line(expression: str) -> str:
    with pytest.raises(CelCompileError) as refused:
        check(expression, SCOPE)
    return str(refused.value).split("\n")[0]


def type_error(expression: str) -> str:
    """The message of a type error, without what stands before it in each."""
    return first_line(expression).removeprefix("compilation failed: ERROR: <input>:")


@pytest.mark.parametrize(
    ("expression", "type_of"),
    [
        ("device", "kubernetes.DRADevice"),
        ("device.driver", "string"),
        ("device.attributes", "map(string, map(string, google.protobuf.Any))"),
        ("device.attributes.d", "map(string, google.protobuf.Any)"),
        ("device.attributes['d'].a", "google.protobuf.Any"),
        ("device.attributes['d'].a.b", "dyn"),
        ("device.capacity['d'].c", "kubernetes.Quantity"),
        ("device.capacity[?'d'].c", "optional_type(kubernetes.Quantity)"),
        ("device.allowMultipleAllocations", "bool"),
        ("[]", "list(dyn)"),
        ("[[], [1]]", "list(list(int))"),
        ("[device.driver].map(x, x.size())", "list(int)"),
        ("{'a': [1u]}", "map(string, list(uint))"),
        ("{'a': 1}.transformMap(k, v, k + string(v))", "map(string, string)"),
        ("optional.of(1).optMap(x, x + 1)", "optional_type(int)"),
        ("optional.none().orValue(3)", "int"),
        ("[optional.of('a')].unwrapOpt()", "list(string)"),
        ("cel.bind(x, 1.5, [x])", "list(double)"),
        ("type(1)", "type(int)"),
        ("google.protobuf.Timestamp", "type(google.protobuf.Timestamp)"),
        ("google.protobuf.Int64Value{value: 1}", "wrapper(int)"),
        ("google.protobuf.NullValue.NULL_VALUE", "int"),
        ("net.IP", "type(net.IP)"),
        ("url('/').getQuery()", "map(string, list(string))"),
        ("format.uri().validate('/')", "optional_type(list(string))"),
        ("timestamp('2024-01-01T00:00:00Z') - duration('1h')", "google.protobuf.Timestamp"),
        ("true ? device.attributes['d'].a : 1", "google.protobuf.Any"),
        ("dyn(1) + 1", "int"),
        ("dyn(1) + dyn(2)", "dyn"),
        ("[3, 1].sortBy(x, -x)", "list(int)"),
    ],
)
def test_types(expression, type_of):
    checked = typed(f"[{expression}].size() == 1")
    (element,) = next(node for node in _lists(checked) if len(node.elements) == 1).elements
    assert str(checked.types[element.id]) == type_of


def _lists(checked):
    from dra_plan.cel.ast import List, nodes

    return (node for node in nodes(checked.root) if isinstance(node, List))


@pytest.mark.parametrize(
    ("expression", "overloads"),
    [
        ("1 == 1", ["equals"]),
        ("1 < 2u", ["less_int64_uint64"]),
        ("'a' in {'a': 1}", ["in_map"]),
        ("device.driver.startsWith('a')", ["starts_with_string"]),
        ("size('a') == 'b'.size()", ["equals", "size_string", "string_size"]),
        (
            "device.attributes['d'].a > 0",
            ["greater_int64", "greater_uint64_int64", "greater_double_int64", "index_map"],
        ),
        ("sets.contains([1], [2])", ["list_sets_contains_list"]),
        ("has(device.driver)", []),
        ("device.?driver.hasValue()", ["optional_hasValue", "select_optional_field"]),
        ("ip('::1').family() == 6", ["equals", "ip_family", "string_to_ip"]),
        (
            "device.capacity['d'].c.isGreaterThan(quantity('1'))",
            ["quantity_is_greater_than", "index_map", "string_to_quantity"],
        ),
        (
            "device.attributes['d'].v.isGreaterThan(semver('1.0.0'))",
            ["semver_is_greater_than", "index_map", "string_to_semver"],
        ),
    ],
)
def test_overloads(expression, overloads):
    from dra_plan.cel.ast import nodes

    checked = typed(expression)
    found = [overload.id for node in nodes(checked.root) for overload in checked.overloads.get(node.id, ())]
    assert found == overloads


def test_names_are_resolved():
    checked = typed(".sets.contains([type(1)], [.int]) && [1].all(x, .x == 1 || sets.equivalent([x], [x]))")
    assert shown(checked.root).startswith("_&&_(sets.contains([type(1)], [int]), fold(x in ")
    assert set(checked.idents.values()) == {"int", "x", "@result"}


def test_local_variables_hide_others():
    assert typed("[1].all(device, device == 1)").result_type.name == "bool"
    assert type_error("[1].all(device, device.driver == 1)") == "1:23: type 'int' does not support field selection"


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("a", "1:1: undeclared reference to 'a' (in container '')"),
        ("a.b.c()", "1:1: undeclared reference to 'a' (in container '')"),
        ("device.c()", "1:9: undeclared reference to 'c' (in container '')"),
        ("size(1)", "1:5: found no matching overload for 'size' applied to '(int)'"),
        ("'a'.size(1)", "1:9: found no matching overload for 'size' applied to 'string.(int)'"),
        ("device.driver.size", "1:14: type 'string' does not support field selection"),
        ("device.nope", "1:7: undefined field 'nope'"),
        ("device.capacity['d'].c.value", "1:23: unexpected failed resolution of 'kubernetes.Quantity'"),
        ("1 && true", "1:1: expected type 'bool' but found 'int'"),
        ("[1].exists(x, x)", "1:15: expected type 'bool' but found 'int'"),
        ("1 ? 2 : 3", "1:3: found no matching overload for '_?_:_' applied to '(int, int, int)'"),
        ("[1, 'a'].size() == 2", "1:5: expected type 'int' but found 'string'"),
        ("{1: 2, 'a': 3u}.size() == 2", "1:8: expected type 'int' but found 'string'"),
        ("[?1].size() == 1", "1:3: expected type 'optional_type(int)' but found 'int'"),
        ("1.all(x, true)", "1:1: expression of type 'int' cannot be range of a comprehension (must be list, map, or"),
        ("int{value: 1} == 1", "1:4: 'int' is not a message type"),
        ("device{driver: 'x'} == device", "1:7: 'kubernetes.DRADevice' is not a type"),
        ("nope{} == 1", "1:5: undeclared reference to 'nope' (in container '')"),
        ("google.protobuf.Int64Value{value: 'a'} == 1", "1:33: expected type of field 'value' is 'int' but provided"),
        ("google.protobuf.Int64Value{nope: 1} == 1", "1:32: undefined field 'nope'"),
        ("duration('1x') > duration('1h')", "1:10: invalid duration argument"),
        ("timestamp('2024-13-01T00:00:00Z') == timestamp(0)", "1:11: invalid timestamp argument"),
        ("'a'.matches('(')", "1:13: invalid matches argument"),
        ("matches('(', 'a')", "1:9: invalid matches argument"),
        ("'%d'.format(['a']) == ''", "1:14: error during formatting: decimal clause can only be used on integers, was"),
        ("'%s %s'.format(['a']) == ''", "1:15: index 1 out of range"),
        ("'%s'.format(['a', 1]) == ''", "1:12: too many arguments supplied to string.format (expected 1, got 2)"),
        ("'%q'.format(['a']) == ''", '1:12: could not parse formatting clause: unrecognized formatting clause "q"'),
        ("'%.f'.format([1.0]) == ''", "1:13: could not parse formatting clause: error while parsing precision"),
        ("'100%'.format([1]) == ''", "1:14: unexpected end of string"),
        ("'%q'.format([]) == ''", "1:12: index 0 out of range"),
        (
            "'%.99999999999999999999f'.format([1.0]) == ''",
            "1:33: could not parse formatting clause: error while parsing",
        ),
        ("'%s'.format([[1, {'a': device}]]) == ''", "1:24: error during formatting: string clause can only be used on"),
    ],
)
def test_type_errors(expression, message):
    assert type_error(expression).startswith(message)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("1", "must evaluate to bool or the unknown type, not int"),
        ("dyn(true)", "must evaluate to bool or the unknown type, not dyn"),
        ("google.protobuf.BoolValue{value: true}", "must evaluate to bool or the unknown type, not wrapper(bool)"),
        ("duration('1h')", "must evaluate to bool or the unknown type, not google.protobuf.Duration"),
        ("int('x') == 1 || true", "program instantiation failed: type conversion error from 'string' to 'int'"),
        (
            "false && int(string('x')) == 1",
            "program instantiation failed: type conversion error from 'string' to 'int'",
        ),
        ("uint(-1) == 1u", "program instantiation failed: unsigned integer overflow"),
        ("int(18446744073709551615u) == 1", "program instantiation failed: integer overflow"),
        ("bool('yes')", "program instantiation failed: type conversion error from 'string' to 'bool'"),
        ("'a'.find('(') == ''", "program instantiation failed: error parsing regexp: "),
        ("'a'.matches(string('('))", "program instantiation failed: error parsing regexp: "),
    ],
)
def test_other_errors(expression, message):
    assert first_line(expression).startswith(message)


@pytest.mark.parametrize(
    "expression",
    [
        "device.attributes['d'].a",
        "'%s %d'.format(['a', 1]) == ''",
        "[device.attributes['d'].a].size() == 1",
        "int(device.driver) == 1",
        "cel.bind(p, '(', 'a'.matches(p))",
        "duration(device.driver) > duration('1h30m')",
        "device.capacity['d'].c == null",
        "[google.protobuf.Int64Value{value: 1}, 2].size() == 2",
        "'%% %s %x %.2f'.format([type(1), 'a', 1.0]) == ''",
        "{'a': 1, ?'b': optional.none()} == {'a': 1}",
    ],
)
def test_accepted(expression):
    assert typed(expression).source == expression


def test_what_is_wrong_is_reported_all_at_once():
    with pytest.raises(CelCompileError) as refused:
        typed("a == b\n&& c")
    assert str(refused.value) == (
        "compilation failed: ERROR: <input>:1:1: undeclared reference to 'a' (in container '')\n"
        " | a == b\n"
        " | ^\n"
        "ERROR: <input>:1:6: undeclared reference to 'b' (in container '')\n"
        " | a == b\n"
        " | .....^\n"
        "ERROR: <input>:2:4: undeclared reference to 'c' (in container '')\n"
        " | && c\n"
        " | ...^"
    )


def test_of_many_errors_a_hundred_are_shown():
    with pytest.raises(CelCompileError) as refused:
        typed(" || ".join(["x"] * 150))
    assert str(refused.value).count("ERROR") == 100
    assert str(refused.value).endswith("\n50 more errors were truncated")
