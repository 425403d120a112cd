"""Which claim sets an input has, and what is said about them."""

from __future__ import annotations

import pytest

from dra_plan.api.selectors import parse_selector
from dra_plan.claims import expand
from dra_plan.claims.index import not_judged
from dra_plan.manifests.decode import from_dicts
from tests.build import pod_group
from tests.manifests.objects import claim, dra, pod, template, workload

GPU = {"name": "r", "exactly": {"deviceClassName": "gpu"}}
ALLOCATED = {"status": {"allocation": {"devices": {"results": []}}}}
UID = {"metadata": {"uid": "u1"}}


def by_name(name, entry="a"):
    return {"name": entry, "resourceClaimName": name}


def by_template(name, entry="a"):
    return {"name": entry, "resourceClaimTemplateName": name}


def sets(*objects, **options):
    """Each set as (owner, pending claims, allocated claims) or (owner, error)."""
    return [
        (str(s.owner) if s.owner else None, str(s.error))
        if s.error is not None
        else (str(s.owner) if s.owner else None, [c.key for c in s.claims], [c.key for c in s.allocated])
        for s in expand(from_dicts(objects), **options).sets
    ]


def notices(*objects, **options):
    return [(n.code, n.object) for n in expand(from_dicts(objects), **options).notices]


def owned(name, pod_name="p", entry="a", *, uid="u1", annotation=True, **fields):
    """A claim that was generated for a pod."""
    metadata = {
        "generateName": f"{pod_name}-{entry}-",
        "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": pod_name, "uid": uid, "controller": True}],
    }
    if annotation:
        metadata["annotations"] = {"resource.kubernetes.io/pod-claim-name": entry}
    return claim(name, GPU, metadata=metadata, **fields)


# Pods


def test_claims_of_a_pod_in_the_order_of_its_entries():
    objects = [
        claim("x", GPU),
        claim("y", GPU),
        pod("p", by_name("y"), by_template("t", "b"), by_name("x", "c")),
        template("t", GPU),
    ]
    assert sets(*objects) == [("Pod default/p", ["default/y", "default/p-b", "default/x"], [])]


def test_a_claim_from_a_template():
    value = template("t", GPU, spec={"metadata": {"labels": {"l": "1"}, "annotations": {"n": "2"}}})
    (found,) = expand(from_dicts([value, pod("p", by_template("t"), **UID)])).sets
    (made,) = found.claims
    assert made.spec.devices.requests[0].name == "r"
    assert made.metadata.labels == {"l": "1"}
    assert made.metadata.annotations == {"n": "2", "resource.kubernetes.io/pod-claim-name": "a"}
    assert made.metadata.generate_name == "p-a-"
    assert made.metadata.controller.uid == "u1"
    assert made.status is None


def test_long_names_are_cut_as_the_controller_does():
    long = "p" * 60
    (found,) = sets(template("t", GPU), pod(long, by_template("t")))
    assert found[1] == ["default/" + "p" * 58]
    (found,) = sets(template("t", GPU), pod("p" * 55, by_template("t", "aaaa")))
    assert found[1] == ["default/" + "p" * 55 + "-aa"]


@pytest.mark.parametrize(
    "change",
    [
        {"spec": {"nodeName": "n", "resourceClaims": [by_name("x")]}},
        {"status": {"phase": "Succeeded"}},
        {"status": {"phase": "Failed"}},
        {"metadata": {"name": "p", "deletionTimestamp": "2026-01-01T00:00:00Z"}},
    ],
)
def test_pods_that_are_not_waiting(change):
    """They are not planned, and neither is the claim that they use."""
    assert sets(claim("x", GPU), {**pod("p", by_name("x")), **change}) == []


@pytest.mark.parametrize("phase", ["", "Pending", "Unknown"])
def test_waiting_pods(phase):
    assert sets(claim("x", GPU), pod("p", by_name("x"), status={"phase": phase})) == [
        ("Pod default/p", ["default/x"], [])
    ]


def test_pods_without_claims_have_no_set():
    assert sets(pod("p")) == []


def test_allocated_claims_of_a_pod():
    objects = [claim("x", GPU, **ALLOCATED), claim("y", GPU), claim("z", GPU, **ALLOCATED)]
    value = pod("p", by_name("x"), by_name("y", "b"), by_name("z", "c"))
    assert sets(*objects, value) == [("Pod default/p", ["default/y"], ["default/x", "default/z"])]
    assert sets(*objects, pod("p", by_name("x"))) == [("Pod default/p", [], ["default/x"]), (None, ["default/y"], [])]


def test_a_claim_used_twice_by_a_pod_is_there_twice():
    """The scheduler does not tell the entries apart either."""
    assert sets(claim("x", GPU), pod("p", by_name("x"), by_name("x", "b"))) == [
        ("Pod default/p", ["default/x", "default/x"], [])
    ]


def test_claims_of_another_namespace_are_not_found():
    assert sets(claim("x", GPU, namespace="other"), pod("p", by_name("x"))) == [
        ("Pod default/p", 'could not find ResourceClaim "default/x"'),
        (None, ["other/x"], []),
    ]


# Errors, in the scheduler's words


@pytest.mark.parametrize(
    ("objects", "error"),
    [
        ([pod("p", by_name("x"))], 'could not find ResourceClaim "default/x"'),
        ([pod("p", by_template("t"))], 'pod "default/p": ResourceClaim not created yet'),
        ([pod("p", {"name": "a"})], 'pod "default/p", spec.resourceClaim "a": none of the supported fields are set'),
        (
            [claim("x", GPU, metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"}), pod("p", by_name("x"))],
            'resourceclaim "x" is being deleted',
        ),
        (
            [
                claim("x", GPU),
                pod("p", by_template("t"), status={"resourceClaimStatuses": [{"name": "a", "resourceClaimName": "x"}]}),
            ],
            "ResourceClaim default/x was not created for Pod default/p (Pod is not owner)",
        ),
        (
            [
                owned("x", uid="other"),
                pod(
                    "p",
                    by_template("t"),
                    **UID,
                    status={"resourceClaimStatuses": [{"name": "a", "resourceClaimName": "x"}]},
                ),
            ],
            "ResourceClaim default/x was not created for Pod default/p (Pod is not owner)",
        ),
        (
            [pod("p", by_template("t"), status={"resourceClaimStatuses": [{"name": "a", "resourceClaimName": "x"}]})],
            'could not find ResourceClaim "default/x"',
        ),
        ([workload("Deployment", "w", by_name("x"))], 'could not find ResourceClaim "default/x"'),
        ([workload("Job", "w", by_template("t"))], 'pod "default/w": ResourceClaim not created yet'),
        (
            [workload("Job", "w", {"name": "a"})],
            'pod "default/w", spec.resourceClaim "a": none of the supported fields are set',
        ),
    ],
)
def test_errors(objects, error):
    found = expand(from_dicts(objects)).sets
    assert [str(s.error) for s in found if s.owner] == [error]
    assert found[0].claims == found[0].allocated == ()


def test_the_first_error_counts():
    (found,) = sets(pod("p", by_name("x"), by_name("y", "b"), {"name": "c"}))
    assert found[1] == 'could not find ResourceClaim "default/x"'


def test_missing_template_is_told():
    (notice,) = expand(from_dicts([pod("p", by_template("t"))])).notices
    assert notice.code == "missing-template"
    assert notice.object == "Pod default/p"
    assert notice.message == "ResourceClaimTemplate default/t is not in the input, so the claim is not known"
    assert notice.source == "objects[0]"


# Claims that the controller has made


def test_generated_claim_by_status():
    status = {"resourceClaimStatuses": [{"name": "a", "resourceClaimName": "p-a-abc12"}]}
    value = pod("p", by_template("t"), **UID, status=status)
    assert sets(owned("p-a-abc12", annotation=False), value) == [("Pod default/p", ["default/p-a-abc12"], [])]


def test_generated_claim_by_owner_and_annotation():
    assert sets(owned("odd"), template("t", GPU), pod("p", by_template("t"), **UID)) == [
        ("Pod default/p", ["default/odd"], [])
    ]


def test_generated_claim_by_owner_and_name():
    objects = [owned("p-a-abc12", annotation=False), template("t", GPU), pod("p", by_template("t"), **UID)]
    assert sets(*objects) == [("Pod default/p", ["default/p-a-abc12"], [])]


def test_generated_claim_by_annotation_and_name():
    """Manifests that have lost their owner references."""
    value = claim("p-a-abc12", GPU, metadata={"annotations": {"resource.kubernetes.io/pod-claim-name": "a"}})
    assert sets(value, template("t", GPU), pod("p", by_template("t"))) == [("Pod default/p", ["default/p-a-abc12"], [])]


@pytest.mark.parametrize(
    "other",
    [
        owned("p-a-abc12", uid="other"),
        owned("p-a-abc12", entry="b"),
        owned("odd", annotation=False, pod_name="q", uid=""),
        claim("p-a-abc12", GPU),
        claim("odd", GPU, metadata={"annotations": {"resource.kubernetes.io/pod-claim-name": "a"}}),
        owned("p-a-abc12", namespace="other"),
    ],
)
def test_claims_made_for_others(other):
    found = sets(other, template("t", GPU), pod("p", by_template("t"), **UID))
    assert found[0] == ("Pod default/p", ["default/p-a"], [])


def test_generated_and_allocated_claim():
    objects = [owned("p-a-abc12", **ALLOCATED), template("t", GPU), pod("p", by_template("t"), **UID)]
    assert sets(*objects) == [("Pod default/p", [], ["default/p-a-abc12"])]


def test_an_entry_that_needs_no_claim():
    value = pod("p", by_template("t"), by_name("x", "b"), status={"resourceClaimStatuses": [{"name": "a"}]})
    assert sets(claim("x", GPU), value) == [("Pod default/p", ["default/x"], [])]


# Workloads


@pytest.mark.parametrize(
    "kind", ["Deployment", "StatefulSet", "ReplicaSet", "DaemonSet", "Job", "CronJob", "ReplicationController"]
)
def test_workloads(kind):
    assert sets(workload(kind, "w", by_template("t")), template("t", GPU)) == [
        (f"{kind} default/w", ["default/w-a"], [])
    ]


def owner_of(kind, name, uid=""):
    return {"ownerReferences": [{"kind": kind, "name": name, "uid": uid, "controller": True}]}


def test_controlled_objects_are_not_planned_again():
    objects = [
        template("t", GPU),
        pod("w-1", by_template("t"), metadata=owner_of("ReplicaSet", "w-abc")),
        workload("ReplicaSet", "w-abc", by_template("t"), metadata=owner_of("Deployment", "w")),
        workload("Deployment", "w", by_template("t")),
        workload("Job", "nightly-1", by_template("t"), metadata=owner_of("CronJob", "nightly")),
        workload("CronJob", "nightly", by_template("t")),
    ]
    assert [found[0] for found in sets(*objects)] == ["Deployment default/w", "CronJob default/nightly"]


@pytest.mark.parametrize(
    "metadata",
    [
        owner_of("ReplicaSet", "missing"),
        owner_of("Deployment", "w", "other-uid"),
        {"ownerReferences": [{"kind": "Deployment", "name": "w"}]},
        {**owner_of("Deployment", "w"), "namespace": "other"},
    ],
)
def test_objects_whose_controller_is_not_in_the_input(metadata):
    objects = [
        template("t", GPU),
        template("t", GPU, namespace="other"),
        pod("p", by_template("t"), metadata=metadata),
        workload("Deployment", "w", by_template("t"), metadata={"uid": "w-uid"}),
    ]
    assert [found[0].split()[0] for found in sets(*objects)] == ["Pod", "Deployment"]


def test_generated_claims_of_controlled_pods_are_not_lone():
    objects = [
        template("t", GPU),
        workload("Deployment", "w", by_template("t")),
        pod("w-1", by_template("t"), metadata={"uid": "u1", **owner_of("Deployment", "w")}),
        owned("w-1-a-abc12", "w-1"),
    ]
    assert [found[0] for found in sets(*objects)] == ["Deployment default/w"]


@pytest.mark.parametrize("uid", ["u1", "of-the-pod-before", ""])
@pytest.mark.parametrize("of_pod", [UID, {}])
def test_a_claim_that_was_made_for_a_pod_is_never_lone(uid, of_pod):
    """Be the pod another one by now, without that entry, or without a uid of its own."""
    objects = [owned("p-a-abc12", uid=uid), template("t", GPU)]
    assert [found[0] for found in sets(*objects, pod("p", by_template("t", "b"), **of_pod))] == ["Pod default/p"]
    assert sets(*objects, pod("p", **of_pod)) == []


@pytest.mark.parametrize(
    "other",
    [pod("q"), pod("p", metadata={"namespace": "x"}), workload("Deployment", "p")],
)
def test_a_claim_whose_pod_is_not_in_the_input_is_lone(other):
    assert sets(owned("p-a-abc12"), other) == [(None, ["default/p-a-abc12"], [])]


@pytest.mark.parametrize(
    ("fields", "planned"),
    [
        ({"status": {"conditions": [{"type": "Complete", "status": "True"}]}}, 0),
        ({"status": {"conditions": [{"type": "Failed", "status": "True"}]}}, 0),
        (
            {
                "status": {
                    "conditions": [{"type": "Complete", "status": "False"}, {"type": "Suspended", "status": "True"}]
                }
            },
            1,
        ),
        ({"metadata": {"name": "w", "deletionTimestamp": "2026-01-01T00:00:00Z"}}, 0),
    ],
)
def test_jobs_that_are_over(fields, planned):
    assert len(sets(template("t", GPU), {**workload("Job", "w", by_template("t")), **fields})) == planned


# Lone claims


def test_lone_claims():
    objects = [
        claim("a", GPU),
        claim("b", GPU, **ALLOCATED),
        claim("c", GPU, metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"}),
        claim("d", GPU, namespace="x"),
        claim("used", GPU),
        workload("Deployment", "w", by_name("used")),
    ]
    assert sets(*objects)[1:] == [(None, ["default/a"], []), (None, ["x/d"], [])]


def test_order_of_sets():
    objects = [claim("x", GPU), workload("Job", "w", by_template("t")), pod("p", by_template("t")), template("t", GPU)]
    assert [found[0] for found in sets(*objects)] == ["Pod default/p", "Job default/w", None]


def test_together():
    objects = [claim("b", GPU), pod("p", by_name("b")), claim("a", GPU), claim("c", GPU, **ALLOCATED)]
    assert sets(*objects, together=True) == [(None, ["default/b", "default/a"], [])]
    assert sets(together=True) == [(None, [], [])]
    assert notices(*objects, together=True) == []


# Claims of pod groups


def group_with(*entries, **status):
    return {**pod_group("g", 0, resourceClaims=list(entries)), "status": status}


def member(name, *entries):
    made = pod(name, *entries)
    made["spec"]["schedulingGroup"] = {"podGroupName": "g"}
    return made


def test_pods_of_a_group_share_its_claim():
    """An entry is the group's if it has the same name and names the same template; only with the gate."""
    own = [
        member("p", by_template("t")),
        member("q", by_template("t"), by_template("t", "b")),
        pod("r", by_template("t")),
    ]
    objects = [template("t", GPU), group_with(by_template("t")), *own]
    assert [found[1] for found in sets(*objects, group_claims=True)] == [
        ["default/g-a"],
        ["default/g-a", "default/q-b"],
        ["default/r-a"],
    ]
    assert sets(*objects, group_claims=True, together=True)[0][1] == ["default/g-a", "default/q-b", "default/r-a"]
    assert sets(*objects)[0][1] == ["default/p-a"]
    (notice,) = expand(from_dicts(objects), group_claims=True).notices
    assert (notice.code, notice.object) == ("shared-claim", "ResourceClaim default/g-a")
    assert notice.message.startswith("used by Pod default/p and Pod default/q: ")


@pytest.mark.parametrize("told", ["status", "owner"])
def test_the_claim_that_a_group_has(told):
    owner = {
        "apiVersion": "scheduling.k8s.io/v1alpha2",
        "kind": "PodGroup",
        "name": "g",
        "uid": "u-g",
        "controller": True,
    }
    metadata = {"ownerReferences": [owner], "annotations": {"resource.kubernetes.io/pod-claim-name": "a"}}
    made = claim("g-a-12345", GPU, metadata=metadata)
    status = {"resourceClaimStatuses": [{"name": "a", "resourceClaimName": "g-a-12345"}]} if told == "status" else {}
    objects = [template("t", GPU), group_with(by_template("t"), **status), member("p", by_template("t")), made]
    assert sets(*objects, group_claims=True) == [("Pod default/p", ["default/g-a-12345"], [])]
    noted = {"resourceClaimStatuses": [{"name": "a", "resourceClaimName": "g-a-12345"}]}
    by_pod = [
        template("t", GPU),
        group_with(by_template("t")),
        {**member("p", by_template("t")), "status": noted},
        made,
    ]
    assert sets(*by_pod, group_claims=True) == [("Pod default/p", ["default/g-a-12345"], [])]


def test_what_a_group_lacks():
    entry = by_template("t")
    assert sets(group_with(entry), member("p", entry), group_claims=True) == [
        ("Pod default/p", 'pod "default/p": ResourceClaim not created yet')
    ]
    gone = {"resourceClaimStatuses": [{"name": "a", "resourceClaimName": "gone"}]}
    objects = [template("t", GPU), group_with(entry, **gone), member("p", entry)]
    assert sets(*objects, group_claims=True) == [("Pod default/p", 'could not find ResourceClaim "default/gone"')]
    none = {"resourceClaimStatuses": [{"name": "a"}]}
    assert sets(template("t", GPU), group_with(entry, **none), member("p", entry), group_claims=True) == [
        ("Pod default/p", [], [])
    ]


# Choosing


def test_namespace_and_selector_choose():
    objects = [
        claim("a", GPU, metadata={"labels": {"team": "x"}}),
        claim("b", GPU, namespace="other", metadata={"labels": {"team": "y"}}),
        template("t", GPU),
        pod("p", by_template("t"), metadata={"labels": {"team": "x"}}),
        workload("Job", "w", by_template("t")),
    ]
    assert [found[0] for found in sets(*objects, namespace="other")] == [None]
    assert [found[0] for found in sets(*objects, namespace="default")] == ["Pod default/p", "Job default/w", None]
    assert [found[0] for found in sets(*objects, selector=parse_selector("team=x"))] == ["Pod default/p", None]
    assert [found[0] for found in sets(*objects, selector=parse_selector("!team"))] == ["Job default/w"]
    assert sets(*objects, selector=parse_selector("team"), together=True) == [
        (None, ["default/p-a", "default/a", "other/b"], [])
    ]


def test_what_is_not_chosen_still_counts():
    """A claim used by a pod of another selection is not lone."""
    assert (
        sets(claim("x", GPU), pod("p", by_name("x"), metadata={"labels": {"a": "b"}}), selector=parse_selector("!a"))
        == []
    )


# Notices


def test_shared_claims():
    objects = [claim("x", GPU), pod("p", by_name("x")), pod("q", by_name("x")), workload("Job", "w", by_name("x"))]
    (notice,) = expand(from_dicts(objects)).notices
    assert (notice.code, notice.object, notice.source) == ("shared-claim", "ResourceClaim default/x", "objects[0]")
    assert notice.message == (
        "used by Pod default/p, Pod default/q and Job default/w: the first of them to be scheduled decides for all. "
        "Here each is planned as if it came first"
    )


def test_a_claim_is_not_shared_by_one_user_or_when_it_is_allocated():
    assert notices(claim("x", GPU), pod("p", by_name("x"), by_name("x", "b"))) == []
    assert notices(claim("x", GPU, **ALLOCATED), pod("p", by_name("x")), pod("q", by_name("x"))) == []


@pytest.mark.parametrize(
    ("spec", "rules"),
    [
        ({"affinity": {"podAffinity": {}}}, ["affinity to pods"]),
        ({"topologySpreadConstraints": [{"topologyKey": "zone"}]}, ["topology spread"]),
        ({"containers": [{"name": "a", "ports": [{"containerPort": 1, "hostPort": 1}]}]}, ["host ports"]),
        ({"containers": [{"name": "a", "resources": {"requests": {"cpu": 1}}}]}, ["resource requests"]),
        ({"initContainers": [{"name": "a", "resources": {"limits": {"cpu": 1}}}]}, ["resource requests"]),
        ({"resources": {"requests": {"cpu": 1}}}, ["resource requests"]),
        ({"overhead": {"cpu": 1}}, ["resource requests"]),
        ({"affinity": {"nodeAffinity": {}}, "nodeSelector": {"a": "b"}, "tolerations": [{"key": "a"}]}, []),
        ({}, []),
    ],
)
@pytest.mark.parametrize("kind", ["Pod", "Job"])
def test_rules_of_pods_that_need_more_than_node_and_devices(kind, spec, rules):
    value = pod("p", by_template("t"), **spec) if kind == "Pod" else workload(kind, "p", by_template("t"), **spec)
    [found] = expand(from_dicts([template("t", GPU), value])).sets
    [planned] = found.pods
    assert not_judged(planned.spec) == rules


def test_pods_without_claims_have_no_rules_to_tell():
    assert notices(pod("p", nodeSelector={"a": "b"})) == []


@pytest.mark.parametrize(
    ("requests", "named"),
    [
        ({"example.com/gpu": 1}, "example.com/gpu"),
        ({"deviceclass.resource.kubernetes.io/gpu": "2"}, "deviceclass.resource.kubernetes.io/gpu"),
        ({"example.com/gpu": 0}, None),
        ({"other.com/gpu": 1, "cpu": 1}, None),
    ],
)
def test_extended_resources(requests, named):
    device_class = dra("DeviceClass", "gpu", spec={"extendedResourceName": "example.com/gpu"})
    value = pod("p", containers=[{"name": "a", "resources": {"requests": requests}}])
    found = expand(from_dicts([device_class, value])).notices
    expected = f"{named}: only `schedule` plans extended resources of device classes"
    assert [(n.code, n.message) for n in found] == ([("extended-resources-not-evaluated", expected)] if named else [])


# The whole


def test_a_claim_has_an_allocation_or_none():
    missing, plain, done = from_dicts(
        [claim("w", GPU), claim("x", GPU, status={}), claim("y", GPU, **ALLOCATED)]
    ).claims
    assert missing.allocation is None
    assert plain.allocation is None
    assert done.allocation is not None


def test_origins():
    found = expand(from_dicts([template("t", GPU), claim("x", GPU), pod("p", by_template("t"))])).sets
    assert [str(s.origin) for s in found] == ["objects[2]", "objects[1]"]
