"""Amounts that are compared by signs, written with compareTo."""

import pytest

from dra_plan.cel.rewrite import with_compare_to

MEMORY = 'device.capacity["g"].memory'
VERSION = 'device.attributes["g"].version'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f'{MEMORY} >= quantity("64Gi")', f'{MEMORY}.compareTo(quantity("64Gi")) >= 0'),
        (f'quantity("64Gi") <= {MEMORY}', f'quantity("64Gi").compareTo({MEMORY}) <= 0'),
        (
            f"device.driver == 'g'  &&  {MEMORY} > 64",
            f"device.driver == 'g'  &&  {MEMORY}.compareTo(quantity(\"64\")) > 0",
        ),
        (f"{MEMORY} >= 50000000000", f'{MEMORY}.compareTo(quantity("50G")) >= 0'),
        (f"{MEMORY} >= 68719476736", f'{MEMORY}.compareTo(quantity("64Gi")) >= 0'),
        (f"{MEMORY} >= -1536", f'{MEMORY}.compareTo(quantity("-1536")) >= 0'),
        (f'!({MEMORY} < "1Gi") || true', f'!({MEMORY}.compareTo(quantity("1Gi")) < 0) || true'),
        (f'device.capacity["g"]["memory"] > {MEMORY}', f'device.capacity["g"]["memory"].compareTo({MEMORY}) > 0'),
        (f'{VERSION} > semver("1.0.0")', f'{VERSION}.compareTo(semver("1.0.0")) > 0'),
        (f'{VERSION} > "1.0.0"', None),
        (f'{MEMORY} == quantity("1")', None),
        ("1 > 2", None),
        ('device.attributes["g"].index > 5', None),
        ("not an expression", None),
        ("", None),
    ],
)
def test_signs(text: str, expected: str | None) -> None:
    assert with_compare_to(text) == expected


def test_texts_that_are_versions() -> None:
    assert with_compare_to(f'{VERSION} >= "1.2.3"', versions=True) == f'{VERSION}.compareTo(semver("1.2.3")) >= 0'
    assert with_compare_to(f'{VERSION} >= "b"', versions=True) is None
