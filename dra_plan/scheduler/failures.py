"""Attempts that came to nothing: back into the queue, with the reason on record (upstream: handleSchedulingFailure).

Upstream retries errors for ever; here a retry must be able to end differently.
"""

from __future__ import annotations

from collections import Counter

from .cycle import CycleResult
from .handle import Handle
from .podrecord import PodRecords
from .queue import SchedulingQueue
from .queuedpod import QueuedPod

_MOST_ERRORS = 5
"""So often an error is retried while nothing else changes; upstream goes on for ever."""
MOST_ERRORS_OF_A_POD = 20
"""So many errors a pod may have in one simulation, whatever they say, and is still tried again."""


class FailureHandler:
    """Puts pods back that could not be scheduled or bound."""

    def __init__(self, handle: Handle, queue: SchedulingQueue, records: PodRecords) -> None:
        self._handle = handle
        self._queue = queue
        self._records = records
        self._errors: dict[str, tuple[str, int, int]] = {}
        """Pod uid to its last error, how often it came in a row, and the cluster's revision then."""
        self._all_errors: Counter[str] = Counter()
        """Pod uid to the number of its errors."""

    def handle(self, item: QueuedPod, result: CycleResult) -> None:
        """Record the failure, nominate or clear as the cycle says, and put the pod back into the queue."""
        self._note(item, result)
        self._queue.put_back(item, failed_with_error=result.unexplained)
        self._count(item, result)

    def handle_member(self, item: QueuedPod, result: CycleResult, *, changed: bool) -> None:
        """The same for a pod that was tried with its group; `changed`: something has happened in the cluster since."""
        self._note(item, result)
        self._queue.put_back_member(item, failed_with_error=result.unexplained, changed=changed)
        self._count(item, result)

    def is_given_up(self, uid: str) -> bool:
        """Whether the pod has had so many errors that it is not tried again."""
        return self._all_errors[uid] >= MOST_ERRORS_OF_A_POD

    def _note(self, item: QueuedPod, result: CycleResult) -> None:
        record = self._records.of(item.pod)
        record.fail(result.message, with_error=result.failed_with_error)
        nominator = self._handle.nominator
        if result.nomination is not None:
            if result.nomination.node:
                nominator.nominate(item.info, result.nomination.node)
            else:
                nominator.clear(item.uid)
        record.nominated = nominator.node_of(item.uid)
        item.rejected_by = set(result.rejected_by)
        item.pending = set(result.pending)

    def _count(self, item: QueuedPod, result: CycleResult) -> None:
        if result.unexplained:
            message, count, _ = self._errors.get(item.uid, ("", 0, 0))
            count = count + 1 if message == result.message else 1
            self._errors[item.uid] = (result.message, count, self._handle.cluster.revision)
            self._all_errors[item.uid] += 1

    def retry(self) -> bool:
        """Let the first pod that failed with an error try again if that may end differently; False if none may."""
        for item in self._queue.erring:
            if self.is_given_up(item.uid):
                continue
            _, count, revision = self._errors[item.uid]
            if count < 2 or (self._handle.cluster.revision > revision and count < _MOST_ERRORS):
                self._queue.release_errors([item])
                return True
        return False
