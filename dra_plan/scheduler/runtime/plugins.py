"""The plugins of one profile by extension point, and what every run of them shares: a raise, and a failure's text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dra_plan.api.core import Pod
from dra_plan.errors import DraPlanError
from dra_plan.scheduler.framework import (
    POINTS,
    BindPlugin,
    FilterPlugin,
    PermitPlugin,
    Plugin,
    PostBindPlugin,
    PostFilterPlugin,
    PreBindPlugin,
    PreEnqueuePlugin,
    PreFilterPlugin,
    PreScorePlugin,
    ReservePlugin,
    ScorePlugin,
)
from dra_plan.scheduler.handle import Handle
from dra_plan.scheduler.status import Status, error
from dra_plan.scheduler.trace import Tracer


class PluginPanicError(DraPlanError):
    """A plugin raised. Upstream a panic ends the scheduler, so nothing is unreserved; here it ends the simulation."""

    def __init__(self, plugin: str, point: str, pod: str, cause: BaseException) -> None:
        super().__init__(f"plugin {plugin} raised at {point} for pod {pod}: {type(cause).__name__}: {cause}")
        self.plugin = plugin
        self.point = point


class Guard:
    """What a plugin raises in here becomes a PluginPanicError; our own errors go through."""

    __slots__ = ("_plugin", "_pod", "_point")

    def __init__(self, plugin: Plugin, point: str, pod: Pod) -> None:
        self._plugin, self._point, self._pod = plugin, point, pod

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, cause: BaseException | None, trace: object) -> None:
        if cause is not None and isinstance(cause, Exception) and not isinstance(cause, DraPlanError):
            raise PluginPanicError(self._plugin.name, self._point, self._pod.key, cause) from cause


class ProfilePlugins:
    """The plugins of one profile, by extension point, with what they and the trace need."""

    def __init__(
        self, profile: str, plugins: Mapping[str, Sequence[Plugin]], handle: Handle, tracer: Tracer | None
    ) -> None:
        self.profile = profile
        self.handle = handle
        self.tracer = tracer
        self.points = {point: list(plugins.get(point, ())) for point in POINTS}
        # the same lists, typed: nobody has to ask a plugin in each cycle what it is
        self._at_pre_enqueue = [p for p in self.points["preEnqueue"] if isinstance(p, PreEnqueuePlugin)]
        self._at_pre_filter = [p for p in self.points["preFilter"] if isinstance(p, PreFilterPlugin)]
        self._at_filter = [p for p in self.points["filter"] if isinstance(p, FilterPlugin)]
        self._at_post_filter = [p for p in self.points["postFilter"] if isinstance(p, PostFilterPlugin)]
        self._at_pre_score = [p for p in self.points["preScore"] if isinstance(p, PreScorePlugin)]
        self._at_score = [p for p in self.points["score"] if isinstance(p, ScorePlugin)]
        self._at_reserve = [p for p in self.points["reserve"] if isinstance(p, ReservePlugin)]
        self._at_permit = [p for p in self.points["permit"] if isinstance(p, PermitPlugin)]
        self._at_pre_bind = [p for p in self.points["preBind"] if isinstance(p, PreBindPlugin)]
        self._at_bind = [p for p in self.points["bind"] if isinstance(p, BindPlugin)]
        self._at_post_bind = [p for p in self.points["postBind"] if isinstance(p, PostBindPlugin)]

    def all_plugins(self) -> list[Plugin]:
        """Every plugin once, in the order in which it first appears."""
        return list(dict.fromkeys(plugin for plugins in self.points.values() for plugin in plugins))

    @staticmethod
    def failure(point: str, plugin: Plugin, status: Status) -> Status:
        """A rejection as it is; everything else as an Error that names the plugin."""
        if status.rejected:
            return status.by(plugin.name)
        return error(f'running {point} plugin "{plugin.name}": {status.message}').by(plugin.name)
