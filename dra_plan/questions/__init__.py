"""The questions about a cluster: a folder for each question, and their registry."""
