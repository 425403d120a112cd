"""Reserve, Permit, PreBind, Bind and PostBind of a profile, with Kubernetes' error texts."""

from __future__ import annotations

from dra_plan.api.core import Pod
from dra_plan.scheduler.cyclestate import CycleState
from dra_plan.scheduler.framework import MAX_PERMIT_SECONDS
from dra_plan.scheduler.status import Code, Status, error, failed, is_skip, succeeded
from dra_plan.scheduler.waiting import WaitingPod

from .plugins import Guard, ProfilePlugins

ASKED_TO_WAIT = "one or more plugins asked to wait and no plugin rejected pod"


class BindPhase(ProfilePlugins):
    """Runs the plugins that take a node for a pod, up to the pod being bound."""

    def run_reserve(self, state: CycleState, pod: Pod, node: str) -> Status | None:
        """The first failure; the caller then unreserves."""
        for plugin in self._at_reserve:
            with Guard(plugin, "Reserve", pod):
                status = plugin.reserve(state, pod, node)
            if failed(status):
                return self.failure("Reserve", plugin, status)
        return None

    def run_unreserve(self, state: CycleState, pod: Pod, node: str) -> None:
        """Every reserve plugin takes back, last first."""
        for plugin in reversed(self._at_reserve):
            with Guard(plugin, "Unreserve", pod):
                plugin.unreserve(state, pod, node)

    def run_permit(self, state: CycleState, pod: Pod, node: str) -> Status | None:
        """Success, Wait (the pod is then among the waiting pods), a rejection or an Error."""
        refusal, waits = self.ask_permit(state, pod, node)
        if refusal is not None or not waits:
            return refusal
        uid = self.handle.cluster.info(pod).uid
        seconds = {plugin: most for plugin, (_, most) in waits.items()}
        self.handle.waiting.add(uid, WaitingPod(pod, node, self.handle.clock.now, seconds))
        return Status(Code.WAIT, f'{ASKED_TO_WAIT} "{pod.metadata.name}"')

    def ask_permit(
        self, state: CycleState, pod: Pod, node: str
    ) -> tuple[Status | None, dict[str, tuple[Status, float]]]:
        """A rejection or an Error, and by plugin who asks to wait, and for how long at most; nobody waits yet."""
        waits: dict[str, tuple[Status, float]] = {}
        for plugin in self._at_permit:
            with Guard(plugin, "Permit", pod):
                status, seconds = plugin.permit(state, pod, node)
            if status is None or succeeded(status):
                continue
            if status.code is not Code.WAIT:
                return self.failure("Permit", plugin, status), {}
            waits[plugin.name] = (status, min(seconds, MAX_PERMIT_SECONDS))
        return None, waits

    def run_pre_bind_pre_flight(self, state: CycleState, pod: Pod, node: str) -> Status | None:
        """Skip if no plugin has anything to do before binding; those that answer Skip are then left out of PreBind."""
        idle = []
        for plugin in self._at_pre_bind:
            with Guard(plugin, "PreBindPreFlight", pod):
                status = plugin.pre_bind_pre_flight(state, pod, node)
            if is_skip(status):
                idle.append(plugin.name)
            elif status is not None and status.code is Code.ERROR:
                return error(f'running PreBindPreFlight "{plugin.name}": {status.message}').by(plugin.name)
            elif failed(status):
                what = f'PreBindPreFlight {plugin.name} returned "{status.code.title}", which is unsupported'
                return error(f"{what}. It is supposed to return Success, Skip, or Error status").by(plugin.name)
        state.skip_pre_bind = frozenset(idle)
        return Status(Code.SKIP) if len(idle) == len(self._at_pre_bind) else None

    def run_pre_bind(self, state: CycleState, pod: Pod, node: str, done: set[str]) -> Status | None:
        """The first failure, or Wait; plugins in `done` are not asked again, and those that succeed are added."""
        for plugin in self._at_pre_bind:
            if plugin.name in done or plugin.name in state.skip_pre_bind:
                continue
            with Guard(plugin, "PreBind", pod):
                status = plugin.pre_bind(state, pod, node)
            if status is not None and status.code is Code.WAIT:
                return status.by(plugin.name)
            if failed(status):
                return self.failure("PreBind", plugin, status)
            done.add(plugin.name)
        return None

    def run_bind(self, state: CycleState, pod: Pod, node: str) -> Status | None:
        """Success when a plugin has bound the pod."""
        for plugin in self._at_bind:
            with Guard(plugin, "Bind", pod):
                status = plugin.bind(state, pod, node)
            if is_skip(status):
                continue
            if failed(status):
                return self.failure("Bind", plugin, status)
            return None
        return Status(Code.SKIP)

    def run_post_bind(self, state: CycleState, pod: Pod, node: str) -> None:
        """Tell everybody."""
        for plugin in self._at_post_bind:
            with Guard(plugin, "PostBind", pod):
                plugin.post_bind(state, pod, node)
