"""Labels, taints and annotations whose meaning Kubernetes itself defines."""

from __future__ import annotations

from .core import Taint

HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"
BETA_ZONE = "failure-domain.beta.kubernetes.io/zone"
BETA_REGION = "failure-domain.beta.kubernetes.io/region"
"""Labels on nodes and volumes; the beta labels are the former names for zones and regions."""

INSTANCE_TYPE = "node.kubernetes.io/instance-type"
"""The label with a cloud provider's name for a kind of machine."""

WINDOWS_BUILD = "node.kubernetes.io/windows-build"
"""The label with a node's build of Windows, on which the images that the node can run depend."""

TEMPLATE_HASH = "pod-template-hash"
"""The label by which a Deployment tells the pods of its ReplicaSets apart."""

NOW_CALLED = {
    BETA_ZONE: ZONE,
    BETA_REGION: REGION,
    "beta.kubernetes.io/instance-type": INSTANCE_TYPE,
    "beta.kubernetes.io/os": "kubernetes.io/os",
    "beta.kubernetes.io/arch": "kubernetes.io/arch",
}
"""Former names of labels on nodes, with their present names (the reference of well-known labels lists both)."""

UNSCHEDULABLE = Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule")
"""The taint of a cordoned node, which the node controller keeps as long as `spec.unschedulable` is set."""

AUTOSCALER_DELETES = "ToBeDeletedByClusterAutoscaler"
AUTOSCALER_CANDIDATE = "DeletionCandidateOfClusterAutoscaler"
KARPENTER = "karpenter.sh/"
KARPENTER_TAINTS = (f"{KARPENTER}disrupted", f"{KARPENTER}disruption", f"{KARPENTER}unregistered")
LEAVING_TAINTS = (AUTOSCALER_DELETES, AUTOSCALER_CANDIDATE, *KARPENTER_TAINTS)
"""The taints with which autoscalers mark nodes that they remove, or that are not yet ready for use."""

NODE_NOT_READY = "node.kubernetes.io/not-ready"
OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"
NOT_READY = "-not-ready"
"""The endings of start-up taint keys; agents (network and storage drivers) remove these taints once they run on the
node."""

MIRROR_POD = "kubernetes.io/config.mirror"
"""The annotation of a static pod's copy in the API server."""

IMPLICIT_PREFIX = "deviceclass.resource.kubernetes.io/"
"""The prefix before a class's name in the extended resource that every class serves."""

POD_CLAIM_ANNOTATION = "resource.kubernetes.io/pod-claim-name"
"""The annotation on every claim created from a template, with the name of the pod's entry."""

SPECIAL_ANNOTATION = "resource.kubernetes.io/extended-resource-claim"
"""The annotation on the claim that represents a pod's extended resources."""

ADMIN_ACCESS = "resource.kubernetes.io/admin-access"
"""The label, with the value true, on namespaces whose claims may have admin access."""

COUNTED_OBJECTS = (
    "configmaps",
    "persistentvolumeclaims",
    "pods",
    "replicationcontrollers",
    "resourcequotas",
    "secrets",
    "services",
    "services.loadbalancers",
    "services.nodeports",
)
"""The names under which quotas count objects, in whole numbers (IsIntegerResourceName)."""

DELETE_PROTECTION = "resource.kubernetes.io/delete-protection"
"""The finalizer on allocated claims, which keeps them until their devices are no longer used."""

CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
NODE_ROLE = "node-role.kubernetes.io/"
CONTROL_PLANE = (f"{NODE_ROLE}control-plane", f"{NODE_ROLE}master")
"""The taints of nodes reserved for the control plane."""

BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"
PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"
"""Annotations of volumes and of volume claims."""

MIGRATED_PLUGINS = "storage.alpha.kubernetes.io/migrated-plugins"
"""The annotation on a CSINode that lists the in-tree plugins whose volumes its drivers serve."""

KUEUE = "kueue.x-k8s.io/"
KUEUE_QUEUE = f"{KUEUE}queue-name"
"""The prefix of Kueue's labels and scheduling gates, and the label that names a workload's queue."""

UNREACHABLE = "node.kubernetes.io/unreachable"
"""The taint of a node whose kubelet no longer reports."""

SYSTEM_NAMESPACE = "kube-system"
"""The namespace of the cluster's own pods."""
