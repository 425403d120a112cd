"""Pods that the input lacks, as the claims tell that are reserved for them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from dra_plan.api.core import Node, NodeSelector
from dra_plan.api.inventory import Inventory
from dra_plan.api.selectors import node_matches


class AbsentPods:
    """The pods that allocated claims are reserved for and that are not there, NAMESPACE/NAME, in the claims' order."""

    def __init__(self, inventory: Inventory) -> None:
        there = {(pod.metadata.namespace, pod.metadata.name) for pod in inventory.pods}
        self._by_node: dict[str, dict[str, None]] = defaultdict(dict)
        self._elsewhere: list[tuple[NodeSelector | None, str]] = []
        self.all: dict[str, None] = {}
        for claim in inventory.claims:
            if claim.status is None or claim.status.allocation is None:
                continue
            namespace, selector = claim.metadata.namespace, claim.status.allocation.node_selector
            for user in claim.status.reserved_for:
                if user.resource != "pods" or (namespace, user.name) in there:
                    continue
                name = f"{namespace}/{user.name}"
                self.all[name] = None
                nodes = list(_only_nodes(selector))
                for node in nodes:
                    self._by_node[node][name] = None
                if not nodes:
                    self._elsewhere.append((selector, name))

    def on(self, node: Node) -> list[str]:
        """Those that may be on the node: a pod is where the allocations of its claims can be used."""
        name, labels = node.metadata.name, node.metadata.labels
        found = dict(self._by_node.get(name, {}))
        for selector, pod in self._elsewhere:
            if selector is None or node_matches(selector, name, labels):
                found[pod] = None
        return list(found)


def _only_nodes(selector: NodeSelector | None) -> Iterator[str]:
    """The names of the nodes, where the selector asks for nothing but a name."""
    for term in selector.node_selector_terms if selector is not None and len(selector.node_selector_terms) == 1 else ():
        if not term.match_expressions and [(each.key, each.operator) for each in term.match_fields] == [
            ("metadata.name", "In")
        ]:
            yield from term.match_fields[0].values or ()
