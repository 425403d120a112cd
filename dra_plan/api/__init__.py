"""The Kubernetes objects that planning reads, as v1 structs, with quantities, versions and selectors.

Reading files, converting older API versions and planning are elsewhere.
"""
