"""Read paths, streams and plain dicts into the typed objects in `api`, convert their versions, and set defaults."""

from .faults import Fault, ManifestErrors

__all__ = ["Fault", "ManifestErrors"]
