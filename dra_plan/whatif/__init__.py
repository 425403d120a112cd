"""Edits of a cluster, such as draining a node or removing an object.

Each edit creates a new inventory. Edits do not check whether anything fits.
"""

from .applying import Apply, Restart
from .changes import Label, Scale, TaintDevice
from .edits import Bind, Cordon, Drain, Edit, Edited, Evict, Without
from .node_copy import AddNodes, number_and_model

__all__ = [
    "AddNodes",
    "Apply",
    "Bind",
    "Cordon",
    "Drain",
    "Edit",
    "Edited",
    "Evict",
    "Label",
    "Restart",
    "Scale",
    "TaintDevice",
    "Without",
    "number_and_model",
]
