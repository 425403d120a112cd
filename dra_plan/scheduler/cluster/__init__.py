"""The simulated cluster: nodes, pods, claims and volumes as the scheduler sees them."""
