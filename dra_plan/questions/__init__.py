"""The questions about a cluster, one folder each, and their registry."""
