"""How results differ between two states of a cluster, or between two releases."""
