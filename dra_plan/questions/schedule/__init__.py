"""The node of each pod when the scheduler handles them one after another."""
