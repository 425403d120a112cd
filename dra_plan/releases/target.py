"""The simulated release: its version, gates and quirks, and the settings derived from them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from dra_plan.api.inventory import Notice
from dra_plan.errors import UsageError

from .gates import Features, features_of, set_gates
from .quirks import FIXED, Quirk, Quirks, quirks_of
from .rules import Rules, variant_of
from .versions import COVERAGE, NEWEST, Coverage, find_release, not_simulated

QUIRK_MODES = ("upstream", "fixed")


class Target(Struct, frozen=True, kw_only=True):
    """The scheduler release to simulate.

    `version` is the minor version, and `release` is the patch release. `chosen` contains the gates that the caller set,
    including those set to their defaults. If the release was determined from the input, `why` says how. `notices`
    contains warnings about the choice of the release.
    """

    version: str
    release: str
    variant: str
    gates: Mapping[str, bool]
    features: Features
    rules: Rules
    quirks: Quirks
    quirk_mode: str
    chosen: frozenset[str] = frozenset()
    why: str = ""
    notices: tuple[Notice, ...] = ()

    @property
    def ordered(self) -> bool:
        """Whether the release searches pools in a fixed order.

        If not, the result is only one of several possible results.
        """
        return self.rules.ordered

    @property
    def coverage(self) -> Coverage:
        """Return which parts of the release's behaviour were recorded."""
        return COVERAGE[self.release]

    def with_quirks(self, quirks: Quirks) -> Target:
        """Return a copy of the target with other quirks."""
        return replace(self, quirks=quirks)

    def repaired(self, *quirks: Quirk) -> Target:
        """Return a copy of the target without the named quirks, or without any quirks if none are named."""
        return self.with_quirks(self.quirks.without(*quirks) if quirks else FIXED)


def target(
    kubernetes_version: str = NEWEST,
    feature_gates: Mapping[str, bool] | None = None,
    quirks: str = "upstream",
    *,
    strict_version: bool = False,
) -> Target:
    """Return the target for a version (`1.36`, `v1.36.3`, `1.36.2-eks-1`), changed feature gates, and a quirk mode.

    A version that was not recorded is replaced by the nearest recorded version, with a notice; if `strict_version` is
    set, it is an error. Raises UsageError for an invalid version, an unknown gate, or an unknown quirk mode.
    """
    changed = tuple(sorted((feature_gates or {}).items()))
    return _target(str(kubernetes_version), changed, quirks, strict_version)


@lru_cache(maxsize=64)
def _target(kubernetes_version: str, changed: tuple[tuple[str, bool], ...], quirks: str, strict: bool) -> Target:
    if quirks not in QUIRK_MODES:
        raise UsageError(f"unknown quirks mode {quirks!r}: use one of {', '.join(QUIRK_MODES)}")
    found = find_release(kubernetes_version)
    if strict and not found.known:
        raise UsageError(found.told.replace("the result is for", "the nearest that has is"))
    gates, notices = set_gates(found.minor, dict(changed))
    simulated = {name: on and not not_simulated(name, found.minor) for name, on in gates.items()}
    features = features_of(simulated)
    variant = variant_of(found.release, features)
    return Target(
        version=found.minor,
        release=found.release,
        variant=variant.name,
        gates=gates,
        features=features if variant.rules.pod_groups else features.without_pod_groups(),
        rules=variant.rules,
        quirks=quirks_of(found.release) if quirks == "upstream" else FIXED,
        quirk_mode=quirks,
        chosen=frozenset(name for name, _ in changed),
        notices=(*([] if found.known else [Notice("release-not-recorded", found.told)]), *notices),
    )
