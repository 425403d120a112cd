"""The queries about a cluster, each in its own folder, and their registry."""
