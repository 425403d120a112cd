"""Pods that are scheduled together: PodGroups of scheduling.k8s.io, as handled by kube-scheduler 1.36.

The ordinary cycle knows of groups only `PodGroups` (`cluster/cluster.py`) and `GroupCycleState`
(`framework/status.py`).
"""
