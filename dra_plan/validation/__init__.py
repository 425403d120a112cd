"""Faults in manifests, found before the cluster reports them: rules as data, and checks that yield findings.

The package reads objects as they were written, so that findings can name the place. Nothing here prints or sets exit
statuses.
"""
