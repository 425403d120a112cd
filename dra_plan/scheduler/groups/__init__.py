"""Pods that are scheduled together: PodGroups in scheduling.k8s.io, as handled by kube-scheduler 1.36.

The only parts of groups that the ordinary cycle uses are `PodGroups` (`cluster/cluster.py`) and `GroupCycleState`
(`framework/status.py`).
"""
