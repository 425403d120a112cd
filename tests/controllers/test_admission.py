"""What quotas and limits reject, and with which words: by the source of the API server's plugins, not recorded."""

from __future__ import annotations

from typing import Any

import pytest

from dra_plan import Cluster
from tests.build import manifest, node, pod

Plain = dict[str, Any]


def quota(name: str = "q", scopes: list[str] | None = None, **hard: str) -> Plain:
    named = {key.replace("_", "."): value for key, value in hard.items()}
    spec = {"hard": named, **({"scopes": scopes} if scopes else {})}
    return manifest("ResourceQuota", name, namespace="default", spec=spec)


def limits(*items: Plain, name: str = "l") -> Plain:
    return manifest("LimitRange", name, namespace="default", spec={"limits": list(items)})


def of_container(**bounds: Plain) -> Plain:
    return {"type": "Container", **bounds}


def container(name: str = "c", requests: Plain | None = None, limits: Plain | None = None) -> Plain:
    return {"name": name, "image": "app", "resources": {"requests": requests or {}, "limits": limits or {}}}


def refusal(created: Plain, *objects: Plain) -> str:
    """What the API server says to the creation of the object, "" if it takes it."""
    plan = Cluster.of([node("a"), *objects]).schedule(settle=True, events=[{"create": created}])
    assert plan.settled is not None
    return next((each.message for each in plan.settled.refused), "")


def with_containers(*containers: Plain, **spec: Any) -> Plain:
    made = pod("p", uid=None, **spec)
    return {**made, "spec": {**made["spec"], "containers": list(containers)}}


# -- limits ------------------------------------------------------------------------------------------------------------

FORBIDDEN = 'pods "p" is forbidden: '


@pytest.mark.parametrize(
    ("item", "one", "said"),
    [
        (
            of_container(max={"cpu": "0.5"}),
            {"limits": {"cpu": "2"}},
            "maximum cpu usage per Container is 500m, but limit is 2",
        ),
        (
            of_container(min={"cpu": "2"}),
            {"requests": {"cpu": "1"}},
            "minimum cpu usage per Container is 2, but request is 1",
        ),
        (
            of_container(maxLimitRequestRatio={"memory": "2"}),
            {"requests": {"memory": "1Gi"}, "limits": {"memory": "3Gi"}},
            "memory max limit to request ratio per Container is 2, but provided ratio is 3.000000",
        ),
        (
            of_container(maxLimitRequestRatio={"memory": "2"}),
            {},
            "memory max limit to request ratio per Container is 2, but no request is specified or request is 0",
        ),
        ({"type": "Pod", "max": {"cpu": "1"}}, {}, "maximum cpu usage per Pod is 1.  No limit is specified"),
        (
            {"type": "Pod", "min": {"memory": "1Gi"}},
            {},
            "minimum memory usage per Pod is 1Gi.  No request is specified",
        ),
        (of_container(max={"cpu": "2"}), {}, ""),
        (of_container(min={"cpu": "2"}), {}, ""),
    ],
)
def test_what_is_outside_the_limits(item: Plain, one: Plain, said: str) -> None:
    assert refusal(with_containers(container(**one)), limits(item)) == (said and FORBIDDEN + said)


def test_containers_of_a_pod_count_together_and_init_containers_alone() -> None:
    item = {"type": "Pod", "max": {"cpu": "1500m"}}
    one = {"limits": {"cpu": "1"}}
    both = with_containers(container("c", **one), container("d", **one))
    assert refusal(both, limits(item)) == f"{FORBIDDEN}maximum cpu usage per Pod is 1500m, but limit is 2"
    before = with_containers(container("c", **one), initContainers=[container("i", **one)])
    assert refusal(before, limits(item)) == ""


def test_init_containers_are_within_limits_too() -> None:
    item = of_container(max={"cpu": "1"}, default={"cpu": "1"})
    large = container("i", limits={"cpu": "2"})
    said = "maximum cpu usage per Container is 1, but limit is 2"
    assert refusal(with_containers(container(), initContainers=[large]), limits(item)) == FORBIDDEN + said


def test_several_problems_are_listed_and_the_same_one_once() -> None:
    item = of_container(max={"cpu": "1", "memory": "1Gi"})
    large = {"limits": {"cpu": "2", "memory": "2Gi"}}
    assert refusal(with_containers(container("c", **large), container("d", **large)), limits(item)) == (
        f"{FORBIDDEN}[maximum cpu usage per Container is 1, but limit is 2, "
        "maximum memory usage per Container is 1Gi, but limit is 2Gi]"
    )


def test_the_most_is_the_default_limit_and_a_request_above_it_is_invalid() -> None:
    created = with_containers(container(requests={"cpu": "2"}))
    assert refusal(created, limits(of_container(max={"cpu": "1"}))) == (
        'Pod "p" is invalid: spec.containers[0].resources.requests: Invalid value: "2": '
        "must be less than or equal to cpu limit of 1"
    )


def test_the_least_is_the_default_request() -> None:
    said = refusal(with_containers(container()), limits(of_container(min={"cpu": "3"})), quota(requests_cpu="2"))
    assert said.endswith("exceeded quota: q, requested: requests.cpu=3, used: requests.cpu=0, limited: requests.cpu=2")


# -- quotas ------------------------------------------------------------------------------------------------------------


def test_only_cpu_and_memory_have_to_be_stated() -> None:
    plain = with_containers(container())
    assert refusal(plain, quota(**{"requests_ephemeral-storage": "1Gi"})) == ""
    assert refusal(plain, quota(limits_memory="1Gi", cpu="1")).endswith(
        "failed quota: q: must specify cpu for: c; limits.memory for: c"
    )


def test_what_has_to_be_stated_comes_before_what_is_used_up() -> None:
    said = refusal(with_containers(container()), quota("a", pods="0"), quota("b", requests_cpu="1"))
    assert said == f"{FORBIDDEN}failed quota: b: must specify requests.cpu for: c"


def test_a_pod_may_state_what_it_wants_as_a_whole() -> None:
    whole = with_containers(container(), resources={"requests": {"cpu": "2"}})
    assert refusal(whole, quota(requests_cpu="2")) == ""
    assert "requested: requests.cpu=2" in refusal(whole, quota(requests_cpu="1"))


def test_limits_of_init_containers_and_overhead_are_charged() -> None:
    one = {"limits": {"cpu": "1"}}
    created = with_containers(
        container(**one), initContainers=[container("i", limits={"cpu": "3"})], overhead={"cpu": "500m"}
    )
    said = refusal(created, quota(limits_cpu="3"))
    assert "requested: limits.cpu=3500m" in said


@pytest.mark.parametrize(
    ("scope", "spec", "counts"),
    [
        ("BestEffort", {}, True),
        ("NotBestEffort", {}, False),
        ("Terminating", {"activeDeadlineSeconds": 60}, True),
        ("NotTerminating", {"activeDeadlineSeconds": 60}, False),
        ("Terminating", {}, False),
        ("NotTerminating", {}, True),
        ("CrossNamespacePodAffinity", {}, False),
        (
            "CrossNamespacePodAffinity",
            {
                "affinity": {
                    "podAntiAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": [
                            {"topologyKey": "zone", "namespaces": ["other"]}
                        ]
                    }
                }
            },
            True,
        ),
    ],
)
def test_scopes(scope: str, spec: Plain, counts: bool) -> None:
    created = with_containers(container(requests={"example.com/fpga": "1"}, limits={"example.com/fpga": "1"}), **spec)
    assert bool(refusal(created, quota(scopes=[scope], pods="0"))) == counts
