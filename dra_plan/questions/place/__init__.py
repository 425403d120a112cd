"""The check that all pending pods can run together, regardless of the scheduler's choices."""
