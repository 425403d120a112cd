"""The queries about a cluster, with a folder for each, and their registry."""
