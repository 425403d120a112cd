"""The scheduling queue: active, backing off, unschedulable and gated pods, and the moves between them.

Time is simulated, so no pod waits for the wall clock. As in kube-scheduler since 1.33, rejected pods leave backoff
early while the active queue is empty. Pods that failed with an error wait out their backoff, and the simulated clock
advances. Contents: the heap that each part of the queue uses, the pods that wait for an event, and the queue.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple, TypeVar

from dra_plan.scheduler.cluster.nodes import PodInfo
from dra_plan.scheduler.framework.interface import EnqueueExtensions, Plugin
from dra_plan.scheduler.framework.profile import Framework
from dra_plan.scheduler.framework.types import QueuedPod

from .clock import Clock
from .events import Action, Event, Interest, Resource, Wake, concerns

_Key = TypeVar("_Key")

# -- heap of pods ------------------------------------------------------------------------------------------------------
# Each part of the queue is a heap of pods sorted by fixed keys, from which any pod can be removed.


class PodHeap:
    """Pods by UID, with the lowest key first. A pod's key is set when it is added and never changes."""

    def __init__(self) -> None:
        self._items: dict[str, tuple[tuple[float, ...], QueuedPod]] = {}
        self._heap: list[tuple[tuple[float, ...], str]] = []

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, uid: str) -> bool:
        return uid in self._items

    def values(self) -> list[QueuedPod]:
        """Return the pods, sorted by key."""
        return [item for _, item in sorted(self._items.values(), key=lambda entry: entry[0])]

    def get(self, uid: str) -> QueuedPod | None:
        """Return the pod with this UID, or None if it is not in the heap."""
        entry = self._items.get(uid)
        return entry[1] if entry is not None else None

    def put(self, item: QueuedPod, key: tuple[float, ...]) -> None:
        """Add a pod with this key."""
        self._items[item.uid] = (key, item)
        heapq.heappush(self._heap, (key, item.uid))

    def remove(self, uid: str) -> QueuedPod | None:
        """Remove and return the pod with this UID, or return None if it is not in the heap."""
        entry = self._items.pop(uid, None)
        return entry[1] if entry is not None else None

    def first(self) -> QueuedPod | None:
        """Return the pod with the lowest key without removing it, or None."""
        while self._heap:
            key, uid = self._heap[0]
            entry = self._items.get(uid)
            if entry is not None and entry[0] == key:
                return entry[1]
            heapq.heappop(self._heap)
        return None


# -- pods that wait for an event ---------------------------------------------------------------------------------------
# There can be thousands of such pods, and most events concern none of them, so they are indexed by the data that
# decides this.


class _Refusers(NamedTuple):
    """The pod's profile, and the plugins that rejected it or made it wait."""

    profile: str
    rejected_by: frozenset[str]
    pending: frozenset[str]

    def all_in(self, plugins: frozenset[str]) -> bool:
        """Return whether `plugins` contains all plugins in this set."""
        return self.rejected_by <= plugins and self.pending <= plugins


class ParkedPods:
    """Pods that wait for an event, by UID, in the order in which they were added.

    While a pod is here, the set of plugins that rejected it does not change.
    """

    def __init__(self) -> None:
        self._items: dict[str, QueuedPod] = {}
        self._where: dict[str, _Refusers | None] = {}
        """The plugins that rejected each pod; None for a gated pod."""
        self._gated: dict[str, QueuedPod] = {}
        self._alike: dict[_Refusers, dict[str, QueuedPod]] = {}
        self._users: dict[str, dict[str, QueuedPod]] = {}
        """The pods that may use a claim, by the claim's name."""

    def __contains__(self, uid: str) -> bool:
        return uid in self._items

    def get(self, uid: str) -> QueuedPod | None:
        """Return the pod with this UID, or None if it is not among these pods."""
        return self._items.get(uid)

    def values(self) -> Iterable[QueuedPod]:
        """Return all pods, including gated pods."""
        return self._items.values()

    @property
    def gated(self) -> list[QueuedPod]:
        """The pods that a PreEnqueue plugin keeps out of the active queue."""
        return list(self._gated.values())

    @property
    def refusers(self) -> Iterable[_Refusers]:
        """The different sets of plugins that rejected pods, without gated pods."""
        return self._alike.keys()

    def refused(self, by: _Refusers) -> Iterable[QueuedPod]:
        """Return the pods that were rejected by exactly these plugins."""
        return self._alike[by].values()

    def users(self, names: Iterable[str], by: _Refusers) -> Iterator[QueuedPod]:
        """Yield the pods that may use a claim with one of these names and that exactly these plugins rejected.

        Each pod is yielded once.
        """
        found = {uid: item for name in names for uid, item in self._users.get(name, {}).items()}
        return (item for uid, item in found.items() if self._where[uid] == by)

    def put(self, item: QueuedPod) -> None:
        """Add a pod."""
        uid = item.uid
        self._items[uid] = item
        if item.gated_by:
            self._where[uid] = None
            self._gated[uid] = item
        else:
            by = self._where[uid] = _Refusers(item.profile, frozenset(item.rejected_by), frozenset(item.pending))
            self._alike.setdefault(by, {})[uid] = item
            for name in item.info.claim_names:
                self._users.setdefault(name, {})[uid] = item

    def pop(self, uid: str) -> QueuedPod | None:
        """Remove and return the pod with this UID, or return None if it is not among these pods."""
        item = self._items.pop(uid, None)
        if item is None:
            return None
        by = self._where.pop(uid)
        if by is None:
            del self._gated[uid]
        else:
            _take_out(self._alike, by, uid)
            for name in item.info.claim_names:
                _take_out(self._users, name, uid)
        return item

    def restate(self, uid: str, info: PodInfo) -> None:
        """Replace the information about a changed pod, which keeps its position."""
        item = self._items[uid]
        before, item.info = item.info.claim_names, info
        if self._where[uid] is not None:
            for name in before - info.claim_names:
                _take_out(self._users, name, uid)
            for name in info.claim_names - before:
                self._users.setdefault(name, {})[uid] = item


def _take_out(table: dict[_Key, dict[str, QueuedPod]], key: _Key, uid: str) -> None:
    del table[key][uid]
    if not table[key]:
        del table[key]


# -- the scheduling queue ----------------------------------------------------------------------------------------------

INITIAL_BACKOFF = 1.0
MOST_BACKOFF = 10.0
_MOST_DOUBLINGS = 4
_MOST_FRUITLESS = 5
"""How many times failed bindings alone make a pod retry; upstream never stops."""


class SchedulingQueue:
    """All pods that are not bound. `on_wake` is called with the reason each time a pod is retried."""

    def __init__(
        self,
        clock: Clock,
        frameworks: Mapping[str, Framework],
        on_wake: Callable[[Wake], None] = lambda _wake: None,
    ) -> None:
        self._clock = clock
        self._frameworks = frameworks
        self._on_wake = on_wake
        self._arrivals = 0
        self._active = PodHeap()
        self._backoff = PodHeap()
        self._error_backoff = PodHeap()
        self._idle = PodHeap()
        """Pods in groups that are backing off, and for which nothing has changed since their last attempt."""
        self._passes = 0
        self._unschedulable = ParkedPods()
        self._in_flight: dict[str, QueuedPod] = {}
        self._interests: dict[str, dict[str, tuple[Plugin, list[Interest]]]] = {}
        self._happened = 0
        """The number of events so far, not counting failed bindings."""
        self._deaf: dict[tuple[str, Resource, Action], frozenset[str]] = {}
        """The plugins that do not retry a pod for any event of a kind, by profile and kind of event."""
        self._heard: dict[tuple[str, Action], list[tuple[str, list[Interest]]]] = {}
        """The other plugins with their interests, by profile and kind of event of claims."""

    def parts(self) -> Iterable[object]:
        """Return the parts of the queue and the pods in them, which a fork of the simulation has to save."""
        waiting = (item for place in self._places for item in place.values())
        return *self._places, self._unschedulable, *waiting, *self._unschedulable.values(), *self._in_flight.values()

    # Finding pods

    def find(self, uid: str) -> QueuedPod | None:
        """Return the pod with this UID from any part of the queue, or None."""
        for place in self._places:
            item = place.get(uid)
            if item is not None:
                return item
        return self._unschedulable.get(uid) or self._in_flight.get(uid)

    @property
    def _places(self) -> tuple[PodHeap, ...]:
        return self._active, self._backoff, self._error_backoff, self._idle

    @property
    def gated(self) -> list[QueuedPod]:
        """The pods that a PreEnqueue plugin keeps out of the active queue."""
        return self._unschedulable.gated

    @property
    def to_be_tried(self) -> list[QueuedPod]:
        """The pods that would be tried, now or after their backoff, if nothing else happened."""
        return [item for place in self._places for item in place.values()]

    @property
    def erring(self) -> list[QueuedPod]:
        """The pods whose last attempt ended with an error, in the order in which their backoffs end."""
        return self._error_backoff.values()

    def _key(self, item: QueuedPod, place: PodHeap) -> tuple[float, ...]:
        """Return the sort key, which for active pods is the sort plugin's key, then the time.

        Pods that are backing off are sorted by the second in which their backoff ends.
        """
        key = (*self._frameworks[item.profile].sort_key(item), item.timestamp, item.order)
        return key if place is self._active else (item.backoff_until, *key)

    # Adding and removing

    def add(self, info: PodInfo) -> QueuedPod:
        """Add a new pod, which becomes active unless a PreEnqueue plugin gates it."""
        self._arrivals += 1
        item = QueuedPod(info, self._clock.now, self._arrivals)
        self._enter(item, self._active)
        return item

    def pop(self) -> QueuedPod | None:
        """Remove and return the next pod to try, or return None if there is none.

        It is the first active pod or, if there is none, the first pod in backoff.
        """
        self._flush_backoff()
        place = self._active if len(self._active) else self._backoff
        item = place.first()
        if item is None:
            return None
        place.remove(item.uid)
        self._begin(item)
        return item

    def take(self, uids: Iterable[str]) -> list[QueuedPod]:
        """Remove and return the pods with these UIDs, to be tried together with another pod. Gated pods stay."""
        found = []
        for uid in uids:
            item = next((item for place in self._places if (item := place.remove(uid)) is not None), None)
            parked = self._unschedulable.get(uid)
            if item is None and parked is not None and not parked.gated_by:
                self._unschedulable.pop(uid)
                item = parked
            if item is not None:
                self._begin(item)
                found.append(item)
        return found

    def _begin(self, item: QueuedPod) -> None:
        item.attempts += 1
        item.rejected_by = set()
        item.pending = set()
        item.gated_by = item.gate_message = ""
        item.replay = []
        self._in_flight[item.uid] = item

    def _flush_backoff(self) -> None:
        for place in (self._backoff, self._error_backoff):
            while (item := place.first()) is not None and item.backoff_until <= self._clock.now:
                place.remove(item.uid)
                self._enter(item, self._active)

    def release_errors(self, items: Iterable[QueuedPod]) -> None:
        """Retry these pods, whose attempts ended with an error. The clock advances to the end of their backoffs."""
        for item in items:
            self._clock.advance_to(item.backoff_until)
            self._error_backoff.remove(item.uid)
            self._enter(item, self._active)

    def done(self, uid: str) -> None:
        """Remove a pod that has been bound or deleted."""
        for place in self._places:
            place.remove(uid)
        self._in_flight.pop(uid, None)
        self._unschedulable.pop(uid)

    def _enter(self, item: QueuedPod, place: PodHeap) -> bool:
        """Move the pod to a part of the queue unless PreEnqueue rejects it."""
        refusal = self._frameworks[item.profile].run_pre_enqueue(item.pod, item.gated_by)
        if refusal is not None:
            item.gated_by, item.gate_message = refusal.plugin, refusal.message
            item.rejected_by.add(refusal.plugin)
            self._unschedulable.put(item)
            return False
        item.gated_by = item.gate_message = ""
        if not item.passed:
            self._passes += 1
            item.passed = self._passes
        place.put(item, self._key(item, place))
        return True

    # After an attempt

    def put_back(self, item: QueuedPod, *, failed_with_error: bool) -> None:
        """Return a pod to the queue after a failed attempt.

        After an error, it backs off. After a rejection, it waits for an event, unless one occurred during the attempt.
        """
        replay, item.replay = item.replay, []
        self._end(item, failed_with_error=failed_with_error)
        if failed_with_error or not (item.rejected_by or item.pending):
            self._enter(item, self._error_backoff if failed_with_error else self._backoff)
            return
        for event in replay:
            if self._wake(item, event):
                return
        self._unschedulable.put(item)

    def put_back_member(self, item: QueuedPod, *, failed_with_error: bool, changed: bool) -> None:
        """Return a pod of a group to the queue after a failed attempt.

        It backs off and is then retried without waiting for an event. If nothing has `changed` since the attempt began,
        a retry would have the same result, so the pod waits for any event.
        """
        item.replay = []
        self._end(item, failed_with_error=failed_with_error)
        self._enter(item, self._error_backoff if failed_with_error else self._backoff if changed else self._idle)

    def _end(self, item: QueuedPod, *, failed_with_error: bool) -> None:
        self._in_flight.pop(item.uid, None)
        self._arrivals += 1
        item.timestamp, item.order = self._clock.now, self._arrivals
        if failed_with_error:
            item.errors += 1
        else:
            item.rejections += 1
            item.errors = 0
        item.backoff_until = self._backoff_end(item)

    def _backoff_end(self, item: QueuedPod) -> float:
        """Return the end of the backoff: 1 s, doubled with every failure up to 10 s; it ends on a whole second."""
        count = item.errors or item.rejections
        seconds = min(INITIAL_BACKOFF * 2 ** min(count - 1, _MOST_DOUBLINGS), MOST_BACKOFF) if count else 0.0
        return math.floor(item.timestamp + seconds)

    # Events

    def handle(self, event: Event) -> None:
        """Retry the pods that may have become schedulable because of an event."""
        for item in self._in_flight.values():
            item.replay.append(event)
        self._end_idling()
        self._happened += 1
        for item in self._hearing(event):
            self._reconsider(item, event)

    def _hearing(self, event: Event) -> list[QueuedPod]:
        """Return the unschedulable pods that the event may concern, in the order in which they were put back."""
        parked = self._unschedulable
        found = parked.gated
        deaf: dict[str, tuple[frozenset[str], set[str], frozenset[str]]] = {}
        for by in parked.refusers:
            if by.profile not in deaf:
                deaf[by.profile] = (self._deaf_to(by.profile, event), *self._of_users(by.profile, event))
            to_all, names, to_others = deaf[by.profile]
            if by.all_in(to_others):
                if not by.all_in(to_all):
                    found += parked.users(names, by)
            else:
                found += parked.refused(by)
        found.sort(key=lambda item: item.order)
        return found

    def _of_users(self, profile: str, event: Event) -> tuple[set[str], frozenset[str]]:
        """Return two sets for a profile's plugins: claims, and plugins.

        The users of the claims are the only pods that some plugins may retry for the event; the plugins ignore the
        event for all other pods.
        """
        deaf, names, limited = self._deaf_to(profile, event), set[str](), set[str]()
        if event.resource is not Resource.CLAIM:
            return names, deaf
        for name, heard in self._heard_by(profile, event):
            claims = [each.users_of(event.old, event.new) if each.users_of else None for each in heard]
            if None not in claims:
                names.update(claim for claim in claims if claim is not None)
                limited.add(name)
        return names, deaf | limited if limited else deaf

    def _heard_by(self, profile: str, event: Event) -> list[tuple[str, list[Interest]]]:
        found = self._heard.get((profile, event.action))
        if found is None:
            deaf, registered = self._deaf_to(profile, event), self._registered(profile).items()
            found = self._heard[profile, event.action] = [
                (name, [each for each in interests if concerns(each, event)])
                for name, (_, interests) in registered
                if name not in deaf
            ]
        return found

    def _deaf_to(self, profile: str, event: Event) -> frozenset[str]:
        key = (profile, event.resource, event.action)
        found = self._deaf.get(key)
        if found is None:
            registered = self._registered(profile).items()
            found = self._deaf[key] = frozenset(
                name for name, (_, interests) in registered if not any(concerns(each, event) for each in interests)
            )
        return found

    def binding_failed(self, event: Event, uid: str) -> None:
        """Handle a failed binding of the pod with this UID, which affects other pods as its deletion would."""
        self._end_idling()
        for item in sorted(self._unschedulable.values(), key=lambda i: i.order):
            if item.fruitless_since != self._happened:
                item.fruitless, item.fruitless_since = 0, self._happened
            if item.uid != uid and item.fruitless < _MOST_FRUITLESS:
                item.fruitless += 1
                self._reconsider(item, event)

    def member_came(self, event: Event, uids: Iterable[str]) -> None:
        """Handle the creation of a pod of a group. The gated pods in `uids` may now become active."""
        for uid in uids:
            item = self._unschedulable.get(uid)
            if item is not None:
                self._reconsider(item, event)

    def _end_idling(self) -> None:
        if len(self._idle):
            for item in self._idle.values():
                self._idle.remove(item.uid)
                self._backoff.put(item, self._key(item, self._backoff))

    def _reconsider(self, item: QueuedPod, event: Event) -> None:
        if item.gated_by and not self._concerns(item, item.gated_by, event):
            return
        plugin = self._interested(item, event)
        if plugin is not None:
            self._unschedulable.pop(item.uid)
            self._awake(item, event, plugin)

    def update(self, info: PodInfo, event: Event | None) -> None:
        """Update a waiting pod, and retry it if the change may help."""
        item = self.find(info.uid)
        if item is None:
            return
        if item.uid in self._unschedulable:
            self._unschedulable.restate(item.uid, info)
        item.info = info
        if event is not None and item.uid in self._unschedulable:
            self._reconsider(item, event)
        self._end_idling()

    def activate(self, uid: str) -> None:
        """Move a waiting pod to the active queue immediately."""
        waiting = (self._backoff, self._error_backoff, self._idle)
        item = self._unschedulable.pop(uid) or next(filter(None, (place.remove(uid) for place in waiting)), None)
        if item is not None:
            self._enter(item, self._active)

    def _wake(self, item: QueuedPod, event: Event) -> bool:
        """Return whether the event moved the pod out of the unschedulable pods."""
        plugin = self._interested(item, event)
        if plugin is None:
            return False
        self._awake(item, event, plugin)
        return True

    def _awake(self, item: QueuedPod, event: Event, plugin: str) -> None:
        ready = plugin in item.pending or item.backoff_until <= self._clock.now
        entered = self._enter(item, self._active if ready else self._backoff)
        to = "active" if ready else "backoff"
        if entered:
            self._on_wake(Wake(item.pod.key, event.label, event.object_name, plugin, to, self._clock.now))

    def _interested(self, item: QueuedPod, event: Event) -> str | None:
        """Return the first plugin that rejected the pod and considers the event a reason to retry."""
        profile = item.profile
        deaf, registered = self._deaf_to(profile, event), self._registered(profile)
        for name in (*sorted(item.pending), *sorted(item.rejected_by)):
            if name in deaf:
                continue
            known = registered.get(name)
            if known is None or self._frameworks[profile].wants(*known, event, item.pod):
                return name
        return None

    def _concerns(self, item: QueuedPod, name: str, event: Event) -> bool:
        known = self._registered(item.profile).get(name)
        return known is None or any(concerns(interest, event) for interest in known[1])

    def _registered(self, profile: str) -> dict[str, tuple[Plugin, list[Interest]]]:
        """Return each plugin and its interests, by plugin name.

        For a plugin without interests, which is absent, any event counts.
        """
        found = self._interests.get(profile)
        if found is None:
            found = self._interests[profile] = {
                plugin.name: (plugin, list(plugin.events_to_register()))
                for plugin in self._frameworks[profile].all_plugins()
                if isinstance(plugin, EnqueueExtensions)
            }
        return found
