"""`-o jsonpath=TEMPLATE`: kubectl's templates, `{.claimSets[*].fittingNodes}`.

As in kubectl: text outside braces is literal, results of one expression are separated by a space, lists and maps are
printed as JSON, no newline is added, `range`/`end` repeat a part. A field or index that is not there gives nothing.
"""

from .template import Template

__all__ = ["Template"]
