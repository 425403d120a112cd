"""What acts beside the scheduler: controllers that evict, free and make, and admission that refuses.

Each controller is a function from the state of the cluster to actions. `settle` alternates them with the scheduler
until nothing changes any more. Time is simulated.
"""
