"""The Kubernetes v1 object model that planning reads: frozen structs, quantities, versions and selectors.

Nothing here knows files, older API versions, or the search for an answer.
"""
