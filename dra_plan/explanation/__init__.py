"""Why claims do not fit: funnels, blocking sets and suggestions, found by asking the allocator again.

Reasons are values with stable codes; `output` words them. Nothing here knows of files, or of how a plan is made.
"""
