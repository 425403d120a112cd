"""The problems in manifests, before the cluster reports them."""
