"""From paths, streams and plain dicts to the typed objects of `api`: reading, conversion, defaulting, faults.

What may be planned, and how, is not decided here.
"""

from .faults import Fault, ManifestErrors

__all__ = ["Fault", "ManifestErrors"]
