"""Turn paths, streams and plain dicts into the typed objects in `api`: reading, conversion, defaulting, faults.

Scheduling is decided elsewhere.
"""

from .faults import Fault, ManifestErrors

__all__ = ["Fault", "ManifestErrors"]
