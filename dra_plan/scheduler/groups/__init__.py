"""Pods that are scheduled together: PodGroups of scheduling.k8s.io, as kube-scheduler 1.36 treats them.

The ordinary cycle knows of groups only `PodGroups` (`cluster/cluster.py`) and `GroupCycleState`
(`framework/status.py`).
"""
