"""scheduler/cluster."""
