"""How each Kubernetes release behaves: feature gates, allocator variants, rules and known defects.

Only this package compares versions; all other code reads `features.x`, `rules.x` or `quirks.x`. `docs/releases.md`
explains how to add a release.
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
