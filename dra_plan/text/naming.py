"""The names of objects, devices, releases and edits in tables and sentences."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from dra_plan.api.inventory import Notice
from dra_plan.documents.base import AppliedEdit, AppliedObject, HeldDrain
from dra_plan.documents.scheduling import BY_CHANCE
from dra_plan.releases import gate_defaults
from dra_plan.text import words

if TYPE_CHECKING:
    from dra_plan.api.resource import DeviceRequestAllocationResult
    from dra_plan.documents.base import AnswerTarget, ObjectName, PrintedDocument
    from dra_plan.documents.claim_sets import ClaimSetName
    from dra_plan.documents.volume_needs import PodlessWorkload


CUT_SHORT = "a search was cut short (--max-steps)"
"""The reason why a result is undecided if a search was cut short."""


def why_not_known(outcomes: Iterable[str]) -> str:
    """Return why results are undecided: input is missing (Unknown), or searches were cut short."""
    reasons = (words.UNKNOWN if outcome == "Unknown" else CUT_SHORT for outcome in outcomes)
    return ", or ".join(dict.fromkeys(reasons)) or CUT_SHORT


_DECIDING = ("classes-missing", "slices-missing")
"""The codes of warnings about missing objects that decide whether claims fit."""


def why_undecided(document: PrintedDocument) -> str:
    """Return why results are undecided, for a document that does not give a reason for each pod."""
    lacks = any(warning.code in _DECIDING for warning in document.warnings)
    return why_not_known(["Unknown"] if lacks else [])


def unsettled_words(reason: str) -> str:
    """Return `never settles: REASON`, or `settles only by chance: REASON` if ties between nodes decide."""
    return f"{'settles only by chance' if reason.startswith(BY_CHANCE) else 'never settles'}: {reason}"


def fits_nowhere(outcome: str) -> str:
    """Return a phrase for a claim set or pod that does not fit, depending on whether this is certain."""
    return {"Undecided": "undecided", "Unknown": "not known"}.get(outcome, "fits nowhere")


NAMES = 4
"""The maximum number of nodes that a cell names."""


def node_list(names: Sequence[str], *, every: bool = False) -> str:
    """Return the names of nodes for a cell: all of them if `every` is set, and otherwise the first few and a count."""
    if every or len(names) <= NAMES + 1:
        return ", ".join(names)
    return f"{', '.join(names[:NAMES])} and {len(names) - NAMES} more"


def claim_set_name(claim_set: ClaimSetName) -> str:
    """Return the name of the claim set, followed by the field of the pod template if the owner has several."""
    return with_part(owner_name(claim_set), claim_set.part)


def with_part(name: str, part: str) -> str:
    """Return the name, followed by the field of the pod template if there is one."""
    return f"{name} ({part})" if part else name


def owner_name(claim_set: ClaimSetName) -> str:
    """Return the owner as KIND/NAMESPACE/NAME, or the names of the claims if there is no owner."""
    owner = claim_set.owner
    if owner is not None:
        return named(owner)
    names = [f"{claim.namespace}/{claim.name}" for claim in claim_set.claims]
    return f"resourceclaim/{','.join(names)}" if names else "resourceclaim/-"


def named(thing: ObjectName) -> str:
    """Return the object as KIND/NAMESPACE/NAME, or as KIND/NAME if it has no namespace."""
    return "/".join(part for part in (thing.kind.lower(), thing.namespace, thing.name) if part)


def object_name(label: str) -> str:
    """Return `kind/NAMESPACE/NAME` for an object in the form `KIND NAMESPACE/NAME`."""
    kind, space, name = label.partition(" ")
    return f"{kind.lower()}{'/' if space else ''}{name}"


def workload_name(of: PodlessWorkload) -> str:
    """Return the workload as KIND NAMESPACE/NAME."""
    return f"{of.kind} {of.namespace}/{of.name}"


def scale_up(of: PodlessWorkload) -> str:
    """Return the command that gives the workload one pod."""
    return shlex.join(["kubectl", "scale", of.kind.lower(), of.name, "-n", of.namespace, "--replicas=1"])


class NamedDevice(Protocol):
    """An object that identifies a device, such as an allocation result or a selector match."""

    @property
    def driver(self) -> str:
        """The driver that publishes the device."""

    @property
    def pool(self) -> str:
        """The name of the device's pool."""

    @property
    def device(self) -> str:
        """The name of the device in its pool."""


def device_name(named: NamedDevice) -> str:
    """Return the device as DRIVER/POOL/DEVICE."""
    return f"{named.driver}/{named.pool}/{named.device}"


def consumed(result: DeviceRequestAllocationResult) -> str:
    """Return the capacity that a share consumes as NAME=AMOUNT, or `admin` for admin access, which consumes nothing."""
    if result.admin_access:
        return "admin"
    return ", ".join(f"{name}={amount}" for name, amount in (result.consumed_capacity or {}).items())


def target(document: PrintedDocument) -> str:
    """Return a line with the edits, the simulated release, and the release's known defects that affect the result."""
    met = sorted({name for notice in document.warnings for name in _defects(notice)}, key=_in_order)
    defects = f"; known bugs that affect this result: {', '.join(met)}" if met else ""
    changed = sentence(document.what_if or ())
    return f"{changed} {release(document.target)}{defects}.".lstrip()


def release(about: AnswerTarget) -> str:
    """Return the release, and the feature gates that differ from its defaults."""
    defaults = gate_defaults(about.kubernetes_version)
    changed = [f"{name}={str(on).lower()}" for name, on in about.feature_gates.items() if defaults.get(name) is not on]
    repaired = "" if about.quirks == "upstream" else " without its known bugs"
    because = "; ".join(each for each in (about.basis, about.why) if each)
    basis = f" ({because})" if because else ""
    return f"{', '.join([f'Kubernetes {about.release}{basis}', *changed])}{repaired}"


def _defects(notice: Notice) -> tuple[str, ...]:
    return notice.defects or ()


def _in_order(defect: str) -> tuple[str, int]:
    """Return the sort key that puts Q2 before Q12."""
    letters = defect.rstrip("0123456789")
    return letters, int(defect[len(letters) :] or 0)


def sentence(edits: Sequence[AppliedEdit]) -> str:
    """Return the edits as `What if: ...`, or "" if there are none."""
    return " ".join([f"What if: {'; '.join(_words(edit) for edit in edits)}.", *_held(edits)]) if edits else ""


def _held(edits: Sequence[AppliedEdit]) -> Iterator[str]:
    """Yield a sentence for each PodDisruptionBudget for which kubectl would wait."""
    for at, edit in enumerate(edits):
        later = any(earlier.edit in ("Drain", "Evict") for earlier in edits[:at])
        for hold in edit.held_by:
            yield f"kubectl drain {edit.node} would wait for {held(hold, later=later)}."


def held(hold: HeldDrain, *, later: bool = False) -> str:
    """Return the budgets that delay a drain, and the number of pods that they allow to leave.

    If `later` is set, the drain comes after other drains. Otherwise, it begins now.
    """
    names = " and ".join(f"{hold.namespace}/{name}" for name in hold.budgets)
    pods = _count(len(hold.pods), "pod")
    if len(hold.budgets) > 1:
        return f"forever: {pods} under more than one budget ({names}), and the API server evicts none of them"
    return f"budget {names} ({hold.allowed} of {pods} may go {'at that point' if later else 'now'})"


def _words(edit: AppliedEdit) -> str:
    match edit.edit:
        case "Cordon":
            told = f"{edit.node} cordoned"
        case "Drain":
            told = f"{edit.node} drained"
        case "Restart":
            told = "all pods scheduled again"
        case "Apply":
            told = _applied(edit)
        case "AddNodes":
            nodes = "1 node" if edit.count == 1 else f"{edit.count} nodes"
            told = f"{nodes} like {edit.like} added"
        case "Evict" | "Bind":
            name = edit.object.name if edit.object else ""
            told = f"pod/{name} on {edit.node}" if edit.node else f"pod/{name} evicted"
        case _:
            told = f"{_object(edit.object)} removed" if edit.object else ""
    effects = ", ".join(_effects(edit))
    return f"{told} ({effects})" if effects else told


MOST_APPLIED = 3
"""The maximum number of applied objects that are named."""


def _applied(edit: AppliedEdit) -> str:
    """Return the applied objects in the format of `kubectl apply`."""
    more = len(edit.applied) - MOST_APPLIED
    words = [written(one) for one in edit.applied[:MOST_APPLIED]]
    return ", ".join([*words, *([f"and {_count(more, 'object')} more"] if more > 0 else [])])


def written(one: AppliedObject) -> str:
    """Return the name of an applied object, and whether it was created or changed."""
    return f"{_object(one)} {one.change.lower()}"


def _object(of: ObjectName) -> str:
    return f"{of.kind.lower()}/{of.namespace}{'/' if of.namespace else ''}{of.name}"


def _effects(edit: AppliedEdit) -> Iterator[str]:
    if edit.pending:
        yield f"{_count(len(edit.pending), 'pod')} pending again"
    kinds = [item.kind.lower() for item in edit.gone]
    for kind in dict.fromkeys(kinds):
        yield f"{_count(kinds.count(kind), kind)} deleted"
    if edit.deallocated:
        yield f"{_count(len(edit.deallocated), 'claim')} free"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
