"""Functions of the libraries, each with its corners, as expressions that are true."""

from __future__ import annotations

import pytest

from .expressions import error, holds

TRUE = {
    "strings": [
        '"tacocat".charAt(6) == "t" && "a".charAt(1) == ""',
        '"héllo".indexOf("l") == 2 && "hello".indexOf("l", 3) == 3 && "hello".indexOf("x") == -1',
        '"".indexOf("x") == -1 && "abc".indexOf("") == 0 && "abc".indexOf("", 2) == 2 && "abc".indexOf("a", 9) == -1',
        '"hello".lastIndexOf("l") == 3 && "hello".lastIndexOf("l", 2) == 2 && "".lastIndexOf("abc") == -1',
        '"hello".lastIndexOf("") == 5 && "hello".lastIndexOf("h", 99) == -1',
        '"TacoCÆt".lowerAscii() == "tacocÆt" && "tacoé".upperAscii() == "TACOé"',
        '"hello hello".replace("he", "we", 1) == "wello hello" && "ab".replace("", "-") == "-a-b-"',
        '"aaa".replace("a", "b", 0) == "aaa" && "aaa".replace("a", "b", -1) == "bbb"',
        '"a b c".split(" ") == ["a", "b", "c"] && "a b c".split(" ", 2) == ["a", "b c"]',
        '"abc".split("") == ["a", "b", "c"] && "abc".split("", 2) == ["a", "bc"] && "abc".split("b", 0) == []',
        '"".split(",") == [""] && "".split("") == []',
        '"tacocat".substring(4) == "cat" && "tacocat".substring(0, 4) == "taco" && "a".substring(1) == ""',
        '"\\u00a0\\t x \\u3000".trim() == "x" && "\\u200bx".trim() == "\\u200bx"',
        "strings.quote('a\"\\n') == '\"a\\\\\"\\\\n\"'",
        '["a", "b"].join() == "ab" && ["a", "b"].join("-") == "a-b" && [].join("-") == ""',
    ],
    "maps with lists and maps as keys": [
        "{[1]: 2}.transformList(k, v, v) == [2] && {[1]: 2}.all(k, k == [1])",
        "!([1] in {[1]: 2}) && {[1]: 1} != {[1]: 1} && {{'a': 1}: 2}.size() == 1",
        '"%s".format([{true: 1, false: 2}]) == "{false:2, true:1}"',
        "[dyn({[1]: 'ab'})].indexOf(dyn({})) == -1",
    ],
    "format": [
        '"%s %s %s %%".format(["a", 1, true]) == "a 1 true %"',
        '"%s".format([["x", "y"]]) == "[\\"x\\", \\"y\\"]"',
        '"%s".format([[dyn(1), dyn(2.5), dyn(null), dyn(b"y"), dyn([true])]]) == "[1, 2.500000, null, b\\"y\\", [true]]"',  # noqa: E501
        '"%s".format([{"b": 1, "a": 2}]) == "{\\"a\\":2, \\"b\\":1}"',
        '"%d %d".format([-5, 7u]) == "-5 7"',
        '"%b %b %o %x %X".format([5, true, 8, 255, 255]) == "101 1 10 ff FF"',
        '"%x %X".format(["az", b"\\xff"]) == "617a FF"',
        '"%.1f %f".format([2.25, 1.5]) == "2.2 1.500000"',
        '"%f".format([12345.678]) == "12,345.678000"',
        '"%.1f".format(["Infinity"]) == "∞"',
        '"%e".format([1052.032911275]) == "1.052033\\u202f\\u00d7\\u202f10\\u2070\\u00b3"',
        '"%.3e".format([1052.1]) == "%e".format([1052.1]) && "%.18e".format([1.5]) == "   " + "%e".format([1.5])',
        '"%s".format([duration("90s")]) == "90s"',
        '"%s".format([timestamp("2023-02-03T23:31:20.5Z")]) == "2023-02-03T23:31:20.5Z"',
        '"%s".format([type(1)]) == "int" && "%s".format([1.0]) == "1"',
    ],
    "regex": [
        '"abc 123".find("[0-9]+") == "123" && "abc".find("x") == ""',
        '"123 abc 456".findAll("[0-9]+") == ["123", "456"] && "1a2".findAll("[0-9]", 1) == ["1"]',
        '"abc".findAll("x*") == ["", "", "", ""] && "xab".findAll("x*") == ["x", "", ""]',
        '"é1".findAll("[0-9]") == ["1"] && "abc".findAll("b", 0) == []',
        '"k8s".matches("^[a-z0-9]+$") && !"K8s".matches("^[a-z0-9]+$") && "\\u212a".matches("(?i)k")',
    ],
    "lists": [
        "[1, 3, 2].sum() == 6 && [1.5, 2.0].sum() == 3.5 && [1u, 2u].sum() == 3u",
        '[duration("1m"), duration("1s")].sum() == duration("61s")',
        '[3, 1, 2].min() == 1 && ["b", "c", "a"].max() == "c" && [true, false].min() == false',
        "[1, 1, 2].isSorted() && ![2, 1].isSorted()",
        "[1, 2, 2].indexOf(2) == 1 && [1, 2, 2].lastIndexOf(2) == 2 && [1].indexOf(5) == -1",
        "[1, 2, 3, 4].slice(1, 3) == [2, 3] && [[1], [2, 3]].flatten() == [1, 2, 3]",
        "[[[1]], [[2]]].flatten(1) == [[1], [2]] && [[[1]], [[2]]].flatten(9) == [1, 2]",
        '[3, 1, 2].sort() == [1, 2, 3] && ["b", "a"].sort() == ["a", "b"]',
        '["ccc", "a", "bb"].sortBy(x, x.size()) == ["a", "bb", "ccc"]',
        "lists.range(3) == [0, 1, 2] && lists.range(-1) == [] && [1, 2].reverse() == [2, 1]",
        "[1, 1, 2].distinct() == [1, 2] && [dyn(1), dyn(1.0), dyn(1u)].distinct().size() == 1",
        "sets.contains([1, 2, 3], [2]) && !sets.contains([1], [1, 2]) && sets.contains([], [])",
        "sets.equivalent([1, 1, 2], [2, 1]) && sets.intersects([1, 2], [2, 3]) && !sets.intersects([], [1])",
        "[1, 2].transformList(i, v, i * v) == [0, 2] && [5, 6].transformMap(i, v, v > 5, v) == {1: 6}",
        '{"a": 1}.transformMap(k, v, v + 1) == {"a": 2} && {"a": 1}.transformMapEntry(k, v, {v: k}) == {1: "a"}',
        "[1, 2, 3].exists_one(x, x > 2) && [1, 2].all(i, v, i < v) && {1: 2}.exists(k, v, k + v == 3)",
    ],
    "net": [
        'ip("10.0.0.1").family() == 4 && ip("::1").family() == 6 && ip("::1").isLoopback()',
        'isIP("1.2.3.4") && !isIP("1.2.3.04") && !isIP("::ffff:1.2.3.4") && !isIP("fe80::1%eth0") && !isIP(":::1")',
        'isIP("1::") && isIP("::") && !isIP("1:2:3:4:5:6:7:8:9") && isIP("1:2:3:4:5:6:1.2.3.4") && !isIP("1:2")',
        'string(ip("2001:DB8:0:0:1:0:0:0")) == "2001:db8:0:0:1::" && ip.isCanonical("2001:db8::1")',
        '!ip.isCanonical("2001:DB8::1") && string(ip("1:0:2:0:3:0:4:0")) == "1:0:2:0:3:0:4:0"',
        'ip("169.254.1.1").isLinkLocalUnicast() && ip("224.0.0.5").isLinkLocalMulticast()',
        'ip("8.8.8.8").isGlobalUnicast() && !ip("255.255.255.255").isGlobalUnicast() && ip("::").isUnspecified()',
        'cidr("10.0.0.0/8").containsIP("10.1.2.3") && !cidr("10.0.0.0/8").containsIP(ip("11.0.0.1"))',
        'cidr("192.168.0.0/16").containsCIDR("192.168.10.0/24") && !cidr("10.0.0.0/24").containsCIDR("10.0.0.0/16")',
        'cidr("192.168.1.5/24").masked() == cidr("192.168.1.0/24") && cidr("::1/128").prefixLength() == 128',
        'string(cidr("192.168.1.5/24").ip()) == "192.168.1.5" && !cidr("10.0.0.0/8").containsIP("::1")',
        'isCIDR("10.0.0.0/8") && !isCIDR("10.0.0.0/33") && !isCIDR("10.0.0.0/08") && !isCIDR("10.0.0.0")',
        'ip("1.2.3.4") == ip("1.2.3.4") && ip("1.2.3.4") != ip("::1") && type(ip("::1")) == net.IP',
    ],
    "urls": [
        'url("https://user:pass@example.com:80/path?k=v#f").getHost() == "example.com:80"',
        'url("https://[::1]:80/").getHostname() == "::1" && url("https://[::1]/").getPort() == ""',
        'url("HTTPS://Example.com").getScheme() == "https" && url("https://a.b").getEscapedPath() == ""',
        'url("https://a/path with spaces/").getEscapedPath() == "/path%20with%20spaces/"',
        'url("https://a/?k1=a&k2=b&k2=c+d").getQuery() == {"k1": ["a"], "k2": ["b", "c d"]}',
        'url("/path").getHost() == "" && url("mailto:a@b").getScheme() == "mailto"',
        '!isURL("../x") && !isURL("https://a:b:c/") && !isURL("") && isURL("/x") && !isURL("https://a b/")',
        'url("https://a/x#y") == url("https://a/x#y") && url("https://a/x") != url("https://a/y")',
    ],
    "formats": [
        '!format.dns1123Label().validate("my-label").hasValue() && format.dns1123Label().validate("My").hasValue()',
        'format.named("dns1123Subdomain").value().validate("a..b").hasValue() && !format.named("nope").hasValue()',
        '!format.dns1123LabelPrefix().validate("my-").hasValue() && format.dns1035Label().validate("1a").hasValue()',
        '!format.qualifiedName().validate("a.b/C_d").hasValue() && format.qualifiedName().validate("a/b/c").hasValue()',
        '!format.labelValue().validate("").hasValue() && format.labelValue().validate("-").hasValue()',
        '!format.uuid().validate("123e4567-e89b-12d3-a456-426614174000").hasValue()',
        '!format.byte().validate("aGVsbG8=").hasValue() && format.byte().validate("a").hasValue()',
        '!format.date().validate("2024-02-29").hasValue() && format.date().validate("2023-02-29").hasValue()',
        '!format.datetime().validate("2021-01-01T00:00:00Z").hasValue() && format.datetime().validate("x").hasValue()',
        'format.uri().validate("x").value()[0].contains("invalid URI for request")',
    ],
    "quantities": [
        'quantity("50k").add(20) == quantity("50020") && quantity("50k").sub(quantity("20k")) == quantity("30k")',
        'quantity("200M").compareTo(quantity("0.2G")) == 0 && quantity("50M").isLessThan(quantity("50Mi"))',
        'quantity("50k").asInteger() == 50000 && !quantity("1.5Gi").isInteger() && !quantity("1.0").isInteger()',
        'quantity("500m").asApproximateFloat() == 0.5 && sign(quantity("-3")) == -1 && sign(quantity("0")) == 0',
        'isQuantity("1.3Gi") && !isQuantity("1,3G") && !isQuantity("200K") && !isQuantity(" 1")',
        'quantity("1").add(quantity("1")) != quantity("3") && quantity("1") != quantity("1").add(0)',
        'quantity("1e99").isGreaterThan(quantity("1E"))',
    ],
    "semvers": [
        'semver("1.2.3").major() == 1 && semver("1.2.3").minor() == 2 && semver("1.2.3").patch() == 3',
        'semver("1.0.0-rc.1").isLessThan(semver("1.0.0")) && semver("1.2.3+a") == semver("1.2.3+b")',
        'semver("v01.2", true) == semver("1.2.0") && isSemver("v1.0", true) && !isSemver("v1.0") && !isSemver("1.2-x", true)',  # noqa: E501
        'semver("1.10.0").compareTo(semver("1.9.0")) == 1',
    ],
    "optionals": [
        "optional.of(1).hasValue() && !optional.none().hasValue() && optional.of(1).orValue(2) == 1",
        'optional.none().or(optional.of(2)).value() == 2 && {"a": 1}.?b.orValue(7) == 7',
        '{"a": {"b": 1}}.?a.b == optional.of(1) && [1, 2][?5].orValue(0) == 0 && [?optional.none(), 3] == [3]',
        '{?"a": optional.none(), "b": 1} == {"b": 1} && optional.of(3).optMap(x, x + 1).value() == 4',
        'optional.ofNonZeroValue("") == optional.none() && optional.ofNonZeroValue(0u) == optional.none()',
        "optional.of(2).optFlatMap(x, optional.none()) == optional.none() && optional.of(1) != optional.of(2)",
        "[optional.of(1), optional.none()].unwrapOpt() == [1] && [1, 2].last().value() == 2 && !has({}.?a.b)",
    ],
    "times": [
        'timestamp("2023-12-31T23:30:00-01:00") == timestamp("2024-01-01T00:30:00Z")',
        'timestamp("2024-01-01T00:00:00Z").getDayOfWeek() == 1 && timestamp("2024-03-01T00:00:00Z").getDayOfYear() == 60',  # noqa: E501
        'timestamp("2024-05-06T07:08:09.123Z").getMilliseconds() == 123 && timestamp("2024-05-06T07:08:09Z").getMonth() == 4',  # noqa: E501
        'timestamp("2024-05-06T07:08:09Z").getHours("+05:30") == 12 && timestamp("2024-05-06T07:08:09Z").getDate("-10:00") == 5',  # noqa: E501
        'timestamp("2024-05-06T07:08:09Z").getHours("Europe/Berlin") == 9 && timestamp(0) == timestamp("1970-01-01T00:00:00Z")',  # noqa: E501
        'timestamp("2024-01-01T00:00:00Z") - timestamp("2023-12-31T00:00:00Z") == duration("24h")',
        'duration("1h30m").getMinutes() == 90 && duration("-1.5s").getSeconds() == -1 && duration("1.5ms").getMilliseconds() == 1',  # noqa: E501
        'string(duration("1ns")) == "0.000000001s" && string(duration("-90m")) == "-5400s" && int(duration("1us")) == 1000',  # noqa: E501
        'string(timestamp("2024-01-01T00:00:00.120Z")) == "2024-01-01T00:00:00.12Z" && int(timestamp("1969-12-31T23:59:59.5Z")) == -1',  # noqa: E501
    ],
    "conversions": [
        'int("-42") == -42 && int(3.9) == 3 && int(-3.9) == -3 && uint("7") == 7u && uint(2.9) == 2u && int(5u) == 5',
        'double("1e3") == 1000.0 && double("0x1p4") == 16.0 && double("1_000.5") == 1000.5 && double("-inf") < 0.0',
        'string(1.0) == "1" && string(1e6) == "1e+06" && string(123456.0) == "123456" && string(1e-5) == "1e-05"',
        'string(0.1) == "0.1" && string(-1.5e300) == "-1.5e+300" && string(7u) == "7" && string(b"abc") == "abc"',
        'bool("T") && !bool("0") && bytes("é") == b"\\xc3\\xa9" && type(1u) == uint && type(type(1)) == type',
        "type([]) == list && type({}) == map && type(null) == null_type && type(optional.none()) == optional_type",
        "google.protobuf.Int64Value{value: 3} == 3 && google.protobuf.BoolValue{} == false",
        'google.protobuf.Duration{seconds: 1} == duration("1s") && google.protobuf.Struct{fields: {"a": 1}}.a == 1',
    ],
}

FAILS = {
    '"a".charAt(2) == ""': "index out of range: 2",
    '"a".indexOf("x", -1) == 0': "index out of range: -1",
    '"abc".substring(2, 1) == ""': "invalid substring range. start: 2, end: 1",
    '"abc".substring(-1) == ""': "index out of range: -1",
    "[].min() == 1": "min called on empty list",
    "[1].slice(0, 2) == []": "cannot slice(0, 2), list is length 1",
    "[[1]].flatten(-1) == []": "level must be non-negative",
    'ip("1.2.3.256").family() == 4': 'IP Address "1.2.3.256" parse error',
    'cidr("x").prefixLength() == 1': "network address parse error",
    'url("x").getHost() == ""': 'URL parse error during conversion from string: parse "x": invalid URI for request',
    'quantity("x") == quantity("1")': "quantities must match the regular expression",
    'quantity("1.5Gi").asInteger() == 1': "cannot convert value to integer",
    'quantity("1") == quantity("1").add(0)': "no such overload",
    "null.isInteger()": "no such overload",
    "quantity('1').isGreaterThan(null)": "no such overload",
    "(device.driver == 'x' ? quantity('1') : null).asInteger() == 1": "no such overload",
    "optional.none().orValue(null).major() == 1": "no such overload",
    "null.family() == 4": "no such overload",
    'semver("1.0") == semver("1.0.0")': "No Major.Minor.Patch elements found",
    "optional.none().value() == 1": "optional.none() dereference",
    "int(device.driver) == 1": "type conversion error from 'string' to 'int'",
    "device.attributes['gpu.example.com'].index + 9223372036854775807 > 0": "integer overflow",
    "1 - device.attributes['gpu.example.com'].index / 0 == 1": "division by zero",
    "[1, 2][5] == 1": "index out of bounds: 5",
    '{"a": 1}["b"] == 1': "no such key: b",
    "double(device.driver) > 0.0": "type conversion error from 'string' to 'double'",
    'timestamp("9999-12-31T23:59:59Z") + duration("1s") > timestamp(0)': "timestamp overflow",
    'timestamp(0).getHours("No/Where") == 0': "unknown time zone No/Where",
    "{1: 2}.transformMapEntry(k, v, {'x': k}).size() + {1: 2, 3: 4}.transformMapEntry(k, v, {'x': k}).size() > 0": (
        "insert failed: key"
    ),
}


@pytest.mark.parametrize("expression", [text for group in TRUE.values() for text in group])
def test_true(expression: str) -> None:
    assert holds(expression)


@pytest.mark.parametrize("expression", FAILS)
def test_fails(expression: str) -> None:
    assert error(expression).startswith(FAILS[expression])
