"""Search for the best placement of pods: which pods can run together, on which nodes and with which devices.

The scheduler's order does not matter here, but its filters and the allocator decide what fits on a node. An integer
program decides how many nodes get which pods; its solver, HiGHS, is imported when needed.
"""
