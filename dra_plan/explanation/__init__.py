"""Why claims do not fit: funnels, blocking sets and suggestions, which are found by running the allocator again.

Reasons are values with stable codes; `text` turns them into sentences. Nothing here depends on files.
"""
