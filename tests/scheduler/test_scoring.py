"""The arithmetic of scores: rows that are the same all along are treated as one number, and nothing else changes."""

from hypothesis import given
from hypothesis import strategies as some

from dra_plan.scheduler.framework.interface import MAX_NODE_SCORE
from dra_plan.scheduler.framework.profile import places_of
from dra_plan.scheduler.framework.runtime import add_up, is_level, normalize

SCORES = some.integers(-3, MAX_NODE_SCORE)


@given(some.integers(1, 9).flatmap(lambda number: some.lists(some.lists(SCORES, min_size=number, max_size=number))))
def test_columns_are_added_up(rows: list[list[int]]) -> None:
    before = [list(row) for row in rows]
    number = len(rows[0]) if rows else 4
    found, sums = add_up(rows, number), [sum(row[at] for row in rows) for at in range(number)]
    assert len(found) == number
    assert {total - each for total, each in zip(sums, found, strict=True)} == {sum(r[0] for r in rows if is_level(r))}
    assert rows == before


@given(some.lists(some.integers(0, 2), min_size=1))
def test_level_is_all_the_same(scores: list[int]) -> None:
    assert is_level(scores) == (len(set(scores)) == 1)


@given(some.lists(some.none() | some.integers(0, 2)))
def test_missing_scores_are_found_while_they_are_filled_in(scores: list[int | None]) -> None:
    missing = [at for at, score in enumerate(scores) if score is None]
    found = []
    for at in places_of(scores, None):
        found.append(at)
        scores[at] = 0
    assert found == missing
    assert None not in scores


def test_normalizing_scales_by_the_largest() -> None:
    scores = [0, 1, 3]
    normalize(scores)
    assert scores == [0, 33, 100]
    normalize(scores, reverse=True)
    assert scores == [100, 67, 0]
