"""Edits of a cluster: what if a node were cordoned, drained, added, a pod evicted or bound, or an object not there.

An edit makes another inventory; the one it is made from stays as it is. Nothing here knows what fits.
"""

from .addnodes import AddNodes
from .bind import Bind
from .cordon import Cordon
from .drain import Drain
from .edit import Edit, Edited
from .evict import Evict
from .without import Without

__all__ = ["AddNodes", "Bind", "Cordon", "Drain", "Edit", "Edited", "Evict", "Without"]
