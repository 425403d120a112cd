"""What two states of a cluster, or two releases, answer differently."""
