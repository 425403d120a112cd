"""The number of new nodes that all pending pods need."""
