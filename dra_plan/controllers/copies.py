"""Copies of pods that are created one by one in a cluster whose controllers and admission are active.

Copies are created as in `scheduler/refusals.py`. In addition, pods evicted for a copy free their claims and are
recreated by their controllers, and quotas count the created objects.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dra_plan.api.core import Pod
from dra_plan.claims.owners import ended
from dra_plan.claims.pod_claims import is_unmade, make_claim
from dra_plan.scheduler.attempts import PodRecord
from dra_plan.scheduler.cluster.keys import pod_uid
from dra_plan.scheduler.cluster.pod_requests import exact_requests
from dra_plan.scheduler.refusals import Copies, CopyTemplate, next_of
from dra_plan.scheduler.simulation import Simulation

from .settle import Settling, claim_failure


def settled_copies(
    simulation: Simulation,
    templates: Sequence[tuple[CopyTemplate, int]],
    limit: int,
    uncharged: Callable[[Pod], bool],
) -> list[Copies]:
    """Create copies of the templates, letting the cluster settle after each, until a copy gets no node.

    Templates are used in proportion, and at most `limit` copies are created in total. The simulation must not have
    started. Pods for which `uncharged` is true, and their claims, do not count towards quotas, because the copies
    replace them. If the API server rejects a copy, its message is the copy's rejection.
    """
    settling = Settling(simulation, uncharged=uncharged)
    settling.start()
    settling.settle()
    found = [Copies(len(template.pods)) for template, _ in templates]
    creating = _Creating(simulation, settling)
    for _ in range(limit):
        at = next_of(found, templates)
        if not found[at].add(simulation, creating.created(templates[at][0], found[at].number)):
            break
    return found


class _Creating:
    """The creation of copies, which lets the cluster settle when a copy has evicted other pods."""

    def __init__(self, simulation: Simulation, settling: Settling) -> None:
        self._simulation, self._settling = simulation, settling
        self._ledger = settling.server.ledger

    def created(self, template: CopyTemplate, number: int) -> list[PodRecord]:
        """Return the outcome for each pod of the copy.

        If a pod is rejected, it is the last one, and it has no node. A pod that cannot stay has no node either.
        """
        group, pods = template.made(number)
        if group is not None:
            self._simulation.arrive_group(group)
        records: list[PodRecord] = []
        server = self._settling.server
        for pod in pods:
            pod = self._simulation.admitted(server.quotas.limited(pod))
            refusal = self._refusal(pod) if server.quotas.exist else ""
            if refusal:
                return [*records, PodRecord(pod, message=refusal, refused=True)]
            records.append(self._simulation.arrive(pod))
        self._settling.go_on()
        for record in records:
            there = self._simulation.cluster.pods.get(pod_uid(record.pod))
            if self._settling.unsettled or there is None or ended(there):
                record.fail(self._settling.unsettled or "the copy is evicted", with_error=True)
        return records

    def _refusal(self, pod: Pod) -> str:
        """Return the API server's message when it no longer creates the pod or one of its claims."""
        if any("/" in name for name in exact_requests(pod)):
            self._ledger.forget()  # the scheduler creates a claim for this pod, which is also charged
        refusal = self._ledger.refuses(pod)
        if refusal:
            return refusal
        for entry in pod.spec.resource_claims:
            template = self._settling.template(pod.metadata.namespace, entry.resource_claim_template_name or "")
            if template is not None and is_unmade(pod, entry):
                refusal = self._ledger.refuses(make_claim(template, pod, entry.name))
                if refusal:
                    return claim_failure(entry.name, refusal)
        return ""
