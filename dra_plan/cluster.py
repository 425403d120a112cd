"""`Cluster`: Kubernetes objects and the questions about them."""

from __future__ import annotations

from typing import Any

from .arguments import required
from .loaded import LoadedCluster
from .planner.answer import PrintedAnswer
from .questions.methods import Questions


class Cluster(Questions, LoadedCluster):
    """Kubernetes objects, and the Kubernetes release to simulate.

    A cluster is immutable: `at`, `drain` and the other edits return a new cluster.

    Intermediate results, such as pools and compiled selectors, are cached. A new cluster reuses the results that are
    still correct. Arguments that take several names also take a single name.
    """

    __slots__ = ()

    def page(self, answer: PrintedAnswer[Any]) -> str:
        """Return an answer about this cluster as a self-contained HTML page that includes a picture of the cluster."""
        found: PrintedAnswer[Any] = required(answer, PrintedAnswer, "answer", "an answer")
        return found.html(self.inventory, self.view)
