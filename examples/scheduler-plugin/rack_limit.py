"""RackLimit: limits the pods of a team in one rack, and prefers racks that have few of them."""

from collections import Counter

from dra_plan.errors import UsageError
from dra_plan.scheduler.events import Action, Hint, Interest, Resource
from dra_plan.scheduler.framework.interface import EnqueueExtensions, FilterPlugin, PreFilterPlugin, ScorePlugin
from dra_plan.scheduler.framework.status import SKIP, unresolvable, unschedulable

TEAM, RACK = "example.com/team", "example.com/rack"


class RackLimit(PreFilterPlugin, FilterPlugin, ScorePlugin, EnqueueExtensions):
    """Counts the pods with the same team label, per rack label of their nodes."""

    name = "RackLimit"

    def __init__(self, limit):
        self.limit = limit

    def pre_filter(self, state, pod, nodes):
        team = (pod.metadata.labels or {}).get(TEAM)
        if team is None:
            return None, SKIP
        state.write(self.name, Counter(self._racks(team, nodes)))
        return None, None

    @staticmethod
    def _racks(team, nodes):
        for node in nodes:
            for info in node.pods.values():
                if (info.pod.metadata.labels or {}).get(TEAM) == team:
                    yield node.labels.get(RACK)

    def filter(self, state, pod, node):
        rack = node.labels.get(RACK)
        if rack is None:
            return unresolvable("node(s) stood in no rack")
        if state.read(self.name)[rack] >= self.limit:
            return unschedulable("rack(s) held enough pods of the team")
        return None

    def score(self, state, pod, node):
        held = state.get(self.name)
        return 0 if held is None else 100 - 100 * held[node.labels.get(RACK)] // self.limit

    def events_to_register(self):
        def freed(pod, old, new):
            same = old is not None and (old.metadata.labels or {}).get(TEAM) == (pod.metadata.labels or {}).get(TEAM)
            return Hint.QUEUE if same else Hint.SKIP

        return [Interest(Resource.ASSIGNED_POD, Action.DELETE, freed), Interest(Resource.NODE, Action.ADD)]


def make(args, handle):
    """The factory that the entry point names: arguments from pluginConfig, and the handle."""
    limit = args.get("limit", 1)
    if not isinstance(limit, int) or limit < 1:
        raise UsageError(f"RackLimit: limit must be a positive number, not {limit!r}")
    return RackLimit(limit)
