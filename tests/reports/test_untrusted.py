"""Texts from manifests can't give commands to the CI system that reads the log."""

import json

import pytest

from tests.cli.running import in_process

COMMAND = "x\n  ::stop-commands::token"
OBJECTS = [
    {"apiVersion": "v1", "kind": "Node", "metadata": {"name": COMMAND}},
    {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": COMMAND, "namespace": "default"},
        "spec": {"devices": {"requests": [{"name": COMMAND, "exactly": {"deviceClassName": COMMAND}}]}},
    },
    {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": COMMAND, "namespace": "default"},
        "spec": {
            "nodeSelector": {"a": "b"},
            "resourceClaims": [{"name": "c", "resourceClaimName": COMMAND}],
            "containers": [{"name": "c", "image": "i"}],
        },
    },
]


@pytest.mark.parametrize(
    "arguments",
    [
        ["allocate"],
        ["allocate", "-o", "wide"],
        ["allocate", "-o", "json"],
        ["explain"],
        ["schedule"],
        ["pools"],
        ["validate"],
        ["validate", "-o", "json"],
    ],
)
def test_no_line_of_the_log_is_a_command(arguments: list[str]) -> None:
    ran = in_process(*arguments, "-", stdin=json.dumps(OBJECTS))
    assert ran.status in (0, 1)
    assert "stop-commands" in ran.out or arguments[0] == "pools"
    assert [line for line in (ran.out + ran.err).splitlines() if line.strip().startswith("::")] == []
