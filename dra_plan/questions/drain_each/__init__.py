"""For each node, the pods that would have no node if it were drained."""
