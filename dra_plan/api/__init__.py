"""The Kubernetes v1 object model that planning reads: frozen structs, quantities, versions and selectors.

Nothing here knows of files, of older API versions, or of how an answer is found.
"""
