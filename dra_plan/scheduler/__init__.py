"""kube-scheduler's scheduling framework: plugins, queue, scheduling cycle, and the simulation that uses them.

This package reads no files and prints nothing; `dra_plan.allocator` allocates devices. Pods, nodes and claims are in
`cluster`, extension points in `framework`, plugins in `plugins` and `dra`, and pod groups in `groups`.
"""
