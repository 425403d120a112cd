"""Every rule, by code. A code is never used for anything else again; what a rule is about never changes."""

from __future__ import annotations

from . import (
    barekeys,
    claims,
    claimstatus,
    classes,
    conditions,
    configs,
    devices,
    fitness,
    flatrequests,
    gates,
    limits,
    matching,
    metadata,
    names,
    nodeallocatable,
    nodefields,
    nodeselectors,
    pods,
    policies,
    pools,
    references,
    schema,
    selectors,
    slices,
    taintrules,
    taints,
    updates,
)
from .rule import Rule

_MODULES = (
    schema,
    barekeys,
    flatrequests,
    names,
    limits,
    selectors,
    nodeallocatable,
    nodefields,
    nodeselectors,
    slices,
    devices,
    policies,
    taints,
    claims,
    claimstatus,
    conditions,
    configs,
    classes,
    pods,
    metadata,
    gates,
    references,
    pools,
    matching,
    fitness,
    taintrules,
    updates,
)

RULES: dict[str, Rule] = {
    rule.code: rule
    for rule in sorted((rule for module in _MODULES for rule in module.RULES), key=lambda rule: rule.code)
}
"""All rules in the order of their codes."""
