"""Edits of a cluster: what if a node were cordoned, drained, added, a pod evicted or bound, or an object not there.

An edit makes another inventory; the one it is made from stays as it is. Nothing here knows what fits.
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
