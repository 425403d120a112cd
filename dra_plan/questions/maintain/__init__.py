"""An order in which nodes can be drained and returned to service."""
