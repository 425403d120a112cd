"""`grow -o table`, `-o wide` and `-o name`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dra_plan import shown
from dra_plan.documents.base import ObjectName
from dra_plan.questions.grow.document import GrowthDocument, TriedNumber, UnboundPod
from dra_plan.text import formats, refusals
from dra_plan.text.columns import Part, Screen, Table
from dra_plan.text.formats import Format, Formats
from dra_plan.text.naming import target
from dra_plan.text.words import counted, listed

FEWER_MAY_DO = (
    "kube-scheduler chooses a node for one pod at a time. If you choose the nodes, fewer new nodes may be enough: "
    "`dra-plan place` finds out."
)
"""A note that manual scheduling may need fewer nodes."""


def one_node_fewer(document: GrowthDocument) -> list[str]:
    """Return the options with which `place` adds one node fewer, or nothing if at most one node is needed."""
    numbers = {kind.like: kind.count for kind in document.kinds if kind.count}
    if document.outcome != "Found" or sum(numbers.values()) <= 1:
        return []
    last = next(reversed(numbers))
    fewer = {like: count - (like == last) for like, count in numbers.items()}
    return [part for like, count in fewer.items() if count for part in ("--add-nodes", f"{count}={like}")]


TIED = (
    "If several nodes had the same score, the first one in node order was chosen. In a real cluster, the "
    "scheduler may choose any of these nodes, so the number may differ."
)
"""A note for results that depend on ties between nodes."""


def table(document: GrowthDocument, _screen: Screen | None) -> list[Part]:
    """Return the pods that new nodes cannot help, the number of nodes of each kind, and why fewer are not enough."""
    told = [*refusals.paragraphs(document.refusals), *_helpless(document), _kinds(document), *_sentences(document)]
    return [*told, *_fewer(document), target(document)]


def wide(document: GrowthDocument, _screen: Screen | None) -> list[Part]:
    """Return the same content as `table`, plus every new node and its pods."""
    made = Table(("NEW NODE", "LIKE", "PODS"), flexible=(2,))
    for node in document.nodes:
        made.add(node.name, node.like, ", ".join(map(_pod, node.pods)))
    nodes = [made] if made.rows else []
    parts: list[Part] = [*refusals.paragraphs(document.refusals), *_helpless(document), _kinds(document), *nodes]
    return [*parts, *_sentences(document), *_fewer(document), target(document)]


def _helpless(document: GrowthDocument) -> Iterator[Part]:
    if document.beyond_help:
        number = len(document.beyond_help)
        stay = f"{counted(number, 'pod')} {'stays' if number == 1 else 'stay'} pending"
        if order := in_this_order(document, helpless=True):
            yield f"{order.strip().capitalize()}, {stay}, no matter how many nodes like those below are added:"
        else:
            yield f"{stay.capitalize()}, no matter how many nodes like those below are added:"
        made = Table(("POD", "MESSAGE"), flexible=(0, 1))
        for names, message in alike(document.beyond_help):
            made.add(names, message)
        yield made


def alike(pods: Sequence[UnboundPod]) -> Iterator[tuple[str, str]]:
    """Yield the names of the pods that share a message, and the message."""
    found: dict[str, list[str]] = {}
    for pod in pods:
        found.setdefault(pod.message or "", []).append(f"{pod.namespace}/{pod.name}")
    for message, names in found.items():
        yield listed(names), message


def _kinds(document: GrowthDocument) -> Table:
    priced = _priced(document)
    made = Table(("NEW NODES LIKE", "NUMBER", *(("COST OF ONE",) if priced else ())), flexible=(0,))
    for kind in document.kinds:
        number = "undecided" if kind.count is None else str(kind.count)
        made.add(kind.like, number, *((str(kind.cost),) if priced else ()))
    return made


def _sentences(document: GrowthDocument) -> Iterator[str]:
    if document.refusals and not document.pods:
        return
    waiting = document.pods - len(document.beyond_help)
    pods = counted(document.pods, "pending pod")
    before = f"Without new nodes, the scheduler binds {document.bound_before} of {pods}"
    if document.outcome == "Found":
        yield f"{before}; with the new nodes, it binds {waiting}. {_least(document)}"
        if one_node_fewer(document):
            yield FEWER_MAY_DO
    elif document.outcome == "NotNeeded":
        yield f"{before}. {_no_help(document)}"
    else:
        yield f"{before}."
        yield _undecided(document)
    if document.tied:
        yield TIED
    if document.evicted:
        names = listed([_pod(pod) for pod in document.evicted])
        number = len(document.evicted)
        yield f"{counted(number, 'pod')} {'is' if number == 1 else 'are'} evicted for other pods: {names}."


def _no_help(document: GrowthDocument) -> str:
    if not document.beyond_help:
        return f"These pods need no new nodes{in_this_order(document)}."
    likes = listed([kind.like for kind in document.kinds])
    others = len(document.beyond_help)
    whom = "it" if document.pods == 1 else f"the other {others:,}" if document.bound_before else "any of them"
    return f"New nodes like {likes} would not help {whom}{in_this_order(document, helpless=True)}."


def in_this_order(document: GrowthDocument, *, helpless: bool = False) -> str:
    """Return a condition for a sentence, such as " if the first of equally good nodes is always chosen".

    It is "" if ties between nodes do not matter. If `helpless` is set, the sentence is about the pods that new nodes
    cannot help.
    """
    tied = any(pod.fits_alone for pod in document.beyond_help) if helpless else document.tied
    return " if the first of equally good nodes is always chosen" if tied else ""


def _least(document: GrowthDocument) -> str:
    cost = f"; this one costs {document.at_most}" if _priced(document) else ""
    said = f"{'No cheaper combination is' if cost else 'Fewer nodes are not'} enough for kube-scheduler"
    if document.exact:
        return f"{said}{cost}."
    return f"{said}{cost}, but not every smaller number was tried."


def _priced(document: GrowthDocument) -> bool:
    return any(kind.cost != 1 for kind in document.kinds)


def _undecided(document: GrowthDocument) -> str:
    if document.at_most is None:
        numbers = listed([tried(each.nodes) for each in document.not_enough])
        return f"Undecided: with {numbers}, not every pod is bound, and more were not tried (--limit, --max-steps)."
    return (
        f"Undecided: the nodes cost at least {document.at_least}, and at most {document.at_most}, "
        "which the table shows (a search was cut short)."
    )


def tried(numbers: Sequence[TriedNumber]) -> str:
    """Return a phrase such as `2 like a and 1 like b`."""
    said = [f"{number.count} like {number.like}" for number in numbers if number.count]
    return " and ".join(said) or "no new nodes"


def _fewer(document: GrowthDocument) -> Iterator[Part]:
    made = Table(("NEW NODES TRIED", "UNSCHEDULED PODS", "MESSAGE"), grouped=1, flexible=(0, 1, 2))
    for each in document.not_enough:
        for names, message in alike(each.unbound):
            made.add(tried(each.nodes) if any(one.count for one in each.nodes) else "none", names, message)
    if made.rows:
        yield made


def _pod(pod: ObjectName) -> str:
    return f"{pod.namespace}/{pod.name}"


def names(document: GrowthDocument) -> str:
    """Return a line of the form `LIKE NUMBER` for each kind of node. An unknown number is printed as `-`."""
    lines = (f"{kind.like} {'-' if kind.count is None else kind.count}" for kind in document.kinds)
    return "".join(f"{shown.line(line)}\n" for line in lines)


FORMATS = Formats(table=table, wide=wide, name=names)


def parse(option: str) -> Format[GrowthDocument]:
    """Return the format for `-o OPTION`. Raises UsageError for an unknown format or a malformed template."""
    return formats.parse(option, FORMATS)
