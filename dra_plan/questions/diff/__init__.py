"""The differences between the answers for two states of a cluster, or for two releases."""
