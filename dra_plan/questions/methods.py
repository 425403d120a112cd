"""The questions as methods of `Cluster`."""

from __future__ import annotations

from .allocate.ask import allocate
from .autoscale.ask import autoscale
from .capacity.ask import capacity
from .diff.ask import diff
from .drain_each.ask import drain_each
from .explain.ask import explain
from .grow.ask import grow
from .impact.ask import impact
from .maintain.ask import maintain
from .place.ask import place
from .pools.ask import pools
from .repack.ask import repack
from .replay.ask import replay
from .schedule.ask import schedule
from .validate.ask import validate


class Questions:
    """A mixin with one method for each question about a cluster."""

    __slots__ = ()

    allocate = allocate
    autoscale = autoscale
    capacity = capacity
    diff = diff
    drain_each = drain_each
    explain = explain
    grow = grow
    impact = impact
    maintain = maintain
    place = place
    pools = pools
    repack = repack
    replay = replay
    schedule = schedule
    validate = validate
