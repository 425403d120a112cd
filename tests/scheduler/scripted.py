"""A plugin that takes part everywhere and does at each point what the script says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dra_plan.scheduler.events import Action, Hint, Interest, Resource
from dra_plan.scheduler.framework.interface import (
    BindPlugin,
    EnqueueExtensions,
    FilterPlugin,
    PermitPlugin,
    PostBindPlugin,
    PostFilterPlugin,
    PreBindPlugin,
    PreEnqueuePlugin,
    PreFilterExtensions,
    PreFilterPlugin,
    PreScorePlugin,
    Registry,
    ReservePlugin,
    ScorePlugin,
)
from dra_plan.scheduler.framework.status import SKIP, Code, Status
from dra_plan.scheduler.simulate import simulate
from tests import build
from tests.scheduler import reading

CODES = {
    "reject": Code.UNSCHEDULABLE,
    "refuse": Code.UNSCHEDULABLE_AND_UNRESOLVABLE,
    "pend": Code.PENDING,
    "error": Code.ERROR,
    "wait": Code.WAIT,
    "skip": Code.SKIP,
}
WAIT_SECONDS = 30.0


class Scripted(
    PreEnqueuePlugin,
    PreFilterPlugin,
    PreFilterExtensions,
    FilterPlugin,
    PostFilterPlugin,
    PreScorePlugin,
    ScorePlugin,
    ReservePlugin,
    PermitPlugin,
    PreBindPlugin,
    BindPlugin,
    PostBindPlugin,
):
    name = "Scripted"

    def __init__(self, script: Mapping[str, str], name: str = "Scripted", log: list[str] | None = None) -> None:
        self.name = name
        self.script = script
        self.log: list[str] = [] if log is None else log

    def _do(self, point: str) -> Status | None:
        self.log.append(f"{self.name}.{point}")
        what = self.script.get(point, "success")
        if what == "raise":
            raise ZeroDivisionError(point)
        return None if what == "success" else Status(CODES[what], f"{point} says {what}")

    def pre_enqueue(self, pod):
        return self._do("pre_enqueue")

    def pre_filter(self, state, pod, nodes):
        return None, self._do("pre_filter")

    def pre_filter_extensions(self):
        return self if {"add_pod", "remove_pod"} & {*self.script} else None

    def add_pod(self, state, pod, added, node):
        return self._do("add_pod")

    def remove_pod(self, state, pod, removed, node):
        return self._do("remove_pod")

    def filter(self, state, pod, node):
        return self._do("filter")

    def post_filter(self, state, pod, statuses):
        return None, self._do("post_filter") or Status(Code.UNSCHEDULABLE)

    def pre_score(self, state, pod, nodes):
        return self._do("pre_score")

    def score(self, state, pod, node):
        return self._do("score") or 1

    def normalize(self, state, pod, nodes, scores):
        return self._do("normalize")

    def reserve(self, state, pod, node):
        return self._do("reserve")

    def unreserve(self, state, pod, node):
        self._do("unreserve")

    def permit(self, state, pod, node):
        return self._do("permit"), WAIT_SECONDS

    def pre_bind_pre_flight(self, state, pod, node):
        return self._do("pre_flight") if "pre_flight" in self.script else None

    def pre_bind(self, state, pod, node):
        return self._do("pre_bind")

    def bind(self, state, pod, node):
        # without a word in the script the default binder binds
        return self._do("bind") if "bind" in self.script else SKIP

    def post_bind(self, state, pod, node):
        self._do("post_bind")


class Listening(Scripted, EnqueueExtensions):
    """Wants to hear of every pod that is bound; what it then says is the script's `hint`."""

    def events_to_register(self):
        return [Interest(Resource.ASSIGNED_POD, Action.ADD, self._hint)]

    def _hint(self, pod, old, new):
        self.log.append(f"{self.name}.hint")
        what = self.script.get("hint", "queue")
        if what == "raise":
            raise ZeroDivisionError("hint")
        return Hint.QUEUE if what == "queue" else Hint.SKIP


def config(*names: str, first: bool = False, **profile: Any) -> dict[str, Any]:
    """A configuration with these plugins beside the default ones; `first` puts them before the default binder."""
    enabled = [{"name": name} for name in names]
    plugins: dict[str, Any] = {"multiPoint": {"enabled": enabled}}
    if first:
        binders = [*enabled, {"name": "DefaultBinder"}]
        plugins["bind"] = {"enabled": binders, "disabled": [{"name": "*"}]}
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"plugins": plugins, **profile}],
    }


def run(*plugins: Scripted, objects: list[dict] | None = None, **options: Any):
    """A finished simulation of one pod on two nodes with these plugins; returns it with its outcome."""
    registry = Registry()
    for plugin in plugins:
        registry.register(plugin.name, lambda _args, _handle, plugin=plugin: plugin)
    objects = objects or [build.node("a"), build.node("b"), build.pod("p")]
    simulation = reading.simulation(
        objects, config=config(*(p.name for p in plugins), first=True), plugins=registry, **options
    )
    return simulation, simulate(simulation)
