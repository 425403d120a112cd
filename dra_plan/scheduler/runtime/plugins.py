"""The plugins of one profile by extension point, and what every run of them shares: a raise, and a failure's text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from dra_plan.api.core import Pod
from dra_plan.errors import DraPlanError
from dra_plan.scheduler.framework import POINTS, Plugin
from dra_plan.scheduler.handle import Handle
from dra_plan.scheduler.status import Status, error
from dra_plan.scheduler.trace import Tracer


class PluginPanicError(DraPlanError):
    """A plugin raised. Upstream a panic ends the scheduler, so nothing is unreserved; here it ends the simulation."""

    def __init__(self, plugin: str, point: str, pod: str, cause: BaseException) -> None:
        super().__init__(f"plugin {plugin} raised at {point} for pod {pod}: {type(cause).__name__}: {cause}")
        self.plugin = plugin
        self.point = point


@contextmanager
def guard(plugin: Plugin, point: str, pod: Pod) -> Iterator[None]:
    """What a plugin raises in here becomes a PluginPanicError; our own errors go through."""
    try:
        yield
    except DraPlanError:
        raise
    except Exception as cause:
        raise PluginPanicError(plugin.name, point, pod.key, cause) from cause


class ProfilePlugins:
    """The plugins of one profile, by extension point, with what they and the trace need."""

    def __init__(
        self, profile: str, plugins: Mapping[str, Sequence[Plugin]], handle: Handle, tracer: Tracer | None
    ) -> None:
        self.profile = profile
        self.handle = handle
        self.tracer = tracer
        self.points = {point: list(plugins.get(point, ())) for point in POINTS}

    def _of(self, point: str) -> list[Plugin]:
        return self.points[point]

    def all_plugins(self) -> list[Plugin]:
        """Every plugin once, in the order in which it first appears."""
        return list(dict.fromkeys(plugin for plugins in self.points.values() for plugin in plugins))

    @staticmethod
    def failure(point: str, plugin: Plugin, status: Status) -> Status:
        """A rejection as it is; everything else as an Error that names the plugin."""
        if status.rejected:
            return status.by(plugin.name)
        return error(f'running {point} plugin "{plugin.name}": {status.message}').by(plugin.name)
