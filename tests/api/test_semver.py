from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dra_plan.api.semver import Semver, SemverError, compare, normalize, parse

identifiers = st.one_of(st.integers(0, 99).map(str), st.from_regex(r"[a-z-][a-z0-9-]{0,3}", fullmatch=True))
suffixes = st.lists(identifiers, max_size=3).map(".".join)
versions = st.builds(
    lambda a, b, c, pre, build: f"{a}.{b}.{c}" + (f"-{pre}" if pre else "") + (f"+{build}" if build else ""),
    st.integers(0, 3), st.integers(0, 3), st.integers(0, 3), suffixes, suffixes,
)  # fmt: skip

ORDER = [
    "0.9.9", "1.0.0-0", "1.0.0-1", "1.0.0-10", "1.0.0--", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta",
    "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1", "1.0.0", "1.0.1", "1.2.0", "1.10.0", "2.0.0",
]  # fmt: skip


def test_order() -> None:
    parsed = [parse(text) for text in ORDER]
    assert sorted(parsed) == parsed
    assert all(compare(a, b) == -1 for a, b in itertools.pairwise(parsed))


def test_build_metadata_does_not_count() -> None:
    assert parse("1.2.3+a") == parse("1.2.3+b")
    assert hash(parse("1.2.3+a")) == hash(parse("1.2.3"))
    assert str(parse("1.2.3-x.7+b.01")) == "1.2.3-x.7+b.01"
    assert parse("1.2.3+a-b").prerelease == ()


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "Version string empty"),
        ("1.0", "No Major.Minor.Patch elements found"),
        ("v1.0.0", 'Invalid character(s) found in major number "v1"'),
        ("01.2.3", 'Major number must not contain leading zeroes "01"'),
        ("1.02.3", 'Minor number must not contain leading zeroes "02"'),
        ("1.2.03", 'Patch number must not contain leading zeroes "03"'),
        ("10.0.0.1", 'Invalid character(s) found in patch number "0.1"'),
        ("1.2.3-", "Prerelease is empty"),
        ("1.2.3-01", 'Numeric PreRelease version must not contain leading zeroes "01"'),
        ("1.2.3-ä", 'Invalid character(s) found in prerelease "ä"'),
        ("1.2.3+", "Build meta data is empty"),
        ("1.2.3+a_b", 'Invalid character(s) found in build meta data "a_b"'),
        ("1..3", 'strconv.ParseUint: parsing "": invalid syntax'),
        ("18446744073709551616.0.0", 'strconv.ParseUint: parsing "18446744073709551616": value out of range'),
        ("1.٣.0", 'Invalid character(s) found in minor number "٣"'),
    ],
)
def test_refused(text: str, error: str) -> None:
    with pytest.raises(SemverError) as caught:
        parse(text)
    assert str(caught.value) == error


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("v1.0", "1.0.0"), ("1", "1.0.0"), ("01.01.01", "1.1.1"), ("00.0.0", "0.0.0"), ("1.2.003-rc.01", "1.2.3-rc.01"),
        ("vv1", "0v1.0.0"), ("0-a.1.2", "0-a.1.2"), ("", ".0.0"),
    ],
)  # fmt: skip
def test_normalize(text: str, normal: str) -> None:
    assert normalize(text) == normal


def test_short_versions_have_no_suffix() -> None:
    with pytest.raises(SemverError, match="short version"):
        normalize("1.2-rc1")
    with pytest.raises(SemverError, match="short version"):
        normalize("1+b")


@given(versions)
def test_text_is_kept(text: str) -> None:
    assert str(parse(text)) == text
    assert parse(normalize("v" + text)) == parse(text)


@given(versions, versions, versions)
def test_order_is_total(a: str, b: str, c: str) -> None:
    x, y, z = parse(a), parse(b), parse(c)
    assert compare(x, y) == -compare(y, x)
    assert (x == y) == (compare(x, y) == 0)
    if x <= y <= z:
        assert x <= z


@given(st.text(max_size=10))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        version = parse(text)
    except SemverError:
        return
    assert isinstance(version, Semver)


def test_unequal_is_the_opposite_of_equal() -> None:
    assert not parse("1.2.3+a") != parse("1.2.3+b")  # noqa: SIM202
    assert parse("1.2.3") != parse("1.2.4")
