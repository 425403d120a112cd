"""The placement that exists, whatever the scheduler would do: which pods can run at the same time, where, on what.

What fits a node is asked of the scheduler's filters and of the allocator; this package has no rules of its own about
that. How many nodes take what is an integer program for a solver, HiGHS, which is imported when it is needed.
"""
