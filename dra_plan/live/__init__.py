"""Read a cluster with kubectl into a snapshot that contains only what planning needs.

This package plans nothing. No other package contacts a cluster, and the command line does so only with `--live` and
related options.
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
    """Return a snapshot of the cluster that this kubectl context refers to. The default is the current context.

    If `only_devices` is set, the snapshot contains only what `pools` needs. Raises UnreadClusterError if the cluster
    cannot be read, and KubectlMissingError if kubectl is not installed. Both errors are subclasses of InputError.
    """
    return read(Kubectl(context, kubeconfig), progress, names=OF_DEVICES if only_devices else None)


def namespace_of_context(context: str | None = None, kubeconfig: str | None = None) -> str | None:
    """Return the default namespace of the kubectl context, or None if there is no context.

    Raises KubectlMissingError if kubectl is not installed.
    """
    return Kubectl(context, kubeconfig).namespace()
