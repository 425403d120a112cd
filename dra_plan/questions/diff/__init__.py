"""The differences between the results for two states of a cluster, or for two releases."""
