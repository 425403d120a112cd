"""The codes of warnings and notes, for `--ignore-warning` and settings."""

from __future__ import annotations

from collections.abc import Iterable

from dra_plan.errors import UsageError

CODES = frozenset(
    {
        "autoscaler-defect",
        "bare-pod-gone",
        "bound-without-devices",
        "claims-missing",
        "classes-missing",
        "comment-spares-nothing",
        "defects-not-compared",
        "deprecated-api",
        "devices-twice",
        "disruption-budgets-missing",
        "error-on-some-nodes",
        "evicted-claims-kept",
        "evicted-for-another",
        "extended-resources-not-evaluated",
        "field-dropped",
        "file-empty",
        "finished-pods-count",
        "gang-in-part",
        "gate-locked",
        "gate-needs",
        "gate-not-recorded",
        "gate-not-simulated",
        "gate-seems-on",
        "given-back-unchanged",
        "inferred-nodes",
        "input-incomplete",
        "kubelet-version",
        "list-incomplete",
        "lost-reservation",
        "missing-template",
        "namespaces-missing",
        "nodes-missing",
        "nodes-not-drained",
        "not-drained",
        "not-listed",
        "not-planned",
        "not-served",
        "not-simulated",
        "nothing-running",
        "object-overridden",
        "one-namespace",
        "one-order",
        "only-in-this-order",
        "order-random-upstream",
        "others-wait",
        "owner-circle",
        "pods-missing",
        "priority-classes-missing",
        "quota-counts-nothing",
        "random-deallocation",
        "refused",
        "release-not-recorded",
        "rule-taints-nothing",
        "rules-of-another-release",
        "scale-up-not-enough",
        "selector-may-fail",
        "selector-refused",
        "selector-too-expensive",
        "selectors-not-tried",
        "several-best-nodes",
        "shared-claim",
        "slice-not-accepted",
        "slices-missing",
        "suspended",
        "suspended-left-out",
        "taint-rules-ignored",
        "taint-rules-taken-as-on",
        "timed-out",
        "uid-repeated",
        "undecided",
        "unknown-field",
        "upstream-defect",
        "upstream-may-time-out",
        "volumes-missing",
        "workload-not-planned",
    }
)
"""The codes of all warnings and notes. A test checks that none is missing."""


def checked(codes: Iterable[str], where: str) -> tuple[str, ...]:
    """Return the codes as a tuple. Raises UsageError if a warning code does not exist.

    `where` names the option or setting in the error message.
    """
    given = tuple(codes)
    for code in given:
        if code not in CODES:
            from dra_plan.near import the_nearest

            near = the_nearest(code, CODES)
            hint = f"; did you mean {near!r}?" if near else " (warnings show their code in square brackets)"
            raise UsageError(f"{where}: no warning has the code {code!r}{hint}")
    return given
