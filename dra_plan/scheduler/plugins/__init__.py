"""The plugins in kube-scheduler's default profile."""
