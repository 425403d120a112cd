"""`explain`: why each claim set of the input fits or does not, and what would make it fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dra_plan.api.inventory import Inventory
from dra_plan.claimsets.sets import ClaimSet
from dra_plan.documents.base import answer_target, warnings
from dra_plan.documents.explanation import DeviceStory, ExplainedClaimSet, ExplanationDocument
from dra_plan.errors import UsageError
from dra_plan.planner.allocation import AllocationPlan, plan_inventory, set_summary
from dra_plan.planner.cluster import Cluster, choose_nodes, with_nodes
from dra_plan.planner.question import Question


@dataclass(frozen=True)
class Explanation:
    """The answer of `explain`: a plan with explanations, and the stories of single devices."""

    plan: AllocationPlan
    devices: tuple[DeviceStory, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The document that `dra-plan explain -o json` prints, as plain values."""
        return self.document.to_dict()

    @cached_property
    def document(self) -> ExplanationDocument:
        """The document that `dra-plan explain` prints, made once."""
        from dra_plan.explain import document

        return ExplanationDocument(
            target=answer_target(self.plan.target),
            claim_sets=[
                ExplainedClaimSet(**set_summary(plan), **document.set_parts(plan.explanation))
                for plan in self.plan.claim_sets
                if plan.explanation is not None
            ],
            devices=list(self.devices),
            warnings=warnings(self.plan.notices),
        )


def explain_inventory(
    inventory: Inventory, question: Question, *, name: str | None = None, devices: Sequence[str] = ()
) -> Explanation:
    """Explains the claim sets of a loaded input.

    `name` chooses those of a pod, workload or claim: NAME, NAMESPACE/NAME or KIND/NAMESPACE/NAME. `devices` are
    DRIVER/POOL/DEVICE. Raises UsageError if nothing has that name, or no slice that device; otherwise as
    `plan_inventory`.
    """
    chosen = _Named(name) if name is not None else None
    plan = plan_inventory(inventory, question, explain=True, suggest=True, only=chosen)
    if chosen is not None and not plan.claim_sets:
        raise chosen.unknown()
    if not devices:
        return Explanation(plan)
    inventory, _ = with_nodes(inventory, infer=question.infer_nodes)
    cluster = Cluster(inventory, plan.target)
    return Explanation(plan, tuple(_device(cluster, plan, question.nodes, text) for text in devices))


def _device(cluster: Cluster, plan: AllocationPlan, nodes: Sequence[str] | None, text: str) -> DeviceStory:
    from dra_plan.explain import device

    asked = device.parse(text)
    if asked is None:
        raise UsageError(f"--device: {text!r} is not DRIVER/POOL/DEVICE")
    if asked not in set(device.known_devices(cluster.view)):
        near = device.hint(cluster.view, asked)
        meant = f" (did you mean {near}?)" if near else ""
        raise UsageError(f"--device: no resource slice of the input has the device {text}{meant}")
    sets = [planned.claim_set for planned in plan.claim_sets]
    return device.explain_device(cluster.view, choose_nodes(cluster.inventory.nodes, nodes), sets, asked)


class _Named:
    """Chooses the claim sets of one name, and remembers the names it has seen."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._seen: list[str] = []

    def __call__(self, claim_set: ClaimSet) -> bool:
        names = [name for full in _names(claim_set) for name in _forms(full)]
        self._seen += names
        return self._name.lower() in (name.lower() for name in names)

    def unknown(self) -> UsageError:
        """The error for a name that nothing has."""
        import difflib

        near = difflib.get_close_matches(self._name, sorted(set(self._seen)), n=1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        return UsageError(f"no such file, and no pending pod, workload or claim is named {self._name!r}{hint}")


def _names(claim_set: ClaimSet) -> list[tuple[str, str, str]]:
    """(kind, namespace, name) of what the set can be called by: its owner, or else each of its claims."""
    owner = claim_set.owner
    claims = [("ResourceClaim", c.metadata.namespace, c.metadata.name) for c in claim_set.claims]
    return [(owner.kind, owner.namespace, owner.name), *claims] if owner is not None else claims


def _forms(full: tuple[str, str, str]) -> list[str]:
    kind, namespace, name = full
    return [name, f"{namespace}/{name}", f"{kind}/{name}", f"{kind}/{namespace}/{name}"]
