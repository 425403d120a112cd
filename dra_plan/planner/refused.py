"""Objects that the API server rejects, and that therefore never count as fitting. The rules are those of `validate`.

`OwnerRefusals` checks single owners and claim sets. `accepted` returns the cluster without the rejected objects, for
commands in which pods compete for devices.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from msgspec import UNSET, Struct

from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory, Notice
from dra_plan.api.resource import ResourceClaim
from dra_plan.api.workloads import AnyWorkload, pod_template
from dra_plan.claims.owners import is_over, is_waiting
from dra_plan.claims.sets import ClaimSet
from dra_plan.documents.base import ObjectName
from dra_plan.documents.refusals import REFUSED, ApiServerRefusal, RefusalFinding, Refusals
from dra_plan.manifests.objects import pod_spec_of
from dra_plan.releases import Target

from .question import Question

if TYPE_CHECKING:
    from dra_plan.validation.rule import Finding
    from dra_plan.validation.served import RuntimeConfig

Owned = Pod | AnyWorkload | ResourceClaim
"""The objects that can be checked."""


class OwnerRefusals:
    """The reasons why the API server rejects owners. Each object is checked only once.

    `runtime_config` is the API server's --runtime-config: `{}` for the defaults, or None for all API versions that the
    release can serve.
    """

    def __init__(self, inventory: Inventory, target: Target, runtime_config: RuntimeConfig | None = None) -> None:
        from dra_plan.validation.refusals import ApiServerRefusals  # no other part of planning needs the rules

        self._inventory = inventory
        self._rules = ApiServerRefusals(inventory, target, runtime_config)
        self._makers = {id(pod_spec_of(one).resource_claims): one for one in inventory.workloads}
        """The workloads by the list of their pods' claims. A pod that represents a workload has the same list."""

    @cached_property
    def _given(self) -> frozenset[int]:
        return frozenset(map(id, self._inventory.claims))

    def of(self, owner: Owned) -> tuple[Finding, ...]:
        """Return why the API server rejects the owner or an object that it needs, or () if it accepts all of them."""
        return self._rules.of(owner)

    def without_claims(self, question: Question) -> list[RefusedOwner]:
        """Return the rejected pods and workloads that the question selects and that have no claims.

        They are not part of any claim set. Only pods that wait for a node are included.
        """
        pods = (pod for pod in self._inventory.pods if is_waiting(pod))
        workloads = (one for one in self._inventory.workloads if not is_over(one))
        asked = (one for one in (*pods, *workloads) if not pod_spec_of(one).resource_claims)
        chosen = (one for one in asked if question.chooses(one.metadata))
        return [RefusedOwner.of(one, findings) for one in chosen if (findings := self.of(one))]

    def of_set(self, claim_set: ClaimSet) -> tuple[RefusedOwner, ...]:
        """Return the claim set's pods, workloads and claims that the API server rejects.

        A claim is included only if the set has no owner.
        """
        asked: list[Owned] = [self._makers.get(id(pod.spec.resource_claims), pod) for pod in claim_set.pods]
        if claim_set.owner is None:
            asked += [claim for claim in claim_set.claims if id(claim) in self._given]
        return tuple(RefusedOwner.of(one, findings) for one in asked if (findings := self.of(one)))


class RefusedOwner(Struct, frozen=True):
    """A pod, workload or claim that the API server rejects, and the reasons."""

    owner: ObjectName
    findings: tuple[Finding, ...]

    @property
    def name(self) -> str:
        """The owner's name as NAMESPACE/NAME."""
        return f"{self.owner.namespace}/{self.owner.name}"

    @classmethod
    def of(cls, owner: Owned, findings: tuple[Finding, ...]) -> RefusedOwner:
        """Create a rejected owner from the object and the findings about it."""
        return cls(ObjectName(kind=owner.kind, namespace=owner.metadata.namespace, name=owner.metadata.name), findings)


class Accepted(Struct, frozen=True):
    """A cluster without the pods and workloads that its API server rejects, and a list of these."""

    inventory: Inventory
    refused: tuple[RefusedOwner, ...] = ()


def accepted(
    inventory: Inventory,
    target: Target,
    chosen: Callable[[Pod], bool],
    runtime_config: RuntimeConfig | None = None,
    *,
    refusals: OwnerRefusals | None = None,
) -> Accepted:
    """Return the cluster without the workloads and the chosen waiting pods that the API server rejects.

    Existing pods of a rejected workload are kept, and so are pods that have a node, have ended or are not chosen.
    `refusals` contains the results that are already known for the same objects.
    """
    from dra_plan.scheduler.new_pods import pod_of  # claim sets do not need the scheduler

    pods = [pod for pod in inventory.pods if is_waiting(pod) and chosen(pod)]
    working = (one for one in inventory.workloads if not is_over(one))
    workloads = [one for one in working if chosen(pod_of(one, pod_template(one), one.metadata.name))]
    if not (pods or workloads):
        return Accepted(inventory)
    asked = refusals or OwnerRefusals(inventory, target, runtime_config)
    found = [(one, findings) for one in (*pods, *workloads) if (findings := asked.of(one))]
    if not found:
        return Accepted(inventory)
    gone = {id(one) for one, _ in found}
    kept = replace(
        inventory,
        pods=[pod for pod in inventory.pods if id(pod) not in gone],
        workloads=[one for one in inventory.workloads if id(one) not in gone],
    )
    return Accepted(kept, tuple(RefusedOwner.of(*each) for each in found))


def entries(refused: Iterable[RefusedOwner]) -> Refusals:
    """Return the entries for a document about these findings, without duplicates.

    Every entry lists the owners that cannot run.
    """
    owners: dict[Finding, list[ObjectName]] = {}
    for each in refused:
        for finding in each.findings:
            owners.setdefault(finding, []).append(each.owner)
    return [_entry(finding, named) for finding, named in owners.items()] or UNSET


def of_manifests(findings: Iterable[Finding], spared: Container[str]) -> list[ApiServerRefusal]:
    """Return the findings for which the API server rejects manifests, each with the rejected object as its owner.

    Objects of the `spared` kinds are left out.
    """
    from dra_plan.validation.rule import Severity

    found = []
    for finding in findings:
        kind, _, name = finding.object.partition(" ")
        if finding.severity is Severity.ERROR and finding.rule.refused_by == "APIServer" and kind not in spared:
            namespace, _, own = name.rpartition("/")
            found.append(_entry(finding, [ObjectName(kind=kind, namespace=namespace, name=own)]))
    return found


def notices_of(refused: Iterable[RefusedOwner]) -> list[Notice]:
    """Return the findings about rejected owners as warnings, for commands that are not about waiting pods."""
    return [
        Notice("refused", f"{REFUSED}: {finding.code}: {finding.message}", f"{one.owner.kind} {one.name}", finding.file)
        for one in refused
        for finding in one.findings
    ]


def finding_entry(finding: Finding) -> RefusalFinding:
    """Return the entry for a document about this finding."""
    return RefusalFinding(**_fields(finding))


def _entry(finding: Finding, owners: list[ObjectName]) -> ApiServerRefusal:
    return ApiServerRefusal(**_fields(finding), owners=owners)


def _fields(finding: Finding) -> dict[str, Any]:
    names = ("code", "object", "field", "message", "file", "line", "suggestion")
    return {**{name: getattr(finding, name) for name in names}, "fix": finding.rule.fix}
