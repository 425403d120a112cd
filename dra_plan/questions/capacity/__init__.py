"""The number of copies of a pod that fit."""
