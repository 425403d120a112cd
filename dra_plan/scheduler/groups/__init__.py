"""Pods that are scheduled together: PodGroups in scheduling.k8s.io, as in kube-scheduler 1.36.

Outside this package, groups appear only in `PodGroups` (`cluster/cluster.py`) and `GroupCycleState`
(`framework/status.py`), which the ordinary cycle uses.
"""
