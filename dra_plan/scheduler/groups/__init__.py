"""Pods that are scheduled together: PodGroups in scheduling.k8s.io, as in kube-scheduler 1.36.

Of these, the ordinary cycle uses only `PodGroups` (`cluster/cluster.py`) and `GroupCycleState` (`framework/status.py`).
"""
