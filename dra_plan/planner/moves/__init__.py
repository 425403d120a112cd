"""Which running pods have to leave, so that a pod that waits has a place; a file for each part of the answer."""

from .plan import rooms

__all__ = ["rooms"]
