"""The exceptions that callers of dra-plan may catch; what belongs to one part only derives from these there."""


class DraPlanError(Exception):
    """Base of every error that dra-plan raises on purpose."""


class UsageError(DraPlanError):
    """The question itself is wrong: an unknown version, feature gate, node or option value."""


class InputError(DraPlanError, ValueError):
    """Objects that can't be read as Kubernetes objects."""
