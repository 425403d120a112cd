"""The components that act alongside the scheduler: controllers that evict, free and create, and admission that rejects.

Each controller is a function from the state of the cluster to actions. `settle` alternates the controllers with the
scheduler until nothing changes any more. Time is simulated.
"""
