"""Prepare claims for the search, checking requests as upstream does. Messages are upstream's.

A Want is a request or one of its alternatives. Nothing here depends on the node.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, field

from dra_plan.api.meta import QuantityText
from dra_plan.api.resource import (
    DeviceClass,
    DeviceRequest,
    DeviceSelector,
    DeviceSubRequest,
    DeviceToleration,
    ExactDeviceRequest,
    ResourceClaim,
)
from dra_plan.cel.lexer import CelDeviceError, CelRuntimeError
from dra_plan.releases import Rules, Target

from . import constraints
from .constraints import Constraint
from .identity import PoolID
from .pools import PoolDevice
from .reasons import Cause, ErrorCode, SelectorError, SelectorRefused

if TYPE_CHECKING:
    from dra_plan.cel import Selector

RESULTS_LIMIT = 32
"""The maximum number of devices in a claim (`AllocationResultsMaxSize`)."""

_ADVICE = (
    ". consider using CEL optional chaining (.? followed by orValue()) or guarding the check with has()"
    " for optional fields"
)

Compile = Callable[[str], "Selector"]
"""A function that compiles an expression. It raises ValueError with the compiler's message."""


class SelectorCondition(Struct, eq=False):
    """A selector of the class `class_name` or, if this is None, of a request. `index` is its position there."""

    claim: str
    class_name: str | None
    index: int
    expression: str
    compile: Compile
    explains: bool = False
    """True if error messages name the device and give advice."""
    selector: Selector | None = None

    def holds(self, device: PoolDevice) -> bool:
        """Return whether the selector is true for the device.

        Raises SelectorError, which ends the scheduling attempt of the pod.
        """
        selector = self.selector or self.compiled()
        try:
            return selector.matches(device.device, device.id.driver)
        except ValueError as error:
            raise self._failed(error, device) from error

    def compiled(self) -> Selector:
        """Return the compiled selector. Raises SelectorError."""
        if self.selector is None:
            try:
                self.selector = self.compile(self.expression)
            except ValueError as error:
                raise self._failed(error) from error
        return self.selector

    def _failed(self, error: ValueError, device: PoolDevice | None = None) -> SelectorError:
        code: ErrorCode
        code, kind = ("selector-compile", "compile") if device is None else ("selector-runtime", "runtime")
        owner = f"claim {self.claim}" if self.class_name is None else f"class {self.class_name}"
        place = f" on device {device.id}" if self.explains and device is not None else ""
        lacks_key = isinstance(error, CelRuntimeError) and error.missing_key
        advice = _ADVICE if self.explains and device is not None and lacks_key else ""
        text = f"{owner}: selector #{self.index}{place}: CEL {kind} error: {error}{advice}"
        cause = Cause(code, text, claim=self.claim, device_class=self.class_name or "")
        of_device = isinstance(error, CelDeviceError)
        return SelectorError(cause, self.index, self.expression, str(error), device, of_device)


class Want(Struct, eq=False):
    """A request of a claim, or one alternative of a firstAvailable request.

    `count` is the number of devices needed; if `takes_all` is true, the number depends on the node. `problem` is the
    error that ends the search when it reaches the request, if any.
    """

    claim_index: int
    request_index: int
    option_index: int
    claim: ResourceClaim
    name: str
    parent: str
    device_class: DeviceClass | None
    conditions: tuple[SelectorCondition, ...]
    count: int
    takes_all: bool
    admin: bool
    tolerations: list[DeviceToleration]
    capacity: Mapping[str, QuantityText] | None
    problem: Cause | None = None
    constraints: tuple[Constraint, ...] = ()

    @property
    def full_name(self) -> str:
        """The name of the request, or `REQUEST/ALTERNATIVE` for an alternative."""
        return f"{self.parent}/{self.name}" if self.parent else self.name

    @property
    def request_name(self) -> str:
        """The name of the request. For an alternative, it is the name of the request that lists the alternative."""
        return self.parent or self.name

    def cause(self, code: ErrorCode, text: str, *, pool: PoolID | None = None) -> Cause:
        """Return the cause of an error about this request. Upstream's prefix is added to `text`."""
        place = f"claim {self.claim.key}, request {self.name}"
        return Cause(code, f"{place}: {text}", claim=self.claim.key, request=self.full_name, pool=pool)

    def selector_refusal(self, device: PoolDevice) -> SelectorRefused | None:
        """Return the first selector that is false for the device, or None. The class's selectors come first."""
        for condition in self.conditions:
            if not condition.holds(device):
                return SelectorRefused(condition.class_name, condition.index, condition.expression)
        return None


class ClaimRequests(Struct, eq=False):
    """A claim, prepared for the search.

    `requests` has a list for each request: its alternatives or, if it has none, the request itself. `alternatives` says
    whether the request has alternatives.
    """

    claim: ResourceClaim
    requests: list[list[Want]] = field(default_factory=list)
    alternatives: list[bool] = field(default_factory=list)
    constraints: list[Constraint] = field(default_factory=list)
    problem: Cause | None = None
    """The error of a constraint that cannot be used, if any. The search raises it after it has checked the requests."""


class RequestReader:
    """Prepares claims for one allocator."""

    def __init__(self, classes: Mapping[str, DeviceClass], target: Target, compile_: Compile) -> None:
        self._classes, self._compile = classes, compile_
        self._features, self._rules, self._quirks = target.features, target.rules, target.quirks
        self._conditions: dict[str, tuple[SelectorCondition, ...]] = {}

    def read(self, claim_index: int, claim: ResourceClaim) -> ClaimRequests:
        """Return the claim with its requests and constraints. Problems are recorded in the result, not raised."""
        ready = ClaimRequests(claim)
        self._read_constraints(claim_index, ready)
        for index, request in enumerate(claim.spec.devices.requests):
            wants = self._wants(claim_index, index, claim, request)
            for want in wants:
                want.constraints = tuple(c for c in ready.constraints if c.applies(want.request_name, want.full_name))
            ready.requests.append(wants)
            ready.alternatives.append(bool(request.first_available))
        return ready

    def _read_constraints(self, claim_index: int, ready: ClaimRequests) -> None:
        for index, constraint in enumerate(ready.claim.spec.devices.constraints):
            known = constraint.match_attribute is not None or self._rules.distinct_attribute
            made = constraints.make(claim_index, index, constraint, self._features, self._quirks) if known else None
            if made is None:
                key = ready.claim.key
                text = f"claim {key}, constraint #{index}: empty constraint (unsupported constraint type?)"
                ready.problem = Cause("constraint-unknown", text, claim=key)
                return
            ready.constraints.append(made)

    def _wants(self, claim_index: int, index: int, claim: ResourceClaim, request: DeviceRequest) -> list[Want]:
        if request.first_available:
            wants = [
                self._want(claim_index, index, position, claim, alternative, request.name)
                for position, alternative in enumerate(request.first_available)
            ]
            if not self._features.prioritized_list:
                text = "has subrequests, but the DRAPrioritizedList feature is disabled"
                wants[0].problem = Cause(
                    "feature-off",
                    f"claim {claim.key}, request {request.name}: {text}",
                    claim=claim.key,
                    request=wants[0].full_name,
                    gate="DRAPrioritizedList",
                )
            return wants
        if request.exactly is None:
            want = self._want(claim_index, index, 0, claim, ExactDeviceRequest(), "", request.name)
            want.problem = want.cause("request-empty", "unknown request type")
            return [want]
        return [self._want(claim_index, index, 0, claim, request.exactly, "", request.name)]

    def _want(
        self,
        claim_index: int,
        index: int,
        position: int,
        claim: ResourceClaim,
        asked: ExactDeviceRequest | DeviceSubRequest,
        parent: str,
        name: str = "",
    ) -> Want:
        name = name or getattr(asked, "name", "")
        device_class = self._classes.get(asked.device_class_name)
        own = _conditions(claim.key, None, asked.selectors, self._compile, self._rules)
        return Want(
            claim_index=claim_index,
            request_index=index,
            option_index=position,
            claim=claim,
            name=name,
            parent=parent,
            device_class=device_class,
            conditions=(*self._class_conditions(device_class), *own),
            count=asked.count,
            takes_all=asked.allocation_mode == "All",
            admin=bool(getattr(asked, "admin_access", False)),
            tolerations=asked.tolerations,
            capacity=asked.capacity.requests if asked.capacity is not None else None,
            problem=self._problem(claim, asked, name, parent),
        )

    def _class_conditions(self, device_class: DeviceClass | None) -> tuple[SelectorCondition, ...]:
        if device_class is None:
            return ()
        name = device_class.metadata.name
        if name not in self._conditions:
            self._conditions[name] = class_conditions(device_class, self._compile, self._rules)
        return self._conditions[name]

    def _problem(
        self, claim: ResourceClaim, asked: ExactDeviceRequest | DeviceSubRequest, name: str, parent: str
    ) -> Cause | None:
        """Return the first problem with the request itself for which upstream rejects it, in upstream's order."""

        def cause(code: ErrorCode, text: str, *, kind: str = "request", gate: str = "") -> Cause:
            full_name = f"{parent}/{name}" if parent else name
            text = f"claim {claim.key}, {kind} {name}{text}"
            return Cause(code, text, claim=claim.key, request=full_name, device_class=wanted, gate=gate)

        wanted = asked.device_class_name
        if asked.capacity is not None and not self._features.consumable_capacity:
            text = ": has capacity requests, but the DRAConsumableCapacity feature is disabled"
            kind = "subrequest" if parent else "request"
            return cause("feature-off", text, kind=kind, gate="DRAConsumableCapacity")
        for index, selector in enumerate(asked.selectors):
            if selector.cel is None:
                return cause("request-empty", f", selector #{index}: CEL expression empty (unsupported selector type?)")
        if getattr(asked, "admin_access", None) is not None and not self._features.admin_access:
            text = ": admin access is requested, but the feature is disabled"
            return cause("feature-off", text, gate="DRAAdminAccess")
        if not wanted:
            return cause("class-not-named", ": missing device class name (unsupported request type?)")
        if wanted not in self._classes:
            resource = "deviceclasses" if self._rules.missing_class_in_plural else "deviceclass"
            missing = f'{resource}.resource.k8s.io "{wanted}" not found'
            return cause("class-missing", f": could not retrieve device class {wanted}: {missing}")
        if asked.allocation_mode not in ("ExactCount", "All"):
            return cause("count-mode", f": unsupported count mode {asked.allocation_mode}")
        return None


def class_conditions(device_class: DeviceClass, compile_: Compile, rules: Rules) -> tuple[SelectorCondition, ...]:
    """Return the selectors of a class. A selector without CEL is skipped in a class, but is an error in a request."""
    return _conditions("", device_class.metadata.name, device_class.spec.selectors, compile_, rules)


def _conditions(
    claim: str, class_name: str | None, selectors: Sequence[DeviceSelector], compile_: Compile, rules: Rules
) -> tuple[SelectorCondition, ...]:
    return tuple(
        SelectorCondition(claim, class_name, index, selector.cel.expression, compile_, rules.explains_selector_errors)
        for index, selector in enumerate(selectors)
        if selector.cel is not None
    )
