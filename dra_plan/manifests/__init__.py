"""From paths, streams and plain dicts to the typed objects of `api`: reading, conversion, defaulting, faults.

Whether and where the objects can be scheduled is decided elsewhere.
"""

from .faults import Fault, ManifestErrors

__all__ = ["Fault", "ManifestErrors"]
