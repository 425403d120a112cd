"""The Kubernetes v1 object model that planning reads: frozen structs, quantities, versions and selectors.

Nothing here deals with files, older API versions, or the search for a result.
"""
