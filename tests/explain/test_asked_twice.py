"""A pod whose requests compete for the same devices: how they are named, and what may be removed from the pod."""

from __future__ import annotations

import pytest

from dra_plan import Cluster
from dra_plan.questions.explain.text import parse
from tests.build import (
    GPU,
    Object,
    allocated,
    claim,
    deployment,
    device,
    device_class,
    node,
    pod,
    request,
    running,
    slice_,
    template,
)

from .apply import applied
from .json_patch import patched

RESOURCE = "example.com/gpu"
BY_WORDS = {"drop-resource", "drop-claim", "drop-request", "add-node", "release-claim"}


def asking(shape: Object, *more: Object, gpus: int = 1, count: int = 1) -> list[Object]:
    """A node with so many GPUs, the template `t` for so many of them, and a pod or workload."""
    devices = slice_("n1", *(device(f"gpu-{at}") for at in range(gpus)))
    of_class = device_class(extendedResourceName=RESOURCE)
    return [node("n1", cpu="64"), of_class, devices, template("t", request("gpu", count=count)), *more, shape]


def twice(*, uses: bool = True, **rest: str) -> Object:
    """A pod with a claim of its own and the extended resource, in the same container or not."""
    made = pod("p", templates={"gpu": "t"}, requests={RESOURCE: "1"}, **rest)
    made["spec"]["containers"][0]["resources"]["limits"] = {RESOURCE: "1"}
    if uses:
        made["spec"]["containers"][0]["resources"]["claims"] = [{"name": "gpu"}]
    return made


def told(objects: list[Object], owner: str) -> list[list[Object]]:
    """The changes of each suggestion, in order; each is carried out by its patches and by its words."""
    [verdict] = Cluster.of(objects).explain(owner).to_dict()["verdicts"]
    for one in verdict["suggestions"]:
        by_words = applied(objects, [each for each in one["changes"] if each["code"] in BY_WORDS])
        for changed in (by_words, patched(objects, one["patches"])) if one["patches"] else (by_words,):
            [after] = Cluster.of(changed).explain(owner).to_dict()["verdicts"]
            assert after["verdict"] == "WouldBind", one
    return [one["changes"] for one in verdict["suggestions"]]


@pytest.mark.parametrize("of", ["pod", "deployment"])
def test_a_claim_and_an_extended_resource_of_one_container(of: str) -> None:
    """Neither a claim of the scheduler nor a request of it is in any manifest, so neither is named."""
    shape = twice()
    objects, owner = (asking(shape), "pod/p") if of == "pod" else (asking(deployment("w", shape)), "deployment/w")
    about = {"containers": ["c"], "class": GPU, "amount": 1}
    first, second = told(objects, owner)
    assert first == [{"code": "drop-resource", "resource": RESOURCE, "usesClaim": True, **about}]
    assert [(one["code"], one["entry"], one["beside"]) for one in second] == [("drop-claim", "gpu", RESOURCE)]
    explanation = Cluster.of(objects).explain(owner)
    for said in (str(explanation), parse("markdown")(explanation.document, None)):
        assert "extended-resources" not in said
        assert "container-0" not in said
    text = " ".join(str(explanation).split())
    assert f"and {RESOURCE}=1 of container c, which class {GPU} serves, need 2 devices together, 1 is available" in text
    assert f"1. remove {RESOURCE} from container c: its claim asks for the same device" in text
    assert (
        f"2. remove entry gpu (template t) from the pod's resourceClaims: {RESOURCE} asks for the same device" in text
    )


def test_requests_of_different_containers_are_given_up_last() -> None:
    """The claim is of no container, or of another one: either may be what the pod needs."""
    in_use = allocated("held", "n1/gpu-0", pod="r", on="n1")
    objects = asking(twice(uses=False), in_use, running("r", "n1", claims={"x": "held"}), gpus=2)
    codes = [one["code"] for each in told(objects, "pod/p") for one in each]
    assert codes == ["add-node", "drop-resource", "drop-claim"]


def test_of_claims_from_one_template_one_is_removed_and_no_claim_is_emptied() -> None:
    """Three claims of one template, two of which fit; a claim without its only request would be of no use."""
    changes = told(asking(pod("p", templates={"a": "t", "b": "t", "c": "t"}), gpus=2), "pod/p")
    assert [[(one["code"], one["entry"]) for one in each] for each in changes] == [[("drop-claim", "c")]]
    other = template("u", request("gpu"))
    changes = told(asking(pod("p", templates={"a": "t", "b": "u"}), other), "pod/p")
    assert [[(one["code"], one["entry"]) for one in each] for each in changes] == [
        [("drop-claim", "a")],
        [("drop-claim", "b")],
    ]


def test_a_claim_with_other_requests_stays() -> None:
    """Its second request does not compete, so that the request alone is left out."""
    nic = device_class("nic.example.com")
    nics = slice_("nics", device("nic-0"), driver="nic.example.com", nodeName="n1")
    named = claim("both", request("gpu"), request("nic", of="nic.example.com"))
    changes = told(
        asking(pod("p", claims={"a": "both", "b": "one"}), nic, nics, named, claim("one", request("gpu"))), "pod/p"
    )
    assert sorted(one["code"] for each in changes for one in each) == ["drop-claim", "drop-request"]


def test_a_claim_stays_if_nothing_else_of_the_pod_asks_for_such_devices() -> None:
    """Two requests of one claim compete under its constraint: without the claim, the pod would have no device."""
    nic, of = device_class("nic.example.com"), "nic.example.com"
    root = {"matchAttribute": "example.com/root", "requests": ["gpu", "nic"]}
    near, far = (device(name, attributes={"example.com/root": {"string": name}}) for name in ("g", "n"))
    slices = [slice_("g", near, nodeName="n1"), slice_("n", far, driver=of, nodeName="n1")]
    both = template("both", request("gpu"), request("nic", of=of), constraints=[root])
    objects = [node("n1"), device_class(), nic, *slices, both, pod("p", templates={"gn": "both"})]
    [verdict] = Cluster.of(objects).explain("pod/p").to_dict()["verdicts"]
    assert [one["changes"][0]["code"] for one in verdict["suggestions"]] == ["drop-constraint"]
