"""What the Cluster Autoscaler or Karpenter would do with a cluster."""
