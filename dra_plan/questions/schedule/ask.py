"""The `Cluster` method for `schedule`, and its options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from dra_plan.errors import UsageError
from dra_plan.options import Flag, Names, PodOptions, Ties, Timed, spelled_out

if TYPE_CHECKING:
    from dra_plan.api.inventory import Inventory
    from dra_plan.arguments import Objects
    from dra_plan.controllers.events import EventStep
    from dra_plan.loaded import LoadedCluster
    from dra_plan.questions.schedule.answer import SchedulePlan
    from dra_plan.releases import Target
    from dra_plan.scheduler.chance import Chance
    from dra_plan.scheduler.framework.extender import Extender
    from dra_plan.scheduler.framework.interface import Registry


A_CONFIGURATION = "a decoded KubeSchedulerConfiguration"
"""How errors describe the expected value of `config`."""


class ScheduleOptions(PodOptions, Ties, Timed, total=False):
    """The options that select the pods, configure the scheduler, and add later events."""

    then: Iterable[LoadedCluster | Objects]
    config: Mapping[str, Any] | None
    extenders: Sequence[Extender] | None
    plugins: Registry | None
    api_server: Annotated[
        str | None,
        Flag(
            "--api-server",
            "Behave like a real API server (real), or count finished pods and accept outdated writes (recorded).",
            metavar="recorded|real",
            complete="recorded|real",
            hidden=True,
        ),
    ]
    order: Annotated[
        str | None,
        Flag(
            "--order",
            (
                "Try pods in the order in which they were created (arrival, the default), or in the order used "
                "after the scheduler restarts (name)."
            ),
            metavar="arrival|name",
            complete="arrival|name",
        ),
    ]
    requires_nodes: bool
    trace: Annotated[
        bool,
        Flag("--trace", ("Show the result of every plugin for every node, and the event that triggered each attempt.")),
    ]
    explain: Annotated[
        bool, Flag("--explain", "For each pod that cannot be scheduled, show why no devices could be allocated.")
    ]
    settle: Annotated[
        bool,
        Flag("--settle", "Also simulate the controllers, which evict and replace pods, until nothing changes."),
    ]
    events: Iterable[Mapping[str, Any]]
    never_ready: Annotated[
        Names,
        Flag(
            "--never-ready",
            "With --settle, assume that this pod never becomes ready after it starts. Can be repeated.",
            metavar="POD",
            kind=list[str] | None,
        ),
    ]


@spelled_out
def schedule(cluster: LoadedCluster, *owners: str, **options: Unpack[ScheduleOptions]) -> SchedulePlan:
    """Return what happens when kube-scheduler schedules the pods one after another.

    `owners` are the names of pods and workloads. Only these pods, and the pods of these workloads, are scheduled and
    reported. Without owners, all pending pods that match `namespace` and `selector` are scheduled. `then` are later
    states of the cluster. An input without nodes stands for a cluster that has no nodes. If `requires_nodes` is set,
    such an input is an error.

    `config` is a decoded KubeSchedulerConfiguration. `extenders` replace the extenders in `config`. `plugins` are
    functions that create custom plugins. `api_server` is "real" for a normal API server, or "recorded" for the test
    server with which most of the recorded outcomes were produced. `order` is "arrival" (by creationTimestamp,
    resourceVersion and position in the input), or "name" for a restarted scheduler. If several nodes have the same
    score, kube-scheduler chooses the first such node or a random one, depending on `ties` ("first" or "random"). The
    random choice depends on `seed`. If `explain` is set, the plan says why each pod without a node got no devices in
    its last attempt.

    If `settle` is set, controllers are simulated as well, until nothing changes any more: they evict and recreate pods,
    deallocate claims and enforce quotas. This also happens after each of the states in `then`. `events` are steps such
    as {"create": object}, which happen afterwards, one after another; see docs/schedule.md. The pods in `never_ready`
    (NAME or NAMESPACE/NAME) start, but do not become ready. DeviceTaintRules are supported if the cluster, a later
    state or an event contains one.

    The simulation ends after `timeout` seconds; attempts that are not finished by then are Undecided. Raises UsageError
    for invalid options, and InputError for later states and events that cannot be decoded.
    """
    from dra_plan.arguments import able, callback, list_of, names, optional, required, truth
    from dra_plan.loaded import LoadedCluster
    from dra_plan.questions.schedule.answer import schedule_pods

    settle = truth(options.get("settle", False), "settle")
    states = list_of(options.get("then", ()), "then", "states of the cluster")
    for state in states:
        required(state, (LoadedCluster, Iterable), "then", "states of the cluster")
    later = [_inventory(state) for state in states]
    lines = list_of(options.get("events", ()), "events", "steps")
    if lines and later:
        raise UsageError("events and then cannot be combined")
    steps, target = _steps(cluster, lines, later, settle=settle)
    plugins = optional(options.get("plugins"), Mapping, "plugins", "a Registry")
    for name, factory in (plugins or {}).items():
        callback(factory, f"plugins: {name}")
    extenders = options.get("extenders")
    given = None if extenders is None else list_of(extenders, "extenders", "extenders")
    for extender in given or ():
        able(extender, "is_interested", "extenders", "extenders")
    plan = schedule_pods(
        cluster.inventory,
        target,
        cluster.question(owners, options),
        config=optional(options.get("config"), Mapping, "config", A_CONFIGURATION),
        extenders=given,
        then=later,
        requires_nodes=truth(options.get("requires_nodes", False), "requires_nodes"),
        trace=truth(options.get("trace", False), "trace"),
        explain=truth(options.get("explain", False), "explain"),
        api_server=optional(options.get("api_server"), str, "api_server", "a name"),
        order=optional(options.get("order"), str, "order", "a name"),
        plugins=plugins,
        chance=chance_of(options.get("ties"), options.get("seed")),
        settle=settle,
        events=steps,
        never_ready=_keys(names(options.get("never_ready"), "never_ready")),
    )
    return cluster.with_edits(plan)


def chance_of(ties: Any, seed: Any) -> Chance:
    """Return how the options break ties between equally good nodes.

    Raises UsageError for invalid options, and for a seed that has no effect.
    """
    from dra_plan.arguments import optional, whole_number
    from dra_plan.scheduler.chance import FIRST, Chance

    ties = optional(ties, str, "ties", "a name")
    number = None if seed is None else whole_number(seed, "seed")
    if number is not None and ties in (None, FIRST):
        raise UsageError("--seed needs --ties random")
    return Chance(ties=ties or FIRST, seed=number or 0)


def _inventory(state: LoadedCluster | Objects) -> Inventory:
    """Return the objects of a later state."""
    from dra_plan.claims.identity import told_apart
    from dra_plan.loaded import LoadedCluster
    from dra_plan.manifests.load import inventory_of

    if isinstance(state, LoadedCluster):
        return state.inventory
    return told_apart(inventory_of(state, argument="then"))


def _steps(
    cluster: LoadedCluster, events: Sequence[Mapping[str, Any]], later: Sequence[Inventory], *, settle: bool
) -> tuple[list[EventStep], Target]:
    """Return the decoded steps, and the target: objects and steps show what the API server serves."""
    if not settle:
        if events:
            raise UsageError("events need settle")
        return [], cluster.target
    from dra_plan.controllers.events import read_steps, serves_taint_rules

    steps = read_steps((getattr(line, "origin", f"events[{i}]"), line) for i, line in enumerate(events))
    if serves_taint_rules(steps) or any(state.taint_rules for state in (cluster.inventory, *later)):
        return steps, cluster.target_with("DRADeviceTaintRules")
    return steps, cluster.target


def _keys(named: Iterable[str]) -> list[str]:
    """Return NAMESPACE/NAME of pods that may be named without their namespace."""
    return [name if "/" in name else f"default/{name}" for name in named]
