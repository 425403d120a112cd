"""The actions of the Cluster Autoscaler or Karpenter for a cluster."""
