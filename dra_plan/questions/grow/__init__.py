"""How many new nodes are needed for every pod that waits."""
