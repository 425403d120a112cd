"""KubeSchedulerConfiguration: profiles, plugin lists, weights and arguments."""

from __future__ import annotations

import re
import typing

import msgspec
import pytest

from dra_plan.errors import InputError, UsageError
from dra_plan.manifests.paths import render
from dra_plan.scheduler import config
from dra_plan.scheduler.config import seconds, unknown_fields
from dra_plan.scheduler.framework import plugin_names
from tests.build import node, placed, pod
from tests.scheduler import reading
from tests.scheduler.reading import message, outcome, plan, where


def document(*profiles: dict, **fields) -> dict:
    return {"apiVersion": config.API_VERSION, "kind": config.KIND, "profiles": list(profiles), **fields}


def arguments(plugin: str, **args) -> dict:
    return document({"pluginConfig": [{"name": plugin, "args": args}]})


def points(**plugins) -> dict[str, list[str]]:
    simulation = reading.simulation([node("a")], config=document({"plugins": plugins}))
    [framework] = simulation.frameworks.values()
    return {point: [p.name for p in members] for point, members in framework.points.items()}


def test_default_profile():
    found = points()
    assert found["queueSort"] == ["PrioritySort"]
    assert found["preFilter"] == [
        "NodeAffinity",
        "NodePorts",
        "NodeResourcesFit",
        "VolumeRestrictions",
        "NodeVolumeLimits",
        "VolumeBinding",
        "VolumeZone",
        "PodTopologySpread",
        "InterPodAffinity",
        "DynamicResources",
    ]
    assert found["filter"][:3] == ["NodeUnschedulable", "NodeName", "TaintToleration"]
    assert found["postFilter"] == ["DynamicResources", "DefaultPreemption"]
    assert found["reserve"] == found["preBind"] == ["VolumeBinding", "DynamicResources"]
    assert found["bind"] == ["DefaultBinder"]
    assert found["permit"] == found["postBind"] == []


def test_weights_of_the_default_profile():
    [framework] = reading.simulation([node("a")]).frameworks.values()
    assert framework.weights == {
        "TaintToleration": 3,
        "NodeAffinity": 2,
        "NodeResourcesFit": 1,
        "PodTopologySpread": 2,
        "InterPodAffinity": 2,
        "DynamicResources": 2,
        "NodeResourcesBalancedAllocation": 1,
        "ImageLocality": 1,
    }


def test_a_plugin_is_disabled_at_one_point_or_everywhere():
    found = points(score={"disabled": [{"name": "ImageLocality"}]})
    assert "ImageLocality" not in found["score"]
    found = points(multiPoint={"disabled": [{"name": "TaintToleration"}]})
    assert "TaintToleration" not in found["filter"] + found["score"] + found["preScore"]
    assert points(score={"disabled": [{"name": "*"}]})["score"] == []


def test_named_plugins_come_first_and_are_reconfigured():
    found = points(score={"enabled": [{"name": "ImageLocality", "weight": 5}]})
    assert found["score"][0] == "ImageLocality"
    assert found["score"].count("ImageLocality") == 1
    simulation = reading.simulation(
        [node("a")], config=document({"plugins": {"multiPoint": {"enabled": [{"name": "NodeAffinity", "weight": 9}]}}})
    )
    [framework] = simulation.frameworks.values()
    assert framework.weights["NodeAffinity"] == 9
    assert [p.name for p in framework.points["score"]][1] == "NodeAffinity", "its place stays"


def test_several_profiles_serve_their_own_pods():
    picky = {"schedulerName": "picky", "pluginConfig": [added_affinity("b")]}
    objects = [
        node("a", cpu="64"),
        node("b"),
        pod("p1"),
        pod("p2", schedulerName="picky"),
        pod("p3", schedulerName="x"),
    ]
    found = plan(objects, config=document({}, picky))
    assert where(found) == {"p1": "a", "p2": "b", "p3": None}
    assert outcome(found, "p3")["outcome"] == "Skipped"


def added_affinity(name: str) -> dict:
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    return {"name": "NodeAffinity", "args": {"addedAffinity": required}}


def test_added_affinity_has_its_own_words():
    found = plan([node("a"), pod("p")], config=document({"pluginConfig": [added_affinity("b")]}))
    assert "1 node(s) didn't match scheduler-enforced node affinity" in message(found, "p")


def two_nodes() -> list[dict]:
    return [node("empty", cpu="8"), node("full", cpu="8"), placed("old", "full", cpu="4", memory="8Gi"), pod("p")]


@pytest.mark.parametrize(("kind", "chosen"), [("LeastAllocated", "empty"), ("MostAllocated", "full")])
def test_scoring_strategies(kind, chosen):
    config_ = arguments(plugin_names.FIT, scoringStrategy={"type": kind, "resources": [{"name": "cpu", "weight": 1}]})
    assert where(plan(two_nodes(), config=config_))["p"] == chosen


@pytest.mark.parametrize(("points_", "chosen"), [([(0, 0), (100, 10)], "full"), ([(0, 10), (100, 0)], "empty")])
def test_requested_to_capacity_ratio(points_, chosen):
    shape = [{"utilization": u, "score": s} for u, s in points_]
    strategy = {"type": "RequestedToCapacityRatio", "requestedToCapacityRatio": {"shape": shape}}
    assert where(plan(two_nodes(), config=arguments(plugin_names.FIT, scoringStrategy=strategy)))["p"] == chosen


def test_ignored_resources():
    objects = [node("a"), pod("p", requests={"example.com/x": "1"})]
    assert "Insufficient example.com/x" in message(plan(objects), "p")
    for args in ({"ignoredResources": ["example.com/x"]}, {"ignoredResourceGroups": ["example.com"]}):
        assert where(plan(objects, config=arguments(plugin_names.FIT, **args)))["p"] == "a"


def test_default_spread_constraints_from_a_list():
    constraint = {"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "DoNotSchedule"}
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s", "namespace": "default"}}
    service["spec"] = {"selector": {"app": "x"}}
    labels = {"app": "x"}
    objects = [node("a"), service, node("b"), placed("old", "a", labels=labels), pod("p", labels=labels)]
    config_ = arguments(plugin_names.SPREAD, defaultingType="List", defaultConstraints=[constraint])
    assert where(plan(objects, config=config_))["p"] == "b"
    objects[2] = node("b", spec={"unschedulable": True})
    assert "1 node(s) didn't match pod topology spread constraints" in message(plan(objects, config=config_), "p")


def test_hard_pod_affinity_weight():
    term = {"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": "kubernetes.io/hostname"}
    near = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    friend = placed("friend", "b", affinity=near, cpu="0", memory="0", labels={"app": "x"})
    objects = [node("a", cpu="9"), node("b"), friend, pod("p", labels={"app": "x"})]
    assert where(plan(objects))["p"] == "b"
    assert where(plan(objects, config=arguments(plugin_names.INTER_POD_AFFINITY, hardPodAffinityWeight=0)))["p"] == "a"


def test_preferences_of_existing_pods_are_ignored_only_for_pods_without_their_own():
    def prefers(app: str) -> dict:
        term = {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": "kubernetes.io/hostname"}
        listed = [{"weight": 10, "podAffinityTerm": term}]
        return {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": listed}}

    host = placed("host", "b", affinity=prefers("x"), cpu="0", memory="0")
    objects = [node("a", cpu="9"), node("b"), host]
    ignoring = arguments(plugin_names.INTER_POD_AFFINITY, ignorePreferredTermsOfExistingPods=True)
    plain = pod("p", labels={"app": "x"})
    assert where(plan([*objects, plain]))["p"] == "b"
    assert where(plan([*objects, plain], config=ignoring))["p"] == "a"
    choosy = pod("p", labels={"app": "x"}, affinity=prefers("nobody"))
    assert where(plan([*objects, choosy], config=ignoring))["p"] == "b"


def test_percentage_of_nodes_to_score():
    """The rest of 200 nodes is not looked at; the best one is among them."""
    objects = [*(node(f"n{i:03}") for i in range(199)), node("z", cpu="64"), pod("p")]
    assert where(plan(objects))["p"] == "n000"
    for setting in (document(percentageOfNodesToScore=100), document({"percentageOfNodesToScore": 100})):
        assert where(plan(objects, config=setting))["p"] == "z"
    both = document({"percentageOfNodesToScore": 50}, percentageOfNodesToScore=100)
    assert where(plan(objects, config=both))["p"] == "n000"


def test_the_next_cycle_starts_where_the_last_one_ended():
    objects = [*(node(f"n{i:03}", pods="1") for i in range(200)), pod("p1"), pod("p2")]
    assert where(plan(objects)) == {"p1": "n000", "p2": "n100"}


@pytest.mark.parametrize(
    ("bad", "text"),
    [
        ({"kind": "Pod", "apiVersion": "v1"}, "not a scheduler configuration"),
        (document({}, {}), "profile default-scheduler is listed more than once"),
        (document({"plugins": {"score": {"enabled": [{"name": "Nope"}]}}}), "no plugin named Nope exists"),
        (document({"plugins": {"permit": {"enabled": [{"name": "NodeName"}]}}}), "NodeName does not extend permit"),
        (document({"plugins": {"bind": {"disabled": [{"name": "*"}]}}}), "at least one bind plugin"),
        (document({"plugins": {"queueSort": {"disabled": [{"name": "*"}]}}}), "exactly one queueSort plugin"),
        (document({"plugins": {"score": 1}}), "scheduler configuration: Expected"),
        (arguments(plugin_names.FIT, scoringStrategy={"type": "Odd"}), "unknown scoring strategy 'Odd'"),
        (arguments(plugin_names.FIT, scoringStrategy={"type": "RequestedToCapacityRatio"}), "needs at least one point"),
        (arguments(plugin_names.SPREAD, defaultingType="Odd"), "unknown defaultingType"),
        (arguments(plugin_names.SPREAD, defaultConstraints=[{"maxSkew": 1}]), "need defaultingType List"),
        (arguments(plugin_names.DYNAMIC_RESOURCES, bindingTimeout="500ms"), "bindingTimeout must be at least 1s"),
        (arguments(plugin_names.DYNAMIC_RESOURCES, bindingTimeout="soon"), "not a duration: 'soon'"),
        (document(extenders=[{"urlPrefix": "http://localhost"}]), "only with --allow-extenders"),
    ],
)
def test_what_cannot_be_used_is_said(bad, text):
    with pytest.raises(UsageError, match=text):
        plan([node("a"), pod("p")], config=bad)


def with_field(path: tuple[str | int, ...]) -> dict:
    """A configuration in which only the field at the path is set."""
    made: object = {}
    for step in reversed(path):
        made = [made] if step == 0 else {step: made}
    return document(**made)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "path",
    [
        ("metadata",),
        ("Parallelism",),
        ("profiles", 0, "plugin"),
        ("profiles", 0, "plugins", "unreserve"),
        ("profiles", 0, "plugins", "score", "enable"),
        ("profiles", 0, "plugins", "score", "enabled", 0, "wieght"),
        ("extenders", 0, "url"),
        ("extenders", 0, "tlsConfig", "key"),
        ("leaderElection", "enabled"),
        ("clientConnection", "kubeConfig"),
    ],
)
def test_fields_that_kube_scheduler_refuses(path):
    assert unknown_fields(with_field(path)) == [path]
    with pytest.raises(InputError, match=re.escape(f"{render(path)}: unknown field")):
        plan([node("a"), pod("p")], config=with_field(path))


@pytest.mark.parametrize(
    ("plugin", "args", "path"),
    [
        (plugin_names.FIT, {"scoringStrategi": {}}, ("scoringStrategi",)),
        (
            plugin_names.FIT,
            {"scoringStrategy": {"resources": [{"nam": "cpu"}]}},
            ("scoringStrategy", "resources", 0, "nam"),
        ),
        (plugin_names.SPREAD, {"defaultConstraints": [{"labelSelector": {"match": {}}}]}, None),
        (plugin_names.NODE_AFFINITY, {"addedAffinity": {"required": {}}}, ("addedAffinity", "required")),
        (plugin_names.DYNAMIC_RESOURCES, {"timeout": "1s"}, ("timeout",)),
        (plugin_names.VOLUME_BINDING, {"bindTimeout": 1}, ("bindTimeout",)),
    ],
)
def test_arguments_of_kubernetes_own_plugins_are_read_as_strictly(plugin, args, path):
    path = path or ("defaultConstraints", 0, "labelSelector", "match")
    found = unknown_fields(arguments(plugin, **args))
    assert found == [("profiles", 0, "pluginConfig", 0, "args", *path)]


def test_arguments_of_other_plugins_are_their_own_affair():
    assert unknown_fields(arguments("RackLimit", limit=2, more={"anything": [1]})) == []
    assert unknown_fields(arguments(plugin_names.IMAGE_LOCALITY, anything=1)) == []


def test_every_field_that_is_used_is_known():
    """The structs that a configuration is decoded into, and the table of fields, say the same."""
    checked = set()

    def check(kind, path):
        checked.add(kind)
        for field in msgspec.structs.fields(kind):
            here = (*path, field.encode_name)
            assert unknown_fields(with_field(here)) == []
            for inner in typing.get_args(field.type) or (field.type,):
                if isinstance(inner, type) and issubclass(inner, msgspec.Struct):
                    check(inner, (*here, 0) if typing.get_origin(field.type) is list else here)

    check(config.Configuration, ())
    assert {config.Profile, config.Plugins, config.PluginEntry, config.ExtenderConfig} <= checked


def test_a_whole_configuration_of_kube_scheduler_is_taken():
    """Fields that the simulation has no use for are no reason to reject."""
    setting = document(
        {"schedulerName": "default-scheduler", "plugins": {"placementScore": {"enabled": []}}},
        leaderElection={"leaderElect": False, "leaseDuration": "15s"},
        clientConnection={"kubeconfig": "/etc/kubernetes/scheduler.conf", "qps": 50},
        parallelism=16,
        enableProfiling=False,
        podMaxBackoffSeconds=10,
    )
    assert where(plan([node("a"), pod("p")], config=setting)) == {"p": "a"}


@pytest.mark.parametrize(
    ("text", "value"), [(None, 7.0), ("10s", 10.0), ("1m30s", 90.0), ("500ms", 0.5), ("0", 0.0), (2_000_000_000, 2.0)]
)
def test_durations(text, value):
    assert seconds(text, 7.0) == value


def test_an_unknown_api_server_is_refused():
    with pytest.raises(UsageError, match="unknown API server 'mine': use one of recorded, real"):
        plan([node("a")], api_server="mine")
