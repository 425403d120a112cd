"""Why not: funnels, blocking sets and suggestions; reads the probe and asks the allocator again.

Reasons are values with stable codes; `output` words them. Nothing here knows of files, or of how a plan is made.
"""
