"""`explain`: feature gates that are off here but seem to be on in the cluster, and the verdicts with these gates on.

An API server stores some objects and fields only while a gate is on. If the input contains any, verdicts without the
gate may be wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import structs

from dra_plan import releases
from dra_plan.api.inventory import Inventory
from dra_plan.documents.verdict_parts import GatedVerdict
from dra_plan.documents.verdicts import GOOD, OwnerVerdict
from dra_plan.releases import Target, switched_on_with
from dra_plan.scheduler.notices import gates_of_groups

MOST_OWNERS = 10
"""The maximum number of owners for which there are verdicts with the gates on."""

TAINT_RULES = "DRADeviceTaintRules"


def seeming_gates(inventory: Inventory, target: Target) -> dict[str, str]:
    """Return the gates that are off but seem to be on in the cluster, each with the objects that suggest it.

    Gates that the caller has turned off are left out.
    """
    signs = gates_of_groups(inventory)
    rules = inventory.taint_rules
    if rules:
        more = f" and {len(rules) - 1} more" if len(rules) > 1 else ""
        signs[TAINT_RULES] = f"DeviceTaintRule {rules[0].metadata.name}{more}"
    info = inventory.cluster_info
    reported = info.feature_gates if info is not None else {}
    known = {*reported, *target.chosen}
    return {gate: sign for gate, sign in signs.items() if target.gates.get(gate) is False and gate not in known}


def with_gates(target: Target, gates: Mapping[str, str]) -> Target:
    """Return the target with these gates, and the gates that they depend on, turned on."""
    needed = {name: True for gate in gates for name in switched_on_with(gate, target.version)}
    return releases.target(target.release, {**target.gates, **needed}, target.quirk_mode)


def _is_better(one: OwnerVerdict, other: OwnerVerdict) -> bool:
    return one.verdict in GOOD or one.would_bind > other.would_bind


def compared(
    verdicts: Sequence[OwnerVerdict], others: Sequence[OwnerVerdict], gates: Mapping[str, str]
) -> list[OwnerVerdict]:
    """Return the verdicts, to which worse ones in `others` are added. `others` are the verdicts with the gates on."""
    known = {(one.kind, one.namespace, one.name): one for one in others}
    made = []
    for one in verdicts:
        other = known.get((one.kind, one.namespace, one.name))
        if other is not None and other.verdict not in (*GOOD, "Undecided") and _is_better(one, other):
            then = GatedVerdict(
                gates=list(gates),
                signs="; ".join(gates.values()),
                verdict=other.verdict,
                nodes=other.nodes,
                of_all_nodes=other.of_all_nodes,
                gang=other.gang,
                total_nodes=other.total_nodes,
            )
            one = structs.replace(one, with_gates=then)
        made.append(one)
    return made
