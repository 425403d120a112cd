"""Asking a cluster: kubectl reads, exactly what planning reads and nothing else, and a snapshot comes of it.

Nothing here plans. Nothing outside this package, and of the command line only `--live` and its kin, contacts a cluster.
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
    """The cluster of kubectl's current context, or of another one; `only_devices`: what `pools` shows, and no more.

    Raises InputError: UnreadClusterError for a cluster that can't be read, KubectlMissingError without a kubectl.
    """
    return read(Kubectl(context, kubeconfig), progress, names=OF_DEVICES if only_devices else None)


def namespace_of_context(context: str | None = None, kubeconfig: str | None = None) -> str | None:
    """The default namespace of kubectl's context; None if no context is chosen.

    Raises KubectlMissingError without a kubectl.
    """
    return Kubectl(context, kubeconfig).namespace()
