"""A claim that could be released: its pods are restarted if all get nodes again, and otherwise the release says so."""

from __future__ import annotations

from typing import Any

from dra_plan import Cluster
from dra_plan.whatif.edits import Evict
from tests.build import Object, claim, generated, gpus, manifest, owned, pod, request, running, template, used

from .test_remedies import changes, helps, told
from .test_removals import prefers, replicas

ONE = {"gpu": "one"}
PENDING = [template("one", request("r")), claim("two", request("r", count=2)), pod("p", claims={"gpu": "two"})]


def held(name: str, where: str, gpu: str, **spec: Any) -> list[Object]:
    """A pod of a Deployment with this GPU."""
    return [*replicas(f"of-{name}", running(name, where, templates=ONE, **spec)), generated(name, "gpu", where, gpu)]


def text(objects: list[Object]) -> str:
    return " ".join(str(Cluster.of(objects).explain("pod/p")).split())


FREE, STUCK = held("free", "a", "gpu-0"), held("stuck", "b", "gpu-0", nodeSelector={"kubernetes.io/hostname": "b"})
WORLD = [*gpus("a", "b"), *gpus("c", each=1)[1:], *FREE, *STUCK, *PENDING]


def test_a_restart_comes_early_and_a_release_that_leaves_another_pod_pending_comes_last() -> None:
    verdict = told(WORLD, "pod/p")
    assert changes(verdict) == [["lower-count"], ["restart-pods"], ["add-node"], ["release-claim"]]
    _, restart, _, release = verdict["suggestions"]
    assert restart["changes"] == [{"code": "restart-pods", "pods": ["default/free"], "on": "a", "thenOn": ["c"]}]
    assert release["changes"][0]["release"]["name"].startswith("stuck-")
    assert release["changes"][0]["stays"] == "WithoutPlace"
    for one in verdict["suggestions"]:
        helps(WORLD, "pod/p", one)
    said = text(WORLD)
    assert "delete pod default/free: its replacement then fits on c (the pod then fits on a)" in said
    assert "(the pod then fits on b; the replacement of that pod would have no node)" in said


def test_no_restart_if_a_replacement_that_comes_first_takes_what_the_pod_needs() -> None:
    """A ReplicaSet replaces a pod while it still has its device; a StatefulSet only when the pod has ended.

    With a claim that both name, the replacement joins the pod, and the claim keeps its device.
    """
    world = [*gpus("a"), *gpus("c", each=1)[1:], *PENDING]
    found = told([*world, *held("w", "a", "gpu-0", affinity=prefers("a"))], "pod/p")
    assert changes(found) == [["lower-count"], ["add-node"], ["release-claim"]]
    assert "stays" not in found["suggestions"][2]["changes"][0]
    shared = claim("s", request("r"), status=used("a", "gpu-0", "w"))
    sharing = [*replicas("of-w", running("w", "a", claims={"gpu": "s"})), shared]
    assert changes(told([*world, *sharing], "pod/p")) == [["lower-count"], ["add-node"], ["release-claim"]]
    of_set = running("w-0", "a", templates=ONE, metadata=owned("StatefulSet", "w"), affinity=prefers("a"))
    stateful = [*world, of_set, generated("w-0", "gpu", "a", "gpu-0")]
    for each in (stateful, [*world, *held("w", "a", "gpu-0")]):
        assert changes(told(each, "pod/p"))[1] == ["restart-pods"]


def test_an_eviction_agrees() -> None:
    """Its replacement of the same pod gets the node that is told, or none."""
    restart, release = (told(WORLD, "pod/p")["suggestions"][at] for at in (1, 3))
    for one, heir in ((restart, "free"), (release, "stuck")):
        placed = Cluster.of(WORLD).edited(Evict("default", heir)).schedule().to_dict()["pods"]
        nodes = {each["name"]: each["nodeName"] or "" for each in placed}
        assert nodes[heir] == "".join(one["changes"][0].get("thenOn", []))
        assert nodes["p"] == one["node"]


def test_restarts_share_a_line_and_so_do_releases_that_leave_a_pod_pending_but_never_both() -> None:
    more, tied = held("more", "d", "gpu-0"), held("tied", "e", "gpu-0", nodeSelector={"kubernetes.io/hostname": "e"})
    said = text([*WORLD, *gpus("d", "e")[1:], *more, *tied])
    restart = "delete any one of these 2 pods: default/free and default/more (the pod then fits on a or d; the deleted"
    release = (
        "release any one of these 2 claims: default/stuck-gpu-x7k2p (pod stuck) and default/tied-gpu-x7k2p (pod tied)"
    )
    assert f"{restart} pod's replacement also gets a node)" in said
    assert f"{release} (the replacement of that pod would have no node)" in said


def test_a_hint_at_moves_if_two_pods_have_to_move_and_no_disruption_budget_protects_them() -> None:
    """The result with `--moves` is the same; one of the pods has no controller, so nothing restarts it."""
    bare = [running("bare", "a", templates=ONE), generated("bare", "gpu", "a", "gpu-1")]
    objects = [*gpus("a"), *gpus("b", "c", each=1)[1:], *held("w", "a", "gpu-0"), *bare, *PENDING]
    assert told(objects, "pod/p")["movesHelp"] == 2
    assert str(Cluster.of(objects).explain("pod/p")).endswith(
        "\n\n--moves 2 shows which running pods could move to make room.\nKubernetes 1.36.3."
    )
    explanation = Cluster.of(objects).explain("pod/p", moves=2)
    [room] = explanation.to_dict()["moves"]
    assert [each["moved"] for each in room["allowing"]] == [2]
    assert "--moves" not in str(explanation)
    without = [each for each in objects if each["metadata"]["name"] != "c"]
    spec = {"selector": {}, "maxUnavailable": 1}
    one_at_most = manifest("PodDisruptionBudget", "b", namespace="default", spec=spec)
    for kept in ([*objects, one_at_most], without):
        assert "--moves 2" not in text(kept)
