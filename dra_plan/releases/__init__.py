"""The behaviour of each Kubernetes release: gates and their defaults, allocator variants, rules, and known defects.

The package contains only literal tables and look-ups in them. All other code reads `features.x`, `rules.x` or
`quirks.x` and never compares a version. `docs/releases.md` explains how to add a release.
"""

from .autoscaler import (
    AUTOSCALER,
    AUTOSCALER_DEFECTS,
    FIXED_AUTOSCALER,
    AutoscalerDefect,
    AutoscalerQuirk,
    AutoscalerQuirks,
)
from .fields import FIELDS, ApiField, unused
from .gates import GATES, NEEDS, FeatureGate, Features, gate_defaults, gates_of, switched_on_with
from .quirks import DEFECTS, FIXED, NOT_APPLICABLE, Defect, Quirk, Quirks, quirks_of
from .rules import Rules
from .target import QUIRK_MODES, Target, target
from .versions import MINORS, NEWEST, RECORDED, Coverage, FoundRelease, SchedulerPart, find_release, newest_patch

__all__ = [
    "AUTOSCALER",
    "AUTOSCALER_DEFECTS",
    "DEFECTS",
    "FIELDS",
    "FIXED",
    "FIXED_AUTOSCALER",
    "GATES",
    "MINORS",
    "NEEDS",
    "NEWEST",
    "NOT_APPLICABLE",
    "QUIRK_MODES",
    "RECORDED",
    "ApiField",
    "AutoscalerDefect",
    "AutoscalerQuirk",
    "AutoscalerQuirks",
    "Coverage",
    "Defect",
    "FeatureGate",
    "Features",
    "FoundRelease",
    "Quirk",
    "Quirks",
    "Rules",
    "SchedulerPart",
    "Target",
    "find_release",
    "gate_defaults",
    "gates_of",
    "newest_patch",
    "quirks_of",
    "switched_on_with",
    "target",
    "unused",
]
