"""Whether all pending pods can run together, if any choice of nodes and devices is allowed."""
