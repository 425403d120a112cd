"""The scheduling framework of kube-scheduler: plugins, queue, cycle, and the simulation that joins them.

Nothing here reads files or prints; devices are allocated by `dra_plan.allocator`. Pods, nodes and claims are in
`cluster`, the extension points in `framework`, the plugins in `plugins` and `dra`, and pod groups in `groups`.
"""
