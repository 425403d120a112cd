"""Read a cluster with kubectl into a snapshot, which contains only what planning needs.

Nothing here plans. Only this package contacts a cluster, and on the command line only through `--live` and related
options.
"""

from __future__ import annotations

from .kubectl import OF_DEVICES, Kubectl
from .snapshot import Progress, Snapshot, UnreadClusterError, read

__all__ = ["Snapshot", "UnreadClusterError", "namespace_of_context", "read_cluster"]


def read_cluster(
    context: str | None = None,
    kubeconfig: str | None = None,
    *,
    progress: Progress | None = None,
    only_devices: bool = False,
) -> Snapshot:
    """Read the cluster in a kubectl context, by default the current one; with `only_devices`, only what `pools` needs.

    Raises InputError: UnreadClusterError for a cluster that cannot be read, KubectlMissingError if there is no kubectl.
    """
    return read(Kubectl(context, kubeconfig), progress, names=OF_DEVICES if only_devices else None)


def namespace_of_context(context: str | None = None, kubeconfig: str | None = None) -> str | None:
    """Return the default namespace of kubectl's context; None if no context is selected.

    Raises KubectlMissingError if there is no kubectl.
    """
    return Kubectl(context, kubeconfig).namespace()
