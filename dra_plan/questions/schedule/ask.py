"""What `schedule` can be asked."""

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
"""What is expected of an argument."""


class ScheduleOptions(PodOptions, Ties, Timed, total=False):
    """Which pods, by which scheduler, and what happens beside it."""

    then: Iterable[LoadedCluster | Objects]
    config: Mapping[str, Any] | None
    extenders: Sequence[Extender] | None
    plugins: Registry | None
    api_server: Annotated[
        str | None,
        Flag(
            "--api-server",
            "real: as in a cluster; recorded: finished pods count, and outdated writes are accepted.",
            metavar="recorded|real",
            complete="recorded|real",
            hidden=True,
        ),
    ]
    order: Annotated[
        str | None,
        Flag(
            "--order",
            "arrival: by creation time (the default); name: as after a restart of the scheduler.",
            metavar="arrival|name",
            complete="arrival|name",
        ),
    ]
    requires_nodes: bool
    trace: Annotated[bool, Flag("--trace", ("Show the result of every plugin for every node, and what woke each pod."))]
    explain: Annotated[bool, Flag("--explain", "Show why devices were refused to each pod without a node.")]
    settle: Annotated[
        bool,
        Flag("--settle", "Also simulate controllers (evictions, replacements) until nothing changes."),
    ]
    events: Iterable[Mapping[str, Any]]
    never_ready: Annotated[
        Names,
        Flag(
            "--never-ready",
            "With --settle: a pod that starts but never becomes ready; repeatable.",
            metavar="POD",
            kind=list[str] | None,
        ),
    ]


@spelled_out
def schedule(cluster: LoadedCluster, *owners: str, **options: Unpack[ScheduleOptions]) -> SchedulePlan:
    """What becomes of the pods when kube-scheduler takes them one after the other.

    `owners` name the pods that are scheduled and told, and workloads that stand for theirs; without them,
    `namespace` and `selector` choose which pending pods are scheduled. `then` are later states of the cluster;
    `config` is a decoded KubeSchedulerConfiguration, `extenders` stand for those that it names, `plugins` are
    factories of own plugins; `api_server` is "real", or "recorded" for the one with which most outcomes were
    recorded; `order` is "arrival" (by creationTimestamp, then by place in the input), or "name" for a scheduler
    that was restarted; of several best nodes `ties` takes the "first", or a "random" one by `seed`. With `explain` the
    plan says of each pod without a node why it was refused devices, as the
    cluster was when it was tried last. An input without nodes is scheduled as a cluster without nodes, or refused
    with `requires_nodes`. With `settle` controllers act as well: pods are evicted and made again, claims freed,
    quota refuses, until nothing changes, then again in each later state; `events` are steps such as
    {"create": object} that happen then, one after the other (docs/schedule.md); pods that are `never_ready` (NAME
    or NAMESPACE/NAME) start and do not become ready. A DeviceTaintRule in any of them says that the cluster serves
    these.
    After `timeout` seconds it ends: what was not tried to its end is Undecided. Raises UsageError for what can't
    be chosen, InputError for later states and events that can't be decoded.
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
    """How ties are broken, as options say it. UsageError for what can't be, and for a seed that nothing asks for."""
    from dra_plan.arguments import optional, whole_number
    from dra_plan.scheduler.chance import FIRST, Chance

    ties = optional(ties, str, "ties", "a name")
    number = None if seed is None else whole_number(seed, "seed")
    if number is not None and ties in (None, FIRST):
        raise UsageError("--seed needs --ties random")
    return Chance(ties=ties or FIRST, seed=number or 0)


def _inventory(state: LoadedCluster | Objects) -> Inventory:
    """The objects of a later state."""
    from dra_plan.claims.identity import told_apart
    from dra_plan.loaded import LoadedCluster
    from dra_plan.manifests.load import inventory_of

    if isinstance(state, LoadedCluster):
        return state.inventory
    return told_apart(inventory_of(state, argument="then"))


def _steps(
    cluster: LoadedCluster, events: Sequence[Mapping[str, Any]], later: Sequence[Inventory], *, settle: bool
) -> tuple[list[EventStep], Target]:
    """The decoded steps, and the target: what the API server serves, objects and steps tell."""
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
    """NAMESPACE/NAME of pods that may be named without their namespace."""
    return [name if "/" in name else f"default/{name}" for name in named]
