"""Label selectors of the command line."""

from __future__ import annotations

import pytest

from dra_plan.api.selectors import labels_match
from dra_plan.errors import UsageError
from dra_plan.manifests.select import parse_selector

LABELS = {"app": "web", "tier": "front", "rank": "3", "example.com/team": "a", "empty": ""}


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("", True),
        (" ", True),
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
    ],
)
def test_matching(text, matches):
    assert labels_match(parse_selector(text), LABELS) is matches


@pytest.mark.parametrize(
    "text", ["=", "app=web=x", "app in web", "app,,tier", "-app", "app in (a", "a b", "app=(x)", "rank>2"]
)
def test_refused(text):
    with pytest.raises(UsageError, match="is not a label requirement"):
        parse_selector(text)
