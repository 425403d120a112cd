"""`cel`: an expression's type, estimated cost and reads, and its results on the devices in the input."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import UNSET

from dra_plan.allocator import PoolDevice, View
from dra_plan.allocator.identity import DeviceID, meant_device
from dra_plan.allocator.requests import Compile
from dra_plan.api.inventory import Inventory, Notice
from dra_plan.api.resource import Device
from dra_plan.arguments import target_of
from dra_plan.cel.cost import COST_LIMIT
from dra_plan.cel.lexer import CelCompileError, CelRuntimeError
from dra_plan.documents.base import DeviceName, answer_target, warnings
from dra_plan.explanation.hints import SelectorHint, marked, of_devices, of_text
from dra_plan.explanation.selectors import Publications, mended
from dra_plan.questions.cel.document import DeviceMatch, MeantSelector, PartValue, SelectorDocument, SelectorRead
from dra_plan.releases import Target

if TYPE_CHECKING:
    from dra_plan.cel import Selector
    from dra_plan.cel.explain import EvaluatedPart


class DeviceAsked(NamedTuple):
    """A device on which the expression is evaluated, and its node, or "" if the device names no node."""

    name: DeviceName
    whole: PoolDevice
    node: str

    @property
    def device(self) -> Device:
        """The device as published in its slice."""
        return self.whole.device


@dataclass(frozen=True)
class SelectorReport:
    """The result of `cel`."""

    target: Target
    selector: Selector
    result_type: str
    refused: str | None
    devices: tuple[DeviceAsked, ...]
    explained: bool
    notices: tuple[Notice, ...]
    hint: SelectorHint | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the document that `dra-plan cel -o json` prints, as plain values."""
        return self.document.to_dict()

    @cached_property
    def document(self) -> SelectorDocument:
        """The document that `dra-plan cel` prints."""
        return SelectorDocument(
            target=answer_target(self.target),
            expression=self.selector.expression,
            result_type=self.result_type,
            max_cost=self.selector.max_cost,
            cost_limit=COST_LIMIT,
            reads=_reads(self.selector),
            devices=[_evaluated(self.selector, asked) for asked in self.devices],
            new_expression_error=UNSET if self.refused is None else self.refused,
            hint=UNSET
            if self.hint is None
            else MeantSelector(said=list(self.hint.said), expression=self.hint.expression, offset=self.hint.offset),
            explanation=_explanation(self.selector, self.devices[0]) if self.explained else UNSET,
            warnings=warnings(self.notices),
        )


def report_selector(
    expression: str,
    inventory: Inventory | None = None,
    *,
    device: str | None = None,
    kubernetes_version: str | None = None,
    feature_gates: Mapping[str, bool] | None = None,
) -> SelectorReport:
    """Return the type, cost and reads of an expression, and its result on each device.

    If `device` is given, as DRIVER/POOL/DEVICE or an unambiguous end of it, the expression is evaluated only on this
    device, and the result includes the value of every sub-expression. The expression is compiled as the scheduler
    compiles it. If the API server would reject a new object with this expression, the report says so. Raises
    CelCompileError if the scheduler rejects the expression, and UsageError if the device is not in the input.
    """
    from dra_plan.cel import compile_selector
    from dra_plan.cel.environment import environment
    from dra_plan.cel.selector import check

    target = target_of(inventory or Inventory(), kubernetes_version, feature_gates)
    devices = tuple(_devices(inventory, target)) if inventory is not None else ()
    published = Publications(asked.whole for asked in devices)

    def compile_(text: str) -> Selector:
        return compile_selector(text, kubernetes_version=target.version, feature_gates=target.gates)

    try:
        selector = compile_(expression)
    except CelCompileError as error:
        raise _with_hint(error, expression, published, compile_) from error
    checked = check(expression, environment(target.version, target.gates))
    refused = _refused(expression, target)
    notices = [*target.notices, *(inventory.notices if inventory is not None else ())]
    notices += _notices(selector, refused)
    chosen = devices if device is None else (_chosen(devices, device),)
    hint = _hint(selector, chosen, compile_, published)
    return SelectorReport(
        target, selector, str(checked.result_type), refused, chosen, device is not None, tuple(notices), hint
    )


def _with_hint(error: CelCompileError, expression: str, published: Publications, compile_: Compile) -> CelCompileError:
    """Return the error with a hint at the intended expression."""

    def compiles(text: str) -> bool:
        try:
            compile_(text)
        except CelCompileError:
            return False
        return True

    hint = of_text(expression, published, compiles)
    if hint is None:
        return error
    quoted = [f" | {line}" for line in marked(expression, hint.offset) if hint.offset != error.offset]
    meant = ["Write this instead:", f" | {hint.expression}"] if hint.expression else []
    unquoted = not _QUOTES.intersection(expression) and bool(_QUOTES.intersection(hint.expression))
    made = CelCompileError.of_lines(
        [*error.lines, "; ".join(hint.said), *quoted, *meant, *([OF_THE_SHELL] if unquoted else [])]
    )
    made.offset = error.offset
    return made


_QUOTES = frozenset("\"'")
OF_THE_SHELL = (
    "If your shell removed the quotes, put the whole expression in quotes of the other kind, "
    "or read it from a file: dra-plan cel - PATH < FILE"
)
"""What to do about quotes that do not reach the program, which a shell takes away."""

MOST_HINTED = 20_000
"""The maximum number of devices that are examined for a hint."""


def _hint(
    selector: Selector, devices: Sequence[DeviceAsked], compile_: Compile, published: Publications
) -> SelectorHint | None:
    """Return the probably intended expression: for one that is true for no device, or that fails on some of them."""
    if not devices or len(devices) > MOST_HINTED:
        return None
    found = [_evaluated(selector, asked) for asked in devices]
    if any(one.match for one in found):
        fails = any(one.error is not None for one in found)
        better = mended(selector.expression, lambda text: _fails_on(compile_(text), devices)) if fails else None
        return SelectorHint((), better, None) if better is not None else None
    return of_devices(selector.expression, [[asked.whole] for asked in devices], compile_, published)


def _fails_on(selector: Selector, devices: Sequence[DeviceAsked]) -> PoolDevice | None:
    """Return the first device on which the selector fails."""
    return next((asked.whole for asked in devices if _evaluated(selector, asked).error is not None), None)


def _refused(expression: str, target: Target) -> str | None:
    """Return why the API server would reject the expression on create; None if it would accept it."""
    from dra_plan.cel import compile_selector

    try:
        compile_selector(expression, kubernetes_version=target.version, feature_gates=target.gates, rules="new")
    except CelCompileError as error:
        return str(error)
    return None


def _notices(selector: Selector, refused: str | None) -> Iterator[Notice]:
    if refused is not None:
        yield Notice("selector-refused", f"the API server rejects this expression on create: {refused}")
    elif selector.max_cost > COST_LIMIT:
        cost = f"estimated cost {selector.max_cost} exceeds {COST_LIMIT}"
        yield Notice("selector-too-expensive", f"the API server rejects this expression on create: {cost}")


def _devices(inventory: Inventory, target: Target) -> Iterator[DeviceAsked]:
    """Yield the devices of each pool's newest generation, in input order."""
    gatherer = View.of(inventory, target).gatherer
    newest = [slice_ for pool in gatherer.slices for slice_ in gatherer.newest(pool).slices]
    for slice_ in sorted(newest, key=lambda slice_: slice_.position):
        spec = slice_.object.spec
        for whole in slice_.devices:
            driver, pool = slice_.pool_id
            name = DeviceName(driver=driver, pool=pool, device=whole.device.name)
            node = whole.device.node_name if spec.per_device_node_selection else spec.node_name
            yield DeviceAsked(name, whole, node or "")


def _chosen(devices: Sequence[DeviceAsked], text: str) -> DeviceAsked:
    by_id = {DeviceID(asked.name.driver, asked.name.pool, asked.name.device): asked for asked in devices}
    return by_id[meant_device(text, by_id)]


def _reads(selector: Selector) -> list[SelectorRead] | None:
    if selector.reads is None:
        return None
    return [SelectorRead(kind=kind, domain=domain, id=name) for kind, domain, name in sorted(selector.reads)]


def _evaluated(selector: Selector, asked: DeviceAsked) -> DeviceMatch:
    driver, pool, device = asked.name.driver, asked.name.pool, asked.name.device
    try:
        found = selector.evaluate(asked.device, driver=driver)
    except CelRuntimeError as error:
        return DeviceMatch(driver=driver, pool=pool, device=device, node_name=asked.node, error=str(error))
    return DeviceMatch(
        driver=driver, pool=pool, device=device, node_name=asked.node, match=found.match, cost=found.cost
    )


def _explanation(selector: Selector, asked: DeviceAsked) -> PartValue:
    try:
        return _explained(selector.explain(asked.device, driver=asked.name.driver))
    except CelRuntimeError as error:  # an attribute that cannot be converted: nothing is evaluated
        return PartValue(expression=selector.expression, error=str(error), parts=[])


def _explained(explanation: EvaluatedPart) -> PartValue:
    return PartValue(
        expression=explanation.text,
        value=explanation.value,
        error=explanation.error,
        parts=[_explained(part) for part in explanation.parts],
    )
