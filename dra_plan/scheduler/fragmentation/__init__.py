"""The share of idle devices that a mix of pods cannot use."""
