"""Whether all pods that wait can run together, whatever the scheduler would do."""
