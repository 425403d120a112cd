"""The `Cluster` method for `replay`, and its options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from dra_plan.errors import UsageError
from dra_plan.options import Bounded, Chosen, Flag, Ties, Timed, spelled_out

if TYPE_CHECKING:
    from dra_plan.loaded import LoadedCluster
    from dra_plan.questions.replay.answer import Replay
    from dra_plan.questions.replay.run import Setting
    from dra_plan.scheduler.framework.interface import Registry

POLICIES = "default|most-allocated|best-fit|fgd|whole-nodes|balanced"


class ReplayOptions(Chosen, Ties, Bounded, Timed, total=False):
    """The options that set the configuration, the node orders and the sample times."""

    config: Mapping[str, Any] | None
    against: str | Mapping[str, Any] | None
    plugins: Registry | None
    policy: Annotated[
        str | None,
        Flag(
            "--policy",
            (
                "Score nodes and order devices with this policy: default (as configured), balanced, best-"
                "fit, fgd, most-allocated or whole-nodes."
            ),
            metavar="NAME",
            complete=POLICIES,
        ),
    ]
    orders: Annotated[
        int | None,
        Flag(
            "--orders",
            "Repeat the replay with N different node orders (default: 1) and show the range of each figure.",
            metavar="N",
            least=1,
        ),
    ]
    jobs: Annotated[int, Flag("--jobs -j", "Use N processes.", metavar="N", least=1)]
    at: Annotated[
        Iterable[float],
        Flag(
            "--at",
            "Show the state of the cluster this many seconds after the start. Can be repeated.",
            metavar="SECONDS",
            kind=list[float] | None,
            read=lambda given: given or [],
        ),
    ]
    every: Annotated[
        float | None,
        Flag(
            "--every",
            "Show the state of the cluster at this interval (default: a tenth of the total time).",
            metavar="SECONDS",
            least=1.0,
        ),
    ]


@spelled_out
def replay(
    cluster: LoadedCluster, events: Iterable[Mapping[str, Any]] = (), **options: Unpack[ReplayOptions]
) -> Replay:
    """Simulate the cluster over time, and return the bound pods, the pending pods and the free devices at each sample.

    `events` are steps such as {"create": object, "time": 60, "runs": 3600}; see docs/replay.md. `config` is a decoded
    KubeSchedulerConfiguration. `policy` is the name of a scheduling policy from docs/replay.md. `against` is another
    policy or configuration for comparison. If `orders` is greater than 1, the simulation is repeated with this number
    of different node orders, and each figure is a range. The repetitions are divided among `jobs` processes.

    Samples are taken at the times in `at` (in seconds after the start) or every `every` seconds, and at the end.
    `namespace` and `selector` restrict which of the initially pending pods are scheduled; pods that arrive later are
    always scheduled. The simulation ends after `timeout` seconds. Raises UsageError for invalid options, and InputError
    for events that cannot be decoded or applied.
    """
    return replayed(cluster, events, options)


def replayed(
    cluster: LoadedCluster, events: Iterable[Mapping[str, Any]], options: ReplayOptions, *, for_page: bool = False
) -> Replay:
    """Return the result of a replay.

    If `for_page` is set, the result keeps what a page needs, so nothing has to be simulated twice.
    """
    from dra_plan.arguments import at_least_one, list_of, optional, seconds
    from dra_plan.controllers.events import read_steps, serves_taint_rules
    from dra_plan.questions.replay.answer import replay_cluster
    from dra_plan.questions.schedule.ask import chance_of

    lines = list_of(events, "events", "steps")
    steps = read_steps((getattr(line, "origin", f"events[{i}]"), line) for i, line in enumerate(lines))
    given = cluster.inventory
    gate = serves_taint_rules(steps) or bool(given.taint_rules)
    target = cluster.target_with("DRADeviceTaintRules") if gate else cluster.target
    orders, jobs = options.get("orders"), options.get("jobs")
    asked = {name: options[name] for name in _OF_THE_QUESTION if name in options}  # type: ignore[literal-required]
    answer = replay_cluster(
        given,
        target,
        cluster.question((), asked),
        steps,
        _settings(options),
        chance=chance_of(options.get("ties"), options.get("seed")),
        orders=1 if orders is None else at_least_one(orders, "orders"),
        jobs=1 if jobs is None else at_least_one(jobs, "jobs"),
        seconds=[_second(each) for each in list_of(options.get("at", ()), "at", "seconds")],
        every=seconds(options.get("every"), "every"),
        plugins=optional(options.get("plugins"), Mapping, "plugins", "a Registry"),
        for_page=for_page,
    )
    return cluster.with_edits(answer)


_OF_THE_QUESTION = ("namespace", "selector", "max_steps", "timeout")


def _second(given: object) -> float:
    from dra_plan.arguments import seconds

    found = seconds(given, "at")
    if found is None:
        raise UsageError("at: expected numbers of seconds, got None")
    return found


def _settings(options: ReplayOptions) -> list[Setting]:
    """Return the configuration, and the one to compare with."""
    from dra_plan.arguments import optional
    from dra_plan.questions.replay.run import Setting
    from dra_plan.questions.schedule.ask import A_CONFIGURATION
    from dra_plan.scheduler import policies

    config = optional(options.get("config"), Mapping, "config", A_CONFIGURATION)
    policy = policies.named(optional(options.get("policy"), str, "policy", "a name") or policies.DEFAULT).name
    settings = [Setting(_named(config, policy), policy, config)]
    against = options.get("against")
    if against is None:
        return settings
    if isinstance(against, str):
        other = policies.named(against).name
        settings.append(Setting(_named(config, other), other, config))
    else:
        given = optional(against, Mapping, "against", f"a policy or {A_CONFIGURATION}")
        settings.append(Setting(_named(given, policies.DEFAULT), policies.DEFAULT, given))
    return settings


def _named(config: Mapping[str, Any] | None, policy: str) -> str:
    """Return the name of a configuration: its file, if any, and its policy."""
    file = getattr(config, "origin", "config") if config is not None else ""
    if not file:
        return policy
    return f"{file} {policy}" if policy != "default" else file
