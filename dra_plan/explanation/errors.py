"""The details of errors: the kind of error, the object at fault, the device that triggered it, and a remedy."""

from __future__ import annotations

from msgspec import Struct, field

from dra_plan.allocator import AllocationError, DeviceID, NodeAllocationError, PoolDevice, SelectorError
from dra_plan.allocator.reasons import Cause
from dra_plan.allocator.requests import SelectorCondition, Want
from dra_plan.api.inventory import Inventory, ObjectKey, Origin
from dra_plan.api.resource import ResourceClaim
from dra_plan.claims.sets import ClaimSet
from dra_plan.documents.reasons import UnreadyPod
from dra_plan.near import misspelt, nearest
from dra_plan.scheduler.dra.filter import check_requests

from . import edits
from .driver_pods import DriverPods
from .names import CLAIM, made_from, source
from .placement import Budget, Placement
from .selectors import mended

_LISTS_GATE = "DRAListTypeAttributes"

_SET_OFF = ("all-and-broken-pool", "all-and-constraint")
"""Errors that a request triggers although a pool or a constraint is at fault."""


_BEFORE_THE_ALLOCATOR = ("class-missing", "class-not-named", "feature-off", "request-empty")
"""Errors of the allocator that the scheduler may find earlier, with different messages."""


class MendedSelector(Struct, frozen=True):
    """A selector that does not cause the error, and the `outcome` on the node if it is used."""

    expression: str
    outcome: str


class ErrorDetails(Struct):
    """The details of an error that ended the scheduling attempt.

    - `object`: the kind, namespace and name of the object at fault, with its position in the input
    - `selector`: the index of the selector in the object
    - `template`: the template to correct, if the object is a generated claim
    - `known`: names that may have been meant
    - `hint`: the most similar of the known names
    - `gate`: the feature gate that is off
    - `missing`: the kind, namespace and name of the object that does not exist
    - `maker`: the object from which a controller creates the missing one
    - `maker_pods`: the pods of this controller that are not ready
    """

    code: str
    message: str
    object: ObjectKey | None = None
    template: str = ""
    origin: Origin | None = None
    request: str | None = None
    device: DeviceID | None = None
    selector: int | None = None
    expression: str | None = None
    mended: MendedSelector | None = None
    known: list[str] = field(default_factory=list)
    hint: str | None = None
    gate: str | None = None
    missing: ObjectKey | None = None
    maker: ObjectKey | None = None
    maker_pods: list[UnreadyPod] = field(default_factory=list)
    want: Want | None = None
    """The request whose selector failed."""


def of_set(claim_set: ClaimSet, inventory: Inventory) -> ErrorDetails:
    """Return why it is unknown which claims a pod has."""
    details = ErrorDetails("claim-set-error", str(claim_set.error), claim_set.owner, origin=claim_set.origin)
    missing = claim_set.error.missing if claim_set.error is not None else None
    if missing is not None:
        kind, namespace, name = missing
        objects = inventory.claims if kind == "ResourceClaim" else inventory.templates
        details.missing = missing
        details.maker = inventory.template_makers.get((namespace, name)) if objects is inventory.templates else None
        if details.maker is not None:  # it is not created by hand, and no other template replaces it
            details.maker_pods = DriverPods(inventory).unready_controllers(details.maker[0])
            return details
        own = sorted(obj.metadata.name for obj in objects if obj.metadata.namespace == namespace)
        details.known, details.hint = own, nearest(name, own)
        elsewhere = sorted(obj.metadata.namespace for obj in objects if obj.metadata.name == name)
        if elsewhere:  # claims and templates serve only pods in their own namespace
            own.sort(key=lambda each: each != details.hint)  # the most similar one first
            details.known, details.hint = (
                [*own, *(f"{space}/{name}, of another namespace" for space in elsewhere)],
                None,
            )
    return details


def of_error(
    placement: Placement,
    error: AllocationError | NodeAllocationError,
    claim_set: ClaimSet,
    inventory: Inventory,
) -> ErrorDetails:
    """Return the details of the error that ended the scheduling attempt on this node."""
    cause = error.cause
    details = ErrorDetails(cause.code, _said(placement, cause), gate=cause.gate or None)
    if isinstance(error, SelectorError):
        _blame_selector(details, placement, error, claim_set, inventory)
        return details
    details.request = None if cause.code in _SET_OFF else cause.request or None
    claim = next((claim for claim in placement.claims if claim.key == cause.claim), None)
    if claim is not None:
        _place(details, claim, claim_set, inventory)
    if cause.code == "class-missing":
        details.missing, details.known = ("DeviceClass", "", cause.device_class), sorted(placement.view.classes)
        details.hint = misspelt(cause.device_class, details.known)
    return details


def _said(placement: Placement, cause: Cause) -> str:
    """Return the scheduler's message: it checks the form of claims and their classes before it calls its allocator."""
    if cause.code not in _BEFORE_THE_ALLOCATOR:
        return cause.message
    statuses = (check_requests(claim, placement.view) for claim in placement.claims)
    return next((status.message for status in statuses if status is not None), cause.message)


def _place(details: ErrorDetails, claim: ResourceClaim, claim_set: ClaimSet, inventory: Inventory) -> None:
    """Set the claim as it was read, or the template it is created from."""
    details.object = source(claim, inventory)
    template = made_from(claim, inventory) if details.object[0] == CLAIM else None
    details.template = template[2] if template is not None else ""
    details.origin = inventory.origins.get(details.object) or claim_set.origin


def _blame_selector(
    details: ErrorDetails, placement: Placement, error: SelectorError, claim_set: ClaimSet, inventory: Inventory
) -> None:
    device = error.device if isinstance(error.device, PoolDevice) else None
    details.expression = error.expression
    details.device = device.id if device is not None else None
    off = placement.view.target.gates.get(_LISTS_GATE) is False
    if off and error.of_device and device is not None and _has_list(device):
        details.gate = _LISTS_GATE
    want, condition = _failed(placement, error)
    if want is None or condition is None:
        return
    details.want, details.selector = want, condition.index
    if condition.class_name is not None:
        details.object = ("DeviceClass", "", condition.class_name)
        details.origin = inventory.origins.get(details.object)
    else:
        details.request = want.full_name
        _place(details, want.claim, claim_set, inventory)
    if device is not None:
        details.mended = _mended(placement, want, condition, device)


def _has_list(device: PoolDevice) -> bool:
    """Return whether an attribute of the device is a list."""
    return any(
        values is not None
        for attribute in device.device.attributes.values()
        for values in (attribute.int_values, attribute.bool_values, attribute.string_values, attribute.version_values)
    )


def _failed(placement: Placement, error: SelectorError) -> tuple[Want | None, SelectorCondition | None]:
    """Return the first request with the selector that failed."""
    cause = error.cause
    place = (cause.claim, cause.device_class or None, error.position, error.expression)
    for want in placement.wants():
        for condition in want.conditions:
            if (condition.claim, condition.class_name, condition.index, condition.expression) == place:
                return want, condition
    return None, None


def _mended(
    placement: Placement, want: Want, condition: SelectorCondition, device: PoolDevice
) -> MendedSelector | None:
    """Return the corrected selector, if there is one; each expression that is tried is checked with the allocator."""
    budget = Budget(200_000, 50_000)
    outcomes: dict[str, str] = {}

    def fails_on(expression: str) -> PoolDevice | None:
        if expression == condition.expression:
            return device
        changed = edits.replace_selector(placement, want, condition.class_name, condition.index, expression)
        answer = changed.ask(budget)
        outcomes[expression] = answer.outcome.value
        if not isinstance(answer.error, SelectorError):
            return None
        return answer.error.device if isinstance(answer.error.device, PoolDevice) else device

    expression = mended(condition.expression, fails_on)
    return None if expression is None else MendedSelector(expression, outcomes[expression])
