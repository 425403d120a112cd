"""The placement that exists, whatever the scheduler would do: which pods can run at the same time, where, on what.

What fits a node is asked of the scheduler's filters and of the allocator; here are no rules of its own about that. How
many nodes take what is an integer program for a kept solver, which is imported when a program needs it.
"""
