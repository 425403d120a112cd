"""DynamicResources: claims of pods from PreEnqueue to PreBind, and its known quirks P1 to P14."""

from __future__ import annotations

import pytest

from tests import build
from tests.build import GPU, allocation, claim, device_class, gpus, node, owned, placed, pod, request, slice_, template
from tests.scheduler.reading import claim_of, codes, devices, message, outcome, plan, unchecked, users, where

NO_VICTIMS = "preemption: 0/{n} nodes are available: {n} Preemption is not helpful for scheduling."


def refused(n: int, reason: str, own: str = "still not schedulable") -> str:
    return f"0/{n} nodes are available: {reason}. {own}, {NO_VICTIMS.format(n=n)}"


# PreEnqueue: no message, no attempt


@pytest.mark.parametrize(
    ("claims", "entry", "waiting"),
    [
        ([], {"resourceClaimName": "gone"}, 'could not find ResourceClaim "default/gone"'),
        ([], {"resourceClaimTemplateName": "gone"}, 'pod "default/p": ResourceClaim not created yet'),
        ([], {}, 'pod "default/p", spec.resourceClaim "x": none of the supported fields are set'),
    ],
)
def test_unresolvable_claims_keep_the_pod_out_of_the_queue(claims, entry, waiting):
    objects = [*gpus("a"), *claims, pod("p", resourceClaims=[{"name": "x", **entry}])]
    found = outcome(unchecked(objects), "p")
    assert found["waiting"] == waiting
    assert found["message"] is None
    assert "attempts" not in found


def test_a_claim_that_is_being_deleted_and_one_of_another_pod():
    doomed = claim("c")
    doomed["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    found = outcome(plan([*gpus("a"), doomed, pod("p", claims={"x": "c"})]), "p")
    assert found["waiting"] == 'resourceclaim "c" is being deleted'
    stranger = claim("c")
    status = {"resourceClaimStatuses": [{"name": "x", "resourceClaimName": "c"}]}
    objects = [*gpus("a"), stranger, pod("p", templates={"x": "t"}, status=status)]
    found = outcome(plan(objects), "p")
    assert found["waiting"] == "ResourceClaim default/c was not created for Pod default/p (Pod is not owner)"


def test_an_entry_that_needs_no_claim_is_skipped():
    status = {"resourceClaimStatuses": [{"name": "x"}]}
    document = plan([*gpus("a"), pod("p", templates={"x": "t"}, status=status)])
    assert outcome(document, "p")["nodeName"] == "a"


# PreFilter


@pytest.mark.parametrize(
    ("requests", "text"),
    [
        ([build.request(of="nope")], "request r: device class nope does not exist"),
        (
            [{"name": "r", "firstAvailable": [{"name": "s", "deviceClassName": "nope", "count": 1}]}],
            "request r/s: device class nope does not exist",
        ),
    ],
)
def test_missing_classes(requests, text):
    document = plan([*gpus("a"), claim("c", *requests), pod("p", claims={"x": "c"})])
    assert message(document, "p") == refused(1, text, "no new claims to deallocate")


@pytest.mark.parametrize(
    ("requests", "gates", "text"),
    [
        ([{"name": "r"}], None, "resource claim default/c, request r: unknown request type"),
        (
            [{"name": "r", "firstAvailable": [{"name": "s", "deviceClassName": build.GPU, "count": 1}]}],
            {"DRAPrioritizedList": False},
            "resource claim default/c, request r: has subrequests, but the DRAPrioritizedList feature is disabled",
        ),
    ],
)
def test_requests_of_no_known_kind_reject_the_pod(requests, gates, text):
    objects = [*gpus("a"), claim("c", *requests), pod("p", claims={"x": "c"})]
    document = unchecked(objects, gates)
    assert message(document, "p") == refused(1, text, "no new claims to deallocate")
    assert outcome(document, "p")["reason"] == "Unschedulable"


def test_a_request_without_class_ends_the_attempt():
    document = unchecked([*gpus("a"), claim("c", build.request(of="")), pod("p", claims={"x": "c"})])
    text = "request r: unsupported request type"
    assert message(document, "p") == f'running PreFilter plugin "DynamicResources": {text}'
    assert outcome(document, "p")["reason"] == "SchedulerError"


# Filter and Reserve


def test_devices_are_taken_one_pod_after_the_other():
    objects = [*gpus("a"), build.template("t"), *(pod(f"p{i}", templates={"x": "t"}) for i in range(3))]
    document = plan(objects)
    assert devices(document, "p0-x") == ["a/gpu-0"]
    assert devices(document, "p1-x") == ["a/gpu-1"]
    assert devices(document, "p2-x") == []
    assert message(document, "p2") == refused(1, "1 cannot allocate all claims")


def test_a_selector_that_fails_ends_the_attempt_although_other_nodes_fit():
    broken = build.slice_("b", "gpu-0")
    good = build.slice_("a", build.device("gpu-0", model="A"))
    wanted = build.request(selectors=[{"cel": {"expression": f'device.attributes["{build.GPU}"].model == "A"'}}])
    objects = [
        build.device_class(),
        node("a"),
        node("b"),
        good,
        broken,
        claim("c", wanted),
        pod("p", claims={"x": "c"}),
    ]
    document = plan(objects)
    found = outcome(document, "p")
    assert found["nodeName"] is None
    assert found["message"].startswith('running "DynamicResources" filter plugin: claim default/c: selector #0: CEL')
    assert list(found["errors"]) == ["b"]
    assert "error-on-some-nodes" in codes(document)


def test_an_allocated_claim_keeps_the_pod_on_its_node():
    given = claim("c", status={"allocation": allocation("b", "gpu-0")})
    document = plan([*gpus("a", "b"), given, pod("p", claims={"x": "c"})])
    assert outcome(document, "p")["nodeName"] == "b"
    assert users(document, "c") == ["p"]


def test_an_unusable_claim_is_deallocated_and_the_pod_tried_again():
    given = claim("c", status={"allocation": allocation("a", "gpu-0", on="elsewhere")})
    document = plan([*gpus("a"), given, pod("p", claims={"x": "c"})])
    assert outcome(document, "p")["nodeName"] == "a"
    assert outcome(document, "p")["attempts"] == 2
    assert devices(document, "c") == ["a/gpu-0"]


def test_a_claim_that_others_use_is_not_deallocated():
    user = {"resource": "pods", "name": "other", "uid": "u-other"}
    given = claim("c", status={"allocation": allocation("a", "gpu-0", on="elsewhere"), "reservedFor": [user]})
    document = plan([*gpus("a"), given, pod("p", claims={"x": "c"})])
    assert message(document, "p") == refused(1, "1 resourceclaim not available on the node")
    assert users(document, "c") == ["other"]


def test_claims_in_flight_hold_the_next_pod_back():
    objects = [*gpus("a"), claim("c"), pod("p1", claims={"x": "c"}), pod("p2", claims={"x": "c"})]
    document = plan(objects, trace=True)
    second = next(a for a in document["trace"]["attempts"] if a["pod"] == "default/p2")
    assert second["message"] == refused(
        1, "resource claim default/c is in the process of being allocated", "no new claims to deallocate"
    )
    [wake] = [w for w in document["trace"]["wakes"] if w["pod"] == "default/p2"]
    assert (wake["event"], wake["plugin"]) == ("ResourceClaimUpdate", "DynamicResources")
    assert users(document, "c") == ["p1", "p2"]


# Score


def test_earlier_alternatives_win():
    first = {"name": "big", "deviceClassName": build.GPU, "count": 2}
    second = {"name": "small", "deviceClassName": build.GPU, "count": 1}
    wanted = {"name": "r", "firstAvailable": [first, second]}
    few, many = gpus("a", each=1), gpus("b", each=2)[1:]
    document = plan([*few, *many, claim("c", wanted), pod("p", claims={"x": "c"})])
    assert outcome(document, "p")["nodeName"] == "b"
    assert devices(document, "c") == ["b/gpu-0", "b/gpu-1"]


# PreBind


def test_a_claim_has_at_most_256_users():
    others = [{"resource": "pods", "name": f"o{i}", "uid": f"u-o{i}"} for i in range(256)]
    given = claim("c", status={"allocation": allocation("a", "gpu-0"), "reservedFor": others})
    document = plan([*gpus("a"), given, pod("p", claims={"x": "c"})])
    assert message(document, "p") == (
        'running PreBind plugin "DynamicResources": add reservation to claim default/c: '
        'ResourceClaim.resource.k8s.io "c" is invalid: status.reservedFor: Too many: 257: must have at most 256 items'
    )
    assert len(users(document, "c")) == 256


CONDITIONS = {"bindingConditions": ["ready"], "bindingFailureConditions": ["broken"], "bindsToNode": True}


def prepared(*conditions: tuple[str, str]) -> dict:
    reported = [
        {
            "type": kind,
            "status": status,
            "reason": "Because",
            "message": "so",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        }
        for kind, status in conditions
    ]
    result = {"bindingConditions": ["ready"], "bindingFailureConditions": ["broken"]}
    given = {**allocation("a", "gpu-0", **result), "allocationTimestamp": "2026-01-01T00:00:00Z"}
    device = {"driver": build.GPU, "pool": "a", "device": "gpu-0", "conditions": reported}
    return claim("c", status={"allocation": given, "devices": [device]})


def conditional(*extra: dict) -> list[dict]:
    return [
        build.device_class(),
        node("a"),
        build.slice_("a", build.device("gpu-0", **CONDITIONS)),
        *extra,
        pod("p", claims={"x": "c"}),
    ]


def test_a_pod_waits_for_binding_conditions():
    document = plan(conditional(claim("c")))
    found = outcome(document, "p")
    assert found["nodeName"] is None
    assert found["waiting"] == "waiting for binding conditions for device on node a"
    assert found["nominatedNodeName"] == "a"
    assert users(document, "c") == ["p"]


def test_prepared_devices_let_it_bind():
    assert outcome(plan(conditional(prepared(("ready", "True")))), "p")["nodeName"] == "a"


def test_a_failed_condition_makes_the_claim_unavailable_and_free():
    document = plan(conditional(prepared(("broken", "True"))), trace=True)
    [first, *_] = document["trace"]["attempts"]
    assert "1 resourceclaim not available on the node. deallocation of ResourceClaim completed" in first["message"]
    assert outcome(document, "p")["waiting"].startswith("waiting for binding conditions")


@pytest.mark.parametrize(("first", "second", "freed"), [("broken", "ready", True), (None, "broken", False)])
def test_devices_are_judged_one_after_the_other(first, second, freed):
    """A failure behind a device that has not reported yet is not seen: the pod waits."""
    result = {"request": "r", "driver": build.GPU, "pool": "a", "bindingConditions": ["ready"],
              "bindingFailureConditions": ["broken"]}  # fmt: skip
    names = {"gpu-0": first, "gpu-1": second}
    given = {**allocation("a", "gpu-0"), "allocationTimestamp": "2026-01-01T00:00:00Z"}
    given["devices"] = {"results": [{**result, "device": name} for name in names]}
    told = [
        {"driver": build.GPU, "pool": "a", "device": name, "conditions": [{"type": kind, "status": "True"}]}
        for name, kind in names.items()
        if kind
    ]
    stored = claim("c", build.request(count=2), status={"allocation": given, "devices": told})
    objects = [
        build.device_class(),
        node("a"),
        build.slice_("a", *(build.device(name, **CONDITIONS) for name in ("gpu-0", "gpu-1"))),
        stored,
    ]
    document = plan([*objects, pod("p", claims={"x": "c"})], trace=True)
    messages = [attempt.get("message", "") for attempt in document["trace"]["attempts"]]
    assert any("deallocation of ResourceClaim completed" in text for text in messages) is freed
    assert outcome(document, "p")["waiting"].startswith("waiting for binding conditions")


def test_drivers_report_in_a_later_state():
    before = conditional(claim("c"))
    device = {"driver": build.GPU, "pool": "a", "device": "gpu-0"}
    ready = {"type": "ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    after = conditional(claim("c", status={"devices": [{**device, "conditions": [ready]}]}))
    assert outcome(plan(before, then=[after]), "p")["nodeName"] == "a"
    broken = {**ready, "type": "broken", "reason": "Smoke", "message": "it burns"}
    after = conditional(claim("c", status={"devices": [{**device, "conditions": [broken]}]}))
    document = plan(before, then=[after], trace=True)
    texts = [attempt.get("message", "") for attempt in document["trace"]["attempts"]]
    assert any("deallocation of ResourceClaim completed" in text for text in texts)


# Extended resources


def extended(name: str = "example.com/gpu") -> dict:
    return build.device_class(extendedResourceName=name)


def test_devices_serve_an_extended_resource():
    objects = [extended(), node("a"), build.slice_("a", "gpu-0"), pod("p", requests={"example.com/gpu": "1"})]
    document = plan(objects)
    special = "p-extended-resources-xxxxx"
    assert outcome(document, "p")["nodeName"] == "a"
    assert devices(document, special) == ["a/gpu-0"]
    [result] = claim_of(document, special)["allocation"]["devices"]["results"]
    assert result["request"] == "container-0-request-1"


def test_a_node_with_a_device_plugin_serves_it_itself():
    objects = [extended(), node("a", **{"example.com/gpu": "1"}), pod("p", requests={"example.com/gpu": "1"})]
    document = plan(objects)
    assert outcome(document, "p")["nodeName"] == "a"
    assert document["claims"] == []
    objects[-1] = pod("p", requests={"example.com/gpu": "2"})
    assert "1 Insufficient example.com/gpu" in message(plan(objects), "p")


def test_an_unmapped_resource_is_short_and_a_mapped_one_without_devices_cannot_be_allocated():
    assert "1 Insufficient example.com/gpu" in message(
        plan([build.device_class(), node("a"), pod("p", requests={"example.com/gpu": "1"})]), "p"
    )
    text = message(plan([extended(), node("a"), pod("p", requests={"example.com/gpu": "1"})]), "p")
    assert text == refused(1, "1 cannot allocate all claims")


def test_the_newer_class_takes_a_name_and_the_loser_its_implicit_one():
    from dra_plan.api.meta import ObjectMeta
    from dra_plan.api.resource import DeviceClass, DeviceClassSpec
    from dra_plan.scheduler.cluster.keys import class_names

    def make(name: str, created: str) -> DeviceClass:
        metadata = ObjectMeta(name=name, creation_timestamp=created)
        return DeviceClass(metadata=metadata, spec=DeviceClassSpec(extended_resource_name="x/y"))

    old, new = "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"
    implicit = "deviceclass.resource.kubernetes.io/"
    names = class_names([make("b", old), make("a", new)], loser_loses_implicit=True)
    assert names == {"x/y": "a", f"{implicit}a": "a"}
    names = class_names([make("b", old), make("a", new)], loser_loses_implicit=False)
    assert names == {"x/y": "a", f"{implicit}a": "a", f"{implicit}b": "b"}
    names = class_names([make("b", new), make("a", old)], loser_loses_implicit=True)
    assert names == {"x/y": "b", f"{implicit}a": "a", f"{implicit}b": "b"}
    names = class_names([make("b", old), make("a", old)], loser_loses_implicit=True)
    assert names["x/y"] == "a"


def test_init_containers_reuse_what_later_containers_have():
    from dra_plan.api.core import Container, Pod, PodSpec, ResourceRequirements
    from dra_plan.scheduler.dra.extended import special_requests

    def container(name: str, count: str, restart: str | None = None) -> Container:
        wanted = ResourceRequirements(requests={"cpu": "1", "x/y": count})
        return Container(name=name, resources=wanted, restart_policy=restart)

    spec = PodSpec(
        init_containers=[container("first", "5"), container("side", "1", "Always"), container("third", "4")],
        containers=[container("main", "2"), container("odd", "500m")],
    )
    requests, uses = special_requests(Pod(spec=spec), ["x/y"], {"x/y": "cls"})
    assert [(r.name, r.exactly.count) for r in requests] == [
        ("container-0-request-1", 2),
        ("container-1-request-1", 1),
        ("container-3-request-1", 2),
    ]
    assert [(use.container, use.request) for use in uses] == [
        ("side", "container-1-request-1"),
        ("main", "container-3-request-1"),
        ("first", "container-1-request-1"),
        ("first", "container-3-request-1"),
        ("third", "container-3-request-1"),
        ("first", "container-0-request-1"),
        ("third", "container-0-request-1"),
    ]


def test_requests_of_the_special_claim_are_sorted_as_text():
    from dra_plan.api.core import Container, Pod, PodSpec, ResourceRequirements
    from dra_plan.scheduler.dra.extended import special_requests

    wanted = ResourceRequirements(requests={"x/y": "1"})
    containers = [Container(name=f"c{i}", resources=wanted) for i in range(11)]
    requests, _ = special_requests(Pod(spec=PodSpec(containers=containers)), ["x/y"], {"x/y": "cls"})
    assert [r.name for r in requests][:3] == [
        "container-0-request-0",
        "container-1-request-0",
        "container-10-request-0",
    ]


# Shared claims and the API server


def shared(number: int = 3) -> list[dict]:
    given = claim("c", status={"allocation": allocation("a", "gpu-0")})
    return [*gpus("a"), given, *(pod(f"p{i}", claims={"x": "c"}) for i in range(number))]


def test_the_recorded_api_loses_a_reservation_and_says_so():
    document = plan(shared(2))
    assert users(document, "c") == ["p1"]
    [warning] = [w for w in document["warnings"] if w["code"] == "lost-reservation"]
    assert warning["object"] == "ResourceClaim default/c"
    assert "reservation of p0" in warning["message"]


@pytest.mark.parametrize("options", [{"api_server": "real"}, {"quirks": "fixed"}])
def test_a_real_api_server_keeps_all_reservations(options):
    document = plan(shared(4), **options)
    assert users(document, "c") == ["p0", "p1", "p2", "p3"]
    assert "lost-reservation" not in codes(document)


def test_finished_pods_count_as_recorded_and_not_in_a_real_cluster():
    objects = [node("a", cpu="2"), placed("done", "a", cpu="2", phase="Succeeded"), pod("p", cpu="2")]
    recorded, real = plan(objects), plan(objects, api_server="real")
    assert outcome(recorded, "p")["nodeName"] is None
    assert "finished-pods-count" in codes(recorded)
    assert outcome(real, "p")["nodeName"] == "a"
    assert "finished-pods-count" not in codes(real)


# P1 to P14


def test_p1_one_allocated_and_one_new_claim():
    """The defect of 1.35.0 to 1.35.5 and 1.36.0 to 1.36.1; the recorded releases have the repair."""
    given = claim("old", status={"allocation": allocation("a", "gpu-0")})
    net = [build.device_class("net.example.com"), *(build.slice_(n, "port", driver="net.example.com") for n in "ab")]
    wanted = claim("new", build.request(of="net.example.com"))
    document = plan([*gpus("a", "b"), *net, given, wanted, pod("p", claims={"x": "old", "y": "new"})])
    assert outcome(document, "p")["nodeName"] == "a"
    assert devices(document, "new") == ["a/port"]


def test_p2_the_allocator_fails_before_unavailable_claims_are_noted():
    given = claim("bad", status={"allocation": allocation("a", "gpu-0", on="elsewhere")})
    greedy = claim("greedy", build.request(count=5))
    document = plan([*gpus("a"), given, greedy, pod("p", claims={"x": "bad", "y": "greedy"})])
    assert message(document, "p") == refused(1, "1 cannot allocate all claims")
    assert devices(document, "bad") == ["a/gpu-0"], "not deallocated"


def test_p3_a_random_claim_is_deallocated_here_the_first():
    bad = [claim(n, status={"allocation": allocation("a", f"gpu-{i}", on="elsewhere")}) for i, n in enumerate("cd")]
    document = plan([*gpus("a"), *bad, pod("p", claims={"x": "c", "y": "d"})])
    [warning] = [w for w in document["warnings"] if w["code"] == "random-deallocation"]
    assert "one of default/c, default/d is deallocated at random" in warning["message"]


def test_p4_a_class_is_there_or_not():
    """Upstream overlooks other errors of the look-up; a look-up in manifests has none."""
    lost = claim("c", build.request(of="nope"))
    text = "request r: device class nope does not exist"
    assert text in message(plan([*gpus("a"), lost, pod("p", claims={"x": "c"})]), "p")
    there = plan([*gpus("a"), build.device_class("nope", selectors=[]), lost, pod("p", claims={"x": "c"})])
    assert outcome(there, "p")["nodeName"] == "a"


def test_p5_pods_of_a_group_are_scheduled_one_by_one():
    """Claim order [new, allocated] keeps its allocations apart, group or not."""
    group = {"schedulingGroup": {"podGroupName": "g"}}
    given = claim("old", status={"allocation": allocation("a", "gpu-1")})
    objects = [*gpus("a"), given, claim("new"), pod("p", claims={"x": "new", "y": "old"}, **group), pod("q", **group)]
    document = plan(objects)
    assert where(document) == {"p": "a", "q": "a"}
    assert (devices(document, "new"), devices(document, "old")) == (["a/gpu-0"], ["a/gpu-1"])


def test_p6_a_template_claim_of_somebody_else():
    listed = {"resourceClaimStatuses": [{"name": "x", "resourceClaimName": "c"}]}
    document = plan([*gpus("a"), claim("c"), pod("p", templates={"x": "t"}, status=listed)])
    assert outcome(document, "p")["outcome"] == "Gated"
    text = "ResourceClaim default/c was not created for Pod default/p (Pod is not owner)"
    assert outcome(document, "p")["waiting"] == text


def test_p7_rejected_before_dynamic_resources():
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [v]} for v in ("a", "b")]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    document = plan([node("a"), node("b"), pod("p", affinity={"nodeAffinity": required})])
    assert message(document, "p") == "0/2 nodes are available: pod affinity terms conflict. not found"


def test_p8_a_special_claim_without_requests_fails_to_bind_and_leaves_the_user_claim_allocated():
    objects = [
        extended(),
        node("a", **{"example.com/gpu": "1"}),
        build.slice_("a", "gpu-0"),
        claim("c"),
        pod("p", claims={"x": "c"}, requests={"example.com/gpu": "1"}),
    ]
    document = plan(objects)
    assert message(document, "p") == (
        'running PreBind plugin "DynamicResources": nil or empty request mappings, '
        "no update of pod default/p ExtendedResourceClaimStatus"
    )
    assert devices(document, "c") == ["a/gpu-0"]
    assert users(document, "c") == []
    assert [c["name"] for c in document["claims"]] == ["c"], "the special claim is deleted"


def test_p9_more_than_ten_selectors():
    """Upstream keeps ten compiled and compiles the others again and again; the answer is the same."""
    named = [
        build.request(f"r{i}", selectors=[{"cel": {"expression": f'device.attributes["{build.GPU}"].index == {i}'}}])
        for i in range(12)
    ]
    card = build.slice_("a")
    card["spec"]["devices"] = [{"name": f"gpu-{i}", "attributes": {"index": {"int": i}}} for i in range(12)]
    document = plan([build.device_class(), node("a"), card, claim("c", *named), pod("p", claims={"x": "c"})])
    assert devices(document, "c") == [f"a/gpu-{i}" for i in range(12)]


def test_p10_a_marked_claim_without_controller_field():
    marked = leftover()
    del marked["metadata"]["ownerReferences"][0]["controller"]
    objects = [extended(), node("a"), build.slice_("a", "gpu-0"), marked]
    document = plan([*objects, pod("p", requests={"example.com/gpu": "1"})])
    assert outcome(document, "p")["nodeName"] == "a", "the claim is not the pod's"
    [warning] = [w for w in document["warnings"] if w["code"] == "upstream-defect"]
    assert (warning["message"][:4], warning["object"]) == ("P10:", "ResourceClaim default/left")
    assert "upstream-defect" not in codes(plan([*objects, pod("p")]))
    assert "upstream-defect" not in codes(plan([*objects, pod("q", requests={"example.com/gpu": "1"})]))


def test_p11_list_attributes_reach_selectors_and_not_constraints():
    """Constraints belong to the allocator; here only that the gate does not change the variant."""
    objects = [*gpus("a"), claim("c"), pod("p", claims={"x": "c"})]
    on = plan(objects, feature_gates={"DRAListTypeAttributes": True})
    assert on["target"]["variant"] == plan(objects)["target"]["variant"] == "incubating"


def test_p12_pod_level_requests_do_not_count_in_the_fit_score():
    """Node a looks emptier when the pod's own 3 cpu are left out of the reckoning."""
    objects = [
        node("a", cpu="4", memory="4Gi"),
        node("b", cpu="16", memory="2Gi"),
        pod("p", cpu="0", memory="0", resources={"requests": {"cpu": "3"}}),
    ]
    recorded, repaired = plan(objects, trace=True), plan(objects, quirks="fixed", trace=True)

    def fit(document: dict) -> dict:
        return document["trace"]["attempts"][0]["score"]["NodeResourcesFit"]

    assert fit(recorded) == {"a": 100, "b": 100}
    assert fit(repaired) == {"a": 62, "b": 90}


def test_p13_ties_go_to_the_root_of_the_heap():
    document = plan([node("a"), node("b"), node("c"), pod("p")])
    assert outcome(document, "p")["nodeName"] == "a"
    assert outcome(document, "p")["bestNodes"] == ["a", "b", "c"]
    assert "several-best-nodes" in codes(document)


def leftover() -> dict:
    annotations = {"resource.kubernetes.io/extended-resource-claim": "true"}
    return claim("left", metadata={"annotations": annotations, **owned("Pod", "p")})


def test_p14_a_deleted_special_claim_wakes_nobody():
    objects = [
        extended(),
        node("a"),
        build.slice_("a", "gpu-0"),
        leftover(),
        pod("p", requests={"example.com/gpu": "1"}),
    ]
    document = plan(objects)
    found = outcome(document, "p")
    assert found["message"] == refused(
        1, "1 cannot schedule extended resource claim", "deletion of ResourceClaim completed"
    )
    assert found["attempts"] == 1
    assert document["claims"] == []


def test_many_ties_share_one_warning():
    few = plan([node("a"), node("b"), *(pod(f"p{index}", cpu="0", memory="0") for index in range(2))])
    assert {w["message"] for w in few["warnings"]} == {
        "2 nodes have the highest score (a, b); dra-plan takes the first in node order, a; in a cluster, timing decides"
    }
    many = plan([node("a"), node("b"), *(pod(f"p{index}", cpu="0", memory="0") for index in range(5))])
    tied = [w for w in many["warnings"] if w["code"] == "several-best-nodes"]
    assert len(tied) > len({w["message"] for w in tied}) == 1


@pytest.mark.parametrize("quirks", ["upstream", "fixed"])
def test_an_error_names_the_pod_s_own_claim(quirks):
    broken = [{"cel": {"expression": f'device.attributes["{GPU}"].productId == "06a7"'}}]
    objects = [*gpus("n1", "n2"), template("t", request(selectors=broken))]
    document = plan([*objects, *(pod(name, templates={"g": "t"}) for name in ("p0", "p1", "p2"))], quirks=quirks)
    for name in ("p0", "p1", "p2"):
        assert f"claim default/{name}-g: selector #0" in message(document, name)


def test_an_error_in_the_result_names_the_pod_s_own_claim():
    anywhere = {"nodeSelectorTerms": [{"matchExpressions": [{"key": key, "operator": "Exists"}]} for key in "ab"]}
    made = slice_("n1", "d0", "d1")
    del made["spec"]["nodeName"]
    made["spec"]["nodeSelector"] = anywhere
    objects = [device_class(), node("n1", labels={"a": ""}), made, template("t")]
    document = plan([*objects, *(pod(name, templates={"g": "t"}) for name in ("p0", "p1"))])
    for name in ("p0", "p1"):
        assert f"claim {name}-g" in message(document, name)
