"""Constants that `quantity` or `semver` rejects, and the valid ones that they probably mean."""

from __future__ import annotations

import pytest

from dra_plan.cel.literals import malformed, repaired


@pytest.mark.parametrize(
    ("kind", "text", "better"),
    [
        ("quantity", "40GB", "40G"),
        ("quantity", "40gb", "40G"),
        ("quantity", "40GiB", "40Gi"),
        ("quantity", "1.5 TiB", "1.5Ti"),
        ("quantity", "512KB", "512k"),
        ("quantity", "512KIB", "512Ki"),
        ("quantity", "7B", "7"),
        ("semver", "570.86", "570.86.0"),
        ("semver", "v9", "9.0.0"),
        ("semver", "01.2.3", "1.2.3"),
    ],
)
def test_a_malformed_constant_has_a_valid_one(kind: str, text: str, better: str) -> None:
    assert repaired(f'{kind}("{text}") == x') == f'{kind}("{better}") == x'


@pytest.mark.parametrize(
    "expression",
    [
        'quantity("40Gi")',
        'quantity("40m")',
        'quantity("many")',
        'quantity("7iB")',
        'semver("1.2.3-rc.1")',
        'semver("latest")',
        'semver("1.2-rc")',
        'x.semver("1.2")',
        "quantity(x)",
        'isQuantity("40GB")',
        'f("40GB")',
        'quantity("40GB',
    ],
)
def test_valid_constants_and_those_without_a_clear_meaning_stay(expression: str) -> None:
    assert repaired(expression) is None
    assert not list(malformed(expression))


def test_each_constant_has_its_place() -> None:
    expression = 'quantity("1GB") == quantity("2GB") && semver("1.0.0") != semver("2")'
    assert repaired(expression) == 'quantity("1G") == quantity("2G") && semver("1.0.0") != semver("2.0.0")'
    assert [one.place.of(expression) for one in malformed(expression)] == ['"1GB"', '"2GB"', '"2"']
