"""The labels, taints, annotations and other names that Kubernetes and common add-ons define."""

from __future__ import annotations

from .core import Taint

HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"
BETA_ZONE = "failure-domain.beta.kubernetes.io/zone"
BETA_REGION = "failure-domain.beta.kubernetes.io/region"
"""The labels for zones and regions on nodes and volumes. The beta labels are their former names."""

INSTANCE_TYPE = "node.kubernetes.io/instance-type"
"""The label for a cloud provider's machine type."""

WINDOWS_BUILD = "node.kubernetes.io/windows-build"
"""The label for the Windows build of a node, which decides which images the node can run."""

TEMPLATE_HASH = "pod-template-hash"
"""The label by which a Deployment tells the pods of its ReplicaSets apart."""

NOW_CALLED = {
    BETA_ZONE: ZONE,
    BETA_REGION: REGION,
    "beta.kubernetes.io/instance-type": INSTANCE_TYPE,
    "beta.kubernetes.io/os": "kubernetes.io/os",
    "beta.kubernetes.io/arch": "kubernetes.io/arch",
}
"""The former names of node labels, with the current names."""

UNSCHEDULABLE = Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule")
"""The taint of a cordoned node. The node controller sets it while `spec.unschedulable` is true."""

AUTOSCALER_DELETES = "ToBeDeletedByClusterAutoscaler"
AUTOSCALER_CANDIDATE = "DeletionCandidateOfClusterAutoscaler"
KARPENTER = "karpenter.sh/"
KARPENTER_TAINTS = (f"{KARPENTER}disrupted", f"{KARPENTER}disruption", f"{KARPENTER}unregistered")
LEAVING_TAINTS = (AUTOSCALER_DELETES, AUTOSCALER_CANDIDATE, *KARPENTER_TAINTS)
"""The taints of nodes that autoscalers are removing, or that are not ready yet."""

NODE_NOT_READY = "node.kubernetes.io/not-ready"
OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"
NOT_READY = "-not-ready"
"""The endings of start-up taints, which network and storage drivers remove when they run on the node."""

MIRROR_POD = "kubernetes.io/config.mirror"
"""The annotation of a mirror pod, which represents a static pod in the API server."""

IMPLICIT_PREFIX = "deviceclass.resource.kubernetes.io/"
"""The prefix of the extended resource that every device class provides, followed by the name of the class."""

POD_CLAIM_ANNOTATION = "resource.kubernetes.io/pod-claim-name"
"""The annotation with the pod's name for a claim, on each claim that is created from a template."""

SPECIAL_ANNOTATION = "resource.kubernetes.io/extended-resource-claim"
"""The annotation on the claim that is created for a pod's extended resources."""

ADMIN_ACCESS = "resource.kubernetes.io/admin-access"
"""The label of namespaces whose claims may have admin access, if its value is true."""

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
"""The names of the objects that quotas count, in whole numbers (`IsIntegerResourceName`)."""

DELETE_PROTECTION = "resource.kubernetes.io/delete-protection"
"""The finalizer that keeps an allocated claim until its devices are no longer in use."""

CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
NODE_ROLE = "node-role.kubernetes.io/"
CONTROL_PLANE = (f"{NODE_ROLE}control-plane", f"{NODE_ROLE}master")
"""The taints of control plane nodes."""

BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"
PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"
"""Annotations of volumes and volume claims."""

MIGRATED_PLUGINS = "storage.alpha.kubernetes.io/migrated-plugins"
"""The annotation of a CSINode that lists the in-tree plugins whose volumes its drivers handle."""

KUEUE = "kueue.x-k8s.io/"
KUEUE_QUEUE = f"{KUEUE}queue-name"
"""The prefix of Kueue's labels and scheduling gates, and the label with a workload's queue."""

UNREACHABLE = "node.kubernetes.io/unreachable"
"""The taint of a node whose kubelet has stopped reporting."""

SYSTEM_NAMESPACE = "kube-system"
"""The namespace of the cluster's own components."""
