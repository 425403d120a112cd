"""What the API server rejects of new pods, workloads, quotas and budgets, and what it takes though it looks wrong."""

from typing import Any

import pytest

import dra_plan
from tests.cli.running import in_process

from .judging import as_yaml
from .objects import Data, claim, namespace, request

CLUSTER: list[Data] = [
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}},
    namespace(),
    {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "low"}, "value": 10},
]


def pod(container: Data | None = None, metadata: Data | None = None, **spec: Any) -> Data:
    main = {"name": "main", "image": "main:1", **({"resources": container} if container else {})}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "pod", "namespace": "team", **(metadata or {})},
        "spec": {"containers": [main], **spec},
    }


def workload(kind: str, labels: Data | None = None, template: Data | None = None, **spec: Any) -> Data:
    made = {"metadata": {"labels": labels or {"app": "w"}}, "spec": {**pod()["spec"], **(template or {})}}
    return {
        "apiVersion": "batch/v1" if kind == "Job" else "apps/v1",
        "kind": kind,
        "metadata": {"name": "w", "namespace": "team"},
        "spec": {"template": made, **({} if kind == "Job" else {"selector": {"matchLabels": {"app": "w"}}}), **spec},
    }


def quota(**hard: str) -> Data:
    metadata = {"name": "q", "namespace": "team"}
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, "spec": {"hard": hard}}


def budget(**spec: Any) -> Data:
    whole = {"selector": {"matchLabels": {"app": "w"}}, **spec}
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "b", "namespace": "team"},
        "spec": whole,
    }


def refusals(*objects: Data) -> set[str]:
    found = dra_plan.validate(list(objects), runtime_config={}).findings
    return {one.code for one in found if one.rule.refused_by == "APIServer" and str(one.severity) == "error"}


GPU = "example.com/gpu"
REFUSED = [
    ("DRA163", pod({"requests": {GPU: 1}, "limits": {GPU: 2}})),
    ("DRA163", pod({"requests": {GPU: 1}})),
    ("DRA163", pod({"requests": {"cpu": "2"}, "limits": {"cpu": "1"}})),
    ("DRA163", pod({"requests": {"hugepages-2Mi": "4Mi", "cpu": 1}, "limits": {"hugepages-2Mi": "8Mi"}})),
    ("DRA163", pod({"limits": {"hugepages-2Mi": "4Mi"}})),
    ("DRA162", pod({"limits": {GPU: "500m"}})),
    ("DRA162", pod({"requests": {"cpu": "-1"}})),
    ("DRA162", pod({"limits": {"cpu": 1, "hugepages-2Mi": "3Mi"}})),
    ("DRA161", pod({"limits": {"gpu": 1}})),
    ("DRA161", pod({"limits": {"deviceclass.resource.kubernetes.io/a/b": 1}})),
    ("DRA161", pod({"limits": {"requests.example.com/gpu": 1}})),
    ("DRA164", pod(resources={"claims": [{"name": "g"}]})),
    ("DRA164", pod({"requests": {"cpu": 2}}, resources={"requests": {"cpu": 1}})),
    ("DRA164", pod({"limits": {"cpu": 2}}, resources={"limits": {"cpu": 1}, "requests": {"cpu": 2}})),
    ("DRA104", pod({"claims": [{"name": "g", "request": "r"}, {"name": "g"}]})),
    ("DRA168", pod(ephemeralContainers=[{"name": "e", "image": "e:1"}])),
    ("DRA003", pod(containers=[])),
    ("DRA003", pod(containers=[{"name": "main"}])),
    ("DRA104", pod(containers=[{"name": "main", "image": "i"}, {"name": "main", "image": "i"}])),
    ("DRA165", pod(restartPolicy="Sometimes")),
    ("DRA171", pod(tolerations=[{"operator": "Equal", "value": "x"}])),
    ("DRA171", pod(tolerations=[{"key": "k", "operator": "Exists", "tolerationSeconds": 3}])),
    (
        "DRA171",
        pod(topologySpreadConstraints=[{"maxSkew": 0, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}]),
    ),
    ("DRA171", pod(schedulingGates=[{"name": "example.com/gate"}], nodeName="node-a")),
    ("DRA209", pod(metadata={"namespace": "nowhere"})),
    ("DRA209", claim() | {"metadata": {"name": "c", "namespace": "nowhere"}}),
    ("DRA218", pod(priorityClassName="nothing")),
    ("DRA224", pod(priorityClassName="low", priority=7)),
    ("DRA224", pod(priority=7)),
    ("DRA224", pod(preemptionPolicy="Never")),
    ("DRA225", pod(serviceAccountName="ghost")),
    ("DRA205", claim(request(adminAccess=True))),
    ("DRA166", workload("Deployment", {"app": "other"})),
    ("DRA166", workload("StatefulSet", selector={})),
    ("DRA003", workload("DaemonSet", selector=None)),
    ("DRA165", workload("ReplicaSet", template={"restartPolicy": "Never"})),
    ("DRA165", workload("Job")),
    ("DRA165", workload("Job", template={"restartPolicy": "Always"})),
    ("DRA003", workload("Job", template={"restartPolicy": "Never"}, completionMode="Indexed", completions=None)),
    ("DRA166", workload("Job", template={"restartPolicy": "Never"}, selector={"matchLabels": {"app": "w"}})),
    ("DRA167", workload("Deployment", replicas=-1)),
    ("DRA167", workload("Job", template={"restartPolicy": "Never"}, backoffLimit=-1)),
    ("DRA161", quota(gpus="1")),
    ("DRA162", quota(**{"gpu.deviceclass.resource.k8s.io/devices": "1.5"})),
    ("DRA162", quota(pods="-1")),
    ("DRA169", budget(minAvailable=1, maxUnavailable=1)),
    ("DRA167", budget(maxUnavailable="110%")),
    ("DRA170", CLUSTER[2] | {"metadata": {"name": "top"}, "value": 2_000_000_000}),
]
"""The code of a rule, and an object that breaks it."""

TAKEN = [
    pod({"requests": {"cpu": 1}, "limits": {GPU: 1}}),
    pod(
        {
            "requests": {"deviceclass.resource.kubernetes.io/gpu": 1},
            "limits": {"deviceclass.resource.kubernetes.io/gpu": 2},
        }
    ),
    pod({"limits": {"kubernetes.io/gpu": 1}}),
    pod({"requests": {"cpu": "100m"}}, priorityClassName="system-node-critical"),
    pod(
        {"claims": [{"name": "g", "request": "a"}, {"name": "g", "request": "b"}]},
        resourceClaims=[{"name": "g", "resourceClaimName": "claim"}],
    ),
    pod(priorityClassName="low", priority=10, preemptionPolicy="PreemptLowerPriority"),
    pod(priority=0),
    pod(serviceAccountName="default"),
    pod(metadata={"namespace": "kube-system"}),
    pod(tolerations=[{"operator": "Exists"}, {"key": "k", "effect": "NoExecute", "tolerationSeconds": 3}]),
    workload("Deployment", replicas=0),
    workload("Job", template={"restartPolicy": "Never"}, completionMode="Indexed", completions=4),
    workload("Deployment", template={"priorityClassName": "nothing"}),
    quota(**{"requests.cpu": "500m", "count/deployments.apps": "3", "requests.example.com/gpu": "1", "pods": "4"}),
    budget(maxUnavailable="50%"),
    budget(),
]


@pytest.mark.parametrize(("code", "made"), REFUSED, ids=[f"{n}-{code}" for n, (code, _) in enumerate(REFUSED)])
def test_what_is_refused(code: str, made: Data) -> None:
    assert code in refusals(*CLUSTER, claim(), made)


@pytest.mark.parametrize("made", TAKEN, ids=range(len(TAKEN)))
def test_what_is_taken(made: Data) -> None:
    assert refusals(*CLUSTER, claim(), made) == set()


@pytest.mark.parametrize("made", [made for code, made in REFUSED if code in ("DRA165", "DRA209", "DRA224", "DRA225")])
def test_what_a_cluster_has_was_taken(made: Data) -> None:
    stored = made | {"metadata": {**made["metadata"], "uid": "6a1f", "creationTimestamp": "2026-01-01T00:00:00Z"}}
    assert refusals(*CLUSTER, stored) == set()


@pytest.mark.parametrize(("replicas", "codes"), [(2, {"DRA226"}), (0, set())])
def test_a_workload_of_a_cluster_is_checked_if_it_will_create_pods(replicas: int, codes: set[str]) -> None:
    made = workload("Deployment", template={"priorityClassName": "gold"})
    made["metadata"] |= {"uid": "6a1f", "creationTimestamp": "2026-01-01T00:00:00Z"}
    made["spec"]["replicas"] = replicas
    assert {one.code for one in dra_plan.validate([*CLUSTER, made]).findings if str(one.severity) == "error"} == codes


def test_an_object_that_is_there_can_not_be_created() -> None:
    assert refusals(claim(), claim()) == {"DRA007"}


def test_of_a_workload_the_pods_are_refused() -> None:
    found = dra_plan.validate([*CLUSTER, workload("Deployment", template={"serviceAccountName": "ghost"})]).findings
    assert [(one.code, one.field, one.rule.refused_by) for one in found] == [
        ("DRA226", "spec.template.spec.serviceAccountName", None)
    ]


def test_what_the_input_can_not_tell() -> None:
    """Without a namespace `default` these are not the namespaces of a cluster, and a snapshot has no accounts."""
    assert refusals(namespace(), pod(metadata={"namespace": "elsewhere"}, serviceAccountName="ghost")) == set()
    info = {"apiVersion": "dra-plan/v1alpha1", "kind": "ClusterInfo", "serverVersion": "v1.36.2"}
    assert refusals(info, *CLUSTER, pod(serviceAccountName="ghost")) == set()
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "ghost", "namespace": "team"}}
    assert refusals(account, *CLUSTER, pod(serviceAccountName="ghost")) == set()
    known = pod(metadata={"name": "old", "uid": "6a1f"}, serviceAccountName="ghost")
    assert refusals(known, *CLUSTER, pod(serviceAccountName="ghost")) == set()
    found = dra_plan.validate(pod(priorityClassName="nothing")).findings
    assert [(one.code, str(one.severity), one.rule.refused_by) for one in found] == [("DRA219", "warning", "APIServer")]


def test_the_default_priority_class_counts() -> None:
    default = CLUSTER[2] | {"globalDefault": True}
    assert refusals(default, pod(priority=10)) == set()
    assert refusals(default, pod(priority=0)) == {"DRA224"}
    assert refusals(default, default | {"metadata": {"name": "second"}}) == {"DRA170"}


def test_the_command_refuses_versions_that_are_not_served() -> None:
    beta = claim() | {"apiVersion": "resource.k8s.io/v1beta2"}
    ran = in_process("validate", "-", "-o", "jsonpath={.findings[?(@.severity=='error')].code}", stdin=as_yaml([beta]))
    assert (ran.status, ran.out) == (1, "DRA011")


def test_the_server_that_has_an_object_serves_its_version() -> None:
    beta = claim() | {"apiVersion": "resource.k8s.io/v1beta2"}
    stored = beta | {"metadata": {"name": "claim", "namespace": "team", "uid": "6a1f"}}
    assert (refusals(beta), refusals(stored)) == ({"DRA011"}, set())


def test_a_class_without_a_name_is_no_class_to_choose_from() -> None:
    nameless = {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {}, "spec": {}}
    messages = [
        one.message for one in dra_plan.validate([nameless, claim()]).findings if one.code in ("DRA201", "DRA203")
    ]
    assert messages == ['DeviceClass "gpu": the input has no device classes']
