"""Pods that are scheduled together: PodGroups of scheduling.k8s.io, as kube-scheduler 1.36 treats them.

The ordinary cycle knows of groups only what `podgroups` and `cyclestate.GroupCycleState` say.
"""
