"""`schedule`: all pods of the input through the scheduling cycle, in which they compete."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from dra_plan import releases
from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory
from dra_plan.api.meta import LabelSelector
from dra_plan.api.notice import Notice
from dra_plan.api.selectors import labels_match
from dra_plan.documents.schedule import ScheduleDocument
from dra_plan.planner import documents
from dra_plan.planner.cluster import taint_rule_notices, with_nodes
from dra_plan.scheduler.document import schedule_document
from dra_plan.scheduler.simulate import SimulationResult, simulate
from dra_plan.scheduler.simulation import Simulation

if TYPE_CHECKING:
    from dra_plan.scheduler.extenders import Extender
    from dra_plan.scheduler.registry import Registry


@dataclass(frozen=True)
class SchedulePlan:
    """The answer of `schedule`."""

    outcome: SimulationResult

    def to_dict(self) -> dict[str, Any]:
        """The document that `dra-plan schedule -o json` prints, as plain values."""
        return self.document.to_dict()

    @cached_property
    def document(self) -> ScheduleDocument:
        """The document that `dra-plan schedule` prints, made once."""
        return schedule_document(self.outcome)


def schedule(
    objects: Iterable[dict[str, Any]],
    *,
    kubernetes_version: str = releases.NEWEST,
    feature_gates: Mapping[str, bool] | None = None,
    quirks: str = "upstream",
    config: Mapping[str, Any] | None = None,
    then: Iterable[Iterable[dict[str, Any]]] = (),
    trace: bool = False,
    max_steps: int | None = None,
    api_server: str | None = None,
    plugins: Registry | None = None,
) -> SchedulePlan:
    """Schedules the pods of plain Kubernetes objects, which are left as they are.

    `config` is a decoded KubeSchedulerConfiguration; `then` are later states of the cluster; `plugins` are factories
    of own plugins; `api_server` is "recorded" or "real". Raises UsageError for what can't be chosen, InputError for
    what can't be decoded.
    """
    from dra_plan.manifests.loaded import inventory_of

    return schedule_inventory(
        inventory_of(objects),
        kubernetes_version=kubernetes_version,
        feature_gates=feature_gates,
        quirks=quirks,
        config=config,
        then=[inventory_of(state) for state in then],
        trace=trace,
        max_steps=max_steps,
        api_server=api_server,
        plugins=plugins,
    )


def schedule_inventory(
    inventory: Inventory,
    *,
    kubernetes_version: str | None = None,
    feature_gates: Mapping[str, bool] | None = None,
    quirks: str = "upstream",
    config: Mapping[str, Any] | None = None,
    extenders: Sequence[Extender] | None = None,
    then: Sequence[Inventory] = (),
    infer_nodes: bool | None = None,
    trace: bool = False,
    max_steps: int | None = None,
    api_server: str | None = None,
    plugins: Registry | None = None,
    namespace: str | None = None,
    selector: LabelSelector | None = None,
) -> SchedulePlan:
    """Schedules a loaded input.

    `infer_nodes`: make nodes from the slices when the input has none, or (False) refuse such an input; by default it
    is scheduled as a cluster without nodes. `extenders` stand for those of the configuration. `namespace` and
    `selector` choose which pending pods are scheduled; the others stay as they are.
    """
    target = releases.target(kubernetes_version or releases.NEWEST, feature_gates, quirks)
    inferred: list[Notice] = []
    if infer_nodes is not None:
        inventory, inferred = with_nodes(inventory, infer=infer_nodes)

    def chosen(pod: Pod) -> bool:
        if namespace is not None and pod.metadata.namespace != namespace:
            return False
        return selector is None or labels_match(selector, pod.metadata.labels)

    simulation = Simulation(
        inventory,
        target=target,
        config=config,
        extenders=extenders,
        plugins=plugins,
        trace=trace,
        max_steps=max_steps,
        api_server=api_server,
        chosen=chosen,
    )
    outcome = simulate(simulation, then)
    outcome.notices = [
        *documents.target_notices(target, inventory.nodes),
        *inventory.notices,
        *(notice for state in then for notice in state.notices),
        *inferred,
        *taint_rule_notices(inventory, target),
        *outcome.notices,
    ]
    return SchedulePlan(outcome)
