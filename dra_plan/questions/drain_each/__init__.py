"""The pods that would have no node if a node were drained, node by node."""
