"""What is wrong with manifests before the cluster says so."""
