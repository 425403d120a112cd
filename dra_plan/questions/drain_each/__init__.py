"""Whose pods would have no place if a node were drained, node by node."""
