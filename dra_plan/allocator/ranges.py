"""Ranges of request policies: the least amount that a range allows, counted in steps (KEP-5075).

Upstream counts steps in whole units, with DRAFractionalCapacityRange in thousandths where a range is made of these.
Rules: `roundUpRange` and `violateValidRange` of 1.36 and 1.37.
"""

from __future__ import annotations

from dra_plan.api import quantity
from dra_plan.api.quantity import MAX_INT64, Quantity
from dra_plan.api.resource import CapacityRequestPolicyRange
from dra_plan.errors import DraPlanError
from dra_plan.releases import Features, Quirk, Quirks, Rules, Target

_NANO_PER_UNIT = 10**9
_NOT_COUNTABLE = "capacity request cannot be represented in the device's range arithmetic: "


class UncountableError(DraPlanError):
    """An amount for which steps can't be counted, in upstream's words; it ends the allocation of the pod."""


class Steps:
    """How a release counts steps."""

    def __init__(self, features: Features, rules: Rules, quirks: Quirks) -> None:
        self._fractional = features.fractional_ranges
        self.checks_amounts = rules.checks_amounts
        self._keeps_notation = rules.steps_keep_notation
        self._whole = quirks.whole_steps

    @classmethod
    def of(cls, target: Target) -> Steps:
        """As the target counts them."""
        return cls(target.features, target.rules, target.quirks)

    def rounded(self, amount: Quantity, valid: CapacityRequestPolicyRange, sighted: list[Quirk]) -> Quantity:
        """The least allowed amount that is enough. Raises UncountableError where the release does."""
        least = quantity.parse(valid.min if valid.min is not None else 0)
        if amount < least:
            return least
        step = quantity.parse(valid.step) if valid.step is not None else None
        if step is None or step.nano <= 0:
            return amount
        if self._in_thousandths(valid):
            return self._rounded_in_thousandths(amount, least, step)
        exact = least.nano + -((least.nano - amount.nano) // step.nano) * step.nano
        whole = self._rounded_in_units(amount, least, step)
        if exact != whole * _NANO_PER_UNIT:
            if not self._whole:
                return quantity.make(exact, -9, step.format if self._keeps_notation else amount.format)
            sighted.append("whole_steps")
        return quantity.make(whole, 0, step.format if self._keeps_notation else "BinarySI")

    def _rounded_in_units(self, amount: Quantity, least: Quantity, step: Quantity) -> int:
        """Whole units; a fraction of one counts as one."""
        if self.checks_amounts and amount.nano > MAX_INT64 * _NANO_PER_UNIT:
            raise UncountableError(f"{_NOT_COUNTABLE}request {amount.text} exceeds MaxInt64")
        count = -((least.units - amount.units) // step.units)
        if self.checks_amounts and least.units >= 0 and count > (MAX_INT64 - least.units) // step.units:
            told = f"rounding request {amount.text} up to the next step passes MaxInt64"
            raise UncountableError(_NOT_COUNTABLE + told)
        return least.units + count * step.units

    def _rounded_in_thousandths(self, amount: Quantity, least: Quantity, step: Quantity) -> Quantity:
        if not _is_thousandths(amount):
            raise UncountableError(f"{_NOT_COUNTABLE}request {amount.text} is not a representable milli value")
        count = -((least.milli - amount.milli) // step.milli)
        if count > (MAX_INT64 - least.milli) // step.milli:
            told = f"rounding request {amount.text} up to the next step passes the milli-value range"
            raise UncountableError(_NOT_COUNTABLE + told)
        found = least.milli + count * step.milli
        return quantity.make(found, -3, step.format) if found % 1000 else quantity.make(found // 1000, 0, step.format)

    def outside(self, amount: Quantity, valid: CapacityRequestPolicyRange) -> bool:
        """Whether the range does not allow the amount."""
        if valid.max is not None and amount > quantity.parse(valid.max):
            return True
        if valid.step is None:
            return False
        step, least = quantity.parse(valid.step), quantity.parse(valid.min if valid.min is not None else 0)
        if step.nano <= 0:
            return False
        if self._in_thousandths(valid):
            return not _is_thousandths(amount) or (amount.milli - least.milli) % step.milli != 0
        if self._whole:
            return (amount.units - least.units) % step.units != 0
        return (amount.nano - least.nano) % step.nano != 0

    def _in_thousandths(self, valid: CapacityRequestPolicyRange) -> bool:
        """Whether steps are counted in thousandths, which all ends of the range can be written in."""
        ends = (valid.min, valid.max, valid.step)
        return self._fractional and all(_is_thousandths(quantity.parse(end)) for end in ends if end is not None)


def _is_thousandths(amount: Quantity) -> bool:
    """Whether an int64 of thousandths is exactly the amount."""
    return quantity.make(amount.milli, -3, amount.format) == amount
