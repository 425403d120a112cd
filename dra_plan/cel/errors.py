"""The errors of the selector language; what was found wrong is said by whoever raises them."""

from dra_plan.errors import DraPlanError


class CelError(DraPlanError, ValueError):
    """Base of every error that compiling or evaluating a selector raises."""


class CelCompileError(CelError):
    """An expression that does not parse, check or keep the rules for selectors; the text is cel-go's, with a caret.

    `offset` is where the first error shows, in characters of the expression; None where it is about all of it.
    """

    offset: int | None = None


class CelRuntimeError(CelError):
    """An evaluation that ended in an error: no such key, overflow, cost limit passed, a result that is no bool.

    `cost` is what had been spent by then, as upstream counts it; 0 where nothing was evaluated. `missing_key` says that
    the device has no attribute or capacity of that name, or another map no such key.
    """

    cost: int = 0
    missing_key: bool = False


class CelDeviceError(CelRuntimeError):
    """A device on which no selector can be evaluated: one of its attributes or capacities can't be converted."""
