"""Nodes made from slices."""

from __future__ import annotations

from dra_plan.manifests.decode import from_dicts
from dra_plan.manifests.infer import infer_nodes

from .objects import dra


def by_name(*names, key="metadata.name", operator="In"):
    return {"nodeSelectorTerms": [{"matchFields": [{"key": key, "operator": operator, "values": list(names)}]}]}


def test_names_in_input_order_once():
    slices = [
        dra("ResourceSlice", "1", spec={"nodeName": "b"}),
        dra("ResourceSlice", "2", spec={"nodeSelector": by_name("a", "b")}),
        dra("ResourceSlice", "3", spec={"perDeviceNodeSelection": True, "devices": [
            {"name": "x", "nodeName": "d"}, {"name": "y", "nodeSelector": by_name("c")},
            {"name": "z", "allNodes": True}]}),
        dra("ResourceSlice", "4", spec={"allNodes": True}),
        dra("ResourceSlice", "5", spec={"nodeSelector": by_name("e", operator="NotIn")}),
        dra("ResourceSlice", "6", spec={"nodeName": ""}),
    ]  # fmt: skip
    nodes, notices = infer_nodes(from_dicts(slices))
    assert [node.metadata.name for node in nodes] == ["b", "a", "d", "c"]
    (notice,) = notices
    assert notice.code == "inferred-nodes"
    assert notice.message == (
        "4 nodes made from node names in slices; their labels are unknown, "
        "so nothing that selects by label matches them"
    )


def test_no_names():
    assert infer_nodes(from_dicts([dra("ResourceSlice", "s", spec={"allNodes": True})])) == ([], [])
