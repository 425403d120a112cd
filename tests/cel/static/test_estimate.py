"""The estimate's rules one by one. What Kubernetes' own tests state of its libraries is marked as theirs."""

import pytest

from dra_plan.cel.cost import MOST, Interval
from dra_plan.cel.environment import environment
from dra_plan.cel.estimate import estimate
from dra_plan.cel.selector import check

SCOPE = environment("1.36", {}, "stored")
MANY = environment("1.36", {"DRAListTypeAttributes": True}, "stored")


def cost(expression: str, scope=SCOPE) -> int:
    return estimate(check(expression, scope), scope)


def extra(expression: str) -> int:
    """The cost of an expression of any type."""
    return cost(f"dyn({expression}) == dyn(true)") - cost("dyn(0) == dyn(true)")


@pytest.mark.parametrize(
    ("expression", "most"),
    [
        ("true", 0),
        ("device.allowMultipleAllocations", 2),
        ("device.driver == 'a'", 3),
        ("device.driver == ''", 2),
        ("device.driver == device.driver", 4 + 7),
        ("has(device.driver)", 1),
        ("has(device.attributes['d'].a)", 3),
        ("device.attributes['d'].a", 4),
        ("device.attributes['d']['a']", 4),
        ("device.attributes['d'].a == 'b'", 5),
        ("device.attributes['d'].a == device.attributes['d'].b", 8 + 7),
        ("true && device.allowMultipleAllocations", 2),
        ("true ? device.allowMultipleAllocations : device.driver == ''", 2),
        ("'a' in device.attributes", 3),
        ("'a' in ['a', 'b']", 12),
        ("device.attributes.exists(x, true)", 3 + 32 * 4),
        ("[1, 2, 3].all(x, x > 0)", 10 + 3 * 5 + 1),
        ("cel.bind(x, device.driver, x == x)", 10 + 2 + 2 + 7),
        ("[] == []", 20),
        ("{'a': 1} == {}", 60),
        ("google.protobuf.Int64Value{value: 1} == 1", 41),
        ("device.driver.startsWith('0123456789a')", 2 + 2),
        ("device.driver.contains('0123456789a')", 2 + 7 * 2),
        ("device.driver.matches('0123456789')", 2 + 7 * 3),
        ("device.driver.find('0123456789') == ''", 2 + 7 * 3),
        ("device.driver.lowerAscii() == device.driver", 2 + 7 + 2 + 7),
        ("device.driver + 'a' == ''", 2 + 7),
        ("device.driver.split('').size() == 1", 2 + 13 + 1 + 1),
        ("device.driver.replace('ab', 'c') == 'x'", 2 + 13 + 1),
        ("dyn(device.driver) == 'a'", 4),
        ("device.attributes['d'].a.split('-').all(x, x == '')", 4 + 13 + 64 * 4 + 1),
    ],
)
def test_expressions(expression, most):
    assert cost(expression) == most


@pytest.mark.parametrize(
    ("expression", "most"),
    [
        ("[1, 2, 3, 4, 5].sum()", 15),
        ("[uint(1), uint(2), uint(3), uint(4), uint(5)].sum()", 20),
        ("'01234567890123456789012345678901234567890123456789'.indexOf('123')", 5),
        ("url('https:://kubernetes.io/').getScheme()", 4),
        ("url('https:://kubernetes.io/') == url('https:://kubernetes.io/')", 9),
        ("url('https:://kubernetes.io/') == url('http://x.b')", 5),
        ("ip('192.168.0.1')", 2),
        ("ip('2001:db8:3333:4444:5555:6666:7777:8888').family()", 5),
        ("ip('192.168.0.1') == ip('192.168.0.1')", 5),
        ("ip.isCanonical('2001:db8:3333:4444:5555:6666:7777:8888')", 8),
        ("cidr('192.168.0.0/16').ip()", 3),
        ("cidr('192.168.0.0/16').containsCIDR('192.0.0.0/30')", 11),
        ("cidr('192.168.0.0/16').containsIP(ip('192.169.169.250'))", 8),
        ("cidr('192.168.0.0/16').containsIP('192.0.0.1')", 7),
    ],
)
def test_as_kubernetes_tests_state_it(expression, most):
    assert extra(expression) == most


def test_what_lists_of_text_contain_has_no_known_size():
    assert extra("['a'].isSorted()") > 10**18
    assert extra("['a'].join()") > 10**18
    assert extra("device.driver.split('a').isSorted()") > 10**18


def test_list_values_count_with_the_gate():
    assert cost("device.attributes['d'].a.includes('b')", MANY) == 52
    assert cost("1 in device.attributes['d'].a", MANY) == 68


def test_endless_costs_stop_at_the_largest_number():
    assert cost("lists.range(int(device.driver)).all(x, true)") == MOST


@pytest.mark.parametrize("number", [0, 1, 63, 10**6, 2**53 + 1, MOST - 1, MOST])
@pytest.mark.parametrize("factor", [0.1, 0.25, 1, 2.1, 1e30])
def test_scaling_stops_at_the_largest_number_and_never_rounds_down(number, factor):
    scaled = Interval(0, number).scaled(factor)
    assert scaled.least == 0
    assert scaled.most <= MOST
    assert scaled.most == MOST or scaled.most >= number * factor * (1 - 1e-9)
