"""`autoscale -o table`, `-o wide` and `-o name`: the pending pods, the nodes, and what the autoscaler does."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import UNSET

from dra_plan import shown
from dra_plan.questions.autoscale.document import (
    FILTERED_OUT,
    MAX_TOTAL,
    AutoscaleDocument,
    KnownGroup,
    ScaleUpDocument,
)
from dra_plan.questions.autoscale.karpenter_text import karpenter_parts
from dra_plan.text.columns import Part, Screen, Table
from dra_plan.text.formats import Format, Formats, choose, of_tables, whole
from dra_plan.text.markdown import markdown_parts
from dra_plan.text.naming import target
from dra_plan.text.words import counted, listed

OTHER_GROUP = "fits a group that this loop did not choose"

MOST_GROUPS = 3
"""The maximum number of groups in a row."""


def table(document: AutoscaleDocument, _screen: Screen | None) -> list[Part]:
    """Return the result for each pending pod, and the nodes that could be removed."""
    if document.karpenter is not UNSET:
        return [*karpenter_parts(document.karpenter), *_told_groups(document), target(document)]
    return [
        *_pods(document.scale_up, whole_reasons=False),
        *_sentences(document),
        *_told_groups(document),
        target(document),
    ]


def wide(document: AutoscaleDocument, screen: Screen | None) -> list[Part]:
    """Return the same content as `table`, plus the reason for every group and a row for each node."""
    if document.karpenter is not UNSET:
        return table(document, screen)
    nodes = Table(("NODE", "USED", "OF", "SCALE DOWN"), flexible=(3,))
    down = document.scale_down
    for name in sorted({*document.utilization, *down.unremovable, *down.removable}):
        used = document.utilization.get(name)
        share = f"{used.utilization:.0%}" if used is not None else ""
        why = "removable" if name in down.removable else down.unremovable.get(name, "")
        nodes.add(name, share, used.resource if used is not None else "", why)
    return [
        *_pods(document.scale_up, whole_reasons=True),
        *([nodes] if nodes.rows else []),
        *_sentences(document),
        *_told_groups(document),
        target(document),
    ]


def _pods(up: ScaleUpDocument, *, whole_reasons: bool) -> Iterator[Table]:
    made = Table(("POD", "OUTCOME", "WHERE", "WHY NOT"), flexible=(0, 3))
    grown = listed([one.group for one in up.plan])
    for pod in sorted({*up.triggered, *up.awaiting, *up.not_triggered, *up.fit_existing}):
        if pod in up.triggered:
            made.add(pod, "Triggered", grown, "")
        elif pod in up.awaiting:
            made.add(pod, "Awaiting", "", OTHER_GROUP)
        elif pod in up.not_triggered:
            reasons = [f"{group}: {said}" for group, said in up.not_triggered[pod].items()]
            kept = reasons if whole_reasons else reasons[:MOST_GROUPS]
            more = [f"{len(reasons) - len(kept)} more"] if len(kept) < len(reasons) else []
            made.add(pod, "NotTriggered", "", "; ".join([*kept, *more]))
        elif pod in up.fit_existing:
            node = up.fit_existing[pod]
            dropped = node == FILTERED_OUT
            made.add(pod, "FilteredOut" if dropped else "FitsExisting", "" if dropped else node, "")
    if made.rows:
        yield made


def _told_groups(document: AutoscaleDocument) -> Iterator[str]:
    """Yield the labels that named groups, and the details that they lack."""
    labels: dict[str, list[KnownGroup]] = {}
    for group in document.groups:
        if group.told_by:
            labels.setdefault(group.told_by, []).append(group)
    for label, groups in labels.items():
        named = listed([f"{group.group} ({counted(group.nodes, 'node')})" for group in groups], MOST_GROUPS)
        yield f"The groups are derived from the node label {label}: {named}."
    without = [name for name in ("min", "max") if any(getattr(group, name) is None for group in document.groups)]
    if labels and without:
        said = "".join(f",{name}=N" for name in without)
        yield f"Node labels do not specify the {' and '.join(without)} of a group; use --group NAME{said}."
        yield "Node labels do not show groups that have no nodes. To add such a group, use --group."


def _sentences(document: AutoscaleDocument) -> Iterator[str]:
    up, down = document.scale_up, document.scale_down
    if up.error:
        yield f"The loop stopped: {up.error}"
    open_ended = {group.group for group in document.groups if group.max is None}
    for one in up.plan:
        more = " if the group's maximum size (unknown) allows it" if one.group in open_ended else ""
        yield f"Group {one.group} grows from {one.from_} to {counted(one.to, 'node')}{more}."
    if up.result == "ScaleUpNotNeeded" and not up.error:
        yield ("No new nodes are needed: every unschedulable pod fits on an existing node.")
    elif up.result == "ScaleUpNoOptionsAvailable":
        yield "No group grows, because none would help a pending pod."
    elif up.result == "ScaleUpLimitedByMaxNodesTotal":
        yield f"No group grows: {MAX_TOTAL} (--max-nodes-total)."
    if len(up.options) > 1:
        yield from _choice(up)
    if up.needed is not None:
        yield (
            f"To bind all of these pods, kube-scheduler needs {counted(up.needed, 'new node')} in group {up.chosen} "
            "(see `grow`)."
        )
    left = [pod for pod, outcome in up.then_bound.items() if outcome != "Bound"]
    if up.then_bound:
        bound = len(up.then_bound) - len(left)
        yield f"Then kube-scheduler binds {bound} of {counted(len(up.then_bound), 'pod')}."
    if left and up.others_bound:
        others = counted(up.others_bound, "pod")
        yield (
            f"{others} outside the plan {'is' if up.others_bound == 1 else 'are'} bound on the new nodes before the "
            "pods in the plan."
        )
    if down.removable:
        yield f"Nodes that the autoscaler could remove if nothing else changes: {listed(down.removable, 6)}."


def _choice(up: ScaleUpDocument) -> Iterator[str]:
    """Yield the group that the plan uses, and the choices of the other expanders."""
    choices = {"least-waste": up.least_waste, "most-pods": up.most_pods, "least-nodes": up.least_nodes}
    said = [f"{name}{_USUAL.get(name, '')} would pick {_or(groups)}" for name, groups in choices.items()]
    others = "; ".join(said)
    helping = f"{counted(len(up.options), 'group')} would help"
    assumed = f"This result assumes the first group, {up.chosen}. Of the expanders, {others}."
    if not up.expander:
        yield f"{helping}; the expander decides which group grows. {assumed}"
    elif up.expander not in choices:
        yield f"{helping}; the input does not show which group the expander {up.expander} would pick. {assumed}"
    elif len(choices[up.expander]) > 1:
        yield f"{helping}; {up.expander} picks {_or(choices[up.expander])} at random; the output assumes {up.chosen}."
    else:
        yield f"{helping}; {up.expander} picks {up.chosen}."


_USUAL = {"least-waste": " (the default)"}


def _or(groups: list[str]) -> str:
    kept = [*groups[:MOST_GROUPS], *([f"{len(groups) - MOST_GROUPS} more"] if len(groups) > MOST_GROUPS else [])]
    return " or ".join(kept)


def names(document: AutoscaleDocument) -> str:
    """Return the groups that grow, or the NodePools that get a node, one per line."""
    if document.karpenter is not UNSET:
        return "".join(f"{shown.line(one.node_pool)}\n" for one in document.karpenter.node_claims)
    return "".join(f"{shown.line(one.group)}\n" for one in document.scale_up.plan)


def _markdown(document: AutoscaleDocument, _screen: Screen | None) -> str:
    return markdown_parts(wide(document, None))


FORMATS = Formats(table=table, wide=wide, name=names)


def parse(option: str) -> Format[AutoscaleDocument]:
    """Return the format for `-o OPTION`. Raises UsageError for an unknown format or a malformed template."""
    return choose(option, {**of_tables(FORMATS), "markdown": whole(_markdown)})
