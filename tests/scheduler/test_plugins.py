"""The plugins of the tree one by one: what they reject, in which words, and how they score."""

from __future__ import annotations

import pytest

from tests.build import node, placed, pod
from tests.scheduler.reading import message, outcome, plan, where

HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"


def reasons(objects: list[dict], name: str = "p", **options) -> str:
    """The part of the message about nodes."""
    return message(plan(objects, **options), name).split("nodes are available: ", 1)[1].split(". ")[0]


def score(objects: list[dict], plugin: str, name: str = "p", **options) -> dict[str, int]:
    document = plan(objects, trace=True, **options)
    [attempt] = [a for a in document["trace"]["attempts"] if a["pod"] == f"default/{name}"]
    return attempt.get("score", {}).get(plugin)


# Nodes


def test_cordoned_nodes():
    cordoned = node("a", spec={"unschedulable": True})
    assert reasons([cordoned, pod("p")]) == "1 node(s) were unschedulable"
    toleration = {"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoSchedule"}
    assert where(plan([cordoned, pod("p", tolerations=[toleration])]))["p"] == "a"


def test_no_nodes_at_all():
    found = outcome(plan([pod("p")]), "p")
    assert (found["message"], found["reason"]) == ("no nodes available to schedule pods", "Unschedulable")


TAINT = {"key": "k", "value": "v", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("toleration", "fits"),
    [
        ({"key": "k", "value": "v", "effect": "NoSchedule"}, True),
        ({"key": "k", "operator": "Equal", "value": "v"}, True),
        ({"key": "k", "operator": "Equal", "value": "w"}, False),
        ({"key": "k", "operator": "Exists", "effect": "NoExecute"}, False),
        ({"key": "j", "operator": "Exists"}, False),
        ({"operator": "Exists"}, True),
        ({"key": "k", "operator": "Gt", "value": "0"}, False),
    ],
)
def test_tolerations(toleration, fits):
    objects = [node("a", spec={"taints": [TAINT]}), pod("p", tolerations=[toleration])]
    if fits:
        assert where(plan(objects))["p"] == "a"
    else:
        assert reasons(objects) == "1 node(s) had untolerated taint(s)"


def test_older_releases_name_the_taint():
    objects = [node("a", spec={"taints": [TAINT]}), pod("p")]
    assert reasons(objects, kubernetes_version="1.34") == "1 node(s) had untolerated taint {k: v}"
    assert reasons(objects, kubernetes_version="1.35") == "1 node(s) had untolerated taint(s)"


def test_preferred_taints_score():
    soft = {"key": "k", "effect": "PreferNoSchedule"}
    objects = [
        node("a", spec={"taints": [soft, {**soft, "key": "j"}]}),
        node("b", spec={"taints": [soft]}),
        node("c"),
        pod("p"),
    ]
    assert score(objects, "TaintToleration") == {"a": 0, "b": 150, "c": 300}


# Affinity to nodes


def affinity(*terms: dict) -> dict:
    required = {"nodeSelectorTerms": list(terms)}
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}}


def expression(key: str, operator: str, *values: str) -> dict:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


MISMATCH = "1 node(s) didn't match Pod's node affinity/selector"


@pytest.mark.parametrize(
    ("rules", "fits"),
    [
        ({"nodeSelector": {"gen": "2"}}, True),
        ({"nodeSelector": {"gen": "3"}}, False),
        (affinity(expression("gen", "In", "1", "2")), True),
        (affinity(expression("gen", "NotIn", "2")), False),
        (affinity(expression("gen", "Gt", "1")), True),
        (affinity(expression("gen", "Lt", "2")), False),
        (affinity(expression("other", "DoesNotExist")), True),
        (affinity(expression("gen", "Odd", "1")), False),
        (affinity(expression("gen", "In", "9"), expression("gen", "Exists")), True),
        (affinity({}), False),
        ({"nodeSelector": {"gen": "3"}, **affinity(expression("gen", "Exists"))}, False),
    ],
)
def test_node_selection(rules, fits):
    objects = [node("a", labels={"gen": "2"}), pod("p", **rules)]
    if fits:
        assert where(plan(objects))["p"] == "a"
    else:
        assert reasons(objects) == MISMATCH


def by_name(*names: str) -> dict:
    return {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]} for name in names]}


def test_terms_that_name_nodes_leave_the_others_out():
    objects = [node("a", cpu="0"), node("b"), node("c"), pod("p", **affinity(by_name("a")))]
    assert reasons(objects) == "1 Insufficient cpu, 2 node(s) didn't satisfy plugin(s) [NodeAffinity]"
    objects[-1] = pod("p", **affinity(by_name("b"), by_name("c")))
    assert where(plan(objects))["p"] == "b"
    objects[-1] = pod("p", **affinity(by_name("b"), expression(HOST, "In", "c")))
    assert where(plan(objects))["p"] == "b"


def test_preferred_node_terms():
    def prefer(weight: int, name: str) -> dict:
        return {"weight": weight, "preference": expression(HOST, "In", name)}

    terms = [prefer(30, "a"), prefer(10, "b"), {"weight": 50, "preference": {}}]
    rules = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": terms}}
    objects = [node("a"), node("b"), node("c"), pod("p", affinity=rules)]
    assert score(objects, "NodeAffinity") == {"a": 200, "b": 66, "c": 0}
    assert score([node("a"), node("b"), pod("p")], "NodeAffinity") is None


# Ports


def port(number: int, *, ip: str = "", protocol: str = "TCP") -> dict:
    ports = [{"containerPort": 80, "hostPort": number, "protocol": protocol, **({"hostIP": ip} if ip else {})}]
    return {"containers": [{"name": "c", "image": "app", "ports": ports}]}


@pytest.mark.parametrize(
    ("mine", "theirs", "clash"),
    [
        (port(80), port(80), True),
        (port(80), port(81), False),
        (port(80, protocol="UDP"), port(80), False),
        (port(80, ip="10.0.0.1"), port(80), True),
        (port(80), port(80, ip="10.0.0.1"), True),
        (port(80, ip="10.0.0.1"), port(80, ip="10.0.0.2"), False),
        (port(80, ip="10.0.0.1"), port(80, ip="10.0.0.1"), True),
    ],
)
def test_host_ports(mine, theirs, clash):
    objects = [node("a"), placed("old", "a", **theirs), pod("p", **mine)]
    if clash:
        assert reasons(objects) == "1 node(s) didn't have free ports for the requested pod ports"
    else:
        assert where(plan(objects))["p"] == "a"


# Room


@pytest.mark.parametrize(
    ("objects", "text"),
    [
        ([node("a", pods="0"), pod("p")], "1 Too many pods"),
        ([node("a", cpu="500m"), pod("p")], "1 Insufficient cpu"),
        ([node("a", cpu="0", memory="0"), pod("p")], "1 Insufficient cpu, 1 Insufficient memory"),
        ([node("a"), pod("p", requests={"ephemeral-storage": "1Gi"})], "1 Insufficient ephemeral-storage"),
        ([node("a"), pod("p", requests={"hugepages-2Mi": "4Mi"})], "1 Insufficient hugepages-2Mi"),
        ([node("a"), pod("p", overhead={"cpu": "8"})], "1 Insufficient cpu"),
    ],
)
def test_what_is_short(objects, text):
    assert reasons(objects) == text


def test_a_node_without_allocatable_takes_its_capacity():
    bare = node("a")
    bare["status"] = {"capacity": bare["status"]["allocatable"]}
    assert where(plan([bare, pod("p")]))["p"] == "a"


def test_an_empty_pod_only_needs_its_place():
    empty = pod("p")
    empty["spec"]["containers"][0]["resources"] = {}
    assert where(plan([node("a", cpu="0", memory="0"), empty]))["p"] == "a"


def test_preemption_helps_only_where_the_request_fits_the_node():
    objects = [node("a", cpu="2"), placed("old", "a", cpu="2"), pod("p", cpu="2")]
    assert message(plan(objects), "p").endswith("1 No preemption victims found for incoming pod.")
    objects[-1] = pod("p", cpu="3")
    assert message(plan(objects), "p").endswith("1 Preemption is not helpful for scheduling.")


def test_fit_and_balance_scores():
    objects = [node("a", cpu="10", memory="10Gi"), node("b", cpu="5", memory="20Gi"), pod("p", cpu="1", memory="4Gi")]
    assert score(objects, "NodeResourcesFit") == {"a": (90 + 60) // 2, "b": (80 + 80) // 2}
    assert score(objects, "NodeResourcesBalancedAllocation") == {"a": 50 + (50 + 85 - 100) // 2, "b": 75}


def test_pods_that_do_not_say_count_with_defaults():
    silent = placed("old", "a")
    silent["spec"]["containers"][0]["resources"] = {}
    objects = [
        node("a", cpu="1", memory="1000Mi"),
        silent,
        node("b", cpu="1", memory="1000Mi"),
        pod("p", cpu="0", memory="0"),
    ]
    assert score(objects, "NodeResourcesFit") == {"a": (90 + 80) // 2, "b": 100}
    assert score(objects, "NodeResourcesBalancedAllocation") is None


# Images


def with_image(name: str, *images: tuple[str, int]) -> dict:
    made = node(name)
    made["status"]["images"] = [{"names": [image], "sizeBytes": size} for image, size in images]
    return made


def test_images_present():
    mib = 1024 * 1024
    objects = [with_image("a", ("app:latest", 500 * mib)), node("b"), pod("p")]
    assert score(objects, "ImageLocality") == {"a": 100 * (250 - 23) // (1000 - 23), "b": 0}
    objects[0] = with_image("a", ("app:v2", 500 * mib))
    assert score(objects, "ImageLocality") == {"a": 0, "b": 0}


def test_an_image_has_one_size():
    """The one that the first node reports, wherever it is."""
    mib = 1024 * 1024
    objects = [with_image("a", ("app:latest", 500 * mib)), with_image("b", ("app:latest", 900 * mib)), pod("p")]
    assert score(objects, "ImageLocality") == dict.fromkeys("ab", 100 * (500 - 23) // (1000 - 23))


def test_image_names_without_a_tag_mean_latest():
    from dra_plan.scheduler.plugins.node_checks import normalized

    assert normalized("registry:5000/app") == "registry:5000/app:latest"
    assert normalized("app:v1") == "app:v1"
    assert normalized("app@sha256:abc") == "app@sha256:abc"


# Spreading


def spread(when: str = "DoNotSchedule", key: str = HOST, skew: int = 1, **more) -> dict:
    constraint = {
        "maxSkew": skew,
        "topologyKey": key,
        "whenUnsatisfiable": when,
        "labelSelector": {"matchLabels": {"app": "x"}},
        **more,
    }
    return {"topologySpreadConstraints": [constraint], "labels": {"app": "x"}}


X = {"app": "x"}
UNEVEN = "node(s) didn't match pod topology spread constraints"


def test_spread_over_nodes():
    objects = [node("a"), node("b"), placed("old", "a", labels=X), pod("p", **spread())]
    assert where(plan(objects))["p"] == "b"
    objects[1] = node("b", cpu="0")
    assert reasons(objects) == f"1 Insufficient cpu, 1 {UNEVEN}"
    objects[-1] = pod("p", **spread(skew=2))
    assert where(plan(objects))["p"] == "a"


def test_spread_needs_the_label():
    objects = [node("a"), pod("p", **spread(key=ZONE))]
    assert reasons(objects) == f"1 {UNEVEN} (missing required label)"


def test_spread_counts_neither_terminating_nor_foreign_pods():
    gone = placed("gone", "a", labels=X, metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})
    other = placed("other", "a", labels=X, namespace="elsewhere")
    objects = [node("a"), node("b", cpu="0"), gone, other, pod("p", **spread())]
    assert where(plan(objects))["p"] == "a"


def test_spread_with_an_empty_selector_counts_nobody():
    rule = {"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "DoNotSchedule"}
    crowd = [node("a"), node("b"), *(placed(f"o{index}", "a") for index in range(3))]
    here = {"kubernetes.io/hostname": "a"}
    rules = [{**rule, "labelSelector": {}, "nodeAffinityPolicy": "Ignore"}]
    assert where(plan([*crowd, pod("p", nodeSelector=here, topologySpreadConstraints=rules)]))["p"] == "a"


def test_spread_min_domains():
    objects = [node("a"), placed("old", "a", labels=X), pod("p", **spread(minDomains=2))]
    assert reasons(objects) == f"1 {UNEVEN}"
    objects[-1] = pod("p", **spread(minDomains=1))
    assert where(plan(objects))["p"] == "a"


def test_spread_policies():
    """A node the pod can't use counts as a domain only if the policy ignores that."""
    objects = [node("a"), node("b", spec={"taints": [TAINT]}), placed("old", "a", labels=X)]
    assert reasons([*objects, pod("p", **spread())]) == f"1 {UNEVEN}, 1 node(s) had untolerated taint(s)"
    honoring = pod("p", **spread(nodeTaintsPolicy="Honor"))
    assert where(plan([*objects, honoring]))["p"] == "a"
    objects[1] = node("b", labels={"gen": "1"})
    picky = {"nodeSelector": {HOST: "a"}}
    assert where(plan([*objects, pod("p", **spread(), **picky)]))["p"] == "a"
    ignoring = pod("p", **spread(nodeAffinityPolicy="Ignore"), **picky)
    assert UNEVEN in reasons([*objects, ignoring])


def test_spread_match_label_keys():
    old = placed("old", "a", labels={**X, "hash": "1"})
    options = spread(matchLabelKeys=["hash"])
    objects = [node("a", cpu="99"), node("b"), old]
    assert where(plan([*objects, pod("p", **{**options, "labels": {**X, "hash": "2"}})]))["p"] == "a"
    assert where(plan([*objects, pod("p", **{**options, "labels": {**X, "hash": "1"}})]))["p"] == "b"


def test_spread_scores():
    objects = [
        node("a"),
        node("b"),
        node("c"),
        *(placed(f"o{i}", "a", labels=X) for i in range(2)),
        placed("o", "b", labels=X),
    ]
    scores = score([*objects, pod("p", **spread("ScheduleAnyway"))], "PodTopologySpread")
    # two pods weigh 2 ln 5, one ln 5, each rounded: 3 and 2
    assert scores == {"a": 0, "b": 33 * 2, "c": 200}


def test_spread_scores_0_without_the_label():
    zoned = [node(name, labels={ZONE: name}) for name in "ab"]
    scores = score([*zoned, node("c"), pod("p", **spread("ScheduleAnyway", key=ZONE))], "PodTopologySpread")
    assert scores == {"a": 200, "b": 200, "c": 0}


def test_default_spreading_needs_a_service_or_owner():
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "s", "namespace": "default"},
        "spec": {"selector": X},
    }
    objects = [node("a"), node("b"), placed("old", "a", labels=X, cpu="0", memory="0"), pod("p", labels=X)]
    assert score(objects, "PodTopologySpread") is None
    scores = score([*objects, service], "PodTopologySpread")
    assert scores["a"] < scores["b"] == 200
    assert where(plan([*objects, service]))["p"] == "b"


# Affinity to pods


def pods_rule(kind: str, *, key: str = HOST, weight: int | None = None, app: str = "x", **term) -> dict:
    wanted = {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": key, **term}
    if weight is None:
        return {"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [wanted]}}}
    preferred = [{"weight": weight, "podAffinityTerm": wanted}]
    return {"affinity": {kind: {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}}


def test_required_affinity():
    objects = [node("a", cpu="99"), node("b"), placed("old", "b", labels=X)]
    assert where(plan([*objects, pod("p", **pods_rule("podAffinity"))]))["p"] == "b"
    assert reasons([objects[0], pod("p", **pods_rule("podAffinity"))]) == "1 node(s) didn't match pod affinity rules"


def test_the_first_of_a_group_may_go_anywhere():
    assert where(plan([node("a"), pod("p", labels=X, **pods_rule("podAffinity"))]))["p"] == "a"


def test_required_affinity_needs_the_topology_label():
    objects = [node("a"), pod("p", labels=X, **pods_rule("podAffinity", key=ZONE))]
    assert reasons(objects) == "1 node(s) didn't match pod affinity rules"


def test_required_anti_affinity_both_ways():
    away = pods_rule("podAntiAffinity")
    mine = [node("a"), placed("old", "a", labels=X), pod("p", **away)]
    assert reasons(mine) == "1 node(s) didn't match pod anti-affinity rules"
    theirs = [node("a"), placed("old", "a", **away), pod("p", labels=X)]
    assert reasons(theirs) == "1 node(s) didn't satisfy existing pods anti-affinity rules"


def test_terms_select_namespaces():
    objects = [node("a"), placed("old", "a", labels=X, namespace="team")]
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team", "labels": {"t": "1"}}}
    rule = "podAntiAffinity"
    assert where(plan([*objects, pod("p", **pods_rule(rule))]))["p"] == "a"
    named = pod("p", **pods_rule(rule, namespaces=["team"]))
    assert "anti-affinity" in reasons([*objects, named])
    selected = pod("p", **pods_rule(rule, namespaceSelector={"matchLabels": {"t": "1"}}))
    assert where(plan([*objects, selected]))["p"] == "a"
    assert "anti-affinity" in reasons([*objects, namespace, selected])
    everywhere = pod("p", **pods_rule(rule, namespaceSelector={}))
    assert "anti-affinity" in reasons([*objects, everywhere])


def test_terms_with_label_keys():
    labels = {**X, "hash": "1"}
    objects = [node("a"), placed("old", "a", labels={**X, "hash": "2"})]
    same = pod("p", labels=labels, **pods_rule("podAntiAffinity", matchLabelKeys=["hash"]))
    assert where(plan([*objects, same]))["p"] == "a"
    other = pod("p", labels=labels, **pods_rule("podAntiAffinity", mismatchLabelKeys=["hash"]))
    assert "anti-affinity" in reasons([*objects, other])


def test_preferred_pod_rules_and_those_of_others():
    objects = [node("a"), node("b"), placed("old", "b", labels=X, cpu="0", memory="0")]
    near = pod("p", **pods_rule("podAffinity", weight=10))
    assert score([*objects, near], "InterPodAffinity") == {"a": 0, "b": 200}
    away = pod("p", **pods_rule("podAntiAffinity", weight=10))
    assert score([*objects, away], "InterPodAffinity") == {"a": 200, "b": 0}
    host = placed("host", "b", cpu="0", memory="0", **pods_rule("podAffinity", weight=3, app="y"))
    guest = pod("p", labels={"app": "y"})
    assert score([*objects[:2], host, guest], "InterPodAffinity") == {"a": 0, "b": 200}
    assert score([*objects, pod("p")], "InterPodAffinity") is None


# Gates and names


def test_scheduling_gates_are_removed_in_a_later_state():
    gated = pod("p", schedulingGates=[{"name": "g"}])
    document = plan([node("a"), gated])
    assert outcome(document, "p")["outcome"] == "Gated"
    document = plan([node("a"), gated], then=[[node("a"), pod("p")]], trace=True)
    assert where(document)["p"] == "a"
    [wake] = document["trace"]["wakes"]
    assert (wake["event"], wake["plugin"]) == ("UnscheduledPodUpdate", "SchedulingGates")


def test_zones_take_turns():
    """Equal nodes: the first one of the list wins, and the list goes round the zones."""
    zones = {"a1": "a", "a2": "a", "b1": "b", "b2": "b"}
    objects = [node(name, labels={ZONE: zone}, pods="1") for name, zone in zones.items()]
    objects += [pod(f"p{i}") for i in range(4)]
    assert list(where(plan(objects)).values()) == ["a1", "b1", "a2", "b2"]
