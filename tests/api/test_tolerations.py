"""Whether a toleration covers a taint, for nodes and devices alike."""

import pytest

from dra_plan.api.core import Taint, Toleration
from dra_plan.api.resource import DeviceTaint, DeviceToleration
from dra_plan.api.selectors import tolerates

TAINT = {"key": "k", "value": "v", "effect": "NoSchedule"}
CASES = [
    ({"operator": "Exists"}, True),
    ({"key": "k", "operator": "Exists"}, True),
    ({"key": "other", "operator": "Exists"}, False),
    ({"key": "k", "value": "v"}, True),
    ({"key": "k", "operator": "Equal", "value": "v", "effect": "NoSchedule"}, True),
    ({"key": "k", "operator": "Equal", "value": "w"}, False),
    ({"key": "k", "operator": "Exists", "effect": "NoExecute"}, False),
    ({"key": "k", "operator": "Gt", "value": "v"}, False),
    ({}, False),
]


@pytest.mark.parametrize(("given", "covers"), CASES)
def test_tolerations(given: dict[str, str], covers: bool) -> None:
    assert tolerates(Toleration(**given), Taint(**TAINT)) is covers
    assert tolerates(DeviceToleration(**given), DeviceTaint(**TAINT)) is covers
