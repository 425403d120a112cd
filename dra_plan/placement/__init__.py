"""The existence of a placement, regardless of the scheduler: the pods that can run together, their nodes and devices.

The scheduler's filters and the allocator decide what fits on a node; this package has no rules of its own for that. The
number of nodes with each set of pods is an integer program for a solver, HiGHS, which is imported when it is needed.
"""
