"""Joins manifests, claim sets, the allocator and the scheduler into answers, one file per question.

`dra_plan.Cluster` asks them. Nothing is printed or read from files here.
"""
