"""Selectors: compiled once per expression and target, evaluated on devices; the public face of the language."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from dra_plan.api.resource import Device
from dra_plan.cel.ast import Checked
from dra_plan.cel.check import check
from dra_plan.cel.device import Inspector, as_device, device_value
from dra_plan.cel.environment import Environment, environment
from dra_plan.cel.errors import CelRuntimeError
from dra_plan.cel.interpret import Evaluator
from dra_plan.cel.values import Fatal, Fault, Value, begin_work, type_name
from dra_plan.releases import gate_defaults

Rules = Literal["stored", "new"]


class Evaluation(msgspec.Struct, frozen=True, gc=False):
    """What an evaluation gave: whether the device matches, and the run-time cost."""

    match: bool
    cost: int


class Selector:
    """A compiled expression."""

    def __init__(self, checked: Checked, scope: Environment, *, lists: bool) -> None:
        self.checked = checked
        self._environment = scope
        self._lists = lists
        self._inspector = _inspector(lists)
        self._exact = True
        self._evaluator = Evaluator(checked, exact_quantities=self._exact)

    def evaluate(self, device: Device | Mapping[str, Any], *, driver: str) -> Evaluation:
        found = as_device(device)
        inspected = self._inspector.inspect(found)
        if inspected.problem is not None:
            raise CelRuntimeError(inspected.problem)
        begin_work()
        try:
            value, cost = self._evaluator.evaluate(
                device_value(found, driver, lists=self._lists, exact_quantities=self._exact)
            )
        except (Fault, Fatal) as error:
            raise CelRuntimeError(str(error)) from None
        if type(value) is not bool:
            raise CelRuntimeError(f"CEL result of type {type_name(value)} could not be converted to bool")
        return Evaluation(value, cost)


@functools.lru_cache(maxsize=2)
def _inspector(lists: bool) -> Inspector:
    return Inspector(lists=lists)


def compile_selector(expression, *, kubernetes_version="1.36", feature_gates=None, rules="stored"):
    defaults = gate_defaults(kubernetes_version)
    gates = {**defaults, **(feature_gates or {})}
    scope = environment(kubernetes_version, gates, rules)
    return Selector(check(expression, scope), scope, lists=bool(gates.get("DRAListTypeAttributes")))
