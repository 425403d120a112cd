"""What `validate` says that the API server rejects is never part of a yes, whichever command is asked."""

from collections.abc import Iterator
from importlib import import_module
from random import Random
from typing import Any

import pytest

import dra_plan
from dra_plan import Cluster
from dra_plan.errors import DraPlanError
from dra_plan.questions.registry import of_kind
from dra_plan.text.gate import Gate, Verdict
from tests.cli.running import in_process
from tests.fuzzing.inputs import clusters
from tests.fuzzing.objects import broken
from tests.validation.judging import as_yaml
from tests.validation.objects import Data, claim, device_class, request, template
from tests.validation.objects import pod as with_claim
from tests.validation.test_admission import CLUSTER, REFUSED


def judge(document: Any) -> Any:
    """What gates make of the document."""
    return import_module(f"dra_plan.questions.{of_kind(document.kind).name}.gate").JUDGE


NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n1"},
    "status": {"allocatable": {"cpu": "64", "memory": "64Gi", "pods": "110", "example.com/gpu": "8", "gpu": "8"}},
}
SLICE = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceSlice",
    "metadata": {"name": "n1-gpu"},
    "spec": {
        "driver": "gpu.example.com",
        "nodeName": "n1",
        "pool": {"name": "n1", "generation": 1, "resourceSliceCount": 1},
        "devices": [{"name": "gpu-0"}, {"name": "gpu-1"}],
    },
}
ROOM = [*CLUSTER, NODE, SLICE, device_class()]
OWNERS = [made for _, made in REFUSED if made["kind"] not in ("ResourceQuota", "PodDisruptionBudget", "PriorityClass")]
WITH_PODS = [made for made in OWNERS if made["kind"] != "ResourceClaim" and not made["spec"].get("nodeName")]
COMMANDS = ("allocate", "schedule", "place", "grow", "capacity")


def asked(cluster: Cluster, command: str) -> Any:
    return cluster.grow(like="n1") if command == "grow" else getattr(cluster, command)()


def yeses(document: Any) -> Iterator[tuple[str, str, str]]:
    """Kind, namespace and name of each object that a document of a plan says fits, is bound or placed."""
    match document.kind:
        case "AllocationPlan":
            for one in document.claim_sets:
                if one.fitting_nodes or one.outcome.value == "Fits":
                    owner = one.owner
                    yield from [(owner.kind, owner.namespace, owner.name)] if owner else ()
                    yield from (("ResourceClaim", each.namespace, each.name) for each in one.claims)
        case "SchedulePlan":
            for pod in document.pods:
                if pod.node_name and pod.attempts:
                    yield "Pod", pod.namespace, pod.name
        case "Placement":
            yield from (("Pod", pod.namespace, pod.name) for pod in document.placed)
        case "GrowthPlan":
            yield from (("Pod", pod.namespace, pod.name) for node in document.nodes for pod in node.pods)
        case _:
            yield from ((i.owner.kind, i.owner.namespace, i.owner.name) for i in document.items if i.scheduled.copies)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("made", WITH_PODS, ids=range(len(WITH_PODS)))
def test_what_is_refused_is_no_yes(made: Data, command: str) -> None:
    document = asked(Cluster.of([*ROOM, claim(), template(), made]).serving({}), command).document
    assert Verdict.FAILED in judge(document).all_verdicts(Gate(), document)
    name = (made["kind"], made["metadata"].get("namespace", "team"), made["metadata"]["name"])
    assert name not in set(yeses(document))
    told = {(owner.kind, owner.name) for one in document.refusals for owner in one.owners}
    assert (made["kind"], made["metadata"]["name"]) in told


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    "written", ["v1beta1", "v1beta2"], ids=["fields directly in the request, which that version has", "v1beta2"]
)
def test_versions_that_are_not_served_are_no_yes(written: str, command: str) -> None:
    spec = request() if written == "v1beta2" else {"name": "gpu", "deviceClassName": "gpu"}
    old = template(spec) | {"apiVersion": f"resource.k8s.io/{written}"}
    cluster = Cluster.of([*ROOM, old, with_claim({"name": "gpu"})])
    document = asked(cluster.serving({}), command).document
    assert Verdict.FAILED in judge(document).all_verdicts(Gate(), document)
    assert [one.code for one in document.refusals] == ["DRA011"]
    taken = asked(cluster.serving({"api/beta": True}), command).document
    assert not {*judge(taken).all_verdicts(Gate(), taken)} - {Verdict.PASSED}


@pytest.mark.parametrize("command", COMMANDS)
def test_forms_that_are_gone_are_no_yes(command: str) -> None:
    """`source` in a pod, and the fields of `exactly` directly in a request of v1."""
    entry = {"name": "gpu", "source": {"resourceClaimTemplateName": "gpus"}}
    flat = template({"name": "gpu", "deviceClassName": "gpu"})
    for code, objects in (
        ("DRA009", [template(), with_claim({"name": "gpu"}, entry=entry)]),
        ("DRA014", [flat, with_claim({"name": "gpu"})]),
    ):
        document = asked(Cluster.of([*ROOM, *objects]), command).document
        assert Verdict.FAILED in judge(document).all_verdicts(Gate(), document)
        assert code in {one.code for one in document.refusals}


@pytest.mark.parametrize("command", [("allocate",), ("schedule",), ("place",), ("grow", "--like", "n1"), ("capacity",)])
def test_finding_and_fix_stand_before_the_answer(command: tuple[str, ...]) -> None:
    twice = {"claims": [{"name": "gpu", "request": "gpu"}, {"name": "gpu"}]}
    made = with_claim({"name": "gpu"})
    made["spec"]["containers"][0]["resources"] = twice
    ran = in_process(command[0], "-", *command[1:], stdin=as_yaml([*ROOM, template(), made]))
    assert ran.status == 1
    assert ran.out.startswith("The API server rejects:\n  -:")
    finding, fix = ran.out.splitlines()[1:3]
    told = 'error[DRA104] Pod team/pod: spec.containers[0].resources.claims[1]: claim "gpu" is listed twice'
    assert finding.endswith(told)
    assert fix.strip().startswith("help: ")


def test_others_do_not_wait_for_what_is_refused() -> None:
    """A pod that never comes to be takes nothing away from the others."""
    refused = with_claim({"name": "gpu"}) | {"metadata": {"name": "first", "namespace": "team"}}
    refused["spec"] = {**refused["spec"], "restartPolicy": "Sometimes", "priority": 0}
    one_gpu = {**SLICE, "spec": {**SLICE["spec"], "devices": [{"name": "gpu-0"}]}}
    objects = [*CLUSTER, NODE, one_gpu, device_class(), template(), refused, with_claim({"name": "gpu"})]
    plan = Cluster.of(objects).schedule()
    assert [(pod.name, pod.outcome, pod.node_name) for pod in plan] == [
        ("pod", "Bound", "n1"),
        ("first", "Refused", None),
    ]


def test_a_dump_without_accounts_refuses_nobody() -> None:
    """Of a running cluster, accounts are known where they were listed."""
    stored = {"uid": "1", "creationTimestamp": "2026-01-01T00:00:00Z"}
    namespaces = [
        one | {"metadata": {**one["metadata"], **stored, "uid": str(at)}} for at, one in enumerate(CLUSTER[:2])
    ]
    made = with_claim({"name": "gpu"})
    made["spec"]["serviceAccountName"] = "ghost"
    rest = [NODE, SLICE, device_class(), template(), made]
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": "team"}}
    for objects, outcome in (([*namespaces, *rest], "Bound"), ([*namespaces, account, *rest], "Refused")):
        assert [pod.outcome for pod in Cluster.of(objects).schedule()] == [outcome]
        codes = {one.code for one in dra_plan.validate(objects).findings if one.rule.refused_by == "APIServer"}
        assert ("DRA225" in codes) == (outcome == "Refused")


def refused_of(objects: list[Data]) -> set[tuple[str, str, str]]:
    """Kind, namespace and name of what `validate` says that the API server rejects, whatever its status is."""
    found = set()
    for one in dra_plan.validate(objects, runtime_config={}).findings:
        if one.rule.refused_by == "APIServer" and str(one.severity) == "error" and not one.field.startswith("status"):
            kind, _, name = one.object.partition(" ")
            namespace, _, own = name.rpartition("/")
            found.add((kind, namespace, own))
    return found


KEPT = ("Node", "ResourceSlice", None)


def new(objects: list[Data]) -> list[Data]:
    """The same, of which no cluster has the pods and claims yet: of what it has, the text is not looked at."""
    made = []
    for one in objects:
        metadata = {k: v for k, v in one.get("metadata", {}).items() if k not in ("uid", "creationTimestamp")}
        made.append({**one, "metadata": metadata} if one.get("kind") not in KEPT else one)
    return made


@pytest.mark.sampled(3)
@pytest.mark.parametrize("block", range(8))
def test_of_broken_inputs_nothing_refused_is_a_yes(block: int) -> None:
    """The answers about recorded clusters with something broken, and what `validate` says of the same."""
    for seed in range(block * 40, (block + 1) * 40):
        random = Random(seed)
        objects = broken(random, new(random.choice(clusters())))
        try:
            refused = refused_of(objects)
            cluster = Cluster.of(objects).serving({})
            documents = [asked(cluster, command).document for command in ("allocate", "schedule")]
        except DraPlanError:
            continue
        for document in documents:
            assert not refused & set(yeses(document)), (seed, document.kind)
