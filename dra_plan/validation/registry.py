"""Every rule, by code. A code is never used for anything else again; what a rule is about never changes."""

from __future__ import annotations

from . import (
    admission,
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
    podspecs,
    policies,
    pools,
    references,
    resources,
    schema,
    selectors,
    slices,
    taintrules,
    taints,
    updates,
    workloads,
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
    podspecs,
    resources,
    workloads,
    metadata,
    gates,
    references,
    admission,
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
