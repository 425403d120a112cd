"""Whether a placement exists, regardless of the scheduler: the pods that can run together, their nodes and devices.

The scheduler's filters and the allocator decide what fits on a node; this package has no rules of its own for that. An
integer program determines the number of nodes with each set of pods. Its solver, HiGHS, is imported when it is needed.
"""
