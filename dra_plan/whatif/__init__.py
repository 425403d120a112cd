"""Edits of a cluster: for example, a node is cordoned, drained or added, a pod evicted or bound, or an object removed.

An edit creates a new inventory; the original stays unchanged. Nothing here decides what fits.
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
