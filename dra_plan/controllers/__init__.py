"""The components that act alongside the scheduler: controllers that evict, free and create, and admission.

A controller is a function from the state of the cluster to actions. `settle` runs the controllers and the scheduler in
turn until nothing changes any more. Time is simulated.
"""
