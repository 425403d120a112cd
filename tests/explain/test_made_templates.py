"""A claim template that a controller creates from another object: whose it is, and why it has not been created."""

from __future__ import annotations

from typing import Any

import pytest

from dra_plan import Cluster
from tests.build import Object, node, owned_by, placed, pod, slice_, template

DRIVER = "compute-domain.nvidia.com"
DOMAIN = {
    "apiVersion": "resource.nvidia.com/v1beta1",
    "kind": "ComputeDomain",
    "metadata": {"name": "imex", "namespace": "default"},
    "spec": {"numNodes": 2, "channel": {"resourceClaimTemplate": {"name": "channel"}}},
}
WAITS = pod("p", templates={"imex": "channel"})
PLUGIN = owned_by(placed("nvidia-plugin-a", "a", namespace="nvidia"), "DaemonSet", "nvidia-plugin")
BY = "The controller of ComputeDomain default/imex creates it. "
MESSAGES = f"{BY}Its messages: kubectl describe computedomain imex -n default"


def controller(
    *, name: str = "nvidia-controller-x", kind: str = "ReplicaSet", ready: bool = False, **of: Any
) -> Object:
    made = owned_by(placed(name, "a", **{"namespace": "nvidia", **of}), kind, "w")
    waiting = {"name": "c", "state": {"waiting": {"reason": "CrashLoopBackOff"}}}
    waiting["lastState"] = {"terminated": {"exitCode": 1}}
    unready = {"containerStatuses": [waiting], "conditions": [{"type": "Ready", "status": "False"}]}
    return made if ready else {**made, "status": {**made["status"], **unready}}


def explained(*objects: Object) -> str:
    given = [node("a"), slice_("a", "d", driver=DRIVER, node="a"), PLUGIN, WAITS, template("other"), *objects]
    return " ".join(str(Cluster.of(given).explain("pod/p")).split())


@pytest.mark.parametrize(
    ("pods", "why"),
    [
        (
            [controller()],
            f"{BY}Container c of its pod nvidia/nvidia-controller-x crashes (its last run ended with exit",
        ),
        ([controller(ready=True)], MESSAGES),
        ([controller(namespace="other")], MESSAGES),
        ([controller(name="collector")], MESSAGES),
        ([controller(kind="Job")], MESSAGES),
        ([], MESSAGES),
    ],
)
def test_the_controller_of_a_kind_in_the_input_creates_the_template(pods: list[Object], why: str) -> None:
    text = explained(DOMAIN, *pods)
    assert why in text
    assert "Create this" not in text
    assert "There are" not in text


def test_a_template_that_nothing_in_the_input_makes_may_be_made_from_another_object() -> None:
    text = explained(controller())
    assert "in namespace default (or the object from which a controller creates it), or name another" in text
    assert "its pod" not in text


@pytest.mark.parametrize("stored", [False, True])
def test_templates_that_a_dump_has_are_not_asked_for(stored: bool) -> None:
    other = template("second")
    other["metadata"]["uid"] = "u-second" if stored else ""
    objects = [node("a"), WAITS, DOMAIN, other]
    [told] = [one.message for one in Cluster.of(objects).explain().document.warnings if one.code == "missing-template"]
    assert "the controller of ComputeDomain default/imex creates it in the cluster" in told
    assert ("add the output of" in told) == (not stored)
