"""kube-scheduler's scheduling framework: plugins, queue, cycle, and the simulation that joins them.

This package reads no files and prints nothing; `dra_plan.allocator` allocates devices. Pods, nodes and claims are in
`cluster`, the extension points in `framework`, the plugins in `plugins` and `dra`, and pod groups in `groups`.
"""
