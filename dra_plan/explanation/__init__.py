"""The reasons why claims do not fit: funnels, blocking sets and suggestions, found by running the allocator again.

Reasons are values with stable codes; `output` words them. Nothing here depends on files, or on how plans are made.
"""
