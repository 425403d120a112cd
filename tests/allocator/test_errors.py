"""Errors are values: what each is about is read from its cause, and comes from another process as it was."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import astuple

from dra_plan import releases
from dra_plan.allocator import AllocationError, Cause, NodeAllocationError, PoolID, SelectorError
from tests.build import node

from .build import DRIVER, claim, device, device_class, every, exactly, option, pool
from .searching import Cluster, answers

CLASS = device_class()
CLASS["spec"] = {}
BASE = [node(), CLASS, *pool(device("d0", v=0), device("d1", v=1))]
BROKEN = [node(), CLASS, *pool(device("d0"), device("d0"))]
OFF = {"DRAPrioritizedList": False, "DRAAdminAccess": False, "DRAConsumableCapacity": False}
AMOUNT = {"capacity": {"requests": {"c": "1"}}}


def asks(constraints: Sequence[Any] = (), **fields: Any) -> dict[str, Any]:
    return claim(exactly("r", **{"allocationMode": "ExactCount", **fields}), constraints=list(constraints))


def error(objects: list[dict[str, Any]], gates: dict[str, bool] | None = None) -> Any:
    """What ended the allocation on the only node; its text is the answer's message."""
    [answer] = answers(Cluster.of(objects), releases.target("1.36", gates))
    assert answer.error is not None
    assert str(answer.error) == answer.error.cause.message == answer.message
    return answer.error


@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        ([*BASE, asks(deviceClassName="no")], ("class-missing", "default/c", "r", "no", "", None)),
        ([*BASE, asks(deviceClassName="")], ("class-not-named", "default/c", "r", "", "", None)),
        ([*BASE, claim({"name": "r"})], ("request-empty", "default/c", "r", "", "", None)),
        ([*BASE, asks(allocationMode="Some")], ("count-mode", "default/c", "r", "a", "", None)),
        ([*BASE, asks(count=33)], ("too-many-devices", "default/c", "", "", "", None)),
        (
            [*BASE, asks(constraints=[{"requests": ["r"]}])],
            ("constraint-unknown", "default/c", "", "", "", None),
        ),
        (
            [*BASE, claim({"name": "r", "firstAvailable": [option(name="x")]})],
            ("feature-off", "default/c", "r/x", "", "DRAPrioritizedList", None),
        ),
        (
            [*BASE, asks(adminAccess=True)],
            ("feature-off", "default/c", "r", "a", "DRAAdminAccess", None),
        ),
        ([*BASE, asks(**AMOUNT)], ("feature-off", "default/c", "r", "a", "DRAConsumableCapacity", None)),
        ([*BROKEN, claim(every("r"))], ("all-and-broken-pool", "default/c", "r", "", "", PoolID(DRIVER, "p"))),
        (
            [*BASE, claim(every("r"), constraints=[{"matchAttribute": f"{DRIVER}/v"}])],
            ("all-and-constraint", "default/c", "r", "", "", None),
        ),
        ([*BROKEN, asks()], ("invalid-pools", "", "", "", "", None)),
        ([*BASE, asks(where="broken")], ("selector-compile", "default/c", "", "", "", None)),
        ([*BASE, asks(where="w=7")], ("selector-runtime", "default/c", "", "", "", None)),
    ],
    ids=lambda of: of[0] if isinstance(of, tuple) else "",
)
def test_an_error_says_what_it_is_about(objects: list[dict[str, Any]], expected: tuple[object, ...]) -> None:
    gates = OFF if expected[0] == "feature-off" else None
    cause = error(objects, gates).cause
    assert (cause.code, cause.claim, cause.request, cause.device_class, cause.gate, cause.pool) == expected


def test_the_error_of_a_selector_has_the_language_s_own_words() -> None:
    failed = error([*BASE, asks(where="w=7")])
    assert (failed.position, failed.expression, failed.detail) == (0, "w=7", "no such key: w")
    assert str(failed.device.id) == f"{DRIVER}/p/d0"
    assert not failed.of_device


CAUSE = Cause("all-and-broken-pool", "text", "default/c", "r", "a", "G", PoolID("d", "p"))


@pytest.mark.parametrize("made", [AllocationError(CAUSE), NodeAllocationError(CAUSE)], ids=["pod", "node"])
def test_errors_come_back_whole_from_another_process(made: AllocationError | NodeAllocationError) -> None:
    back = pickle.loads(pickle.dumps(made))
    assert (type(back), str(back), astuple(back.cause)) == (type(made), "text", astuple(CAUSE))


def test_errors_of_selectors_come_back_whole() -> None:
    made = SelectorError(CAUSE, 2, "1 == 1", "no", "device", of_device=True)
    back = pickle.loads(pickle.dumps(made))
    assert (back.cause, back.position, back.expression) == (CAUSE, 2, "1 == 1")
    assert (back.detail, back.device, back.of_device) == ("no", "device", True)
