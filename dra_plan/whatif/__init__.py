"""Edits of a cluster: what if a node were cordoned, drained, added, or an object were not there.

An edit makes another inventory; the one it is made from stays as it is. Nothing here knows what fits.
"""

from .addnodes import AddNodes
from .cordon import Cordon
from .drain import Drain
from .edit import Edit, Edited
from .without import Without

__all__ = ["AddNodes", "Cordon", "Drain", "Edit", "Edited", "Without"]
