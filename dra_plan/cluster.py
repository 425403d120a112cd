"""`Cluster`: Kubernetes objects, and all that can be asked of them."""

from __future__ import annotations

from typing import Any

from .arguments import required
from .loaded import LoadedCluster
from .planner.answer import PrintedAnswer
from .questions.registry import Questions


class Cluster(Questions, LoadedCluster):
    """Kubernetes objects, and the release that they are asked under. Never changed: `at` and edits give another one.

    What was found out for one answer (pools, compiled selectors) is kept for the next, and shared with the clusters
    made from this one as far as it is the same for them. Arguments that take names take one name, too.
    """

    __slots__ = ()

    def page(self, answer: PrintedAnswer[Any]) -> str:
        """An answer of this cluster as a page of HTML, with a picture of the cluster: one file, which loads nothing."""
        found: PrintedAnswer[Any] = required(answer, PrintedAnswer, "answer", "an answer")
        return found.html(self.inventory, self.view)
